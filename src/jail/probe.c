/* The probe is the jail itself, allowed to lack everything, around a child
 * that only says what it got. */
#include "jail/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "jail/steps.h"

#define ALL ((1u << JAIL_CONTROLS) - 1)
#define PROBE_MS 10000

struct answer {
	int rc;
	struct jail_report report;
	struct redoma_error err;
};

static _Noreturn void tell(int out, const struct answer *a)
{
	_exit(write(out, a, sizeof *a) == (ssize_t)sizeof *a ? 0 : 1);
}

static _Noreturn void try_all(int out)
{
	struct jail_options o = {.may_lack = ALL, .keep = &out, .n_keep = 1};
	struct jail j = JAIL_CLOSED;
	struct answer a = {0};
	siginfo_t info;
	int pidfd = -1;
	pid_t pid;

	o.file_bytes = sizeof a;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	a.rc = jail_build(&j, &o, NULL, &a.err);
	if (a.rc)
		tell(out, &a);
	pid = jail_fork(&j, &pidfd, &a.err);
	if (pid < 0) {
		a.rc = pid;
		tell(out, &a);
	}
	if (!pid) {
		a.rc = jail_lock(&j, &o, &a.report, &a.err);
		tell(out, &a);
	}
	close(out);
	(void)waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | __WALL);
	_exit(0);
}

/* Reads the answer, with a limit on the time. */
static int hear(int in, int pidfd, struct answer *ret, struct redoma_error *err)
{
	struct pollfd p = {.fd = in, .events = POLLIN};
	siginfo_t info = {0};
	struct answer a;
	ssize_t n = 0;

	if (poll(&p, 1, PROBE_MS) > 0)
		n = read(in, &a, sizeof a);
	(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | __WALL) &&
	       errno == EINTR)
		continue;
	if (n != (ssize_t)sizeof a)
		return err_set(err, REDOMA_E_UNSUPPORTED, "jail",
			       "the probe gave no answer (%s %d)",
			       info.si_code == CLD_EXITED ? "exit" : "signal",
			       info.si_status);
	*ret = a;
	return 0;
}

int jail_probe(struct jail_report *ret, struct redoma_error *err)
{
	CLEANUP_FD int in = -1;
	CLEANUP_FD int out = -1;
	CLEANUP_FD int pidfd = -1;
	struct answer a = {0};
	int both[2], rc;
	pid_t pid;

	if (pipe2(both, O_CLOEXEC))
		return err_sys(err, "jail", "make a pipe for the probe");
	in = both[0];
	out = both[1];
	/* No exit signal: the host program's wait() does not see the child. */
	pid = fork_raw(CLONE_CLEAR_SIGHAND, 0, &pidfd);
	if (pid < 0)
		return err_sys(err, "jail", "clone3 of the probe");
	if (!pid)
		try_all(out);
	close(out);
	out = -1;
	rc = hear(in, pidfd, &a, err);
	if (rc)
		return rc;
	if (a.rc) {
		if (err)
			*err = a.err;
		return a.rc;
	}
	*ret = a.report;
	ret->cgroups = (uint8_t)cgroup_detect(&ret->sys[JAIL_CGROUP]);
	ret->state[JAIL_CGROUP] = ret->cgroups == JAIL_CGROUPS_NONE ||
						  ret->cgroups ==
							  JAIL_CGROUPS_DENIED
					  ? JAIL_UNAVAILABLE
					  : JAIL_ENFORCED;
	return 0;
}
