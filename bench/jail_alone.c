/* bench_jail_alone TRUE N [COMMAND...]: what the jail itself costs.
 *
 * A maker prepares the root once, as a spawner does.  N rounds: a jail is made,
 * control group included, TRUE (a static program) runs in it, and its init is
 * dead; the maker does nothing else, so this is the jail without the protocol
 * of runs around it.  Then TRUE is run without a jail, and COMMAND.
 * A line of nanoseconds a round: the jail, of which its control group; TRUE;
 * COMMAND (0: none). */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "jail/group.h"
#include "jail/native.h"
#include "plain.h"

#define WARM 3
#define MEMORY ((uint64_t)64 << 20)
#define PIDS 16u
#define INSIDE "/true"
#define END_MS 2000

struct maker {
	struct native *jail;
	struct groups *groups;
	int space; /* of the jail that has just ended */
};

struct cost {
	uint64_t all, group;
};

static void check(int r, const struct redoma_error *e)
{
	if (!r)
		return;
	fprintf(stderr, "bench_jail_alone: %s\n", e->text);
	_exit(1);
}

static void must(int r, const char *what)
{
	if (r >= 0)
		return;
	perror(what);
	_exit(1);
}

static _Noreturn void be_payload(struct native *n, const int *keep, int gate)
{
	static char *argv[] = {(char *)INSIDE, NULL};
	static char *env[] = {NULL};
	const struct native_payload p = {.keep = keep,
					 .n_keep = 3,
					 .gate_fd = gate,
					 .file_bytes = MEMORY,
					 .max_fds = 64,
					 .cpu_s = 10};
	char go;

	if (native_payload(n, &p) || read(3, &go, 1) != 1)
		_exit(98);
	execve(INSIDE, argv, env);
	_exit(99);
}

static void give_space(struct native *n, int sock)
{
	int fd = native_take_space(n);
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof fd)];
	} control = {.head = {.cmsg_len = CMSG_LEN(sizeof fd),
			      .cmsg_level = SOL_SOCKET,
			      .cmsg_type = SCM_RIGHTS}};
	struct iovec part = {(char *)"", 1};
	const struct msghdr m = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof control};

	memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
	must((int)sendmsg(sock, &m, 0), "give the mount namespace away");
	close(fd);
}

static _Noreturn void be_init(struct native *n, int sock)
{
	int keep[] = {0, 1, 2, sock}, gate[2];
	struct jail_report report;
	struct redoma_error e;
	siginfo_t end;
	pid_t pid;

	check(native_enter(n, keep, 4, &report, &e), &e);
	give_space(n, sock);
	must(pipe2(gate, O_CLOEXEC), "pipe2");
	gate[0] = fcntl(gate[0], F_DUPFD_CLOEXEC, 64);
	must(pid = fork(), "fork");
	if (!pid)
		be_payload(n, keep, gate[0]);
	check(native_settle(n, &e), &e);
	must((int)write(gate[1], "", 1), "write");
	must(waitid(P_PID, (id_t)pid, &end, WEXITED), "waitid");
	_exit(end.si_code == CLD_EXITED ? end.si_status : 97);
}

static void take_space(struct maker *m, int sock)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec part = {&byte, 1};
	struct msghdr h = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof control};

	must((int)recvmsg(sock, &h, MSG_CMSG_CLOEXEC), "recvmsg");
	must(CMSG_FIRSTHDR(&h) ? 0 : -1, "a jail without mount namespace");
	memcpy(&m->space, CMSG_DATA(&control.head), sizeof m->space);
}

static struct cost one_jail(struct maker *m)
{
	const struct group_limits l = {MEMORY, PIDS, 0};
	struct group *group = NULL;
	uint64_t from = now_ns(), grouped;
	struct redoma_error e;
	struct cost c;
	int pidfd = -1, sv[2];
	siginfo_t end;
	pid_t pid;

	check(group_make(m->groups, &l, &group, &e), &e);
	grouped = now_ns();
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv), "socket");
	pid = native_fork(m->jail, group, &pidfd, &e);
	check(pid < 0 ? pid : 0, &e);
	if (!pid)
		be_init(m->jail, sv[1]);
	must(waitid(P_PIDFD, (id_t)pidfd, &end, WEXITED), "waitid");
	c = (struct cost){now_ns() - from, grouped - from};
	must(end.si_code == CLD_EXITED && !end.si_status ? 0 : -1, "the jail");
	take_space(m, sv[0]);
	close(m->space);
	close(sv[0]);
	close(sv[1]);
	close(pidfd);
	check(group_kill(group, END_MS, &e), &e);
	check(group_end(group, &e), &e);
	return c;
}

static _Noreturn void be_maker(const char *program, int sock)
{
	const struct native_entry root[] = {
		{NATIVE_FILE, true, INSIDE, program}};
	const struct native_options o = {.entries = root,
					 .n_entries = 1,
					 .tmp_bytes = (uint64_t)16 << 20,
					 .memory_bytes = MEMORY,
					 .pids = PIDS};
	struct maker m = {.space = -1};
	struct jail_report report;
	struct redoma_error e;
	char ask;

	check(groups_open(&m.groups, &e), &e);
	check(native_prepare(&o, &m.jail, &report, &e), &e);
	while (read(sock, &ask, 1) == 1) {
		struct cost c;

		rest();
		c = one_jail(&m);
		must((int)write(sock, &c, sizeof c), "write");
	}
	native_free(m.jail);
	groups_close(m.groups);
	_exit(0);
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 0;
	char *program[] = {argc > 1 ? argv[1] : NULL, NULL};
	int sv[2], status;
	pid_t pid;

	if (n <= 0) {
		fprintf(stderr, "usage: see bench/jail_alone.c\n");
		return 2;
	}
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv), "socket");
	must(pid = fork(), "fork");
	if (!pid) {
		close(sv[0]);
		be_maker(argv[1], sv[1]);
	}
	close(sv[1]);
	for (long i = 0; i < n + WARM; i++) {
		uint64_t bare, command;
		struct cost c;

		must((int)write(sv[0], "", 1), "write");
		if (read(sv[0], &c, sizeof c) != sizeof c)
			return 1;
		bare = plain(program);
		command = argc > 3 ? plain(argv + 3) : 0;
		if (i >= WARM)
			printf("%lu %lu %lu %lu\n", c.all, c.group, bare,
			       command);
	}
	close(sv[0]);
	return waitpid(pid, &status, 0) != pid || status;
}
