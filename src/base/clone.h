/* base/clone.h - clone3(2), also where a filter answers ENOSYS to it.
 *
 * A filter cannot see the flags of clone3, so those of containers make it
 * ENOSYS: clone(2) then does the same, as far as it can.  Sources: clone(2),
 * seccomp(2). */
#ifndef BASE_CLONE_H
#define BASE_CLONE_H

#include <sys/types.h>
#include "base/err.h"

struct clone_args;

/* Like fork(2), by a->flags, a->pidfd, a->exit_signal and a->cgroup; no libc
 * atfork handler runs.  -1 with errno; ENOSYS for what only clone3 can do
 * (CLONE_INTO_CGROUP).  Allocates nothing, takes no lock. */
MUST_CHECK pid_t clone_child(struct clone_args *a);

#endif
