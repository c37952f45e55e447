/* jail/seccomp_table.h - what each process of the jail may ask the kernel for;
 * everything else kills it (SIGSYS), or for a native program is ENOSYS.  A
 * foreign architecture and x32 kill in any case.  Read by bpf_gen.c at build
 * time and by the tests, which compare the generated programs with it.
 *
 * A row allows a call if all its tests hold; a test holds if (argument & mask)
 * is one of its values.  A call with several rows for a filter is allowed if
 * one of them allows it.
 * Rows without tests come from the kernel's per-call cache: frequent calls
 * have none. */
#ifndef JAIL_SECCOMP_TABLE_H
#define JAIL_SECCOMP_TABLE_H

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include "jail/jail.h"
#include "jail/kernel.h"

#define SECCOMP_TESTS 2
#define SECCOMP_VALUES 12

struct seccomp_test {
	unsigned arg;
	uint64_t mask; /* 0: no test */
	unsigned n;
	uint64_t value[SECCOMP_VALUES];
};

struct seccomp_row {
	const char *name;
	int nr;
	uint32_t filters; /* bit per enum jail_filter */
	struct seccomp_test test[SECCOMP_TESTS];
};

#define W (1u << JAIL_FILTER_WORKER)
#define L (1u << JAIL_FILTER_LOADING)
#define C (1u << JAIL_FILTER_COMPILER)
#define N (1u << JAIL_FILTER_NATIVE)
#define I (1u << JAIL_FILTER_INIT)
#define CALL(name) #name, SYS_##name
#define WHOLE UINT64_MAX
/* Types of int in the kernel's prototype: it looks at the low half only. */
#define LOW 0xffffffffu

/* Anonymous and private, neither growing (RLIMIT_DATA does not count that),
 * nor huge, nor locked. */
#define MAP_SEEN                                                             \
	(MAP_SHARED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN |          \
	 MAP_LOCKED | MAP_HUGETLB)
/* The same, and files too. */
#define MAP_SEEN_LOADING (MAP_SEEN & ~MAP_ANONYMOUS)
#define PROT_DATA (unsigned long)(PROT_READ | PROT_WRITE)
#define PROT_CODE (PROT_DATA | PROT_EXEC)
#define FUTEX_FLAGS (unsigned)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME)
#define FUTEX_SEEN (LOW & ~FUTEX_FLAGS)
/* Without SOCK_NONBLOCK and SOCK_CLOEXEC. */
#define SOCK_SEEN (LOW & ~(unsigned)(SOCK_NONBLOCK | SOCK_CLOEXEC))
/* Every CLONE_NEW* that clone(2) takes. */
#define CLONE_SPACES                                                         \
	(unsigned)(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |            \
		   CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |             \
		   CLONE_NEWNET)

static const struct seccomp_row seccomp_table[] = {
	/* Granted descriptors and the socket to the core. */
	{CALL(read), W | L | C, {{0}}},
	{CALL(write), W | L | C, {{0}}},
	{CALL(readv), W | L | C, {{0}}},
	{CALL(writev), W | L | C, {{0}}},
	{CALL(pread64), W | L | C, {{0}}},
	{CALL(pwrite64), W | L | C, {{0}}},
	{CALL(preadv), W | L, {{0}}},
	{CALL(pwritev), W | L, {{0}}},
	{CALL(lseek), W | L | C, {{0}}},
	{CALL(fstat), W | L | C, {{0}}},
	/* fstat() of the C library; what an empty root names is not there. */
	{CALL(newfstatat), W | L | C, {{3, WHOLE, 1, {AT_EMPTY_PATH}}}},
	{CALL(ftruncate), W | L | C, {{0}}},
	{CALL(fsync), W | L, {{0}}},
	{CALL(fdatasync), W | L, {{0}}},
	{CALL(close), W | L | C, {{0}}},
	{CALL(fcntl), W | C, {{1, LOW, 2, {F_GETFD, F_GETFL}}}},
	{CALL(fcntl), L, {{1, LOW, 3, {F_GETFD, F_GETFL, F_ADD_SEALS}}}},
	{CALL(sendmsg), W | L, {{0}}},
	{CALL(recvmsg), W | L, {{0}}},
	{CALL(sendto), W | L, {{4, WHOLE, 1, {0}}}}, /* send() only */
	{CALL(recvfrom), W | L, {{0}}},
	{CALL(poll), W | L, {{0}}},
	{CALL(ppoll), W | L, {{0}}},
	{CALL(ioctl), W | L, {{1, LOW, 1, {KERNEL_PAGEMAP_SCAN}}}},

	/* Memory: never executable, never shared, never a file's. */
	{CALL(mmap),
	 W | C,
	 {{2, PROT_EXEC, 1, {0}},
	  {3, MAP_SEEN, 1, {MAP_PRIVATE | MAP_ANONYMOUS}}}},
	{CALL(mprotect), W | C, {{2, WHOLE & ~PROT_DATA, 1, {0}}}},
	{CALL(munmap), W | L | C, {{0}}},
	{CALL(mremap), W | L | C, {{0}}},
	{CALL(madvise),
	 W | L | C,
	 {{2, LOW, 4, {MADV_NORMAL, MADV_DONTNEED, MADV_FREE,
		       MADV_POPULATE_WRITE}}}},
	{CALL(brk), W | L | C, {{0}}},

	/* While an artefact is loaded: its code, and its image as a memfd. */
	{CALL(mmap), L, {{3, MAP_SEEN_LOADING, 1, {MAP_PRIVATE}}}},
	{CALL(mprotect), L, {{2, WHOLE & ~PROT_CODE, 1, {0}}}},
	{CALL(memfd_create), L, {{0}}},
	{CALL(seccomp),
	 L,
	 {{0, LOW, 1, {1 /* SECCOMP_SET_MODE_FILTER */}}, {1, WHOLE, 1, {0}}}},

	/* Its own memory and file sizes, before a run; without capabilities a
	 * hard limit only ever goes down. */
	{CALL(prlimit64),
	 W | L,
	 {{0, LOW, 1, {0}}, {1, LOW, 2, {RLIMIT_FSIZE, RLIMIT_DATA}}}},

	/* Time and waiting. */
	{CALL(futex),
	 W | L | C,
	 {{1, FUTEX_SEEN, 4,
	   {FUTEX_WAIT, FUTEX_WAKE, FUTEX_WAIT_BITSET, FUTEX_WAKE_BITSET}}}},
	{CALL(clock_gettime), W | L | C, {{0}}},
	{CALL(clock_getres), W | L | C, {{0}}},
	{CALL(clock_nanosleep), W | L, {{0}}},
	{CALL(gettimeofday), W | L | C, {{0}}},
	{CALL(timer_settime), W | L, {{0}}},
	{CALL(timer_gettime), W | L, {{0}}},
	{CALL(sched_yield), W | L | C, {{0}}},
	{CALL(getcpu), W | L | C, {{0}}},
	{CALL(getrusage), W | L | C, {{0}}},
	{CALL(getrandom), W | L | C, {{0}}},

	/* Signals; to itself only, so that a crash is seen as a crash. */
	{CALL(rt_sigaction), W | L | C, {{0}}},
	{CALL(rt_sigprocmask), W | L | C, {{0}}},
	{CALL(rt_sigreturn), W | L | C, {{0}}},
	{CALL(sigaltstack), W | L | C, {{0}}},
	{CALL(restart_syscall), W | L | C, {{0}}},
	{CALL(tgkill), W | L | C, {{0, LOW, 1, {1}}}},
	{CALL(getpid), W | L | C, {{0}}},
	{CALL(gettid), W | L | C, {{0}}},
	{CALL(exit), W | L | C, {{0}}},
	{CALL(exit_group), W | L | C, {{0}}},

	/* Native programs.  Measured: CPython with threads, subprocesses and
	 * asyncio, node with workers and children, sh with the small tools.
	 * Descriptors: no lock, lease or notice on a file that others see. */
	{CALL(read), N, {{0}}},
	{CALL(write), N, {{0}}},
	{CALL(readv), N, {{0}}},
	{CALL(writev), N, {{0}}},
	{CALL(pread64), N, {{0}}},
	{CALL(pwrite64), N, {{0}}},
	{CALL(preadv), N, {{0}}},
	{CALL(pwritev), N, {{0}}},
	{CALL(preadv2), N, {{0}}},
	{CALL(pwritev2), N, {{0}}},
	{CALL(lseek), N, {{0}}},
	{CALL(close), N, {{0}}},
	{CALL(close_range), N, {{0}}},
	/* Names: the mounts and Landlock say which. */
	{CALL(open), N, {{0}}},
	{CALL(openat), N, {{0}}},
	{CALL(openat2), N, {{0}}},
	{CALL(creat), N, {{0}}},
	{CALL(stat), N, {{0}}},
	{CALL(lstat), N, {{0}}},
	{CALL(fstat), N, {{0}}},
	{CALL(newfstatat), N, {{0}}},
	{CALL(statx), N, {{0}}},
	{CALL(statfs), N, {{0}}},
	{CALL(fstatfs), N, {{0}}},
	{CALL(access), N, {{0}}},
	{CALL(faccessat), N, {{0}}},
	{CALL(faccessat2), N, {{0}}},
	{CALL(readlink), N, {{0}}},
	{CALL(readlinkat), N, {{0}}},
	{CALL(getdents64), N, {{0}}},
	{CALL(getcwd), N, {{0}}},
	{CALL(chdir), N, {{0}}},
	{CALL(fchdir), N, {{0}}},
	{CALL(umask), N, {{0}}},
	{CALL(mkdir), N, {{0}}},
	{CALL(mkdirat), N, {{0}}},
	{CALL(rmdir), N, {{0}}},
	{CALL(unlink), N, {{0}}},
	{CALL(unlinkat), N, {{0}}},
	{CALL(rename), N, {{0}}},
	{CALL(renameat), N, {{0}}},
	{CALL(renameat2), N, {{0}}},
	{CALL(link), N, {{0}}},
	{CALL(linkat), N, {{0}}},
	{CALL(symlink), N, {{0}}},
	{CALL(symlinkat), N, {{0}}},
	{CALL(chmod), N, {{0}}},
	{CALL(fchmod), N, {{0}}},
	{CALL(fchmodat), N, {{0}}},
	{CALL(truncate), N, {{0}}},
	{CALL(ftruncate), N, {{0}}},
	{CALL(fallocate), N, {{0}}},
	{CALL(utime), N, {{0}}},
	{CALL(utimes), N, {{0}}},
	{CALL(futimesat), N, {{0}}},
	{CALL(utimensat), N, {{0}}},
	{CALL(fsync), N, {{0}}},
	{CALL(fdatasync), N, {{0}}},
	{CALL(fadvise64), N, {{0}}},
	{CALL(getxattr), N, {{0}}},
	{CALL(lgetxattr), N, {{0}}},
	{CALL(fgetxattr), N, {{0}}},
	{CALL(listxattr), N, {{0}}},
	{CALL(llistxattr), N, {{0}}},
	{CALL(flistxattr), N, {{0}}},
	/* Waiting and passing on. */
	{CALL(dup), N, {{0}}},
	{CALL(dup2), N, {{0}}},
	{CALL(dup3), N, {{0}}},
	{CALL(pipe), N, {{0}}},
	{CALL(pipe2), N, {{0}}},
	{CALL(poll), N, {{0}}},
	{CALL(ppoll), N, {{0}}},
	{CALL(select), N, {{0}}},
	{CALL(pselect6), N, {{0}}},
	{CALL(epoll_create), N, {{0}}},
	{CALL(epoll_create1), N, {{0}}},
	{CALL(epoll_ctl), N, {{0}}},
	{CALL(epoll_wait), N, {{0}}},
	{CALL(epoll_pwait), N, {{0}}},
	{CALL(epoll_pwait2), N, {{0}}},
	{CALL(eventfd), N, {{0}}},
	{CALL(eventfd2), N, {{0}}},
	{CALL(timerfd_create), N, {{0}}},
	{CALL(timerfd_settime), N, {{0}}},
	{CALL(timerfd_gettime), N, {{0}}},
	{CALL(signalfd), N, {{0}}},
	{CALL(signalfd4), N, {{0}}},
	{CALL(sendfile), N, {{0}}},
	{CALL(copy_file_range), N, {{0}}},
	/* A pair of sockets, already connected, is all there is. */
	{CALL(sendmsg), N, {{0}}},
	{CALL(recvmsg), N, {{0}}},
	{CALL(recvfrom), N, {{0}}},
	{CALL(getsockopt), N, {{0}}},
	{CALL(getsockname), N, {{0}}},
	{CALL(getpeername), N, {{0}}},
	{CALL(shutdown), N, {{0}}},
	/* Memory.  It may be executable: an interpreter compiles. */
	{CALL(munmap), N, {{0}}},
	{CALL(mprotect), N, {{0}}},
	{CALL(mremap), N, {{0}}},
	{CALL(brk), N, {{0}}},
	{CALL(membarrier), N, {{0}}},
	{CALL(msync), N, {{0}}},
	{CALL(pkey_alloc), N, {{0}}},
	{CALL(pkey_free), N, {{0}}},
	{CALL(pkey_mprotect), N, {{0}}},
	/* Threads. */
	{CALL(futex), N, {{0}}},
	{CALL(set_robust_list), N, {{0}}},
	{CALL(get_robust_list), N, {{0}}},
	{CALL(set_tid_address), N, {{0}}},
	{CALL(rseq), N, {{0}}},
	{CALL(arch_prctl), N, {{0}}},
	/* Time. */
	{CALL(clock_gettime), N, {{0}}},
	{CALL(clock_getres), N, {{0}}},
	{CALL(clock_nanosleep), N, {{0}}},
	{CALL(nanosleep), N, {{0}}},
	{CALL(gettimeofday), N, {{0}}},
	{CALL(time), N, {{0}}},
	{CALL(times), N, {{0}}},
	{CALL(alarm), N, {{0}}},
	{CALL(getitimer), N, {{0}}},
	{CALL(setitimer), N, {{0}}},
	{CALL(timer_create), N, {{0}}},
	{CALL(timer_settime), N, {{0}}},
	{CALL(timer_gettime), N, {{0}}},
	{CALL(timer_getoverrun), N, {{0}}},
	{CALL(timer_delete), N, {{0}}},
	/* Signals and processes of the same jail. */
	{CALL(rt_sigaction), N, {{0}}},
	{CALL(rt_sigprocmask), N, {{0}}},
	{CALL(rt_sigreturn), N, {{0}}},
	{CALL(rt_sigpending), N, {{0}}},
	{CALL(rt_sigtimedwait), N, {{0}}},
	{CALL(rt_sigsuspend), N, {{0}}},
	{CALL(sigaltstack), N, {{0}}},
	{CALL(restart_syscall), N, {{0}}},
	{CALL(pause), N, {{0}}},
	{CALL(kill), N, {{0}}},
	{CALL(tkill), N, {{0}}},
	{CALL(tgkill), N, {{0}}},
	{CALL(fork), N, {{0}}},
	{CALL(vfork), N, {{0}}},
	{CALL(execve), N, {{0}}},
	{CALL(exit), N, {{0}}},
	{CALL(exit_group), N, {{0}}},
	{CALL(wait4), N, {{0}}},
	{CALL(waitid), N, {{0}}},
	/* Who and how much it is. */
	{CALL(getpid), N, {{0}}},
	{CALL(getppid), N, {{0}}},
	{CALL(gettid), N, {{0}}},
	{CALL(getuid), N, {{0}}},
	{CALL(geteuid), N, {{0}}},
	{CALL(getgid), N, {{0}}},
	{CALL(getegid), N, {{0}}},
	{CALL(getresuid), N, {{0}}},
	{CALL(getresgid), N, {{0}}},
	{CALL(getgroups), N, {{0}}},
	{CALL(getpgid), N, {{0}}},
	{CALL(getpgrp), N, {{0}}},
	{CALL(setpgid), N, {{0}}},
	{CALL(getsid), N, {{0}}},
	{CALL(setsid), N, {{0}}},
	{CALL(getrlimit), N, {{0}}},
	{CALL(getrusage), N, {{0}}},
	{CALL(getpriority), N, {{0}}},
	{CALL(sched_yield), N, {{0}}},
	{CALL(sched_getaffinity), N, {{0}}},
	{CALL(sched_setaffinity), N, {{0}}},
	{CALL(sched_getparam), N, {{0}}},
	{CALL(sched_getscheduler), N, {{0}}},
	{CALL(sched_get_priority_max), N, {{0}}},
	{CALL(sched_get_priority_min), N, {{0}}},
	{CALL(getcpu), N, {{0}}},
	{CALL(sysinfo), N, {{0}}},
	{CALL(uname), N, {{0}}},
	{CALL(getrandom), N, {{0}}},
	{CALL(capget), N, {{0}}},
	{CALL(fcntl),
	 N,
	 {{1, LOW, 6,
	   {F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC}}}},
	{CALL(ioctl),
	 N,
	 {{1, LOW, 8,
	   {TCGETS, TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX,
	    FIOASYNC}}}},
	{CALL(socketpair),
	 N,
	 {{0, LOW, 1, {AF_UNIX}},
	  {1, SOCK_SEEN, 2, {SOCK_STREAM, SOCK_SEQPACKET}}}},
	{CALL(sendto), N, {{4, WHOLE, 1, {0}}}}, /* send() only */
	/* No filter: that would be a program for the kernel. */
	{CALL(setsockopt),
	 N,
	 {{1, LOW, 1, {SOL_SOCKET}},
	  {2, LOW, 4, {SO_SNDBUF, SO_RCVBUF, SO_RCVTIMEO, SO_SNDTIMEO}}}},
	/* Pages of the host's pool of huge ones are in no control group. */
	{CALL(mmap), N, {{3, MAP_HUGETLB, 1, {0}}}},
	{CALL(madvise),
	 N,
	 {{2, LOW, 12,
	   {MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED,
	    MADV_DONTNEED, MADV_FREE, MADV_DONTFORK, MADV_DOFORK, MADV_HUGEPAGE,
	    MADV_NOHUGEPAGE, MADV_DONTDUMP, MADV_DODUMP}}}},
	{CALL(clone), N, {{0, CLONE_SPACES, 1, {0}}}},
	{CALL(personality), N, {{0, LOW, 1, {0}}}},
	/* Its own, and not that of core dumps: see rlimit.c. */
	{CALL(prlimit64),
	 N,
	 {{0, LOW, 1, {0}},
	  {1, LOW, 8,
	   {RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_NPROC,
	    RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_RSS}}}},
	/* Its own, whichever, to read: no new one is given. */
	{CALL(prlimit64), N, {{0, LOW, 1, {0}}, {2, WHOLE, 1, {0}}}},
	{CALL(prctl),
	 N,
	 {{0, LOW, 8,
	   {PR_SET_NAME, PR_GET_NAME, PR_SET_PDEATHSIG, PR_GET_PDEATHSIG,
	    PR_GET_DUMPABLE, PR_CAPBSET_READ, PR_GET_NO_NEW_PRIVS,
	    PR_SET_VMA}}}},

	/* Pid 1 of a native jail, settled: it talks to the core, reads what the
	 * payload says, ends and buries it, and collects what it wrote. */
	{CALL(read), I, {{0}}},
	{CALL(write), I, {{0}}},
	{CALL(readv), I, {{0}}},
	{CALL(writev), I, {{0}}},
	{CALL(pread64), I, {{0}}},
	{CALL(pwrite64), I, {{0}}},
	{CALL(lseek), I, {{0}}},
	{CALL(close), I, {{0}}},
	{CALL(fstat), I, {{0}}},
	{CALL(newfstatat), I, {{0}}},
	{CALL(statx), I, {{0}}},
	{CALL(getdents64), I, {{0}}},
	{CALL(openat2), I, {{0}}},
	{CALL(fsync), I, {{0}}},
	{CALL(ftruncate), I, {{0}}},
	{CALL(copy_file_range), I, {{0}}},
	{CALL(sendfile), I, {{0}}},
	{CALL(sendmsg), I, {{0}}},
	{CALL(recvmsg), I, {{0}}},
	{CALL(poll), I, {{0}}},
	{CALL(ppoll), I, {{0}}},
	{CALL(epoll_ctl), I, {{0}}},
	{CALL(epoll_wait), I, {{0}}},
	{CALL(epoll_pwait), I, {{0}}},
	{CALL(shutdown), I, {{0}}},
	{CALL(mmap),
	 I,
	 {{2, PROT_EXEC, 1, {0}},
	  {3, MAP_SEEN, 1, {MAP_PRIVATE | MAP_ANONYMOUS}}}},
	{CALL(munmap), I, {{0}}},
	{CALL(mremap), I, {{0}}},
	{CALL(brk), I, {{0}}},
	{CALL(madvise), I, {{0}}},
	{CALL(futex), I, {{0}}},
	{CALL(clock_gettime), I, {{0}}},
	{CALL(clock_nanosleep), I, {{0}}},
	{CALL(clock_getres), I, {{0}}},
	{CALL(nanosleep), I, {{0}}},
	{CALL(timerfd_settime), I, {{0}}},
	{CALL(getrusage), I, {{0}}},
	{CALL(getrandom), I, {{0}}},
	/* qsort(3) of glibc before 2.37 asks how much memory there is. */
	{CALL(sysinfo), I, {{0}}},
	{CALL(sched_yield), I, {{0}}},
	{CALL(rt_sigaction), I, {{0}}},
	{CALL(rt_sigprocmask), I, {{0}}},
	{CALL(rt_sigreturn), I, {{0}}},
	{CALL(rt_sigtimedwait), I, {{0}}},
	{CALL(sigaltstack), I, {{0}}},
	{CALL(restart_syscall), I, {{0}}},
	{CALL(kill), I, {{0}}},
	{CALL(tgkill), I, {{0}}},
	{CALL(pidfd_send_signal), I, {{0}}},
	{CALL(wait4), I, {{0}}},
	{CALL(waitid), I, {{0}}},
	{CALL(getpid), I, {{0}}},
	{CALL(gettid), I, {{0}}},
	{CALL(exit), I, {{0}}},
	{CALL(exit_group), I, {{0}}},
	{CALL(fcntl),
	 I,
	 {{1, LOW, 5,
	   {F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC}}}},
	{CALL(sendto), I, {{4, WHOLE, 1, {0}}}},
	{CALL(recvfrom), I, {{0}}},
	{CALL(mprotect), I, {{2, WHOLE & ~PROT_DATA, 1, {0}}}},
};

#undef W
#undef L
#undef C
#undef N
#undef I
#undef CALL
#undef WHOLE
#undef LOW

#define SECCOMP_ROWS (sizeof seccomp_table / sizeof *seccomp_table)

#endif
