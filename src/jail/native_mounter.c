/* The mounter: keeps the mounts of the host in sight, so that a descriptor
 * that somebody else opened can be turned into a mount.  A mount can be copied
 * only by who has it in its own mount namespace; an ordinary user's is a copy
 * of the host's, so there the file is found again by its path, and must be the
 * same. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "jail/native_state.h"

#define WHERE "jail"

struct question {
	uint32_t number;
};

struct answer {
	uint32_t number;
	int sys; /* 0: a mount comes with it */
	char words[64];
};

union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

static int put(int sock, const void *p, size_t len, int fd)
{
	struct iovec v = {(void *)p, len};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	union control c;

	memset(&c, 0, sizeof c);
	if (fd >= 0) {
		m.msg_control = &c;
		m.msg_controllen = sizeof c.room;
		c.head.cmsg_level = SOL_SOCKET;
		c.head.cmsg_type = SCM_RIGHTS;
		c.head.cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(&c.head), &fd, sizeof fd);
	}
	return sendmsg(sock, &m, MSG_NOSIGNAL) == (ssize_t)len ? 0 : -1;
}

/* 0, or -1: the other end is gone, or talks nonsense. */
static int get(int sock, void *p, size_t len, int *ret_fd)
{
	struct iovec v = {p, len};
	union control c;
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = &c,
			   .msg_controllen = sizeof c.room};
	const struct cmsghdr *h;
	ssize_t n;

	*ret_fd = -1;
	do
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	h = n < 0 ? NULL : CMSG_FIRSTHDR(&m);
	if (h && h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS &&
	    h->cmsg_len == CMSG_LEN(sizeof *ret_fd))
		memcpy(ret_fd, CMSG_DATA(h), sizeof *ret_fd);
	return n == (ssize_t)len ? 0 : -1;
}

static const char *find_again(int proc_fd, int fd, int *ret_fd)
{
	CLEANUP_FD int again = -1;
	char link[32], path[PATH_MAX];
	struct stat want, is;
	ssize_t n;

	snprintf(link, sizeof link, "self/fd/%d", fd);
	n = readlinkat(proc_fd, link, path, sizeof path - 1);
	if (n < 0)
		return "find the path of a granted file";
	path[n] = 0;
	again = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (again < 0 || fstat(fd, &want) || fstat(again, &is))
		return "find a granted file again";
	if (want.st_dev != is.st_dev || want.st_ino != is.st_ino ||
	    (want.st_mode & S_IFMT) != (is.st_mode & S_IFMT)) {
		errno = ESTALE;
		return "find a granted file again";
	}
	*ret_fd = TAKE_FD(again);
	return NULL;
}

static const char *copy(int proc_fd, int fd, int *ret_fd)
{
	const unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
			       AT_RECURSIVE | AT_EMPTY_PATH;
	struct mount_attr a = {
		.attr_set = MOUNT_ATTR_RDONLY | NATIVE_LOCKED_ATTRS,
		.propagation = MS_PRIVATE,
	};
	CLEANUP_FD int tree = -1;
	CLEANUP_FD int again = -1;
	struct stat st;
	const char *what;

	if (fstat(fd, &st))
		return "look at a granted file";
	errno = EINVAL;
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return "take a file or directory for a grant";
	tree = open_tree(fd, "", flags);
	if (tree < 0) {
		what = find_again(proc_fd, fd, &again);
		if (what)
			return what;
		tree = open_tree(again, "", flags);
	}
	if (tree < 0)
		return "copy the mount of a granted file";
	if (mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &a, sizeof a))
		return "make the mount of a granted file read-only";
	*ret_fd = TAKE_FD(tree);
	return NULL;
}

static void serve(int sock, int proc_fd)
{
	struct question q;
	CLEANUP_FD int fd = -1;

	while (!get(sock, &q, sizeof q, &fd)) {
		struct answer a = {.number = q.number};
		CLEANUP_FD int tree = -1;
		const char *what = copy(proc_fd, fd, &tree);

		if (what) {
			a.sys = errno ? errno : EINVAL;
			snprintf(a.words, sizeof a.words, "%s", what);
		}
		if (put(sock, &a, sizeof a, tree))
			return;
		close(fd);
		fd = -1;
	}
}

/* Ends when the spawner does: it then has the only end of the socket. */
static _Noreturn void be_mounter(const struct native *n, int sock)
{
	static const char name[] = "redoma-mounter";
	CLEANUP_FD int inert = -1;
	int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int keep[2] = {sock < proc ? sock : proc, sock < proc ? proc : sock};

	(void)prctl(PR_SET_NAME, name, 0, 0, 0);
	for (int sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL);
	if (proc < 0 || session_tie(n->j.self_fd) ||
	    fds_inert(proc, &inert) || fds_close(keep, 2, inert) ||
	    caps_shrink() || caps_forbid_new() || session_leave() ||
	    session_tied())
		_exit(1);
	serve(sock, proc);
	_exit(0);
}

const char *mounter_start(struct native *n)
{
	CLEANUP_FD int ours = -1;
	CLEANUP_FD int its = -1;
	CLEANUP_FD int pidfd = -1;
	int both[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, both))
		return "make a socket for the mounter";
	ours = both[0];
	its = both[1];
	/* No exit signal: it is not a jail that the spawner waits for. */
	pid = fork_raw(0, 0, &pidfd);
	if (pid < 0)
		return "clone3 of the mounter";
	if (!pid)
		be_mounter(n, its);
	n->mounter_fd = TAKE_FD(ours);
	return NULL;
}

static int left_ms(const struct timespec *end)
{
	struct timespec now;
	int64_t ms;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (end->tv_sec - now.tv_sec) * 1000 +
	     (end->tv_nsec - now.tv_nsec) / 1000000;
	return ms < 0 ? 0 : ms > INT_MAX ? INT_MAX : (int)ms;
}

/* The answer to the last question; older ones that come late are dropped. */
static int hear(struct native *n, const struct timespec *end,
		struct answer *ret, int *ret_fd)
{
	struct pollfd p = {.fd = n->mounter_fd, .events = POLLIN};
	int rc;

	do {
		CLEANUP_FD int fd = -1;

		rc = poll(&p, 1, left_ms(end));
		if (rc < 0 && errno == EINTR)
			continue;
		if (rc <= 0)
			return rc ? -1 : 1;
		if (get(n->mounter_fd, ret, sizeof *ret, &fd))
			return -1;
		if (ret->number == n->asked) {
			*ret_fd = TAKE_FD(fd);
			return 0;
		}
	} while (true);
}

int native_mount(struct native *n, int fd, int wait_ms, int *ret_fd,
		 struct redoma_error *err)
{
	struct question q = {.number = ++n->asked};
	struct answer a;
	CLEANUP_FD int tree = -1;
	struct timespec end;
	int rc;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += wait_ms / 1000;
	end.tv_nsec += wait_ms % 1000 * 1000000L;
	rc = put(n->mounter_fd, &q, sizeof q, fd);
	if (!rc)
		rc = hear(n, &end, &a, &tree);
	if (rc > 0)
		return err_set(err, REDOMA_E_BUSY, WHERE,
			       "the mount of a granted file took longer than "
			       "%d ms: its file system does not answer",
			       wait_ms);
	if (rc)
		return err_sys(err, WHERE, "ask for the mount of a grant");
	if (a.sys || tree < 0) {
		a.words[sizeof a.words - 1] = 0;
		errno = a.sys ? a.sys : EPROTO;
		return err_sys(err, WHERE, "%s", a.words);
	}
	*ret_fd = TAKE_FD(tree);
	return 0;
}
