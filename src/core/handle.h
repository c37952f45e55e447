/* core/handle.h - what a struct redoma holds. */
#ifndef CORE_HANDLE_H
#define CORE_HANDLE_H

#include <stdatomic.h>
#include <sys/types.h>
#include <redoma.h>
#include "base/here.h"
#include "core/formula_cache.h"
#include "policy/policy.h"
#include "pool/cache.h"
#include "pool/jails.h"
#include "pool/pool.h"

#define PATH_ROOM 4096

enum handle_state {
	HANDLE_IDLE,
	HANDLE_RUNNING,
	HANDLE_ENDING, /* nothing is run any more; about to be idle */
	HANDLE_CLOSED  /* while it ran: the run frees it */
};

struct redoma {
	struct policy *policy; /* owned */
	struct pool *pool;     /* owned */
	struct jails *jails;   /* owned */
	struct formula_cache *answers; /* owned; NULL until there is one */
	uint64_t answers_bytes;	       /* that it may hold; 0: none is made */
	uint8_t policy_digest[HASH_BYTES]; /* of `policy`; once there are */
	struct usher *usher; /* owned; NULL until a run has grants */
	struct native_cache *native; /* owned; NULL until it is needed */
	char install[PATH_ROOM]; /* directory of redoma-worker and images/ */
	char worker[PATH_ROOM];
	char compiler[PATH_ROOM];
	char init[PATH_ROOM];
	struct cache *cache; /* owned; NULL until a module comes */
	char cache_dir[PATH_ROOM]; /* "": compiled modules are not kept */
	char cache_key[PATH_ROOM]; /* file of the cache's key; "" likewise */
	char incident_dir[PATH_ROOM]; /* "": none are kept */
	struct redoma_stats stats; /* what happened; not what is there */
	struct turn turn; /* of a worker on the caller's CPU */
	bool verify;
	bool single;
	const char *image_seen; /* name of the image that was found last */
	/* Drawn from the kernel in one call for many runs. */
	unsigned char random[256];
	size_t random_left;
	/* For redoma_cancel: the worker of the run in progress, or -1. */
	_Atomic int running;
	/* Likewise: the socket on which it, or the usher, is waited for. */
	_Atomic int asked;
	_Atomic int cancelled;
	_Atomic int busy; /* enum handle_state */
	_Atomic int cancelling; /* callers inside redoma_cancel, redoma_close */
	pid_t owner; /* who opened it: a forked child has only a copy */
};

/* One run at a time: refused to another process or thread.
 * Each begin that succeeds has its end, after which h may be gone. */
MUST_CHECK int handle_begin(struct redoma *h, struct redoma_error *err);
void handle_end(struct redoma *h);
/* n random bytes (at most 256), each given once.  -1 with errno. */
MUST_CHECK int handle_random(struct redoma *h, void *p, size_t n);
/* Sets what redoma_cancel looks at, and returns once nobody uses what was there
 * before: its descriptor may be closed then. */
void handle_calm(struct redoma *h, _Atomic int *what, int value);

#endif
