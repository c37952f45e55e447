/* attack_process.h - Signals, forks, limits, terminals and crashes. */
#ifndef ATTACK_PROCESS_H
#define ATTACK_PROCESS_H

#include "jail_ward.h"

#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"

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

#endif
