/* jail_prepare, jail_fork, jail_lock, jail_seal and jail_probe as others use
 * them, as root and as an ordinary user.
 * test-seconds: 120 */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "jail/kernel.h"
#include "jail/steps.h"
#include "jail_apart.h"

static struct jail_options options(const int *keep, size_t n)
{
	return (struct jail_options){.keep = keep,
				     .n_keep = n,
				     .memory_bytes = 1 << 28,
				     .stack_bytes = 8 << 20,
				     .file_bytes = 4096};
}

/* One child that locks itself and tells. */
static void lock_one(int out, struct said *s)
{
	struct jail_options o = options(&out, 1);
	struct jail *j = NULL;
	siginfo_t info;
	int pidfd;
	pid_t pid;

	s->prepare = jail_prepare(&o, &j, &s->report, &s->err);
	if (s->prepare) {
		tell(out, s);
		return;
	}
	pid = jail_fork(j, &pidfd, &s->err);
	if (pid == 0) {
		s->lock = jail_lock(j, &o, &s->report, &s->err);
		s->extra[0] = (int)getpid();
		s->extra[1] = (int)write(2, "x", 1) < 0 ? errno : 0;
		s->extra[2] = (int)lseek(0, 0, SEEK_SET) < 0 ? errno : 0;
		tell(out, s);
		_exit(0);
	}
	wait_for(pidfd, &info);
	jail_free(j);
}

static void check_all_enforced(bool ordinary)
{
	struct said s;

	assert_true(apart(ordinary, lock_one, &s));
	if (s.prepare || s.lock)
		fail_msg("%s", s.err.text);
	for (int c = 0; c < JAIL_CONTROLS; c++)
		assert_int_equal(s.report.state[c],
				 c == JAIL_CGROUP ? JAIL_NOT_REQUESTED
						  : JAIL_ENFORCED);
	assert_true(s.report.landlock_abi >= 2);
	assert_int_equal(s.extra[0], 1);
	assert_int_equal(s.extra[1], EBADF); /* 0-2 are inert */
	assert_int_equal(s.extra[2], EBADF);
}

static void everything_is_enforced(void **state)
{
	(void)state;
	check_all_enforced(true);
	if (geteuid() == 0)
		check_all_enforced(false);
}

/* Seen from outside; takes root, a locked process hides from its own user. */
static void park_one(int out, struct said *s)
{
	struct jail_options o = options(&out, 1);
	struct jail *j = NULL;
	int pidfd, leaks[50];
	siginfo_t info;
	pid_t pid;

	for (int i = 0; i < 50; i++)
		leaks[i] = open("/", O_RDONLY | O_DIRECTORY);
	if (leaks[49] < 0 || jail_prepare(&o, &j, &s->report, &s->err))
		return;
	pid = jail_fork(j, &pidfd, &s->err);
	if (pid == 0) {
		if (jail_lock(j, &o, &s->report, &s->err))
			_exit(1);
		s->extra[0] = -1;
		tell(out, s);
		for (;;)
			poll(NULL, 0, 1000);
	}
	s->extra[0] = pid;
	tell(out, s);
	wait_for(pidfd, &info);
}

static void read_proc(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	int fd;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, size - 1);
	assert_true(n >= 0);
	text[n] = 0;
	close(fd);
}

static int count_fds(pid_t pid)
{
	char path[64];
	DIR *d;
	int n = -2; /* . and .. */

	snprintf(path, sizeof path, "/proc/%d/fd", pid);
	d = opendir(path);
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void check_namespaces(pid_t pid)
{
	static const char *const names[] = {"user", "mnt", "pid",   "net",
					    "ipc",  "uts", "cgroup"};
	char path[64], mine[64] = "", its[64] = "";

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
		assert_true(readlink(path, mine, sizeof mine - 1) > 0);
		snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, names[i]);
		assert_true(readlink(path, its, sizeof its - 1) > 0);
		assert_string_not_equal(mine, its);
	}
}

static void check_from_outside(pid_t pid)
{
	static const char *const lines[] = {
		"\nNoNewPrivs:\t1\n", "\nSeccomp:\t2\n",
		"\nCapInh:\t0000000000000000\n",
		"\nCapPrm:\t0000000000000000\n",
		"\nCapEff:\t0000000000000000\n",
		"\nCapBnd:\t0000000000000000\n",
		"\nCapAmb:\t0000000000000000\n", "\nGroups:\t \n",
		"\nThreads:\t1\n", "\nUmask:\t0077\n"};
	char text[8192], uid[64];
	char *at;

	read_proc(pid, "status", text, sizeof text);
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (!strstr(text, lines[i]))
			fail_msg("no %s in %s", lines[i], text);
	at = strstr(text, "\nUid:\t");
	assert_non_null(at);
	assert_true(strtoul(at + 6, NULL, 10) >= JAIL_ID_BASE);
	read_proc(pid, "uid_map", text, sizeof text);
	snprintf(uid, sizeof uid, "%u", JAIL_ID_INSIDE);
	assert_non_null(strstr(text, uid));
	assert_null(strchr(strchr(text, '\n') + 1, '\n')); /* one line */
	read_proc(pid, "mountinfo", text, sizeof text);
	assert_null(strchr(strchr(text, '\n') + 1, '\n'));
	assert_non_null(strstr(text, " / / ro,nosuid,nodev,noexec,"));
	check_namespaces(pid);
	assert_int_equal(count_fds(pid), 4); /* 0-2 and the kept one */
}

static void the_outside_agrees(void **state)
{
	struct said s = {0}, t;
	int both[2], status;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(pipe2(both, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		close(both[0]);
		park_one(both[1], &s);
		_exit(0);
	}
	close(both[1]);
	assert_int_equal(read(both[0], &s, sizeof s), sizeof s);
	assert_int_equal(read(both[0], &t, sizeof t), sizeof t);
	check_from_outside(s.extra[0] > 0 ? s.extra[0] : t.extra[0]);
	kill(pid, SIGKILL); /* the zygote; its child must go with it */
	waitpid(pid, &status, 0);
	/* The child held the last writing end. */
	assert_int_equal(poll(&(struct pollfd){both[0], POLLIN, 0}, 1, 5000),
			 1);
	assert_int_equal(read(both[0], &s, sizeof s), 0);
	close(both[0]);
}

static void loading_then_sealed(int out, struct said *s)
{
	struct jail_options o = options(&out, 1);
	struct jail *j = NULL;
	siginfo_t info;
	void *p;
	int pidfd;
	pid_t pid;

	o.filter = JAIL_FILTER_LOADING;
	o.memory_bytes = 0; /* a sanitizer's shadow would be over it */
	if (jail_prepare(&o, &j, &s->report, &s->err))
		return;
	pid = jail_fork(j, &pidfd, &s->err);
	if (pid == 0) {
		s->lock = jail_lock(j, &o, &s->report, &s->err);
		p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		s->extra[0] = p != MAP_FAILED;
		s->extra[1] = jail_seal(&s->err) == 0;
		tell(out, s);
		/* Now it kills. */
		p = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		_exit(0);
	}
	wait_for(pidfd, &info);
	s->extra[2] = info.si_status;
	tell(out, s);
}

static void sealing_ends_loading(void **state)
{
	struct said s, end;
	int both[2];
	pid_t pid;

	(void)state;
	memset(&s, 0, sizeof s);
	assert_int_equal(pipe2(both, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		loading_then_sealed(both[1], &s);
		_exit(0);
	}
	close(both[1]);
	assert_int_equal(read(both[0], &s, sizeof s), sizeof s);
	assert_int_equal(read(both[0], &end, sizeof end), sizeof end);
	waitpid(pid, NULL, 0);
	close(both[0]);
	assert_int_equal(s.lock, 0);
	assert_int_equal(s.extra[0], 1);
	assert_int_equal(s.extra[1], 1);
	assert_int_equal(end.extra[2], SIGSYS);
}

static void closed_stdio(int out, struct said *s)
{
	close(0);
	close(1);
	close(2);
	lock_one(out, s);
}

static void stdio_may_be_closed(void **state)
{
	struct said s;

	(void)state;
	assert_true(apart(true, closed_stdio, &s));
	assert_int_equal(s.prepare, 0);
	assert_int_equal(s.lock, 0);
	assert_int_equal(s.extra[1], EBADF);
}

static void keep_badly(int out, struct said *s)
{
	int keep[2] = {out, out};
	struct jail_options o = options(keep, 2);
	struct jail *j = NULL;
	siginfo_t info;
	int pidfd;

	if (jail_prepare(&o, &j, &s->report, &s->err))
		return;
	if (jail_fork(j, &pidfd, &s->err) == 0) {
		s->lock = jail_lock(j, &o, &s->report, &s->err);
		tell(out, s);
		_exit(0);
	}
	wait_for(pidfd, &info);
}

static void unordered_keep_is_refused(void **state)
{
	struct said s;

	(void)state;
	assert_true(apart(true, keep_badly, &s));
	assert_int_equal(s.lock, REDOMA_E_SYSTEM);
	assert_non_null(strstr(s.err.text, "descriptors to keep"));
}

static volatile uintptr_t fault_at;
static sigjmp_buf after_fault;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	fault_at = (uintptr_t)info->si_addr;
	siglongjmp(after_fault, 1);
}

/* The engine turns faults into traps by their address, which the kernel queues
 * like any signal: more timers of the same user than the limit of queued
 * signals must not make it lose that. */
static void fault_among_timers(int out, struct said *s)
{
	struct sigevent se = {.sigev_notify = SIGEV_SIGNAL,
			      .sigev_signo = SIGALRM};
	struct sigaction sa = {.sa_sigaction = on_fault,
			       .sa_flags = SA_SIGINFO};
	struct jail_options o = options(&out, 1);
	struct jail *j = NULL;
	siginfo_t info;
	timer_t t;
	int pidfd;

	if (jail_prepare(&o, &j, &s->report, &s->err))
		return;
	for (int i = 0; i < 50; i++)
		s->extra[0] += timer_create(CLOCK_MONOTONIC, &se, &t) != 0;
	sigaction(SIGSEGV, &sa, NULL);
	if (jail_fork(j, &pidfd, &s->err) == 0) {
		s->extra[0] += timer_create(CLOCK_MONOTONIC, &se, &t) != 0;
		s->lock = jail_lock(j, &o, &s->report, &s->err);
		if (!sigsetjmp(after_fault, 1))
			__asm__ volatile("movl $1, 0x1234");
		s->extra[1] = (int)fault_at;
		tell(out, s);
		_exit(0);
	}
	wait_for(pidfd, &info);
}

static void faults_keep_their_address(void **state)
{
	struct said s;

	(void)state;
	for (int ordinary = geteuid() != 0; ordinary < 2; ordinary++) {
		assert_true(apart(ordinary, fault_among_timers, &s));
		assert_int_equal(s.extra[0], 0);
		assert_int_equal(s.lock, 0);
		assert_int_equal(s.extra[1], 0x1234);
	}
}

/* 200 children leave nothing behind. */
static void many(int out, struct said *s)
{
	struct jail_options o = options(&out, 1);
	struct jail *j = NULL;
	siginfo_t info;
	char mounts[4096];
	int pidfd, fd, before, proc;
	ssize_t n;

	if (jail_prepare(&o, &j, &s->report, &s->err))
		return;
	before = open("/", O_PATH | O_CLOEXEC); /* the lowest free one */
	close(before);
	for (int i = 0; i < 200; i++) {
		pid_t pid = jail_fork(j, &pidfd, &s->err);

		if (pid == 0)
			_exit(jail_lock(j, &o, &s->report, &s->err) ? 1 : 0);
		if (pid < 0 || !wait_for(pidfd, &info) || info.si_status)
			s->extra[0]++;
		close(pidfd);
	}
	s->extra[1] = waitid(P_ALL, 0, &info, WEXITED | WNOHANG) < 0 &&
		      errno == ECHILD;
	fd = open("/", O_PATH | O_CLOEXEC);
	s->extra[2] = fd == before;
	prctl(PR_SET_DUMPABLE, 1);
	proc = openat(jail_proc_fd(j), "self/mountinfo", O_RDONLY | O_CLOEXEC);
	n = read(proc, mounts, sizeof mounts - 1);
	for (ssize_t i = 0; i < n; i++)
		s->extra[3] += mounts[i] == '\n';
	tell(out, s);
}

static void two_hundred_leave_nothing(void **state)
{
	struct said s;

	(void)state;
	for (int ordinary = geteuid() != 0; ordinary < 2; ordinary++) {
		assert_true(apart(ordinary, many, &s));
		assert_int_equal(s.extra[0], 0); /* each ended well */
		assert_int_equal(s.extra[1], 1); /* no zombie */
		assert_int_equal(s.extra[2], 1); /* no descriptor */
		assert_int_equal(s.extra[3], 1); /* one mount: the root */
	}
}

/* Zygotes killed at random leave no child: the pipe closes. */
static void orphan(int out, struct said *s)
{
	struct jail_options o = options(&out, 1);
	struct jail *j = NULL;
	int pidfd;

	(void)s;
	if (jail_prepare(&o, &j, &s->report, &s->err))
		_exit(1);
	for (;;)
		if (jail_fork(j, &pidfd, &s->err) == 0) {
			if (jail_lock(j, &o, &s->report, &s->err))
				_exit(1);
			for (;;)
				poll(NULL, 0, 1000);
		}
}

static void no_child_outlives_its_zygote(void **state)
{
	struct said s = {0};
	int both[2];
	pid_t pid;
	char c;

	(void)state;
	for (int i = 0; i < 40; i++) {
		assert_int_equal(pipe2(both, O_CLOEXEC), 0);
		pid = fork();
		if (pid == 0) {
			close(both[0]);
			orphan(both[1], &s);
		}
		close(both[1]);
		poll(NULL, 0, i / 4); /* 0 to 9 ms */
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		assert_int_equal(
			poll(&(struct pollfd){both[0], POLLIN, 0}, 1, 5000), 1);
		assert_int_equal(read(both[0], &c, 1), 0);
		close(both[0]);
	}
}

/* Hosts that lack something. */

static const struct lacking {
	void (*make)(void);
	enum jail_control control;
	const char *step;
	bool may; /* with may_lack everything else still works */
} lacking[] = {
	{no_user, JAIL_USER, "enter a user namespace", true},
	{no_net, JAIL_NET, "enter a net namespace", true},
	{no_ipc, JAIL_IPC, "enter an ipc namespace", true},
	{no_uts, JAIL_UTS, "enter a uts namespace", true},
	{no_mnt, JAIL_MOUNT, "enter a mount namespace", true},
	{no_cgroup, JAIL_CGROUPNS, "enter a cgroup namespace", true},
	{no_pid, JAIL_PID, "new pid namespace", true},
	{no_landlock, JAIL_LANDLOCK, "Landlock", true},
	{no_unshare, JAIL_USER, "enter a user namespace", false},
	{no_mount, JAIL_MOUNT, "make all mounts private", true},
	{no_pivot, JAIL_MOUNT, "pivot_root to the new root", true},
	{no_clone, JAIL_PID, "clone3", false},
	{no_seccomp, JAIL_SECCOMP, "system call filter", true},
	{no_rlimits, JAIL_RLIMITS, "set the limit", true},
};

static const struct lacking *now_lacking;
static uint32_t now_may_lack;

static void lock_lacking(int out, struct said *s)
{
	struct jail_options o = options(&out, 1);
	struct jail *j = NULL;
	siginfo_t info;
	int pidfd;
	pid_t pid;

	now_lacking->make();
	o.may_lack = now_may_lack;
	s->prepare = jail_prepare(&o, &j, &s->report, &s->err);
	if (s->prepare) {
		tell(out, s);
		return;
	}
	pid = jail_fork(j, &pidfd, &s->err);
	if (pid < 0) {
		s->prepare = pid;
		tell(out, s);
		return;
	}
	if (pid == 0) {
		s->lock = jail_lock(j, &o, &s->report, &s->err);
		tell(out, s);
		_exit(0);
	}
	wait_for(pidfd, &info);
}

static void check_refused(const struct lacking *l)
{
	struct said s;

	now_may_lack = ~BIT(l->control); /* others may: not this one */
	assert_true(apart(true, lock_lacking, &s));
	if (!s.prepare && !s.lock)
		fail_msg("%s: ran without", jail_control_name(l->control));
	assert_int_equal(s.err.code, REDOMA_E_UNSUPPORTED);
	assert_string_equal(s.err.where, "jail");
	if (!strstr(s.err.text, l->step))
		fail_msg("wanted %s, said %s", l->step, s.err.text);
	if (!strstr(s.err.text, "; "))
		fail_msg("no remedy: %s", s.err.text);
}

static void check_reported(const struct lacking *l)
{
	struct said s;

	now_may_lack = BIT(l->control);
	assert_true(apart(true, lock_lacking, &s));
	if (s.prepare || s.lock)
		fail_msg("%s: %s", jail_control_name(l->control), s.err.text);
	for (int c = 0; c < JAIL_CGROUP; c++)
		assert_int_equal(s.report.state[c],
				 (unsigned)c == l->control ? JAIL_UNAVAILABLE
							   : JAIL_ENFORCED);
	assert_int_not_equal(s.report.sys[l->control], 0);
}

static void what_lacks_is_refused_or_reported(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++) {
		now_lacking = &lacking[i];
		check_refused(now_lacking);
		if (now_lacking->may)
			check_reported(now_lacking);
	}
}

static void probe_it(int out, struct said *s)
{
	siginfo_t info;

	if (now_lacking)
		now_lacking->make();
	s->prepare = jail_probe(&s->report, &s->err);
	s->extra[0] = waitid(P_ALL, 0, &info, WEXITED | WNOHANG) < 0 &&
		      errno == ECHILD;
	tell(out, s);
}

static void the_probe_sees_it(void **state)
{
	struct said s;

	(void)state;
	now_lacking = NULL;
	for (int ordinary = geteuid() != 0; ordinary < 2; ordinary++) {
		assert_true(apart(ordinary, probe_it, &s));
		assert_int_equal(s.prepare, 0);
		assert_int_equal(s.extra[0], 1);
		for (int c = 0; c < JAIL_CGROUP; c++)
			assert_int_equal(s.report.state[c], JAIL_ENFORCED);
		assert_int_not_equal(s.report.state[JAIL_CGROUP],
				     JAIL_NOT_REQUESTED);
	}
	for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++) {
		if (!lacking[i].may)
			continue;
		now_lacking = &lacking[i];
		assert_true(apart(true, probe_it, &s));
		if (s.prepare)
			fail_msg("%s", s.err.text);
		assert_int_equal(s.report.state[lacking[i].control],
				 JAIL_UNAVAILABLE);
	}
}

static void names_and_remedies(void **state)
{
	(void)state;
	for (int c = 0; c < JAIL_CONTROLS; c++) {
		const char *name = jail_control_name((enum jail_control)c);

		assert_int_equal(jail_control_find(name), c);
		for (int sys = 0; sys < 134; sys++) {
			const char *text =
				jail_remedy((enum jail_control)c, sys);

			assert_true(strlen(text) > 10 && strlen(text) < 140);
			assert_string_not_equal(text, "see the manual");
		}
	}
	assert_int_equal(jail_control_find("nothing"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_enforced),
		cmocka_unit_test(the_outside_agrees),
		cmocka_unit_test(sealing_ends_loading),
		cmocka_unit_test(stdio_may_be_closed),
		cmocka_unit_test(unordered_keep_is_refused),
		cmocka_unit_test(faults_keep_their_address),
		cmocka_unit_test(two_hundred_leave_nothing),
		cmocka_unit_test(no_child_outlives_its_zygote),
		cmocka_unit_test(what_lacks_is_refused_or_reported),
		cmocka_unit_test(the_probe_sees_it),
		cmocka_unit_test(names_and_remedies),
	};

	prctl(PR_SET_DUMPABLE, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
