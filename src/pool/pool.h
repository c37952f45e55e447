/* pool/pool.h - zygotes and their parked workers: take, give back, retire.
 *
 * A zygote per (tenant, image, profile, walls, reuse).  Its children are made
 * ahead of need, each locked in both walls and parked on a socket; one that
 * ends is replaced by the zygote itself, so the caller's time holds only take
 * and run.  A zygote whose child crashed or breached a wall is ended with all
 * its children.
 *
 * At most POOL_ZYGOTES are kept; then the one that was not used for longest
 * makes room, so that many tenants do not fill the host.
 *
 * Not thread-safe: one pool belongs to one handle. */
#ifndef POOL_POOL_H
#define POOL_POOL_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "policy/profile.h"
#include "wire/frame.h"
#include "wire/spawn.h"

#define POOL_ZYGOTES 16u

struct pool;

struct pool_options {
	const char *worker_path; /* borrowed for the pool's life */
	uint32_t per_cpu;	 /* parked workers per CPU, at least 1 */
	uint32_t runs_per_worker;
	bool single; /* one worker a run, made when asked for */
	bool verify;
};

struct pool_want { /* borrowed for the call */
	const char *tenant;
	enum profile profile;
	const char *image_path; /* NULL: foreign modules, loaded by the child */
	/* Called if that does not load here: it was made for another CPU, or by
	 * another build.  *ret_fd: one that does, the pool's to close.  NULL:
	 * there is none. */
	int (*other_image)(void *data, const struct redoma_error *why,
			   int *ret_fd, struct redoma_error *err);
	void *other_image_data;
	const uint8_t *digest;	/* 32 bytes, of a foreign module */
	uint32_t may_lack;
	bool reuse;
	/* What the worker bounds itself to, for good, before it runs. */
	uint64_t data_bytes, file_bytes;
	/* What the zygote's control group has room for: a worker's own memory,
	 * and the guest's with what it writes. */
	uint64_t own_bytes, guest_bytes;
};

/* A worker taken for one run. */
struct slot {
	struct channel channel;
	int pidfd;
	int pid; /* as the zygote sees it */
	uint32_t uid; /* of an admitted native jail: struct native_admitted */
	uint32_t number;
	int cpu;
	bool cold;	 /* it was made for this run, nobody waited parked */
	bool loaded;	 /* holds the module of `digest` already */
	uint32_t runs;
	uint64_t used_faults; /* page faults until its last run had ended */
	uint64_t data_bytes, file_bytes; /* its bounds; UINT64_MAX: not yet */
	uint8_t digest[32];
	struct spawn_ready ready;
	struct zygote *zygote;	  /* borrowed; NULL: a native jail's */
	struct spawner *spawner;  /* borrowed; of a native jail */
	struct slot *next;
};

/* The file that an image was loaded from, as it was then: what is in its place
 * later is another. */
struct pool_image {
	uint64_t device, inode, bytes;
	int64_t s, ns; /* when it was written */
};

MUST_CHECK int pool_new(const struct pool_options *o, struct pool **ret,
			struct redoma_error *err);
MUST_CHECK int pool_take(struct pool *p, const struct pool_want *w,
			 struct slot **ret, struct redoma_error *err);
/* A taken worker sits on its caller's CPU, which makes a short run quick; one
 * that takes longer may go to any that the zygote was given. */
void pool_loosen(struct slot *s);
/* Back for another run of the same tenant; retires it when it is worn. */
void pool_give(struct pool *p, struct slot *s);
/* The run is over and so is the worker (one-shot): it exits by itself, and one
 * that does not is killed. */
void pool_drop(struct slot *s);
/* Kills a worker and learns how it ended and what it used; `poison` ends its
 * zygote too (a crash or breach).  ret may be NULL: nobody waits for its end.
 * One that the kernel does not end soon has ret->code 0. */
void pool_kill(struct pool *p, struct slot *s, bool poison,
	       struct spawn_dead *ret);
/* Zygotes there are, and workers that wait parked as far as was heard. */
void pool_count(const struct pool *p, uint64_t *ret_zygotes,
		uint64_t *ret_parked);
/* Which file that tenant's workers have loaded for the name image_path.  False:
 * there are no such workers, or they have two. */
bool pool_image(const struct pool *p, const char *tenant,
		const char *image_path, struct pool_image *ret);
void pool_free(struct pool *p);
/* The same in a child that has a copy of p: its processes are not ended. */
void pool_forget(struct pool *p);

#endif
