/* Signals, forks, limits, terminals and crashes. */
#include "jail_ward.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <termios.h>
#include <linux/sched.h>

static int term_target(struct scene *s)
{
	return kill(s->target, SIGCONT) ? errno : 0;
}

static int signal_all(struct scene *s)
{
	(void)s;
	return kill(-1, 0) ? errno : 0; /* 0: is there anyone? */
}

static int signal_thread(struct scene *s)
{
	return syscall(SYS_tgkill, s->target, s->target, SIGCONT) < 0 ? errno
								       : 0;
}

static int signal_by_pidfd(struct scene *s)
{
	int fd = (int)syscall(SYS_pidfd_open, s->target, 0);

	if (fd < 0)
		return errno;
	return syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0) ? errno : 0;
}

/* Everyone but itself, by trying. */
static int sweep(struct scene *s)
{
	int found = 0;

	(void)s;
	for (pid_t pid = 1; pid < 65536; pid++)
		if (pid != getpid() &&
		    (!kill(pid, 0) || errno == EPERM))
			found++;
	return found ? 0 : ESRCH;
}

static int fork_once(struct scene *s)
{
	pid_t pid = _Fork();

	(void)s;
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return pid < 0 ? errno : 0;
}

/* Forks until it cannot: grandchildren in sessions of their own, stopped. */
static int fork_bomb(struct scene *s)
{
	pid_t parent = getpid();
	int n = 0;

	(void)s;
	for (; n < 64; n++) {
		pid_t pid = _Fork();

		if (pid < 0)
			break;
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			/* It may be dead already: then nobody wakes us. */
			if (getppid() != parent)
				_exit(0);
			setsid();
			raise(SIGSTOP);
			_exit(0);
		}
	}
	return n == 64 ? 0 : errno;
}

static int start_thread(struct scene *s)
{
	static char stack[65536];
	struct clone_args a = {
		.flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
			 CLONE_THREAD | CLONE_SYSVSEM,
		.stack = (uintptr_t)stack,
		.stack_size = sizeof stack,
	};
	long rc;

	(void)s;
	/* By hand: the thread runs on an empty stack and must not return. */
	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "mov $60, %%eax\n\t"
			 "xor %%edi, %%edi\n\t"
			 "syscall\n"
			 "1:"
			 : "=a"(rc)
			 : "0"((long)SYS_clone3), "D"(&a), "S"(sizeof a)
			 : "rcx", "r11", "memory");
	return rc < 0 ? (int)-rc : 0;
}

static int raise_limit(struct scene *s)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NPROC, &l))
		return errno;
	l.rlim_cur = l.rlim_max = l.rlim_max == RLIM_INFINITY
					  ? RLIM_INFINITY
					  : l.rlim_max + 100;
	if (!setrlimit(RLIMIT_NPROC, &l))
		return 0;
	s->why_not = "this root may not raise limits either";
	return EPERM;
}

static int write_too_much(struct scene *s)
{
	char page[4096] = {0};

	signal(SIGXFSZ, SIG_IGN);
	for (int i = 0; i < 2; i++)
		if (pwrite(s->leak, page, sizeof page, i * 4096) < 0)
			return errno;
	return 0;
}

static int lock_memory(struct scene *s)
{
	static char page[4096];

	(void)s;
	return mlock(page, sizeof page) ? errno : 0;
}

static int push_char(struct scene *s)
{
	return ioctl(s->leak, TIOCSTI, "x") ? errno : 0;
}

/* CVE-2019-7303: the kernel looks at the low half of the request only. */
static int push_char_high(struct scene *s)
{
	return syscall(SYS_ioctl, s->leak, TIOCSTI | 1ul << 32, "x") ? errno
								      : 0;
}

static int take_terminal(struct scene *s)
{
	(void)setsid();
	return ioctl(s->leak, TIOCSCTTY, 0) ? errno : 0;
}

/* Dies: WORKED is a core dump, see main. */
static int crash(struct scene *s)
{
	signal(SIGSEGV, SIG_DFL);
	(void)s;
	__asm__ volatile("movl $1, 8");
	return 0;
}

static int with_target(struct scene *s)
{
	s->target = start_target();
	return s->target < 0;
}

static int leak_is_file(struct scene *s)
{
	s->leak = open(s->secret, O_RDWR | O_CLOEXEC);
	return s->leak < 0;
}

static int open_terminal(struct scene *s, int flags)
{
	int lead = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	char name[64];

	if (lead < 0 || grantpt(lead) || unlockpt(lead) ||
	    ptsname_r(lead, name, sizeof name))
		return -1;
	s->leak = open(name, O_RDWR | O_CLOEXEC | flags);
	return s->leak < 0;
}

/* The caller's controlling terminal, as a front end would have it. */
static int leak_is_terminal(struct scene *s)
{
	return setsid() < 0 || open_terminal(s, 0);
}

static int leak_is_free_terminal(struct scene *s)
{
	return open_terminal(s, O_NOCTTY);
}

#define OF_ANOTHER                                                           \
	ROWS({NONE, WORKED}, {PID, ESRCH}, {LANDLOCK, EPERM},                \
	     {SECCOMP, KILLED}, {NO_SECCOMP, ESRCH}, {ALL, KILLED})

static const struct attack attacks[] = {
	{"signal a process", term_target, AS_BOTH, OF_ANOTHER},
	{"signal a thread", signal_thread, AS_BOTH, OF_ANOTHER},
	{"signal by a pidfd", signal_by_pidfd, AS_BOTH, OF_ANOTHER},
	{"signal all", signal_all, AS_BOTH,
	 ROWS({NONE, WORKED}, {PID, ESRCH}, {SECCOMP, KILLED},
	      {NO_SECCOMP, ESRCH}, {ALL, KILLED})},
	{"find other processes", sweep, AS_BOTH,
	 ROWS({NONE, WORKED}, {PID, ESRCH}, {SECCOMP, KILLED},
	      {NO_SECCOMP, ESRCH}, {ALL, KILLED})},
	{"fork", fork_once, AS_USER,
	 ROWS({NONE, WORKED}, {RLIMITS, EAGAIN}, {SECCOMP, KILLED},
	      {NO_SECCOMP, EAGAIN}, {ALL, KILLED})},
	/* The limit of processes does not count for host root. */
	{"fork", fork_once, AS_ROOT,
	 ROWS({NONE, WORKED}, {RLIMITS, WORKED}, {RLIMITS | USER, EAGAIN},
	      {SECCOMP, KILLED}, {NO_SECCOMP, EAGAIN}, {ALL, KILLED})},
	{"fork bomb", fork_bomb, AS_BOTH,
	 ROWS({NONE, WORKED}, {RLIMITS | USER, EAGAIN}, {SECCOMP, KILLED},
	      {NO_SECCOMP, EAGAIN}, {ALL, KILLED})},
	{"start a thread", start_thread, AS_BOTH,
	 ROWS({NONE, WORKED}, {RLIMITS | USER, EAGAIN}, {SECCOMP, KILLED},
	      {ALL, KILLED})},
	{"raise a limit", raise_limit, AS_ROOT,
	 ROWS({NONE, WORKED}, {RLIMITS, WORKED}, {RLIMITS | CAPS, EPERM},
	      {SECCOMP, KILLED}, {NO_SECCOMP, EPERM}, {ALL, KILLED})},
	{"lock memory", lock_memory, AS_BOTH,
	 ROWS({NONE, WORKED}, {RLIMITS | CAPS, EPERM}, {SECCOMP, KILLED},
	      {NO_SECCOMP, EPERM}, {ALL, KILLED})},
};

static const struct attack with_file[] = {
	{"write past the limit of a file", write_too_much, AS_BOTH,
	 ROWS({NONE, WORKED}, {RLIMITS, EFBIG}, {SECCOMP, WORKED},
	      {NO_SECCOMP, EFBIG}, {ALL, EFBIG}),
	 .keep = 1},
};

static const struct attack with_terminal[] = {
	{"push a character into the terminal", push_char, AS_BOTH,
	 ROWS({NONE, WORKED}, {SESSION | CAPS, EPERM}, {FDS, WORKED},
	      {SECCOMP, KILLED}, {NO_SECCOMP, EPERM}, {ALL, KILLED}),
	 .keep = 1},
	{"push a character into the terminal, 1<<32", push_char_high, AS_BOTH,
	 ROWS({NONE, WORKED}, {SESSION | CAPS, EPERM}, {SECCOMP, KILLED},
	      {ALL, KILLED}),
	 .keep = 1},
	{"push a character into a closed terminal", push_char, AS_BOTH,
	 ROWS({NONE, WORKED}, {FDS, EBADF}, {NO_SECCOMP, EBADF},
	      {ALL, KILLED})},
};

static const struct attack with_free_terminal[] = {
	{"make a terminal its own", take_terminal, AS_BOTH,
	 ROWS({NONE, WORKED}, {NO_SECCOMP, WORKED}, {SECCOMP, KILLED},
	      {ALL, KILLED}),
	 .keep = 1},
};

/* Whether a crash leaves a core is in how the process ended. */
static int crashes(void)
{
	static const struct {
		uint32_t controls;
		bool core;
	} rows[] = {{NONE, true}, {SESSION, false}, {RLIMITS, false},
		    {NO_SECCOMP, false}, {ALL, false}};
	static const struct attack a = {.name = "crash", .run = crash};
	struct rlimit l = {RLIM_INFINITY, RLIM_INFINITY};
	char pattern[128] = "", name[64], set[256];
	struct score sc = {0};
	struct outcome out;
	struct scene s;
	int fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
	bool plain = fd >= 0 && read(fd, pattern, sizeof pattern - 1) > 0 &&
		     pattern[0] != '|' && pattern[0] != '/';

	close(fd);
	printf("1..5\n");
	if (!plain || setrlimit(RLIMIT_CORE, &l) || !make_scene(&s) ||
	    chdir(s.dir)) {
		for (int i = 1; i <= 5; i++)
			printf("ok %d - crash # SKIP no plain core files\n", i);
		return 0;
	}
	for (int i = 0; i < 5; i++) {
		int rc = ward_try(&a, rows[i].controls, &s, &out);
		bool core = out.info.si_code == CLD_DUMPED;

		snprintf(name, sizeof name, "crash under %s: %s",
			 show_controls(rows[i].controls, set),
			 rows[i].core ? "a core" : "no core");
		tap(&sc, rc == -SIGSEGV && core == rows[i].core, name, "");
	}
	return sc.failed || system("rm -rf -- \"$PWD\"") || chdir("/");
}

int main(void)
{
	int bad = ward_main(attacks, sizeof attacks / sizeof *attacks,
			    with_target);

	bad |= ward_main(with_file, 1, leak_is_file);
	bad |= crashes();
	bad |= ward_main(with_free_terminal, 1, leak_is_free_terminal);
	bad |= ward_main(with_terminal,
			 sizeof with_terminal / sizeof *with_terminal,
			 leak_is_terminal);
	return bad != 0;
}
