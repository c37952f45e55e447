/* A worker that has turned: our own worker, with three functions wrapped so that
 * a word of the guest makes the process do what a guest could make it do that
 * got through the first wall.  Of a script that is a source of "//!NAME"; of a
 * foreign module, bytes in its data: "//!NAME" for while its artefact is loaded,
 * "//?NAME" for while it runs.  Linked twice: with the kernel jail (traitor), and
 * with the lock taken out (traitor-bare), which is the positive control: there
 * the same attack must succeed. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "engine/image.h"
#include "engine/module.h"

int __real_image_run(struct exec *x, const struct image_request *q,
		     struct exec_outcome *out, struct image_result *res,
		     struct redoma_error *err);
int __wrap_image_run(struct exec *x, const struct image_request *q,
		     struct exec_outcome *out, struct image_result *res,
		     struct redoma_error *err);
int __real_module_load_bytes(struct engine *e, const void *p, size_t n,
			     struct redoma_error *err);
int __wrap_module_load_bytes(struct engine *e, const void *p, size_t n,
			     struct redoma_error *err);
int __real_exec_start(struct exec *x, struct exec_outcome *out,
		      struct redoma_error *err);
int __wrap_exec_start(struct exec *x, struct exec_outcome *out,
		      struct redoma_error *err);

static int do_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0);
}

static int do_open(void)
{
	return (int)syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY,
			    0);
}

static int do_fork(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return pid;
}

/* Survives only if exec is allowed and fails for want of a file. */
static int do_exec(void)
{
	char *const none[] = {NULL};

	syscall(SYS_execve, "/nothing", none, none);
	return errno == ENOENT ? 0 : -1;
}

static int do_map_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -1 : 0;
}

static int do_make_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -1 : mprotect(p, 4096, PROT_READ | PROT_EXEC);
}

static int do_uring(void)
{
	char p[256] = {0};

	return (int)syscall(SYS_io_uring_setup, 1, p) < 0 && errno == ENOSYS
		       ? -1
		       : 0;
}

static int do_namespace(void)
{
	return syscall(SYS_unshare, CLONE_NEWUTS) && errno != EPERM ? -1 : 0;
}

static int do_kill(void)
{
	return kill(-1, 0) && errno != ESRCH && errno != EPERM ? -1 : 0;
}

static int do_memfd(void)
{
	return (int)syscall(SYS_memfd_create, "m", 0);
}

static int do_limit(void)
{
	struct rlimit l = {8, 8};

	return (int)syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &l, NULL);
}

#define HOARD_STEP ((size_t)4 << 20)
#define HOARD_STEPS 96u /* a bound of its own: 384 MiB */

/* Written, then made read-only: RLIMIT_DATA counts it no more. */
static int do_hoard(void)
{
	for (size_t n = 0; n < HOARD_STEPS; n++) {
		char *p = mmap(NULL, HOARD_STEP, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return -1;
		for (size_t i = 0; i < HOARD_STEP; i += 4096)
			p[i] = 1;
		if (mprotect(p, HOARD_STEP, PROT_READ))
			return -1;
	}
	return 0;
}

#define LATE_MS 400

/* When others had time to look at it. */
static int do_hoard_late(void)
{
	struct timespec t, end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += LATE_MS * 1000000L;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	do
		clock_gettime(CLOCK_MONOTONIC, &t);
	while (t.tv_sec < end.tv_sec ||
	       (t.tv_sec == end.tv_sec && t.tv_nsec < end.tv_nsec));
	return do_hoard();
}

#define BROOD 200

/* They end with their parent's pid namespace. */
static int do_breed(void)
{
	for (int n = 0; n < BROOD; n++) {
		pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

		if (pid == 0)
			for (;;)
				pause();
		if (pid < 0)
			return -1;
	}
	return 0;
}

static int do_segv(void)
{
	volatile uintptr_t nowhere = 64;

	return *(volatile int *)nowhere;
}

static int do_abort(void)
{
	abort();
}

static int do_exit(void)
{
	_exit(7);
}

/* Deaf to its deadline: only the core's kill ends it. */
static int do_hang(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (;;)
		atomic_signal_fence(memory_order_seq_cst);
	return 0;
}

static const struct attack {
	const char *name;
	int (*go)(void);
} attacks[] = {
	{"socket", do_socket},	   {"open", do_open},
	{"fork", do_fork},	   {"exec", do_exec},
	{"map-code", do_map_code}, {"make-code", do_make_code},
	{"uring", do_uring},	   {"namespace", do_namespace},
	{"kill", do_kill},	   {"memfd", do_memfd},
	{"limit", do_limit},	   {"segv", do_segv},
	{"abort", do_abort},	   {"exit", do_exit},
	{"hang", do_hang},	   {"hoard", do_hoard},
	{"breed", do_breed},	   {"hoard-late", do_hoard_late},
};

int __wrap_image_run(struct exec *x, const struct image_request *q,
		     struct exec_outcome *out, struct image_result *res,
		     struct redoma_error *err)
{
	struct image_request honest = *q;
	const char *s = q->source;

	for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++)
		if (!strncmp(s, "//!", 3) && !strcmp(s + 3, attacks[i].name)) {
			bool won = attacks[i].go() >= 0;

			honest.source = won ? "'won'" : "'refused'";
			honest.source_len = strlen(honest.source);
		}
	return __real_image_run(x, &honest, out, res, err);
}

/* The attack that the bytes ask for with `mark`, tried; NULL: none. */
static const char *attacked(const char *mark, const void *p, size_t n)
{
	char want[32];

	for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
		snprintf(want, sizeof want, "%s%s", mark, attacks[i].name);
		if (memmem(p, n, want, strlen(want) + 1))
			return attacks[i].go() >= 0 ? "won" : "refused";
	}
	return NULL;
}

int __wrap_module_load_bytes(struct engine *e, const void *p, size_t n,
			     struct redoma_error *err)
{
	const char *said = attacked("//!", p, n);

	if (said)
		return err_set(err, REDOMA_E_INVALID, "traitor", "%s", said);
	return __real_module_load_bytes(e, p, n, err);
}

int __wrap_exec_start(struct exec *x, struct exec_outcome *out,
		      struct redoma_error *err)
{
	size_t n;
	const uint8_t *p = exec_memory(x, &n);
	const char *said = p ? attacked("//?", p, n) : NULL;

	if (said)
		return err_set(err, REDOMA_E_INVALID, "traitor", "%s", said);
	return __real_exec_start(x, out, err);
}
