/* Every system call of jail_prepare, jail_fork and jail_lock fails once, with
 * EPERM, ENOSYS and ENOMEM: the payload must not run, and the error must name
 * the step.  The failing is done by a tracer (ptrace(2)).
 * test-seconds: 300 */
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

#define MARK 0x52440000 /* getsid(MARK + n) says where a process is */
#define MARK_PREPARE (MARK + 1)
#define MARK_LOCK (MARK + 2)
#define MARK_END (MARK + 3)
#define ORDINARY_ID 65534
#define TASKS 4

enum where { IN_ZYGOTE, IN_CHILD };

struct plan { /* the n-th call, from 1, of one process fails */
	enum where where;
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
	int count;     /* calls since the mark; -1: before it */
	bool failing;  /* the result is to be replaced */
	bool is_child; /* the locked one */
};

static _Noreturn void tell(int out, char kind, const char *text)
{
	char line[256];

	snprintf(line, sizeof line, "%c%s", kind, text);
	_exit(write(out, line, strlen(line)) < 0);
}

static _Noreturn void be_child(struct jail *j, int out)
{
	struct jail_options o = {.keep = &out,
				 .n_keep = 1,
				 .memory_bytes = 1 << 30,
				 .stack_bytes = 8 << 20,
				 .file_bytes = 4096};
	struct jail_report report;
	struct redoma_error err = {0};
	int rc;

	getsid(MARK_LOCK);
	rc = jail_lock(j, &o, &report, &err);
	if (rc)
		tell(out, 'E', err.text);
	tell(out, 'P', "");
}

static _Noreturn void be_zygote(int out)
{
	struct jail_options o = {0};
	struct redoma_error err = {0};
	struct jail *j = NULL;
	siginfo_t info;
	int pidfd = -1;
	pid_t pid;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || raise(SIGSTOP))
		_exit(99);
	getsid(MARK_PREPARE);
	if (jail_prepare(&o, &j, NULL, &err))
		tell(out, 'E', err.text);
	pid = jail_fork(j, &pidfd, &err);
	if (pid < 0)
		tell(out, 'E', err.text);
	if (!pid)
		be_child(j, out);
	getsid(MARK_END);
	waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED);
	_exit(0);
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

static void on_entry(struct task *t, const struct plan *p, struct outcome *o,
		     const struct ptrace_syscall_info *i)
{
	long nr = (long)i->entry.nr;

	if (nr == SYS_getsid && i->entry.args[0] > MARK) {
		t->count = i->entry.args[0] == MARK_END ? -1 : 0;
		t->is_child = i->entry.args[0] == MARK_LOCK;
		return;
	}
	if (t->is_child && nr == SYS_write && is_locked(t->pid)) {
		o->locked = true;
		t->count = -1;
		return;
	}
	if (t->count < 0 || t->is_child != (p->where == IN_CHILD) ||
	    o->injected || ++t->count != p->n)
		return;
	o->injected = t->failing = true;
	o->nr = nr;
	o->arg = i->entry.args[0];
	ptrace(PTRACE_POKEUSER, t->pid, offsetof(struct user, regs.orig_rax),
	       -1L);
}

static void on_stop(struct task *t, const struct plan *p, struct outcome *o)
{
	struct ptrace_syscall_info i;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, t->pid, sizeof i, &i) <= 0)
		return;
	if (i.op == PTRACE_SYSCALL_INFO_ENTRY)
		on_entry(t, p, o, &i);
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

static void trace(pid_t zygote, const struct plan *p, struct outcome *o)
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
			on_stop(find(tasks, pid), p, o);
		else if (WSTOPSIG(status) != SIGTRAP &&
			 WSTOPSIG(status) != SIGSTOP)
			sig = WSTOPSIG(status);
		ptrace(PTRACE_SYSCALL, pid, NULL, (long)sig);
	}
}

static void attempt(const struct plan *p, struct outcome *o)
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
		be_zygote(both[1]);
	close(both[1]);
	trace(pid, p, o);
	n = read(both[0], text, sizeof text - 1);
	close(both[0]);
	o->ran = n > 0 && memchr(text, 'P', (size_t)n) == text;
	if (n > 0 && text[0] == 'E')
		snprintf(o->text, sizeof o->text, "%.250s", text + 1);
}

/* Calls that cannot fail in the kernel, or whose failing changes nothing of
 * what is enforced; the payload then ran in a jail that was seen to be whole. */
static bool is_harmless(const struct outcome *o, int sys)
{
	switch (o->nr) {
	case SYS_close:
	case SYS_getpid:
	case SYS_getuid:
	case SYS_geteuid:
	case SYS_getgid:
	case SYS_getegid:
	case SYS_umask:
	case SYS_brk: /* the allocator tries mmap next */
		return true;
	case SYS_keyctl: /* a kernel without keyrings */
		return sys == ENOSYS;
	case SYS_unshare: /* all at once; then one by one, and all must work */
		return o->arg & CLONE_NEWNS && o->arg & CLONE_NEWNET;
	default:
		return false;
	}
}

static bool names_step(const struct outcome *o, int sys)
{
	const char *why = strstr(o->text, strerrordesc_np(sys));

	/* "WHAT: WHY...", or the allocator's one sentence. */
	return (why && why > o->text + 4) ||
	       !strcmp(o->text, "out of memory");
}

static bool is_good(const struct plan *p, const struct outcome *o)
{
	if (o->ran)
		return o->locked && is_harmless(o, p->sys);
	return names_step(o, p->sys) ||
	       /* a wrong pid or id is noticed, with a reason of its own */
	       (is_harmless(o, p->sys) && strchr(o->text, ':'));
}

static int sweep(const char *as, enum where where, int sys, int *number)
{
	struct plan p = {where, 1, sys};
	struct outcome o;
	int bad = 0;

	for (;; p.n++) {
		attempt(&p, &o);
		if (!o.injected)
			break;
		if (is_good(&p, &o))
			continue;
		bad++;
		printf("# call %d (number %ld) of the %s with %s: %s %s\n", p.n,
		       o.nr, where == IN_CHILD ? "child" : "zygote",
		       strerrorname_np(sys), o.ran ? "the payload ran" : "said",
		       o.text);
	}
	/* Without a fault the payload runs, and there were calls to fail. */
	bad += !o.ran || !o.locked || p.n < 20;
	printf("%sok %d - %s: each of %d calls of the %s fails with %s\n",
	       bad ? "not " : "", ++*number, as, p.n - 1,
	       where == IN_CHILD ? "child" : "zygote", strerrorname_np(sys));
	fflush(stdout);
	return bad;
}

static int sweep_all(const char *as)
{
	static const int errors[] = {EPERM, ENOSYS, ENOMEM};
	int number = 0, bad = 0;

	prctl(PR_SET_DUMPABLE, 1);
	printf("1..6\n");
	fflush(stdout);
	for (int i = 0; i < 3; i++) {
		bad += sweep(as, IN_ZYGOTE, errors[i], &number);
		bad += sweep(as, IN_CHILD, errors[i], &number);
	}
	return bad != 0;
}

int main(void)
{
	int status = 0;
	pid_t pid;

	if (geteuid() != 0)
		return sweep_all("user");
	pid = fork();
	if (pid == 0) {
		if (setgroups(0, NULL) ||
		    setresgid(ORDINARY_ID, ORDINARY_ID, ORDINARY_ID) ||
		    setresuid(ORDINARY_ID, ORDINARY_ID, ORDINARY_ID))
			_exit(99);
		exit(sweep_all("user"));
	}
	waitpid(pid, &status, 0);
	return sweep_all("root") || status;
}
