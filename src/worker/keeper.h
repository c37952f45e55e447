/* worker/keeper.h - the control group of a zygote and its children, and the
 * process that holds the rights over it.
 *
 * The group is the outer wall: what the engine and the worker's own limits let
 * through ends there.  The process that the core started makes it, gives birth
 * to the zygote inside, and becomes the keeper: it waits for the zygote's end,
 * however that came, removes the group, and ends.  It reads nothing from
 * anybody.  Born, not moved: to move a process, cgroup v2 waits for every CPU
 * of the machine.  If memory ran out and the zygote went with it, the keeper
 * has the last word on its channel: FRAME_DEAD of SPAWN_SLOT_ALL.  A keeper
 * that is killed takes the zygote with it; the next one removes the group. */
#ifndef WORKER_KEEPER_H
#define WORKER_KEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "jail/group.h"
#include "wire/frame.h"
#include "wire/spawn.h"

struct keeper { /* as the zygote knows it */
	pid_t pid;	  /* 0: there is none, and no group */
	uint8_t state;	  /* enum jail_state, of JAIL_CGROUP */
	uint8_t cgroups;  /* enum jail_cgroups */
	int oom_fd;	  /* of group_oom_count; -1: none */
	uint64_t oom_seen;
};

/* Returns in the zygote: a child of the caller, or the caller itself where no
 * group can be had.  Before anything is loaded: a small process is born
 * quickly, and has no page to copy that its keeper also holds. */
void keeper_enter(struct channel *control, const struct spawn_setup *s,
		  struct keeper *ret);
/* When the zygote's user is what it stays: ends with its keeper. */
MUST_CHECK int keeper_tie(const struct keeper *k, struct redoma_error *err);
/* Whether memory of the group ran out once more since this was last true. */
bool keeper_oom(struct keeper *k);

#endif
