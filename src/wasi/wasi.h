/* wasi/wasi.h - WASI preview 1 in C: a plan becomes imports.
 *
 * One struct wasi serves one process.  It is made and linked once, before the
 * first guest byte (in the zygote), then armed for each run.  Nothing a guest
 * names is ever resolved by the host here: names are looked up in a virtual
 * tree made from the plan's grants; what lies under a granted directory is
 * asked of the core through struct wasi_host.
 *
 * What a guest sees: descriptors 0, 1, 2 and 3, the root of that tree, which
 * is there even without grants and then empty.  Errors follow one rule:
 *	EACCES	   the plan does not allow it and another plan could: a name
 *		   without grant, writing where only reading is granted, over
 *		   `opens` or `max_bytes` of a read.  Noted as a denial.
 *	ENOSPC	   over max_bytes or max_files of a write grant, also a denial
 *	ENOTCAPABLE  what no descriptor has the right for; links and sockets,
 *		   which are never made; a clock or randomness that the plan
 *		   does not give.  The last three are denials too.
 *	ENOENT	   inside a granted directory, and there is no such file
 *	EXDEV	   rename from one write grant into another
 *	EMFILE	   over limits.files
 * A file of a write grant does not exist until it is opened for writing (with
 * O_CREAT or O_TRUNC, or to append); what a read grant of the same name shows
 * is read until then.  Empty directories that a run makes are not published.
 *

 * Beside it stands the module "redoma": calls of tools (tools.h).
 *
 * System calls: pread64 pwrite64 fstat ftruncate close getrandom ppoll
 * rt_sigprocmask clock_gettime, and what the allocator needs.
 *
 * Source: WASI preview 1 witx (wasi_snapshot_preview1), all 45 functions. */
#ifndef WASI_WASI_H
#define WASI_WASI_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "policy/plan.h"

/* What the core answered about one name below a granted directory. */
struct wasi_stat {
	uint8_t type; /* __WASI_FILETYPE_* */
	uint64_t dev, ino, nlink, size;
	int64_t atim_ns, mtim_ns, ctim_ns; /* clamped to int64 */
};

enum wasi_open_flags { /* of host->open */
	WASI_OPEN_WRITE = 1,
	WASI_OPEN_CREATE = 2,
	WASI_OPEN_EXCLUSIVE = 4,
	WASI_OPEN_TRUNCATE = 8,
	WASI_OPEN_DIRECTORY = 16,
	WASI_OPEN_NOFOLLOW = 32,
};

struct wasi_opened {
	int fd;		 /* owned by the caller; -1: read through pread below */
	uint64_t handle; /* the core's name for it */
	struct wasi_stat st;
};

/* Calls answered by the core (by frames in the worker, directly in tests).
 * Each returns 0 or a positive errno of the host's kind (ENOENT, EACCES,
 * EXDEV for "leaves the grant", EINTR when the run is being ended).  `grant`
 * indexes plan->grants; path is relative to the granted directory, "" itself
 * (a single file is "" too), without empty and "." components; a ".." in it
 * follows a symbolic link.  EACCES, EPERM and EXDEV become denials.  EPIPE and
 * EPROTO: the conversation broke, the run ends.
 * Any member but write may be NULL: then ENOSYS. */
struct wasi_host {
	void *data;
	/* stream 1 or 2.  EFBIG: over the output limit, the run must end. */
	int (*write)(void *data, int stream, const void *p, size_t n);
	/* Read grants: a regular file or a directory; st is filled.  In a write
	 * directory always WRITE|CREATE: a new empty stage, whatever the path
	 * was used for before (the guest may have renamed that file); fd is
	 * its descriptor, O_RDWR.  The names that count in the end are those
	 * of wasi_written.  close of such a handle: the guest unlinked the
	 * file. */
	int (*open)(void *data, uint32_t grant, const char *path,
		    unsigned flags, struct wasi_opened *ret);
	int (*stat)(void *data, uint32_t grant, const char *path, bool follow,
		    struct wasi_stat *ret);
	/* Entries from position `at` on as records {u64 ino, u8 type, u16 len,
	 * name} packed little-endian into out; *ret_next 0 at the end.
	 * Positions mean nothing here but 0, the beginning. */
	int (*list)(void *data, uint32_t grant, const char *path, uint64_t at,
		    struct buf *out, uint64_t *ret_next);
	int (*readlink)(void *data, uint32_t grant, const char *path,
			struct buf *out);
	int (*pread)(void *data, uint64_t handle, void *p, size_t n,
		     uint64_t offset, size_t *ret_n);
	int (*close)(void *data, uint64_t handle);
	/* Tools, of wire/tool.h.  EAGAIN: as many as may are under way;
	 * E2BIG: longer than TOOL_TEXT_MAX. */
	int (*tool_call)(void *data, const void *p, size_t n, uint32_t *ret_id);
	/* The next call that was answered and the length of what came, which
	 * waits until it is taken or the next is asked for.  *ret_id 0: none
	 * came in that time (UINT64_MAX: for ever), or none is under way. */
	int (*tool_wait)(void *data, uint64_t timeout_us, uint32_t *ret_id,
			 uint32_t *ret_len);
	/* Once: its bytes, borrowed until the next of these three.  ENOENT:
	 * not that call. */
	int (*tool_take)(void *data, uint32_t id, const void **ret,
			 uint32_t *ret_len);
};

/* Why a host function ended the run; read after a trap. */
enum wasi_end {
	WASI_END_NONE,
	WASI_END_EXIT,	 /* proc_exit */
	WASI_END_OUTPUT, /* output limit */
	WASI_END_STOP,	 /* *stop was set while waiting */
	WASI_END_DENIED, /* on_denied: end */
	WASI_END_HOST,	 /* the conversation with the core broke */
};

/* What a write grant has not of what the guest wrote there.  The guest was told
 * by an error; whether it made good for that is seen at the end of the run. */
enum wasi_lack {
	WASI_LACKS_NOTHING,
	WASI_LACKS_BYTES, /* over max_bytes */
	WASI_LACKS_FILES, /* over max_files */
	WASI_LACKS_SPACE, /* the host could not store it */
};

struct wasi_denial {
	const char *op;	  /* static: "open", "rename", ... */
	const char *path; /* as the guest named it; at most 4096 bytes */
	size_t path_len;
	uint64_t count;
	bool write; /* it wanted to change something */
};

#define WASI_DENIALS_MAX 64

/* What one run did; borrowed until the next wasi_begin. */
struct wasi_report {
	enum wasi_end end;
	uint32_t exit_code;
	bool used_clock, used_random, used_unpinned; /* took away purity */
	uint64_t read_bytes, written_bytes;
	const struct wasi_denial *denials;
	size_t n_denials;
	uint64_t more_denials; /* that did not fit */
	/* Of what would be published: a file that a write was refused of and
	 * that was not truncated since; a file that could not be made, and
	 * none was removed since; more than one run may write. */
	enum wasi_lack lacks;
	const char *lacking; /* the grant's guest name, of the plan */
};

/* A file that the run wrote, in a write grant. */
struct wasi_written {
	uint32_t grant;
	const char *path; /* below a write directory; "" for a single file */
	uint64_t handle;  /* of host->open; 0 for a single file's stage */
};

struct wasi;
/* Of wasmtime.h, which only this floor and the engine see. */
struct wasmtime_linker;
struct wasmtime_context;
struct wasmtime_memory;

/* `stop` is set by the deadline's signal handler; every wait looks at it. */
MUST_CHECK int wasi_new(const volatile sig_atomic_t *stop, struct wasi **ret,
			struct redoma_error *err);
/* Defines the 45 functions of "wasi_snapshot_preview1" and the three of
 * "redoma" (and of the old name
 * "wasi_unstable" none: it is refused elsewhere) on the linker, unchecked,
 * with `w` as environment. */
MUST_CHECK int wasi_link(struct wasi *w, struct wasmtime_linker *l,
			 struct redoma_error *err);
/* Arms for one run.  plan, host and input are borrowed until wasi_end.
 * input is standard input.  first and last of a grant apply to its fd as it
 * is: a memfd that holds nothing but the range has first 0. */
MUST_CHECK int wasi_begin(struct wasi *w, const struct plan *plan,
			  const struct wasi_host *host, const void *input,
			  size_t input_len, struct redoma_error *err);
/* Once the instance exists: its context and memory, so that a call costs no
 * lookup by name.  Before that (a start function) the caller's export
 * "memory" is looked up. */
void wasi_bind(struct wasi *w, struct wasmtime_context *ctx,
	       const struct wasmtime_memory *memory);
/* Closes every descriptor of the run, including the plan's (plan_done must
 * not again); fills *ret, which is borrowed until wasi_begin.  The written
 * files stay listed until the next wasi_begin. */
void wasi_end(struct wasi *w, struct wasi_report *ret);
size_t wasi_written(const struct wasi *w, const struct wasi_written **ret);
void wasi_free(struct wasi *w);

#endif
