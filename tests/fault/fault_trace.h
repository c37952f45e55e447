/* fault_trace.h - makes single system calls fail in a process and what it forks,
 * by a tracer (ptrace(2)).
 *
 * A process says getsid(MARK + n) when its part n begins, from where its calls
 * are counted, and getsid(MARK_END) when nothing counts any more.  What has
 * been locked writes 'P', any of them 'E' with the text of its error. */
#ifndef FAULT_TRACE_H
#define FAULT_TRACE_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/ptrace.h>
#include "jail/jail.h"

#define MARK 0x52440000
#define PARTS 8
#define MARK_END (MARK + PARTS)
#define ORDINARY_ID 65534
#define TASKS 8

struct plan { /* the n-th call, from 1, of one part fails */
	int part;
	int n;
	int sys;
};

struct outcome {
	bool ran;	/* the payload did */
	bool injected;	/* there was an n-th call */
	long nr;	/* which it was */
	uint64_t arg;	/* its first argument */
	bool locked;	/* what the payload's status file said */
	char text[256]; /* the error */
};

struct task {
	pid_t pid;
	int part;     /* which it is in */
	int count;    /* calls since its mark; -1: before it, or after all */
	bool failing; /* the result is to be replaced */
};

struct subject { /* what is traced */
	void (*run)(int out);
	const char *const *parts; /* names; the last one writes 'P' */
	int n_parts;
	/* Calls that cannot fail in the kernel, or whose failing changes
	 * nothing of what is enforced. */
	bool (*harmless)(const struct outcome *o, int sys);
};

static _Noreturn void tell(int out, char kind, const char *text)
{
	char line[256];

	snprintf(line, sizeof line, "%c%s", kind, text);
	_exit(write(out, line, strlen(line)) < 0);
}

static bool is_locked(pid_t pid)
{
	char path[64], text[8192];
	int fd;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	close(fd);
	if (n < 0)
		return false;
	text[n] = 0;
	return strstr(text, "\nNoNewPrivs:\t1\n") &&
	       strstr(text, "\nSeccomp:\t2\n") &&
	       strstr(text, "\nCapPrm:\t0000000000000000\n") &&
	       strstr(text, "\nCapEff:\t0000000000000000\n") &&
	       strstr(text, "\nCapBnd:\t0000000000000000\n");
}

static void on_entry(struct task *t, const struct subject *s,
		     const struct plan *p, struct outcome *o,
		     const struct ptrace_syscall_info *i)
{
	long nr = (long)i->entry.nr;

	if (nr == SYS_getsid && i->entry.args[0] > MARK &&
	    i->entry.args[0] <= MARK_END) {
		t->count = i->entry.args[0] == MARK_END ? -1 : 0;
		t->part = (int)(i->entry.args[0] - MARK);
		return;
	}
	if (t->part == s->n_parts && nr == SYS_write && is_locked(t->pid)) {
		o->locked = true;
		t->count = -1;
		return;
	}
	if (t->count < 0 || t->part != p->part || o->injected ||
	    ++t->count != p->n)
		return;
	o->injected = t->failing = true;
	o->nr = nr;
	o->arg = i->entry.args[0];
	ptrace(PTRACE_POKEUSER, t->pid, offsetof(struct user, regs.orig_rax),
	       -1L);
}

static void on_stop(struct task *t, const struct subject *s,
		    const struct plan *p, struct outcome *o)
{
	struct ptrace_syscall_info i;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, t->pid, sizeof i, &i) <= 0)
		return;
	if (i.op == PTRACE_SYSCALL_INFO_ENTRY)
		on_entry(t, s, p, o, &i);
	if (i.op == PTRACE_SYSCALL_INFO_EXIT && t->failing) {
		t->failing = false;
		ptrace(PTRACE_POKEUSER, t->pid, offsetof(struct user, regs.rax),
		       (long)-p->sys);
	}
}

static struct task *find(struct task *tasks, pid_t pid)
{
	for (int i = 0; i < TASKS; i++) {
		if (tasks[i].pid == pid)
			return &tasks[i];
		if (!tasks[i].pid) {
			tasks[i].pid = pid;
			tasks[i].count = -1;
			return &tasks[i];
		}
	}
	abort();
}

static void trace(pid_t zygote, const struct subject *s, const struct plan *p,
		  struct outcome *o)
{
	struct task tasks[TASKS] = {{0}};
	int status;
	pid_t pid;

	waitpid(zygote, &status, 0);
	ptrace(PTRACE_SETOPTIONS, zygote, NULL,
	       PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK |
		       PTRACE_O_TRACECLONE);
	find(tasks, zygote);
	ptrace(PTRACE_SYSCALL, zygote, NULL, NULL);
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		int sig = 0;

		if (!WIFSTOPPED(status))
			continue;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			on_stop(find(tasks, pid), s, p, o);
		else if (WSTOPSIG(status) != SIGTRAP &&
			 WSTOPSIG(status) != SIGSTOP)
			sig = WSTOPSIG(status);
		ptrace(PTRACE_SYSCALL, pid, NULL, (long)sig);
	}
}

/* Traced from its first call on. */
static _Noreturn void be_traced(const struct subject *s, int out)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || raise(SIGSTOP))
		_exit(99);
	s->run(out);
	_exit(0);
}

static void attempt(const struct subject *s, const struct plan *p,
		    struct outcome *o)
{
	char text[512] = "";
	int both[2];
	ssize_t n;
	pid_t pid;

	memset(o, 0, sizeof *o);
	if (pipe2(both, O_CLOEXEC))
		abort();
	pid = fork();
	if (pid == 0)
		be_traced(s, both[1]);
	close(both[1]);
	trace(pid, s, p, o);
	n = read(both[0], text, sizeof text - 1);
	close(both[0]);
	o->ran = n > 0 && memchr(text, 'P', (size_t)n) == text;
	if (n > 0 && text[0] == 'E')
		snprintf(o->text, sizeof o->text, "%.250s", text + 1);
}

static bool names_step(const struct outcome *o, int sys)
{
	const char *why = strstr(o->text, strerrordesc_np(sys));

	/* "WHAT: WHY...", or the allocator's one sentence. */
	return (why && why > o->text + 4) ||
	       !strcmp(o->text, "out of memory");
}

static bool is_good(const struct subject *s, const struct plan *p,
		    const struct outcome *o)
{
	if (o->ran)
		return o->locked && s->harmless(o, p->sys);
	return names_step(o, p->sys) ||
	       /* a wrong pid or id is noticed, with a reason of its own */
	       (s->harmless(o, p->sys) && strchr(o->text, ':'));
}

static int sweep(const struct subject *s, const char *as, struct plan p,
		 int *number)
{
	struct outcome o;
	int bad = 0;

	for (p.n = 1;; p.n++) {
		attempt(s, &p, &o);
		if (!o.injected)
			break;
		if (is_good(s, &p, &o))
			continue;
		bad++;
		printf("# call %d (number %ld) of the %s with %s: %s %s\n", p.n,
		       o.nr, s->parts[p.part - 1], strerrorname_np(p.sys),
		       o.ran ? "the payload ran" : "said", o.text);
	}
	/* Without a fault the payload runs, and there were calls to fail. */
	bad += !o.ran || !o.locked || p.n < 20;
	printf("%sok %d - %s: each of %d calls of the %s fails with %s\n",
	       bad ? "not " : "", ++*number, as, p.n - 1,
	       s->parts[p.part - 1], strerrorname_np(p.sys));
	fflush(stdout);
	return bad;
}

static int sweep_all(const struct subject *s, const char *as)
{
	static const int errors[] = {EPERM, ENOSYS, ENOMEM};
	int number = 0, bad = 0;

	prctl(PR_SET_DUMPABLE, 1);
	printf("1..%d\n", 3 * s->n_parts);
	fflush(stdout);
	for (int i = 0; i < 3; i++)
		for (int part = 1; part <= s->n_parts; part++)
			bad += sweep(s, as, (struct plan){part, 1, errors[i]},
				     &number);
	return bad != 0;
}

/* As root everything is done twice. */
static int trace_main(const struct subject *s)
{
	int status = 0;
	pid_t pid;

	if (geteuid() != 0)
		return sweep_all(s, "user");
	pid = fork();
	if (pid == 0) {
		if (setgroups(0, NULL) ||
		    setresgid(ORDINARY_ID, ORDINARY_ID, ORDINARY_ID) ||
		    setresuid(ORDINARY_ID, ORDINARY_ID, ORDINARY_ID))
			_exit(99);
		exit(sweep_all(s, "user"));
	}
	waitpid(pid, &status, 0);
	return sweep_all(s, "root") || status;
}

#endif
