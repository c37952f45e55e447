/* worker/host.h - the guest's host, as frames: struct wasi_host over a channel
 * to the core.
 *
 * Output is counted against limits.output_bytes and collected, in the order
 * in which it was written, so that a hundred thousand small prints cost few
 * system calls; it leaves when HOST_TEXT bytes are there, before every
 * question and with host_flush.  A question is one frame out and one in. */
#ifndef WORKER_HOST_H
#define WORKER_HOST_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include "policy/plan.h"
#include "wasi/wasi.h"
#include "wire/frame.h"

#define HOST_TEXT 8192u

struct host { /* all private */
	struct wasi_host ops;
	struct channel *channel;
	const volatile sig_atomic_t *stop;
	uint64_t left; /* bytes of output that may still come */
	bool eager;    /* somebody watches: output leaves at once */
	bool over;     /* the guest wrote more */
	bool broke;    /* the channel cannot be used any more */
	struct host_tools {
		uint32_t last, under_way; /* calls: the last, how many */
		uint64_t in_flight;
		bool heard, told; /* message is whole; the guest knows */
		struct buf message; /* a return: number, then its text */
		struct buf early;   /* whole ones that came meanwhile */
		size_t early_at;
	} tools;
	volatile sig_atomic_t busy; /* the fields below are being changed */
	int stream;		    /* of text; 0: none yet */
	size_t len;
	char text[HOST_TEXT];
};

/* All borrowed for the run; `eager` may be set afterwards. */
void host_begin(struct host *h, struct channel *c, const struct limits *l,
		const volatile sig_atomic_t *stop);
void host_done(struct host *h);
const struct wasi_host *host_ops(struct host *h); /* borrowed from h */
/* Sends what was collected.  True if the guest wrote over its limit. */
bool host_flush(struct host *h);
/* Async-signal-safe: sends what was collected, for a deadline's handler, so
 * that the output of a guest which must be killed is not lost.  Does nothing
 * if it interrupted one of the functions above, or if the core does not take
 * the bytes at once. */
void host_rescue(struct host *h);
/* Bytes that a result may still have. */
uint64_t host_left(const struct host *h);
/* Sends what is collected and waits until an answer to a call of a tool is
 * there, for the guest's next wait.  0, EINTR (being ended) or EPIPE. */
int host_rest(struct host *h);
/* The core is gone, broke the protocol or was not waited for: this worker
 * serves no further run. */
bool host_broke(const struct host *h);

#endif
