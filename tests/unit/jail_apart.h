/* jail_apart.h - what tests of jails do in processes of their own, and hosts
 * that lack one thing. */
#ifndef JAIL_APART_H
#define JAIL_APART_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
/* cmocka.h comes before this file. */
#include "jail/jail.h"

#define ORDINARY_ID 65534
#define BIT(c) (1u << (c))

/* What a zygote and its child have to say; crosses a pipe. */
struct said {
	int prepare, lock;
	struct jail_report report;
	struct redoma_error err;
	int extra[8];
};

typedef void zygote_fn(int out, struct said *s);

static bool be_ordinary(void)
{
	return !setgroups(0, NULL) &&
	       !setresgid(ORDINARY_ID, ORDINARY_ID, ORDINARY_ID) &&
	       !setresuid(ORDINARY_ID, ORDINARY_ID, ORDINARY_ID);
}

static void tell(int out, const struct said *s)
{
	if (write(out, s, sizeof *s) != (ssize_t)sizeof *s)
		_exit(98);
}

/* Runs fn in a process of its own; what it told comes back. */
static bool apart(bool ordinary, zygote_fn *fn, struct said *ret)
{
	struct said s = {0};
	int both[2], status;
	bool heard;
	pid_t pid;

	assert_int_equal(pipe2(both, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		for (int sig = 1; sig < 32; sig++)
			signal(sig, SIG_DFL); /* cmocka has handlers */
		if (ordinary && geteuid() == 0 && !be_ordinary())
			_exit(99);
		alarm(getenv("REDOMA_SLOW") ? 300 : 60);
		fn(both[1], &s);
		_exit(0);
	}
	close(both[1]);
	heard = read(both[0], ret, sizeof *ret) == (ssize_t)sizeof *ret;
	close(both[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return heard;
}

static bool wait_for(int pidfd, siginfo_t *info)
{
	struct pollfd p = {pidfd, POLLIN, 0};

	memset(info, 0, sizeof *info);
	return poll(&p, 1, getenv("REDOMA_SLOW") ? 100000 : 10000) == 1 &&
	       !waitid(P_PIDFD, (id_t)pidfd, info, WEXITED);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		_exit(97);
	close(fd);
}

/* An outer user namespace, whose own limit of a kind of namespace is 0. */
static void forbid_kind(const char *kind)
{
	char path[64], map[64];
	unsigned uid = geteuid(), gid = getegid();

	prctl(PR_SET_DUMPABLE, 1);
	if (unshare(CLONE_NEWUSER))
		_exit(96);
	write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof map, "0 %u 1", uid);
	write_file("/proc/self/uid_map", map);
	snprintf(map, sizeof map, "0 %u 1", gid);
	write_file("/proc/self/gid_map", map);
	snprintf(path, sizeof path, "/proc/sys/user/max_%s_namespaces", kind);
	write_file(path, "0");
}

/* A container's filter: one call fails. */
static void refuse(int nr, int sys)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K,
			 SECCOMP_RET_ERRNO | (unsigned)sys),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = {4, code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p))
		_exit(95);
}

static void no_user(void) { forbid_kind("user"); }
static void no_net(void) { forbid_kind("net"); }
static void no_ipc(void) { forbid_kind("ipc"); }
static void no_uts(void) { forbid_kind("uts"); }
static void no_mnt(void) { forbid_kind("mnt"); }
static void no_cgroup(void) { forbid_kind("cgroup"); }
static void no_pid(void) { forbid_kind("pid"); }
static void no_landlock(void)
{
	refuse(SYS_landlock_create_ruleset, EOPNOTSUPP);
}
static void no_unshare(void) { refuse(SYS_unshare, EPERM); }
static void no_mount(void) { refuse(SYS_mount, EPERM); }
static void no_pivot(void) { refuse(SYS_pivot_root, EPERM); }
/* Of either kind: without clone3 alone clone takes its place. */
static void no_clone(void)
{
	refuse(SYS_clone3, ENOSYS);
	refuse(SYS_clone, EPERM);
}
static void no_seccomp(void) { refuse(SYS_seccomp, EINVAL); }
static void no_rlimits(void) { refuse(SYS_prlimit64, EPERM); }

#endif
