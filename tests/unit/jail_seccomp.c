/* The generated filters against the table that they were generated from: by
 * an evaluator of our own for all arguments that could matter, and by the
 * kernel for every call number. */
#include <errno.h>
#include <linux/sched.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "jail/gen_seccomp_compiler.h"
#include "jail/gen_seccomp_init.h"
#include "jail/gen_seccomp_loading.h"
#include "jail/gen_seccomp_native.h"
#include "jail/gen_seccomp_worker.h"
#include "jail/seccomp_table.h"
#include "jail/steps.h"
#include "jail_bpf.h"

#define NUMBERS 1024
#define X32_BIT 0x40000000
#define VALUES_MAX 256
#define NATIVE_FILTERS                                                       \
	(1u << JAIL_FILTER_NATIVE | 1u << JAIL_FILTER_INIT)

#define PROGRAM(name)                                                        \
	{seccomp_##name, sizeof seccomp_##name / sizeof *seccomp_##name}

static const struct {
	const struct sock_filter *code;
	size_t len;
} programs[JAIL_FILTERS] = {
	[JAIL_FILTER_WORKER] = PROGRAM(worker),
	[JAIL_FILTER_LOADING] = PROGRAM(loading),
	[JAIL_FILTER_COMPILER] = PROGRAM(compiler),
	[JAIL_FILTER_NATIVE] = PROGRAM(native),
	[JAIL_FILTER_INIT] = PROGRAM(init),
};

static bool is_for(const struct seccomp_row *r, unsigned filter, int nr)
{
	return r->nr == nr && r->filters & 1u << filter;
}

static bool test_holds(const struct seccomp_test *t,
		       const struct seccomp_data *d)
{
	if (!t->mask)
		return true;
	for (unsigned i = 0; i < t->n; i++)
		if ((d->args[t->arg] & t->mask) == t->value[i])
			return true;
	return false;
}

static uint32_t by_table(unsigned filter, const struct seccomp_data *d)
{
	if (d->arch != KERNEL_ARCH || (d->nr != -1 && d->nr & X32_BIT))
		return SECCOMP_RET_KILL_PROCESS;
	for (size_t i = 0; i < SECCOMP_ROWS; i++) {
		const struct seccomp_row *r = &seccomp_table[i];

		if (is_for(r, filter, d->nr) && test_holds(&r->test[0], d) &&
		    test_holds(&r->test[1], d))
			return SECCOMP_RET_ALLOW;
	}
	return filter == JAIL_FILTER_NATIVE ? SECCOMP_RET_ERRNO | ENOSYS
					    : SECCOMP_RET_KILL_PROCESS;
}

/* How many verdicts of the program differ from the table's. */
static size_t compare_one(unsigned filter, const struct sock_filter *code,
			  const struct seccomp_data *d)
{
	return bpf_run(code, programs[filter].len, d) != by_table(filter, d);
}

/* Values around what a test wants: each, its neighbours, each bit flipped. */
static size_t corners(const struct seccomp_test *t, uint64_t *v)
{
	size_t n = 0;

	for (uint64_t small = 0; small < 40; small++)
		v[n++] = small;
	v[n++] = UINT64_MAX;
	v[n++] = UINT32_MAX;
	v[n++] = 1ull << 32;
	for (int bit = 0; bit < 64; bit++)
		v[n++] = t->value[0] ^ 1ull << bit;
	for (unsigned i = 0; i < t->n; i++) {
		v[n++] = t->value[i];
		v[n++] = t->value[i] + 1;
		v[n++] = t->value[i] - 1;
		v[n++] = t->value[i] | 1ull << 32;
		v[n++] = t->value[i] | ~t->mask;
		v[n++] = t->value[i] | 0x180;
	}
	assert_true(n <= VALUES_MAX);
	return n;
}

/* What two tests look at takes all their corners, the rest stays as it is. */
static size_t compare_two(unsigned filter, const struct sock_filter *code,
			  struct seccomp_data d, const struct seccomp_test *t)
{
	const struct seccomp_test *u = t + 1;
	uint64_t v[VALUES_MAX], w[VALUES_MAX];
	size_t n = corners(t, v), m = u->mask ? corners(u, w) : 1;
	size_t bad = 0;

	if (!u->mask)
		w[0] = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < m; j++) {
			d.args[u->arg] = w[j];
			d.args[t->arg] = v[i];
			bad += compare_one(filter, code, &d);
		}
	return bad;
}

/* Where there are several rows one may allow what the other refuses: beside
 * zeros, which some rows ask for, ones stand for all that none does. */
static size_t compare_corners(unsigned filter, const struct sock_filter *code,
			      struct seccomp_data d)
{
	static const struct seccomp_test none[SECCOMP_TESTS] = {{0}};
	size_t bad = 0, rows = 0;

	for (size_t i = 0; i < SECCOMP_ROWS; i++) {
		if (!is_for(&seccomp_table[i], filter, d.nr))
			continue;
		bad += compare_two(filter, code, d, seccomp_table[i].test);
		rows++;
	}
	if (!rows)
		bad += compare_two(filter, code, d, none);
	return bad;
}

static size_t compare_all(unsigned filter, const struct sock_filter *code)
{
	static const uint32_t archs[] = {
		KERNEL_ARCH, AUDIT_ARCH_I386, AUDIT_ARCH_AARCH64,
		AUDIT_ARCH_ARM, 0, UINT32_MAX};
	size_t bad = 0;

	for (size_t a = 0; a < sizeof archs / sizeof *archs; a++)
		for (int nr = -1; nr < NUMBERS; nr++) {
			struct seccomp_data d = {.nr = nr, .arch = archs[a]};

			bad += compare_one(filter, code, &d);
			memset(d.args, 0xff, sizeof d.args);
			bad += compare_one(filter, code, &d);
			d.nr = nr | X32_BIT;
			bad += compare_one(filter, code, &d);
			memset(d.args, 0, sizeof d.args);
			bad += compare_one(filter, code, &d);
			d.nr = nr;
			if (archs[a] != KERNEL_ARCH)
				continue;
			bad += compare_corners(filter, code, d);
			memset(d.args, 0xff, sizeof d.args);
			bad += compare_corners(filter, code, d);
		}
	return bad;
}

static void programs_match_the_table(void **state)
{
	(void)state;
	for (unsigned f = 0; f < JAIL_FILTERS; f++) {
		assert_true(programs[f].len > 0);
		assert_int_equal(compare_all(f, programs[f].code), 0);
	}
}

/* The comparison must see it if one instruction is another. */
static void a_changed_program_is_seen(void **state)
{
	const size_t len = programs[JAIL_FILTER_WORKER].len;
	struct sock_filter code[BPF_MAXINSNS];
	size_t unseen = 0;

	(void)state;
	for (size_t i = 0; i < len; i++) {
		memcpy(code, programs[JAIL_FILTER_WORKER].code,
		       len * sizeof *code);
		if (BPF_CLASS(code[i].code) != BPF_JMP &&
		    BPF_CLASS(code[i].code) != BPF_RET)
			continue;
		code[i].k ^= 1;
		if (BPF_CLASS(code[i].code) == BPF_RET)
			code[i].k ^= 1 ^ SECCOMP_RET_ALLOW;
		unseen += !compare_all(JAIL_FILTER_WORKER, code);
	}
	/* A step of the binary search over the numbers may fall between two
	 * calls that are both killed: nothing changes then. */
	assert_true(unseen < len / 4);
	assert_true(len - unseen > 50);
}

/* What no native program may ask either, whatever the arguments. */
static bool never_native(const char *name)
{
	static const char *const names[] = {
		"ptrace", "process_vm_readv", "process_vm_writev",
		"process_madvise", "pidfd_open", "pidfd_getfd", "kcmp", "bpf",
		"perf_event_open", "userfaultfd", "io_uring_setup",
		"io_uring_enter", "io_uring_register", "add_key",
		"request_key", "keyctl", "mount", "umount2", "open_tree",
		"move_mount", "fsopen", "fsconfig", "fsmount", "fspick",
		"mount_setattr", "setns", "unshare", "pivot_root", "chroot",
		"open_by_handle_at", "name_to_handle_at", "fanotify_init",
		"fanotify_mark", "inotify_init", "inotify_init1",
		"kexec_load", "kexec_file_load", "init_module",
		"finit_module", "delete_module", "quotactl", "quotactl_fd",
		"acct", "swapon", "swapoff", "reboot", "syslog",
		"clock_settime", "settimeofday", "adjtimex", "clock_adjtime",
		"modify_ldt", "iopl", "ioperm", "memfd_secret",
		"memfd_create", "mknod", "mknodat", "seccomp", "socket",
		"connect", "bind", "listen", "accept", "accept4", "clone3",
		"execveat", "shmget", "shmat", "semget", "msgget", "mq_open",
		"flock", "splice", "tee", "vmsplice", "mincore", "cachestat",
		"landlock_restrict_self", "setuid", "setresuid", "setgroups",
		"capset", "sethostname", "uselib", "vhangup", "lookup_dcookie",
		"sync", "syncfs", "mlock", "mlockall", "move_pages",
		"migrate_pages", "mbind", "set_mempolicy", "setrlimit",
		"rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static bool never_allowed(const char *name)
{
	static const char *const names[] = {
		"open", "openat", "openat2", "creat", "socket", "socketpair",
		"connect", "bind", "accept", "accept4", "clone", "clone3",
		"fork", "vfork", "execve", "execveat", "ptrace", "unshare",
		"setns", "mount", "io_uring_setup", "bpf", "keyctl", "add_key",
		"prctl", "setrlimit", "kill", "tkill",
		"rt_sigqueueinfo", "pidfd_open", "process_vm_readv", "shmget",
		"userfaultfd", "perf_event_open", "chroot", "memfd_secret"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static void the_table_has_no_surprise(void **state)
{
	(void)state;
	for (size_t i = 0; i < SECCOMP_ROWS; i++) {
		const uint32_t filters = seccomp_table[i].filters;

		assert_true(filters);
		if (filters & ~NATIVE_FILTERS)
			assert_false(never_allowed(seccomp_table[i].name));
		if (filters & 1u << JAIL_FILTER_NATIVE)
			assert_false(never_native(seccomp_table[i].name));
		if (strcmp(seccomp_table[i].name, "prlimit64") != 0)
			continue;
		/* Only its own: pid 0.  And of those set only some, where the
		 * limit of core dumps is not one. */
		assert_int_equal(seccomp_table[i].test[0].arg, 0);
		assert_int_equal(seccomp_table[i].test[0].mask, UINT32_MAX);
		assert_int_equal(seccomp_table[i].test[0].n, 1);
		assert_int_equal(seccomp_table[i].test[0].value[0], 0);
		if (seccomp_table[i].test[1].arg == 2) {
			assert_true(seccomp_table[i].test[1].mask == UINT64_MAX);
			assert_int_equal(seccomp_table[i].test[1].n, 1);
			assert_true(seccomp_table[i].test[1].value[0] == 0);
			continue;
		}
		assert_int_equal(seccomp_table[i].test[1].arg, 1);
		for (unsigned k = 0; k < seccomp_table[i].test[1].n; k++)
			assert_int_not_equal(seccomp_table[i].test[1].value[k],
					     RLIMIT_CORE);
	}
}

/* Zeros name descriptor 0, and nothing of the host may be changed through it:
 * fchmod(0, 0) closed /dev/null to everybody. */
static _Noreturn void try_call(unsigned filter, long nr, long arg)
{
	if (close_range(0, ~0u, 0) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    seccomp_install((enum jail_filter)filter))
		_exit(99);
	if (syscall(nr, arg, arg, arg, arg, arg, arg) < 0 && errno == ENOSYS)
		_exit(98);
	_exit(0);
}

/* 0: let through, however it ended; SIGSYS: killed; ENOSYS.  Only an allowed
 * call may wait for ever; what is refused ends when its process gets a CPU. */
static int by_kernel(unsigned filter, long nr, long arg, bool allowed)
{
	siginfo_t info = {0};
	int wait_ms = !allowed ? 20000 : getenv("REDOMA_SLOW") ? 1500 : 100;
	int pidfd = -1;
	pid_t pid = fork_raw(CLONE_CLEAR_SIGHAND, SIGCHLD, &pidfd);
	int rc = 0;

	assert_true(pid >= 0);
	if (!pid)
		try_call(filter, nr, arg);
	if (poll(&(struct pollfd){pidfd, POLLIN, 0}, 1, wait_ms) == 0)
		kill(pid, SIGKILL); /* an allowed call that waits */
	assert_int_equal(waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED), 0);
	close(pidfd);
	if (info.si_code != CLD_EXITED && info.si_status == SIGSYS)
		rc = SIGSYS;
	if (info.si_code == CLD_EXITED) {
		assert_int_not_equal(info.si_status, 99);
		rc = info.si_status == 98 ? ENOSYS : 0;
	}
	return rc;
}

/* uretprobe and uprobe: the kernel itself takes them past every filter, and
 * they do nothing outside its own trampoline (kernel/seccomp.c). */
static bool is_past_filters(int nr)
{
	return nr == 335 || nr == 336;
}

static void the_kernel_agrees(void **state)
{
	(void)state;
	for (int nr = 0; nr < NUMBERS; nr += is_past_filters(nr + 1) ? 3 : 1)
		for (int ones = 0; ones < 2; ones++) {
			struct seccomp_data d = {.nr = nr, .arch = KERNEL_ARCH};
			bool killed;

			memset(d.args, ones ? 0xff : 0, sizeof d.args);
			killed = by_table(JAIL_FILTER_WORKER, &d) !=
				 SECCOMP_RET_ALLOW;
			if ((by_kernel(JAIL_FILTER_WORKER, nr, -ones, !killed) ==
			     SIGSYS) != killed)
				fail_msg("call %d with %s: %s", nr,
					 ones ? "ones" : "zeros",
					 killed ? "let through" : "killed");
		}
	for (int nr = 0; nr < NUMBERS; nr += 41)
		assert_int_equal(by_kernel(JAIL_FILTER_WORKER, nr | X32_BIT, 0,
					   false),
				 SIGSYS);
}

/* Allowed calls that this kernel lacks are ENOSYS as well: those are only
 * asked not to be killed. */
static void the_kernel_agrees_on_native(void **state)
{
	const unsigned filter = JAIL_FILTER_NATIVE;

	(void)state;
	for (int nr = 0; nr < NUMBERS; nr += is_past_filters(nr + 1) ? 3 : 1) {
		struct seccomp_data d = {.nr = nr, .arch = KERNEL_ARCH};
		bool allowed = by_table(filter, &d) == SECCOMP_RET_ALLOW;
		int is = by_kernel(filter, nr, 0, allowed);

		assert_int_not_equal(is, SIGSYS);
		if (!allowed && is != ENOSYS)
			fail_msg("call %d: let through", nr);
	}
	for (int nr = 0; nr < NUMBERS; nr += 41)
		assert_int_equal(by_kernel(filter, nr | X32_BIT, 0, false),
				 SIGSYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_match_the_table),
		cmocka_unit_test(a_changed_program_is_seen),
		cmocka_unit_test(the_table_has_no_surprise),
		cmocka_unit_test(the_kernel_agrees),
		cmocka_unit_test(the_kernel_agrees_on_native),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
