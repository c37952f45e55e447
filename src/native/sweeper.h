/* native/sweeper.h - a process beside the spawner that does nothing until the
 * spawner has ended, however it did, and then ends what is left in its control
 * groups and removes them.  It keeps the rights that the spawner gives up: the
 * directories at the top of a hierarchy are root's. */
#ifndef NATIVE_SWEEPER_H
#define NATIVE_SWEEPER_H

#include <sys/types.h>
#include "base/err.h"
#include "jail/group.h"

struct sweeper {
	pid_t pid; /* 0: none */
	int pipe;  /* its end tells that the spawner is gone; owned */
};

/* Before native_prepare; `control` is closed in it. */
MUST_CHECK int sweeper_start(struct groups *groups, int control,
			     struct sweeper *ret, struct redoma_error *err);
/* Lets it do its work and waits for that. */
void sweeper_finish(struct sweeper *s);

#endif
