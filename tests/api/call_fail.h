/* Makes the n-th system call of some kind fail: set call_fault and call_left,
 * call the library, set call_fault back to FAULT_NONE.  This header defines what
 * it makes fail for the whole test program, so one file of it includes this. */
#ifndef API_CALL_FAIL_H
#define API_CALL_FAIL_H

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum call_fault {
	FAULT_NONE,
	FAULT_FILES,  /* EMFILE, of what makes a descriptor */
	FAULT_MEMORY, /* ENOMEM */
	FAULT_SIGNAL, /* EINTR, of what a signal can wake */
};

static const int call_errnos[] = {0, EMFILE, ENOMEM, EINTR};

/* In memory that processes made by the library share with us. */
static struct {
	enum call_fault fault;
	bool below;	     /* in those processes, not here */
	pid_t us;
	int left, refused;   /* n more succeed; how many did not */
	const char *what;    /* the last one that did not */
} *calls;

static void calls_share(void)
{
	void *p = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	calls = p;
	calls->us = getpid();
}

#define FILES (1 << FAULT_FILES)
#define MEMORY (1 << FAULT_MEMORY)
#define SIGNAL (1 << FAULT_SIGNAL)

static bool call_refused(const char *what, int faults)
{
	if (!calls || !(faults & 1 << calls->fault) ||
	    calls->below != (getpid() != calls->us) || calls->left-- != 0)
		return false;
	calls->refused++;
	calls->what = what;
	errno = call_errnos[calls->fault];
	return true;
}

/* The C library's name of a call is taken by a function that has another one in
 * C, so that no header's idea of it is in the way. */
#define CALL(type, name, params, args, faults)                               \
	type call_##name params __asm__(#name);                              \
	type call_##name params                                              \
	{                                                                    \
		static type(*real) params;                                   \
                                                                             \
		if (!real)                                                   \
			*(void **)&real = dlsym(RTLD_NEXT, #name);           \
		return call_refused(#name, faults) ? (type)-1 : real args;   \
	}

CALL(int, socketpair, (int d, int t, int p, int *sv), (d, t, p, sv),
     FILES | MEMORY)
CALL(int, pipe2, (int *p, int flags), (p, flags), FILES | MEMORY)
CALL(int, memfd_create, (const char *name, unsigned flags), (name, flags),
     FILES | MEMORY)
CALL(int, open64, (const char *p, int flags, mode_t m), (p, flags, m),
     FILES | MEMORY)
CALL(int, openat64, (int d, const char *p, int flags, mode_t m),
     (d, p, flags, m), FILES | MEMORY)
CALL(int, dup2, (int a, int b), (a, b), FILES)
CALL(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags),
     (fd, m, flags), MEMORY | SIGNAL)
CALL(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags),
     MEMORY | SIGNAL)
/* What waits in a pipe is there already. */
CALL(ssize_t, read, (int fd, void *p, size_t n), (fd, p, n), SIGNAL)
CALL(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n),
     MEMORY | SIGNAL)
CALL(ssize_t, pread64, (int fd, void *p, size_t n, off_t at), (fd, p, n, at),
     MEMORY)
CALL(int, poll, (struct pollfd *p, nfds_t n, int ms), (p, n, ms),
     MEMORY | SIGNAL)
CALL(int, ppoll,
     (struct pollfd *p, nfds_t n, const struct timespec *t,
      const sigset_t *set),
     (p, n, t, set), MEMORY | SIGNAL)
CALL(int, waitid, (int type, id_t id, siginfo_t *i, int options),
     (type, id, i, options), SIGNAL)
CALL(int, fstat64, (int fd, struct stat *st), (fd, st), MEMORY)
CALL(int, fstatat64, (int d, const char *p, struct stat *st, int flags),
     (d, p, st, flags), MEMORY)
CALL(int, access, (const char *p, int mode), (p, mode), MEMORY)
CALL(int, faccessat, (int d, const char *p, int mode, int flags),
     (d, p, mode, flags), MEMORY)
CALL(int, mkdir, (const char *p, mode_t m), (p, m), MEMORY)
CALL(int, mkdirat, (int d, const char *p, mode_t m), (d, p, m), MEMORY)
CALL(int, link, (const char *a, const char *b), (a, b), MEMORY)
CALL(int, linkat, (int a, const char *p, int b, const char *q, int flags),
     (a, p, b, q, flags), MEMORY)
CALL(int, renameat, (int a, const char *p, int b, const char *q),
     (a, p, b, q), MEMORY)
CALL(int, flock, (int fd, int op), (fd, op), MEMORY)
CALL(int, execve, (const char *p, char *const *argv, char *const *env),
     (p, argv, env), MEMORY)

/* Of fcntl(2) those that make a descriptor, or seal. */
int call_fcntl(int fd, int command, long arg) __asm__("fcntl64");
int call_fcntl(int fd, int command, long arg)
{
	static int (*real)(int, int, long);
	int faults = command == F_DUPFD_CLOEXEC ? FILES | MEMORY
		     : command == F_ADD_SEALS	? MEMORY
						: 0;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "fcntl64");
	return call_refused("fcntl", faults) ? -1 : real(fd, command, arg);
}

/* By number: what the C library has no function for. */
long call_syscall(long nr, long a, long b, long c, long d, long e, long f)
	__asm__("syscall");
long call_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	static long (*real)(long, long, long, long, long, long, long);
	const char *what = nr == SYS_clone3    ? "clone3"
			   : nr == SYS_openat2 ? "openat2"
					       : NULL;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	if (what && call_refused(what, FILES | MEMORY))
		return -1;
	return real(nr, a, b, c, d, e, f);
}

#endif
