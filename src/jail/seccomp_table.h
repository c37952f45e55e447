/* jail/seccomp_table.h - what each process of the jail may ask the kernel for;
 * everything else kills it (SIGSYS).  Read by bpf_gen.c at build time and by
 * the tests, which compare the generated programs with it.
 *
 * A call has at most one row for each filter.  A row allows the call if all
 * its tests hold; a test holds if (argument & mask) is one of its values.
 * Rows without tests come from the kernel's per-call cache: frequent calls
 * have none. */
#ifndef JAIL_SECCOMP_TABLE_H
#define JAIL_SECCOMP_TABLE_H

#include <fcntl.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include "jail/jail.h"
#include "jail/kernel.h"

#define SECCOMP_TESTS 2
#define SECCOMP_VALUES 6

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
};

#undef W
#undef L
#undef C
#undef CALL
#undef WHOLE
#undef LOW

#define SECCOMP_ROWS (sizeof seccomp_table / sizeof *seccomp_table)

#endif
