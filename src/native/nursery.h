/* native/nursery.h - the jails of one spawner: born, parked, admitted, ended,
 * buried. */
#ifndef NATIVE_NURSERY_H
#define NATIVE_NURSERY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "jail/group.h"
#include "jail/native.h"
#include "native/init.h"
#include "wire/frame.h"
#include "wire/native.h"
#include "wire/spawn.h"

struct cot { /* one jail */
	pid_t pid; /* of its init; 0: free */
	uint32_t slot;
	int sock;  /* the core's, until it is parked; else -1 */
	int pidfd; /* the core gets a copy */
	int space; /* its mount namespace; -1 */
	struct group *group; /* owned; NULL: without */
	uint64_t weight;    /* that it has, for the CPU */
	uint64_t old_at_us; /* when its run is no short one; 0: not, or it is */
	bool admitted, oom;
	bool lies; /* it is not as locked as it says */
	uint32_t uid; /* struct native_admitted */
	bool told; /* its death, though it may not be seen dead yet */
	bool stuck; /* it would not die in time, and is not waited for */
};

struct remains { /* of a jail whose end was told */
	struct group *group; /* owned */
	int space;
};

struct nursery {
	struct init_kit kit;
	struct channel *channel; /* to the core; borrowed */
	struct groups *groups;	 /* owned; NULL: without */
	struct group *spare;	 /* owned; for a jail that may be asked for */
	uint64_t weight;	 /* of all jails together; 0: cannot be set */
	uint32_t next_slot;
	uint32_t idle_deaths; /* since the last run */
	struct redoma_error lie; /* of the last that lied */
	bool calm; /* a birth failed: none by itself until the core asks */
	uint64_t quiet_until_us; /* a run may be short, and who waits for its
				    end is to go on before we do */
	size_t n_remains;
	struct remains remains[SPAWN_SLOTS_MAX];
	struct cot cots[SPAWN_SLOTS_MAX];
};

/* Once n->groups is there: finds out whether jails can be weighed; this process
 * and what it forks then count with them. */
void nursery_weigh(struct nursery *n);
/* Makes one jail. */
MUST_CHECK int nursery_make(struct nursery *n, struct redoma_error *err);
/* Makes as many as are missing to those that are to be parked, and removes what
 * is left of those that ended.  While one waits, not beside a run that has just
 * begun, for most are over soon, nor when one has just ended.  A run that is no
 * short one gives way from then on. */
MUST_CHECK int nursery_fill(struct nursery *n, struct redoma_error *err);
/* Milliseconds until nursery_fill is to be asked again; -1: no need. */
int nursery_pause_ms(const struct nursery *n);
/* A jail spoke to us: it is parked and goes to the core, or it failed and the
 * core hears why. */
MUST_CHECK int nursery_deliver(struct nursery *n, struct cot *c,
			       struct redoma_error *err);
/* FRAME_ADMIT, answered; takes the frame's descriptors. */
MUST_CHECK int nursery_admit(struct nursery *n, const struct native_admit *a,
			     struct redoma_error *err);
/* FRAME_END; a slot that is gone already is no error. */
MUST_CHECK int nursery_end(struct nursery *n, const struct native_end *e,
			   struct redoma_error *err);
/* The memory of one has run out: it is ended. */
MUST_CHECK int nursery_oom(struct nursery *n, struct cot *c,
			   struct redoma_error *err);
/* Tells the core of all that have ended. */
MUST_CHECK int nursery_reap(struct nursery *n, struct redoma_error *err);
/* Kills everything; the sweeper removes what is left of groups.  False:
 * something waits in the kernel and does not die before that lets it go. */
bool nursery_close(struct nursery *n);

#endif
