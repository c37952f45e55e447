#include "pool/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clone.h"
#include "base/fd.h"
#include "pool/kernel.h"

#define WHERE "pool"

/* Moves the descriptors to 3, 4, ... without one overwriting another: first
 * all of them above the range, then down. */
static int place_fds(const struct spawn_request *q)
{
	int high[SPAWN_FDS_MAX];
	int null = open("/dev/null", O_RDWR);
	size_t i;

	for (i = 0; i < q->n_fds; i++) {
		high[i] = fcntl(q->fds[i], F_DUPFD_CLOEXEC, 64);
		if (high[i] < 0)
			return -1;
	}
	if (null < 0)
		return -1;
	for (i = 0; i < 3; i++)
		if (dup2(null, (int)i) < 0)
			return -1;
	for (i = 0; i < q->n_fds; i++)
		if (dup2(high[i], (int)i + 3) < 0)
			return -1;
	return close_range((unsigned)q->n_fds + 3, ~0U, 0);
}

static void exec_it(const struct spawn_request *q)
{
	char *const no_env[] = {NULL};
	struct sigaction usual = {.sa_handler = SIG_DFL};
	sigset_t none;
	int sig;

	/* What the host ignores would be ignored there too: a zygote whose
	 * SIGCHLD is ignored never hears of its children. */
	for (sig = 1; sig <= SIGRTMAX; sig++)
		sigaction(sig, &usual, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (!place_fds(q))
		execve(q->path, (char *const *)q->argv, no_env);
	_exit(127);
}

static pid_t clone_raw(uint64_t flags, int *pidfd, int exit_signal)
{
	struct clone_args a = {.flags = flags,
			       .pidfd = (uint64_t)(uintptr_t)pidfd,
			       .exit_signal = (uint64_t)exit_signal};

	return clone_child(&a);
}

/* In between: shares the caller's descriptors, so the pidfd that clone3 makes
 * here is valid there; only its number has to travel. */
static void middle(const struct spawn_request *q, int report)
{
	int pidfd = -1;
	pid_t pid = clone_raw(CLONE_PIDFD | CLONE_CLEAR_SIGHAND, &pidfd,
			      SIGCHLD);
	int say = pid < 0 ? -errno : pidfd;

	if (pid == 0)
		exec_it(q);
	if (write(report, &say, sizeof say) == sizeof say)
		_exit(0);
	/* Nobody will hear of it: neither it nor its descriptor may stay. */
	if (pid > 0) {
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
		close(pidfd);
	}
	_exit(1);
}

static void reap_middle(int pidfd)
{
	siginfo_t si;

	while (waitid(P_PIDFD, (id_t)pidfd, &si, WEXITED | __WALL) < 0 &&
	       errno == EINTR)
		;
	close(pidfd);
}

static int spawn_own(const struct spawn_request *q, int *ret_pidfd,
		     struct redoma_error *err)
{
	sigset_t all, old;
	int pidfd = -1;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = clone_raw(CLONE_PIDFD | CLONE_CLEAR_SIGHAND, &pidfd, SIGCHLD);
	if (pid == 0)
		exec_it(q);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (pid < 0)
		return err_sys(err, WHERE, "start %s", q->path);
	*ret_pidfd = fd_lift(pidfd);
	return 0;
}

static int spawn_apart(const struct spawn_request *q, int *ret_pidfd,
		       struct redoma_error *err)
{
	CLEANUP_FD int in = -1;
	CLEANUP_FD int out = -1;
	sigset_t all, old;
	int p[2], mid = -1, said = -EIO;
	pid_t pid;
	ssize_t n;

	if (pipe2(p, O_CLOEXEC))
		return err_sys(err, WHERE, "make a pipe");
	in = fd_lift(p[0]);
	out = fd_lift(p[1]);
	if (in < 0 || out < 0)
		return err_sys(err, WHERE, "make a pipe");
	/* No handler of the host may run in the processes made here. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = clone_raw(CLONE_FILES | CLONE_PIDFD, &mid, 0);
	if (pid == 0)
		middle(q, out);
	if (pid > 0)
		reap_middle(mid);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (pid < 0)
		return err_sys(err, WHERE, "start a process");
	close(TAKE_FD(out));
	do {
		n = read(in, &said, sizeof said);
	} while (n < 0 && errno == EINTR);
	if (n == sizeof said && said >= 0) {
		*ret_pidfd = fd_lift(said);
		if (*ret_pidfd >= 0)
			return 0;
		return err_sys(err, WHERE, "hold on to %s", q->path);
	}
	errno = n == sizeof said ? -said : EIO;
	return err_sys(err, WHERE, "start %s", q->path);
}

int spawn_process(const struct spawn_request *q, int *ret_pidfd,
		  struct redoma_error *err)
{
	if (q->n_fds > SPAWN_FDS_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "too many descriptors to hand over");
	if (access(q->path, X_OK))
		return err_sys(err, WHERE,
			       "cannot run %s (is the installation whole?)",
			       q->path);
	return q->own_child ? spawn_own(q, ret_pidfd, err)
			    : spawn_apart(q, ret_pidfd, err);
}

static bool gone(int pidfd, int ms)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	int n;

	while ((n = poll(&p, 1, ms)) < 0 && errno == EINTR)
		;
	return n > 0;
}

void spawn_end(int pidfd, int grace_ms)
{
	siginfo_t si;

	if (!gone(pidfd, grace_ms)) {
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
		gone(pidfd, 1000);
	}
	waitid(P_PIDFD, (id_t)pidfd, &si, WEXITED | WNOHANG | __WALL);
	close(pidfd);
}
