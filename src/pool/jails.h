/* pool/jails.h - spawners and the jails of native programs that they keep
 * ready: take, admit, end.
 *
 * A spawner per (tenant, root, bootstrap, walls, size of /tmp).  Each jail is
 * for one run and never used again.  The slots are those of pool/pool.h, so
 * that a conversation does not know what it talks to; `zygote` is NULL and
 * they are not pinned.
 *
 * At most JAILS_SPAWNERS are kept; then the one that was not used for longest
 * makes room.  Not thread-safe: one belongs to one handle. */
#ifndef POOL_JAILS_H
#define POOL_JAILS_H

#include "pool/pool.h"
#include "wire/native.h"

#define JAILS_SPAWNERS 16u

struct jails;

struct jails_options {
	const char *init_path; /* borrowed for its life */
	bool single; /* one jail a run, made when asked for */
	uint64_t birth_us; /* that one is waited for; 0: 10 s */
};

struct jails_want { /* borrowed for the call */
	const char *tenant;
	const char *root_digest; /* of everything in `root` */
	const struct native_setup *setup;
	const struct buf *root; /* native_root_encode */
	uint64_t wait_us; /* for a jail to be born, all tries together, if that
			     is less than jails_options.birth_us; 0: is not */
};

struct jails_admission {
	struct native_admit limits; /* slot and n_grants are filled here */
	const int *grants;	    /* descriptors, n_grants; borrowed */
	size_t n_grants;
};

MUST_CHECK int jails_new(const struct jails_options *o, struct jails **ret,
			 struct redoma_error *err);
/* REDOMA_E_BUSY: no jail became ready in time.  A spawner that cannot set
 * itself up says why: REDOMA_E_UNSUPPORTED names the control. */
MUST_CHECK int jails_take(struct jails *j, const struct jails_want *w,
			  struct slot **ret, struct redoma_error *err);
/* Sets the run's limits and has the granted files mounted: mounts[i] is the
 * detached mount of grants[i], *ret_cpu the descriptor its CPU time is read
 * from (-1: not told here).  All are the caller's. */
MUST_CHECK int jails_admit(struct jails *j, struct slot *s,
			   const struct jails_admission *a, int *mounts,
			   int *ret_cpu, struct redoma_error *err);
/* Ends the jail with everything in it, frees s, and tells what it used.  Fails
 * if the spawner does not say that it is over: then that is ended too.
 * `early`: struct native_end; for a run that had nothing to write to. */
MUST_CHECK int jails_end(struct jails *j, struct slot *s, bool early,
			 struct native_dead *ret, struct redoma_error *err);
/* As pool_count. */
void jails_count(const struct jails *j, uint64_t *ret_spawners,
		 uint64_t *ret_jails);
void jails_free(struct jails *j);
/* The same in a child that has a copy of j: its processes are not ended. */
void jails_forget(struct jails *j);

#endif
