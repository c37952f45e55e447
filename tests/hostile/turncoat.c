/* A compiler that has turned: redoma-compile, with compile_module_bytes wrapped
 * so that a module which holds "//!NAME" makes the process do what a module
 * could make it do that got the better of the compiler.  It reports "won" or
 * "refused" as its error.  Linked three times: with the whole jail (turncoat),
 * without the filter of system calls, so that what is behind it is seen
 * (turncoat-open), and without any of it (turncoat-bare), which is the positive
 * control. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/compile.h"
#include "engine/state.h"
#include "wire/compile.h"

#define OVER_MEMORY (COMPILE_MEMORY + ((uint64_t)128 << 20))

int __real_compile_module_bytes(enum profile profile, const void *wasm,
				size_t len, struct buf *out,
				struct redoma_error *err);
int __wrap_compile_module_bytes(enum profile profile, const void *wasm,
				size_t len, struct buf *out,
				struct redoma_error *err);
wasmtime_error_t *__real_rd_precompile(const wasm_engine_t *e,
				       const uint8_t *wasm, size_t len,
				       wasm_byte_vec_t *ret);
wasmtime_error_t *__wrap_rd_precompile(const wasm_engine_t *e,
				       const uint8_t *wasm, size_t len,
				       wasm_byte_vec_t *ret);

static int do_socket(void)
{
	return socket(AF_INET, SOCK_DGRAM, 0);
}

/* Landlock does not see datagrams: only the net namespace has no route. */
static int do_datagram(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
	int fd = do_socket();

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return fd < 0 ? fd : connect(fd, (struct sockaddr *)&to, sizeof(to));
}

static int do_passwd(void)
{
	return (int)syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY, 0);
}

static int do_root(void)
{
	return (int)syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY,
			    0);
}

/* Survives only if exec is allowed and fails for want of a file. */
static int do_exec(void)
{
	char *const none[] = {NULL};

	syscall(SYS_execve, "/nothing", none, none);
	return errno == ENOENT ? 0 : -1;
}

static int do_fork(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return pid;
}

static int do_ptrace(void)
{
	return (int)syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0);
}

/* The parent of what is first in its namespace has no number there. */
static int do_kill_parent(void)
{
	pid_t parent = getppid();

	if (!parent) {
		kill(1 << 20, SIGKILL);
		return -1;
	}
	alarm(5);
	return kill(parent, SIGKILL) ? -1 : pause(); /* dies with it */
}

/* A worker may, a compiler may not: the two have filters of their own. */
static int do_poll(void)
{
	return (int)syscall(SYS_poll, NULL, 0, 0);
}

static int do_limit(void)
{
	return (int)syscall(SYS_prlimit64, 0, 1 /* RLIMIT_FSIZE */,
			    &(uint64_t[2]){8, 8}, NULL);
}

static int do_map_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -1 : 0;
}

static int do_memfd(void)
{
	return (int)syscall(SYS_memfd_create, "m", 0);
}

static int do_memory(void)
{
	void *p = mmap(NULL, OVER_MEMORY, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? -1 : 0;
}

static int do_file(void)
{
	return ftruncate(COMPILE_OUT, COMPILE_ARTEFACT + 1);
}

static int do_segv(void)
{
	volatile uintptr_t nowhere = 64;

	return *(volatile int *)nowhere;
}

static int do_exit(void)
{
	_exit(7);
}

static const struct attack {
	const char *name;
	int (*go)(void);
} attacks[] = {
	{"socket", do_socket},	 {"datagram", do_datagram},
	{"passwd", do_passwd},	 {"root", do_root},
	{"exec", do_exec},	 {"fork", do_fork},
	{"ptrace", do_ptrace},	 {"kill-parent", do_kill_parent},
	{"poll", do_poll},	 {"limit", do_limit},
	{"map-code", do_map_code}, {"memfd", do_memfd},
	{"memory", do_memory},	 {"file", do_file},
	{"segv", do_segv},	 {"exit", do_exit},
};

static bool asks_for(const void *wasm, size_t len, const char *name)
{
	const char *at = memmem(wasm, len, "//!", 3);
	size_t left = at ? len - (size_t)(at - (const char *)wasm) - 3 : 0;

	return at && left == strlen(name) && !memcmp(at + 3, name, left);
}

int __wrap_compile_module_bytes(enum profile profile, const void *wasm,
				size_t len, struct buf *out,
				struct redoma_error *err)
{
	for (size_t i = 0; i < sizeof(attacks) / sizeof(*attacks); i++) {
		bool won;

		if (!asks_for(wasm, len, attacks[i].name))
			continue;
		won = attacks[i].go() >= 0;
		return err_set(err, REDOMA_E_INVALID, "turncoat", "%s %d",
			       won ? "won" : "refused", won ? 0 : errno);
	}
	return __real_compile_module_bytes(profile, wasm, len, out, err);
}

/* An artefact over the cap, of a module that is well. */
wasmtime_error_t *__wrap_rd_precompile(const wasm_engine_t *e,
				       const uint8_t *wasm, size_t len,
				       wasm_byte_vec_t *ret)
{
	if (!asks_for(wasm, len, "artefact"))
		return __real_rd_precompile(e, wasm, len, ret);
	wasm_byte_vec_new_uninitialized(ret, COMPILE_OUTPUT_MAX + 1);
	return NULL;
}
