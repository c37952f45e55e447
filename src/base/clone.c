#include "base/clone.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ONLY_CLONE3 (~(uint64_t)0xffffffff & ~CLONE_CLEAR_SIGHAND)

/* What CLONE_CLEAR_SIGHAND does. */
static void clear_handlers(void)
{
	struct sigaction usual = {.sa_handler = SIG_DFL}, is;

	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (!sigaction(sig, NULL, &is) && is.sa_handler != SIG_IGN)
			(void)sigaction(sig, &usual, NULL);
}

static pid_t clone_old(const struct clone_args *a)
{
	uint64_t flags = a->flags & ~CLONE_CLEAR_SIGHAND;
	sigset_t all, old;
	long pid;

	/* No handler may run in the child before it is cleared. */
	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &old);
	/* x86-64: flags, stack, parent_tid (the pidfd), child_tid, tls. */
	pid = syscall(SYS_clone, flags | a->exit_signal, NULL,
		      (int *)(uintptr_t)a->pidfd, NULL, 0);
	if (!pid && a->flags & CLONE_CLEAR_SIGHAND)
		clear_handlers();
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	return (pid_t)pid;
}

pid_t clone_child(struct clone_args *a)
{
	long pid = syscall(SYS_clone3, a, sizeof *a);

	if (pid >= 0 || errno != ENOSYS || a->flags & ONLY_CLONE3)
		return (pid_t)pid;
	return clone_old(a);
}
