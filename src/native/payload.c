#include "native/payload.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/here.h"
#include "native/order.h"
#include "native/pump.h"

#define WHERE "native"
#define REAP_AT_ONCE 64
#define LOOK_NS 100000L /* between the first two kills; doubled each time */
#define LOOK_NS_MAX 3000000L
#define NOT_STARTED 127
#define STAT_BYTES 1024
#define PIPE_BYTES_DEFAULT 65536u

/* Descriptors of the child, ascending once they are placed. */
enum { STD_IN, STD_OUT, STD_ERR, BOOT, GATE, ENDS };

struct ends {
	int child[ENDS];
	size_t n; /* of those that the program gets */
};

static void close_ends(struct ends *e)
{
	for (size_t i = 0; i < ENDS; i++)
		if (e->child[i] >= 0)
			close(e->child[i]);
}

static int no_wait(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

static int one_pipe(int *child, int *ours, bool to_child)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC))
		return -1;
	*child = p[to_child ? 0 : 1];
	*ours = p[to_child ? 1 : 0];
	return no_wait(*ours);
}

/* Above all others, each above the one before. */
static int place(struct ends *e)
{
	int above = 63;

	for (size_t i = 0; i < ENDS; i++) {
		int fd;

		if (e->child[i] < 0)
			continue;
		fd = fcntl(e->child[i], F_DUPFD_CLOEXEC, above + 1);
		if (fd < 0)
			return -1;
		close(e->child[i]);
		e->child[i] = above = fd;
	}
	return 0;
}

/* A program that writes without waiting, as node does, keeps in its memory what
 * a pipe does not take: with room for more than it may say, it meets the limit
 * of its output first.  A user who has too many large pipes gets what there is:
 * the limit holds in any case. */
static void widen(const struct payload_start *s, const struct payload *p)
{
	size_t want = s->output_bytes < PIPE_BYTES_MAX / 2
			      ? (size_t)s->output_bytes * 2
			      : PIPE_BYTES_MAX;

	if (want <= PIPE_BYTES_DEFAULT)
		return;
	(void)fcntl(p->out, F_SETPIPE_SZ, (int)want);
	(void)fcntl(p->err, F_SETPIPE_SZ, (int)want);
}

static int make_ends(const struct payload_start *s, struct payload *p,
		     struct ends *e)
{
	int sv[2];

	e->n = s->boot ? BOOT + 1 : BOOT;
	if (one_pipe(&e->child[STD_IN], &p->in, true) ||
	    one_pipe(&e->child[STD_OUT], &p->out, false) ||
	    one_pipe(&e->child[STD_ERR], &p->err, false))
		return -1;
	if (s->boot) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
			return -1;
		e->child[BOOT] = sv[0];
		p->boot = sv[1];
	}
	return place(e);
}

static int make_page(struct payload *p)
{
	void *page = mmap(NULL, sizeof *p->fault, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return -1;
	p->fault = page;
	return 0;
}

static bool hear_go(int fd)
{
	ssize_t n;
	char go;

	do
		n = read(fd, &go, 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

/* Locked while init locks itself; the program begins when both have done so. */
__attribute__((noreturn)) static void
become(const struct payload_start *s, const struct ends *e,
       struct payload_fault *fault)
{
	struct order o;
	sigset_t none;

	if (order_take(e->child[GATE], &o))
		_exit(NOT_STARTED);
	o.lock.keep = e->child;
	o.lock.n_keep = e->n;
	o.lock.gate_fd = e->child[GATE];
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	fault->what = native_payload(s->jail, &o.lock);
	if (!fault->what && !hear_go((int)e->n))
		_exit(NOT_STARTED);
	if (!fault->what) {
		fault->at_exec = true;
		execve(s->program, o.argv, o.env);
		fault->what = "start the program";
	}
	fault->sys = errno;
	_exit(NOT_STARTED);
}

int payload_fork(const struct payload_start *s, struct payload *p,
		 struct redoma_error *err)
{
	CLEANUP(close_ends) struct ends e = {.child = {-1, -1, -1, -1, -1}};
	struct here here;
	int gate[2];
	pid_t pid;

	if (make_page(p) || pipe2(gate, O_CLOEXEC))
		return err_sys(err, WHERE, "make pipes for the program");
	e.child[GATE] = gate[0];
	p->gate = gate[1];
	if (make_ends(s, p, &e))
		return err_sys(err, WHERE, "make pipes for the program");
	here_stay(&here);
	pid = fork();
	here_leave(&here);
	if (pid < 0)
		return err_sys(err, WHERE, "start the program");
	if (pid == 0) {
		close(TAKE_FD(p->gate));
		become(s, &e, p->fault);
	}
	p->pid = pid;
	/* Not to be asked for once init is settled. */
	if (clock_getcpuclockid(pid, &p->cpu_clock))
		return err_set(err, REDOMA_E_SYSTEM, WHERE,
			       "find the CPU clock of the program");
	return 0;
}

int payload_order(const struct payload_start *s, struct payload *p,
		  struct redoma_error *err)
{
	widen(s, p);
	return order_send(p->gate, s, err);
}

int payload_release(struct payload *p, struct redoma_error *err)
{
	if (fd_write_all(p->gate, "", 1) && errno != EPIPE)
		return err_sys(err, WHERE, "start the program");
	close(TAKE_FD(p->gate));
	return 0;
}

static int bound(pid_t pid, int resource, uint64_t soft, uint64_t hard)
{
	struct rlimit l = {soft, hard};

	return prlimit(pid, (enum __rlimit_resource)resource, &l, NULL);
}

/* 0: it stays as it is. */
static int lower(pid_t pid, int resource, uint64_t most)
{
	struct rlimit old;

	if (!most)
		return 0;
	if (prlimit(pid, (enum __rlimit_resource)resource, NULL, &old))
		return -1;
	return old.rlim_max <= most ? 0 : bound(pid, resource, most, most);
}

int payload_bound(const struct payload *p, const struct payload_start *s,
		  struct redoma_error *err)
{
	if (bound(p->pid, RLIMIT_FSIZE, s->file_bytes, s->file_bytes) ||
	    bound(p->pid, RLIMIT_NOFILE, s->max_fds, s->max_fds) ||
	    bound(p->pid, RLIMIT_CPU, s->cpu_s, s->cpu_s + 1) ||
	    lower(p->pid, RLIMIT_DATA, s->memory_bytes) ||
	    lower(p->pid, RLIMIT_NPROC, s->pids))
		return err_sys(err, WHERE, "bound the program");
	return 0;
}

uint64_t payload_cpu_us(const struct payload *p)
{
	struct timespec t;

	if (!p->pid || p->dead || clock_gettime(p->cpu_clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t to_us(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

static void bury(struct payload *p, pid_t pid, int status,
		 const struct rusage *u)
{
	uint64_t peak = (uint64_t)u->ru_maxrss * 1024;

	p->cpu_us += to_us(u->ru_utime) + to_us(u->ru_stime);
	p->page_faults += (uint64_t)u->ru_minflt;
	if (peak > p->peak_bytes)
		p->peak_bytes = peak;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		p->sigsys = true;
	if (pid != p->pid)
		return;
	p->dead = true;
	p->status = status;
}

/* The pid, 0: none is ready, -1: there is none any more. */
static pid_t reap_one(struct payload *p)
{
	struct rusage u;
	int status;
	pid_t pid;

	do
		pid = wait4(-1, &status, WNOHANG | __WALL, &u);
	while (pid < 0 && errno == EINTR);
	if (pid > 0)
		bury(p, pid, status, &u);
	return pid;
}

bool payload_reap(struct payload *p)
{
	int n = REAP_AT_ONCE;

	while (n && reap_one(p) > 0)
		n--;
	return !n;
}

static int needs_pid_1(struct redoma_error *err)
{
	if (getpid() == 1)
		return 0;
	return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
		       "a native program needs a pid namespace of its own");
}

/* proc_pid_stat(5): minflt is field 10, the name field 2. */
static uint64_t faults_so_far(const struct payload *p)
{
	char text[STAT_BYTES];
	ssize_t n = p->dead || p->stat < 0
			    ? -1
			    : pread(p->stat, text, sizeof text - 1, 0);
	unsigned long faults = 0;
	const char *at;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	at = strrchr(text, ')');
	return at && sscanf(at, ") %*c %*s %*s %*s %*s %*s %*s %lu",
			    &faults) == 1
		       ? faults : 0;
}

void payload_open_stat(struct payload *p)
{
	char name[32];

	snprintf(name, sizeof name, "/proc/%d/stat", p->pid);
	p->stat = open(name, O_RDONLY | O_CLOEXEC);
	p->warm_faults = faults_so_far(p);
}

int payload_strike(struct payload *p, struct redoma_error *err)
{
	int r = needs_pid_1(err);

	if (r)
		return r;
	kill(-1, SIGKILL);
	while (payload_reap(p))
		;
	p->cpu_us += payload_cpu_us(p);
	p->page_faults += faults_so_far(p);
	return 0;
}

int payload_end(struct payload *p, uint64_t wait_us, struct redoma_error *err)
{
	int r = needs_pid_1(err);

	uint64_t until = clock_monotonic_us() + wait_us;
	struct timespec look = {0, LOOK_NS};
	int n = REAP_AT_ONCE;
	sigset_t child;
	pid_t pid;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	if (r)
		return r;
	/* Whatever lives in this namespace is a child of ours, or of one. */
	while (n-- && (pid = reap_one(p)) > 0)
		;
	if (pid < 0)
		return 0;
	/* Nothing can be born while the kernel goes through its list, but what
	 * is still on its way out would be waited for. */
	kill(-1, SIGKILL);
	while ((pid = reap_one(p)) >= 0) {
		if (pid)
			continue;
		if (clock_monotonic_us() > until)
			return err_set(err, REDOMA_E_BUSY, WHERE,
				       "a process of the program could not be "
				       "ended");
		/* Blocked, as watch.h says; one that ends is seen at once. */
		sigtimedwait(&child, NULL, &look);
		if (look.tv_nsec < LOOK_NS_MAX)
			look.tv_nsec *= 2;
		kill(-1, SIGKILL);
	}
	return 0;
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(TAKE_FD(*fd));
}

void payload_done(struct payload *p)
{
	close_end(&p->in);
	close_end(&p->out);
	close_end(&p->err);
	close_end(&p->boot);
	close_end(&p->gate);
	close_end(&p->stat);
	if (p->fault)
		munmap(p->fault, sizeof *p->fault);
	p->fault = NULL;
}
