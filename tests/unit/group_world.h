/* Makers, groups and members for the tests of jail/group.h. */
#ifndef UNIT_GROUP_WORLD_H
#define UNIT_GROUP_WORLD_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/clock.h"
#include "jail/group_steps.h"
#include "jail/steps.h"

#define ORDINARY_ID 65534
#define MIB ((uint64_t)1 << 20)

typedef void member_fn(void *arg);

/* A member: born into the group where that works, joined to the rest.  It
 * ends by 98 if it cannot get in. */
static inline pid_t member_start(const struct group *c, member_fn *fn,
				 void *arg)
{
	struct clone_args a = {.flags = CLONE_CLEAR_SIGHAND,
			       .exit_signal = SIGCHLD};
	pid_t pid;

	if (group_birth_fd(c) >= 0) {
		a.flags |= CLONE_INTO_CGROUP;
		a.cgroup = (uint64_t)group_birth_fd(c);
	}
	pid = (pid_t)syscall(SYS_clone3, &a, sizeof a);
	if (pid)
		return pid;
	if (group_join(c))
		_exit(98);
	fn(arg);
	_exit(0);
}

static inline int member_wait(pid_t pid)
{
	int status = -1;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* Everybody who holds the writing end has ended. */
static inline bool all_ended(int in, int ms)
{
	struct pollfd p = {in, POLLIN, 0};
	char c;

	while (poll(&p, 1, ms) == 1)
		if (read(in, &c, 1) <= 0)
			return true;
	return false;
}

static inline void nap_ms(int ms)
{
	(void)poll(NULL, 0, ms);
}

static inline void be_ordinary(void)
{
	if (geteuid() == 0 &&
	    (syscall(SYS_setgroups, 0, NULL) || /* grp.h has a struct group */
	     setresgid(ORDINARY_ID, ORDINARY_ID, ORDINARY_ID) ||
	     setresuid(ORDINARY_ID, ORDINARY_ID, ORDINARY_ID)))
		_exit(99);
}

/* Directories below a place whose name contains `part`. */
static inline int count_named(int place, const char *part)
{
	int n = 0, fd = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fdopendir(fd);
	struct dirent *e;

	assert_non_null(d);
	while ((e = readdir(d)))
		n += strstr(e->d_name, part) != NULL;
	closedir(d);
	return n;
}

/* What a maker has left in the hierarchies. */
static inline int count_left(pid_t maker)
{
	struct place p;
	char part[32];
	int n = 0;

	snprintf(part, sizeof part, "-%d-", maker);
	place_find(&p);
	for (size_t i = 0; i < p.n; i++)
		n += count_named(p.h[i].place, part);
	if (p.above >= 0) /* where v2 may have put them */
		n += count_named(p.above, part);
	place_close(&p);
	return n;
}

#define open_or_fail(ret) open_at_or_fail(NULL, ret)

static inline void open_at_or_fail(struct place *p, struct groups **ret)
{
	struct redoma_error err = {0};
	int rc = p ? groups_open_at(p, ret, &err) : groups_open(ret, &err);

	if (rc)
		fail_msg("%s", err.text);
}

static inline struct group *make_or_fail(struct groups *g, uint64_t memory,
					 uint64_t pids)
{
	struct group_limits l = {.memory_bytes = memory, .pids = pids};
	struct redoma_error err = {0};
	struct group *c = NULL;

	if (group_make(g, &l, &c, &err))
		fail_msg("%s", err.text);
	return c;
}

static inline void end_or_fail(struct group *c)
{
	struct redoma_error err = {0};

	if (group_kill(c, 2000, &err) || group_end(c, &err))
		fail_msg("%s", err.text);
}

static inline void done(struct groups *g)
{
	struct redoma_error err = {0};

	if (groups_clear(g, 2000, &err))
		fail_msg("%s", err.text);
	groups_close(g);
	assert_int_equal(count_left(getpid()), 0);
}

/* Waits until a bomb has reached the limit, at most ten seconds: machines that
 * are emulated are slow. */
static inline bool bomb_refused(const struct group *c)
{
	struct group_usage u = {0};

	for (int i = 0; i < 1000 && !u.pids_refused; i++) {
		nap_ms(10);
		if (group_usage(c, &u, NULL))
			return false;
	}
	return u.pids_refused > 0;
}

/* Members. */

static inline void sleep_long(void *arg)
{
	(void)arg;
	nap_ms(20000);
}

/* Touches that many MiB, then stays for a moment. */
static inline void touch_mib(void *arg)
{
	size_t n = *(const size_t *)arg * MIB;
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(97);
	for (size_t i = 0; i < n; i += 4096)
		p[i] = 1;
	nap_ms(20);
}

struct bomb {
	_Atomic long births; /* a bound of its own, in case no other holds */
};

#define BIRTHS_MAX 500

/* New sessions, double forks, some that stop themselves, never an end. */
static inline void explode(void *arg)
{
	struct bomb *b = arg;
	uint64_t end = clock_monotonic_us() + 10 * 1000 * 1000;

	signal(SIGTERM, SIG_IGN);
	while (clock_monotonic_us() < end) {
		pid_t pid = b->births < BIRTHS_MAX ? fork() : -1;

		if (pid == 0) {
			long n = b->births++;

			setsid();
			if (n % 4 == 1)
				raise(SIGSTOP);
			if (fork() > 0 && n % 2)
				_exit(0);
		}
		if (pid < 0)
			nap_ms(1);
	}
}

#endif
