#include "jail/steps.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool refused(long nr, long first)
{
	return syscall(nr, first, NULL, NULL, 0, 0) < 0 &&
	       (errno == EPERM || errno == ENOSYS);
}

/* A filter around us, which is around the jail as well: there are no keys. */
static bool no_keys(void)
{
	return refused(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING) &&
	       refused(SYS_add_key, 0) && refused(SYS_request_key, 0);
}

/* Keyrings are not separated by namespaces.  One for the zygote and all its
 * children: a keyring each would use up the user's quota of 200 keys. */
const char *session_keyring(void)
{
	int sys;

	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0)
		return NULL;
	sys = errno;
	if (no_keys())
		return NULL;
	errno = sys;
	return "join a fresh session keyring";
}

const char *session_tie(int parent_pidfd)
{
	struct pollfd p = {.fd = parent_pidfd, .events = POLLIN};

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		return "tie the worker's life to the zygote's";
	/* The zygote may have died before: getppid() is 0 in a new pid
	 * namespace and tells nothing. */
	if (poll(&p, 1, 0) == 0)
		return NULL;
	errno = p.revents ? ESRCH : errno;
	return "check that the zygote is alive";
}

const char *session_tied(void)
{
	int sig = 0;

	if (prctl(PR_GET_PDEATHSIG, &sig, 0, 0, 0))
		return "read the worker's tie to the zygote";
	if (sig == SIGKILL)
		return NULL;
	errno = EPERM;
	return "verify the worker's tie to the zygote";
}

const char *session_leave(void)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return "become non-dumpable";
	if (prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
		return "verify that the worker is non-dumpable";
	if (setsid() < 0)
		return "start a session";
	umask(077);
	return NULL;
}
