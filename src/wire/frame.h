/* wire/frame.h - length-capped frames and descriptor passing over an AF_UNIX
 * stream socket, both ends.
 *
 * A frame is a 24-byte header and at most FRAME_BODY_MAX bytes.  Longer data
 * (a source, an input, a result) is several frames of one kind, the last one
 * with FRAME_LAST.  Every frame carries the run's random 64-bit id; a reader
 * drops, as a protocol error, any frame of another run.  The reader is what
 * stands between a hostile worker and the core: it allocates nothing that the
 * peer chose. */
#ifndef WIRE_FRAME_H
#define WIRE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"

#define FRAME_MAGIC 0x52444d31u /* "RDM1" */
#define FRAME_BODY_MAX 65536u
#define FRAME_FDS_MAX 253 /* SCM_MAX_FD, unix(7) */
#define FRAME_LAST 1u
/* What a run's texts may have, as several frames of one kind. */
#define FRAME_TEXT_MAX ((size_t)64 << 20) /* source, input */
#define FRAME_NAME_MAX ((size_t)4096)	  /* name, export to invoke */

/* core -> worker: BOUND MODULE PLAN NAME INVOKE SOURCE INPUT, in this order,
 * the last one starts the run; ANSWER, RETURN.  worker -> core: the rest.
 * core <-> zygote: SPAWN, UNFIT, MODULE, READY, BORN, DEAD.  core <-> spawner
 * of native jails: wire/native.h.  core <-> usher: ASK, TOLD or FAILED. */
enum frame_kind {
	FRAME_PLAN = 1,
	FRAME_SOURCE,
	FRAME_INPUT,
	FRAME_ANSWER,
	FRAME_OUT,     /* body: bytes of stdout */
	FRAME_ERR,     /* body: bytes of stderr */
	FRAME_CALL,    /* body: one request of broker/, answered by ANSWER */
	FRAME_VALUE,   /* body: bytes of the result's JSON value */
	FRAME_OUTCOME, /* body: struct outcome_wire; ends the run */
	FRAME_READY,   /* a process is parked */
	FRAME_SPAWN,
	FRAME_BORN,
	FRAME_DEAD,
	FRAME_FAILED,  /* body: struct redoma_error; set-up failed */
	FRAME_NAME,    /* body: the name of the source, for errors */
	FRAME_INVOKE,  /* body: the export to call */
	FRAME_BOUND,   /* body: three u64: two of jail_bound, and whether output
			  leaves at once */
	FRAME_MODULE,  /* no body, one descriptor: the artefact to load */
	FRAME_ROOT,    /* body: entries of a native root, wire/native.h */
	FRAME_ADMIT,   /* body: struct native_admit */
	FRAME_ADMITTED, /* body: struct native_admitted */
	FRAME_END,     /* body: struct native_end */
	FRAME_ASK,     /* to the usher: broker/ask.h */
	FRAME_TOLD,    /* its answer: broker/report.h */
	FRAME_UNFIT,   /* body: struct redoma_error, why the image does not load
			  here; answered by MODULE with another, or by an end */
	FRAME_TOOL,    /* body: a call of a tool, wire/tool.h */
	FRAME_RETURN,  /* its answer, when there is one */
	FRAME_KIND_MAX
};

struct frame {
	uint32_t magic;
	uint16_t kind;
	uint16_t flags;
	uint64_t run;
	uint32_t len;
	uint32_t n_fds;
};

/* One end of a conversation.  The receive buffer is filled by large reads. */
struct channel {
	int fd;
	uint64_t run;
	uint64_t send_by_us; /* CLOCK_MONOTONIC; a send that takes longer is
				REDOMA_E_BUSY.  0: it may take for ever */
	uint64_t nudge_us; /* of who waits: the first of some naps, each twice
			      as long, before it sleeps.  Where others want
			      the CPU a timer makes the scheduler choose
			      again between two ticks, of which it else keeps
			      to its choice (CONFIG_HZ: 4 ms).  0: none */
	bool adopt; /* take the run id of the next frame: the worker's end */
	bool no_fds; /* a descriptor that comes breaks the protocol; none is
			taken, so that a peer cannot fill our table */
	size_t at, have;
	int fds[FRAME_FDS_MAX]; /* received, not yet taken */
	size_t n_fds;
	struct buf out; /* frames put and not yet flushed */
	unsigned char in[FRAME_BODY_MAX + sizeof(struct frame)];
};

void channel_init(struct channel *c, int fd); /* takes no ownership of fd */
/* Another conversation in the same room: what was collected is forgotten. */
void channel_renew(struct channel *c, int fd);
void channel_done(struct channel *c); /* closes descriptors never taken */

/* Sends one frame.  Blocking; EINTR is retried; a closed peer is
 * REDOMA_E_WORKER, never SIGPIPE. */
MUST_CHECK int channel_send(struct channel *c, enum frame_kind kind,
			    unsigned flags, const void *body, size_t len,
			    struct redoma_error *err);
MUST_CHECK int channel_send_fds(struct channel *c, enum frame_kind kind,
				const void *body, size_t len, const int *fds,
				size_t n_fds, struct redoma_error *err);
/* Collects a message of any length as frames of one kind, the last with
 * FRAME_LAST, to be sent by one system call:
 * a conversation costs one wake-up a side.  The descriptors of channel_flush
 * belong to the first frame put. */
MUST_CHECK int channel_put(struct channel *c, enum frame_kind kind,
			   const void *p, size_t len, size_t n_fds,
			   struct redoma_error *err);
MUST_CHECK int channel_flush(struct channel *c, const int *fds, size_t n_fds,
			     struct redoma_error *err);
/* Next frame.  *ret_body is borrowed until the next call.  Waits at most
 * timeout_us (UINT64_MAX: for ever); returns REDOMA_E_BUSY on time-out,
 * REDOMA_E_WORKER on end of file, REDOMA_E_INVALID on a frame that breaks the
 * protocol (wrong magic, kind, length, run id, too many descriptors). */
MUST_CHECK int channel_recv(struct channel *c, uint64_t timeout_us,
			    struct frame *ret, const void **ret_body,
			    struct redoma_error *err);
/* Next descriptor received so far, or -1; the caller owns it. */
int channel_take_fd(struct channel *c);

#endif
