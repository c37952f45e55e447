/* Takes the kernel jail's namespaces out of a test program; bare.c has the
 * lock. */
#include <sys/syscall.h>
#include <unistd.h>

#include "jail/jail.h"

int __wrap_jail_prepare(const struct jail_options *o, struct jail **ret,
			struct jail_report *report, struct redoma_error *err);
pid_t __wrap_jail_fork(const struct jail *j, int *ret_pidfd,
		       struct redoma_error *err);

int __wrap_jail_prepare(const struct jail_options *o, struct jail **ret,
			struct jail_report *report, struct redoma_error *err)
{
	(void)o, (void)report, (void)err;
	*ret = NULL;
	return 0;
}

pid_t __wrap_jail_fork(const struct jail *j, int *ret_pidfd,
		       struct redoma_error *err)
{
	pid_t pid = fork();

	(void)j;
	if (pid < 0)
		return err_sys(err, "jail", "fork");
	*ret_pidfd = pid ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	return pid;
}
