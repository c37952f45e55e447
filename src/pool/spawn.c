#include "pool/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clone.h"
#include "base/fd.h"
#include "pool/kernel.h"

#define WHERE "pool"

/* What is not handed over goes first: where the host has opened all that it may
 * there would be no room. */
static void close_others(const struct spawn_request *q)
{
	unsigned from = 0, next = 0;

	while (next != ~0U) {
		next = ~0U;
		for (size_t i = 0; i < q->n_fds; i++)
			if ((unsigned)q->fds[i] >= from &&
			    (unsigned)q->fds[i] < next)
				next = (unsigned)q->fds[i];
		if (next > from)
			close_range(from, next == ~0U ? next : next - 1, 0);
		from = next + 1;
	}
}

/* Moves the descriptors to 3, 4, ... without one overwriting another: first
 * all of them above the range, then down. */
static int place_fds(const struct spawn_request *q)
{
	int high[SPAWN_FDS_MAX], null;
	size_t i;

	close_others(q);
	null = open("/dev/null", O_RDWR);
	for (i = 0; i < q->n_fds; i++) {
		high[i] = fcntl(q->fds[i], F_DUPFD_CLOEXEC,
				3 + SPAWN_FDS_MAX);
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

/* A word of the host's, which has a pidfd of us then.  False: it never will. */
static bool may_go(int word)
{
	char go;
	ssize_t n;

	do {
		n = recv(word, &go, sizeof go, 0);
	} while (n < 0 && errno == EINTR);
	return n == sizeof go;
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

/* Room for one descriptor in a message. */
union one_fd {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* An errno; if that is 0, with the descriptor. */
static bool tell(int socket, int sys, int pidfd)
{
	struct iovec v = {&sys, sizeof sys};
	union one_fd room = {0};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};

	if (!sys) {
		m.msg_control = &room;
		m.msg_controllen = sizeof room;
		room.align.cmsg_len = CMSG_LEN(sizeof pidfd);
		room.align.cmsg_level = SOL_SOCKET;
		room.align.cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(&room.align), &pidfd, sizeof pidfd);
	}
	return sendmsg(socket, &m, MSG_NOSIGNAL) == sizeof sys;
}

/* Of who is gone and has told, or never will: there is no wait.  -1 with errno,
 * EIO if nobody told. */
static int hear(int socket)
{
	int sys = EIO, fd = -1;
	struct iovec v = {&sys, sizeof sys};
	union one_fd room = {0};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = &room,
			   .msg_controllen = sizeof room};
	ssize_t n;

	do {
		n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	if (n == sizeof sys && !sys && CMSG_FIRSTHDR(&m)) {
		memcpy(&fd, CMSG_DATA(&room.align), sizeof fd);
		return fd_lift(fd);
	}
	/* It came, and there was no number for it. */
	if (n == sizeof sys && !sys)
		sys = EMFILE;
	if (n >= 0 || errno == EAGAIN)
		errno = n == sizeof sys ? sys : EIO;
	return -1;
}

/* In between, with descriptors of its own: whenever it is killed, what it has
 * made goes with it.  Closes `host`, so that nobody but the host can speak. */
static void middle(const struct spawn_request *q, int report, int host)
{
	int pidfd = -1;
	pid_t pid;

	close(host);
	pid = clone_raw(CLONE_PIDFD | CLONE_CLEAR_SIGHAND, &pidfd, SIGCHLD);
	if (pid == 0 && may_go(report))
		exec_it(q);
	if (pid == 0)
		_exit(127);
	_exit(tell(report, pid < 0 ? errno : 0, pidfd) ? 0 : 1);
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
	int p[2], mid = -1, said;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p))
		return err_sys(err, WHERE, "make sockets to start %s", q->path);
	in = fd_lift(p[0]);
	out = fd_lift(p[1]);
	if (in < 0 || out < 0)
		return err_sys(err, WHERE, "make sockets to start %s", q->path);
	/* No handler of the host may run in the processes made here. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = clone_raw(CLONE_PIDFD, &mid, 0);
	if (pid == 0)
		middle(q, out, in);
	if (pid > 0)
		reap_middle(mid);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (pid < 0)
		return err_sys(err, WHERE, "start a process for %s", q->path);
	close(TAKE_FD(out));
	said = hear(in);
	if (said < 0)
		return err_sys(err, WHERE, "start %s", q->path);
	/* It goes on, or has been killed. */
	(void)!send(in, "", 1, MSG_NOSIGNAL);
	*ret_pidfd = said;
	return 0;
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
