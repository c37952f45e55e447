/* wasi/state.h - what the files of this floor share; nobody else's. */
#ifndef WASI_STATE_H
#define WASI_STATE_H

#include <wasmtime.h>
#include "base/buf.h"
#include "wasi/abi.h"
#include "wasi/memory.h"
#include "wasi/tree.h"
#include "wasi/wasi.h"

#define WASI_PATH_MAX 4096 /* with its NUL, as PATH_MAX */
#define WASI_NAME_MAX 255  /* one component */
#define WASI_CALLS 45
#define WASI_TOOL_CALLS 4
#define WASI_PIECE_BYTES ((size_t)1 << 20) /* between two looks at *stop */

enum handle_kind {
	HANDLE_FREE,
	HANDLE_IN,
	HANDLE_OUT, /* .stream */
	HANDLE_DIR, /* .node and .rest */
	HANDLE_READ, /* a file of a read grant: .fd or .core */
	HANDLE_WRITE, /* a file of a write grant: .node has the stage */
};

struct handle {
	enum handle_kind kind;
	bool preopen;
	bool owns_fd;
	uint8_t stream;
	uint16_t flags; /* FDFLAG_* */
	uint64_t base, inheriting; /* rights */
	uint64_t offset;
	uint32_t node;
	int32_t grant; /* HANDLE_READ */
	int fd;	       /* HANDLE_READ; -1: through host->pread */
	uint64_t core; /* HANDLE_READ: the core's name for it */
	bool has_core;
	struct wasi_stat st; /* HANDLE_READ with fd -1: as it was opened */
	char *rest;	     /* HANDLE_DIR: owned, NULL is "" */
	/* HANDLE_DIR: the core's entries, a page at a time */
	struct buf list;
	uint64_t *pages; /* owned: the position where each begins */
	uint32_t n_pages, page; /* page: which one is in list, if listed */
	bool listed, more;
};

struct grant_state {
	uint64_t opens; /* so far */
	uint64_t bytes; /* read: so far; write: size of all files */
	uint64_t files; /* write directories: made so far */
	enum wasi_lack lacks; /* one was not made, and none removed since */
};

struct call_row;

/* The environment of one linked function. */
struct wasi_entry {
	struct wasi *wasi;
	const struct call_row *row;
};

struct wasi {
	const volatile sig_atomic_t *stop;
	const struct plan *plan; /* borrowed, NULL between two runs */
	const struct wasi_host *host;
	const uint8_t *input;
	size_t input_len, input_at;
	wasmtime_memory_t memory;
	bool bound;
	struct tree tree;
	struct handle *handles; /* owned */
	uint32_t room_handles;
	uint32_t top_handles; /* all from here on are free */
	uint32_t low_handle;  /* none below is free */
	uint32_t n_files;     /* open ones that count as files */
	struct grant_state *grants; /* owned */
	uint32_t room_grants;
	bool has_monotonic;
	int64_t monotonic_ns; /* what the guest's clock started from */
	uint64_t random_at;   /* bytes of the seeded stream given out */
	struct wasi_report report;
	struct wasi_denial denials[WASI_DENIALS_MAX];
	struct wasi_written *written; /* owned, as are its paths */
	size_t n_written;
	struct wasi_entry entries[WASI_CALLS + WASI_TOOL_CALLS];
};

/* wasi.c */
/* Ends the run: the call's errno is not looked at.  Returns W_INTR. */
uint32_t wasi_end_run(struct wasi *w, enum wasi_end why);
/* True, and the run ends, once *stop is set. */
bool wasi_stopped(struct wasi *w);
/* The guest's errno for the host's; ends the run where the host's says so. */
uint32_t wasi_errno(struct wasi *w, int host_errno);

/* denial.c */
/* Notes that the plan does not allow `op` on path, and returns W_ACCES. */
uint32_t denial_add(struct wasi *w, const char *op, struct str path,
		    bool write);
void denial_clear(struct wasi *w);

#endif
