#include "jail/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <unistd.h>
#include "base/clone.h"
#include "jail/group_steps.h"

static pid_t fork_with(struct clone_args *a, int *ret_pidfd)
{
	int pidfd = -1;
	pid_t pid;

	a->flags |= CLONE_PIDFD;
	a->pidfd = (uintptr_t)&pidfd;
	pid = clone_child(a);
	if (pid >= 0)
		*ret_pidfd = pid ? pidfd : -1;
	return pid;
}

pid_t fork_raw(uint64_t flags, int exit_signal, int *ret_pidfd)
{
	struct clone_args a = {.flags = flags,
			       .exit_signal = (unsigned)exit_signal};

	return fork_with(&a, ret_pidfd);
}

pid_t fork_into(uint64_t flags, int group_fd, int *ret_pidfd)
{
	struct clone_args a = {.flags = flags, .exit_signal = SIGCHLD};

	if (group_fd >= 0) {
		a.flags |= CLONE_INTO_CGROUP;
		a.cgroup = (unsigned)group_fd;
	}
	return fork_with(&a, ret_pidfd);
}

/* Of that hierarchy too, then, as of the others: group_join says so if there
 * is no descriptor to do it by. */
static void join_instead(struct group *c)
{
	struct hier *h = &c->g->h[0];

	h->born = false;
	c->g->can &= ~(uint32_t)GROUP_BIRTH;
	if (c->join_fds[0] < 0)
		c->join_fds[0] = gfile_open(h->place, c->at, "cgroup.procs",
					    O_WRONLY);
}

pid_t group_fork(struct group *c)
{
	int pidfd = -1;
	pid_t pid = fork_into(0, group_birth_fd(c), &pidfd);

	if (pid < 0 && group_birth_fd(c) >= 0 && !err_is_shortage(errno)) {
		join_instead(c);
		pid = fork_into(0, -1, &pidfd);
	}
	if (pid > 0)
		close(pidfd);
	return pid;
}

pid_t jail_fork(const struct jail *j, int *ret_pidfd, struct redoma_error *err)
{
	pid_t pid = fork_raw(CLONE_NEWPID, SIGCHLD, ret_pidfd);

	if (pid < 0 && (j->may_lack & 1u << JAIL_PID) && errno != ENOMEM &&
	    errno != EAGAIN)
		pid = fork_raw(0, SIGCHLD, ret_pidfd);
	if (pid < 0 && (errno == ENOMEM || errno == EAGAIN))
		return err_sys(err, "jail", "clone3 of a worker");
	if (pid < 0)
		return jail_refuse(JAIL_PID,
				   "clone3 of a worker in a new pid namespace",
				   err);
	return pid;
}
