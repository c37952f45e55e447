/* RLIMIT_DATA = N: no way leads to more than N bytes of writable private
 * memory.  What was writable and was made read-only is not counted: there a
 * memory cgroup is the only bound. */
#include "jail_ward.h"

#include <sys/mman.h>
#include <sys/resource.h>

#define MIB ((size_t)1 << 20)
#define CAP (64 * MIB)
#define STEP (4 * MIB)
#define ENOUGH (CAP + 8 * MIB) /* an attack that gets this far worked */

static int by_mmap(struct scene *s)
{
	(void)s;
	for (size_t got = 0; got < ENOUGH; got += STEP)
		if (mmap(NULL, STEP, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			return errno;
	return 0;
}

/* As the engine does: reserve much, make it writable bit by bit. */
static int by_mprotect(struct scene *s)
{
	char *p = mmap(NULL, (size_t)4 << 30, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)s;
	if (p == MAP_FAILED)
		return ENOSPC; /* the reservation itself is not limited */
	for (size_t got = 0; got < ENOUGH; got += STEP)
		if (mprotect(p + got, STEP, PROT_READ | PROT_WRITE))
			return errno;
	return 0;
}

static int by_brk(struct scene *s)
{
	char *start = (char *)syscall(SYS_brk, 0);

	(void)s;
	for (size_t got = STEP; got < ENOUGH; got += STEP)
		if ((char *)syscall(SYS_brk, start + got) != start + got)
			return ENOMEM;
	return 0;
}

static int by_mremap(struct scene *s)
{
	void *p = mmap(NULL, STEP, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)s;
	for (size_t size = 2 * STEP; p != MAP_FAILED && size < ENOUGH;
	     size += STEP)
		p = mremap(p, size - STEP, size, MREMAP_MAYMOVE);
	return p == MAP_FAILED ? errno : 0;
}

/* MREMAP_DONTUNMAP leaves the old place mapped. */
static int by_mremap_keeping(struct scene *s)
{
	void *p = mmap(NULL, STEP, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)s;
	for (size_t got = STEP; p != MAP_FAILED && got < ENOUGH; got += STEP)
		p = mremap(p, STEP, STEP,
			   MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
	return p == MAP_FAILED ? errno : 0;
}

static int by_malloc(struct scene *s)
{
	(void)s;
	for (size_t got = 0; got < ENOUGH; got += STEP) {
		char *p = malloc(STEP);

		if (!p)
			return errno;
		p[0] = 1;
		p[STEP - 1] = 1;
	}
	return 0;
}

static int by_raising(struct scene *s)
{
	struct rlimit l = {RLIM_INFINITY, RLIM_INFINITY};

	(void)s;
	return setrlimit(RLIMIT_DATA, &l) ? errno : 0;
}

/* Of its own limits only these two may be touched, to lower them. */
static int by_raising_another(struct scene *s)
{
	struct rlimit l;

	(void)s;
	if (getrlimit(RLIMIT_NOFILE, &l))
		return errno;
	return setrlimit(RLIMIT_NOFILE, &l) ? errno : 0;
}

/* Memory that the limit does not count, so that the filter must deny it. */
static int by_stack_like(struct scene *s)
{
	(void)s;
	for (size_t got = 0; got < ENOUGH; got += STEP)
		if (mmap(NULL, STEP, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1,
			 0) == MAP_FAILED)
			return errno;
	return 0;
}

static int by_sharing(struct scene *s)
{
	(void)s;
	for (size_t got = 0; got < ENOUGH; got += STEP)
		if (mmap(NULL, STEP, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			return errno;
	return 0;
}

#define LIMITED                                                              \
	AS_BOTH,                                                             \
		ROWS({NONE, WORKED}, {RLIMITS, ENOMEM}, {SECCOMP, WORKED},   \
		     {NO_SECCOMP, ENOMEM}, {ALL, ENOMEM}),                   \
		.memory_bytes = CAP
#define FILTERED                                                             \
	AS_BOTH,                                                             \
		ROWS({NONE, WORKED}, {RLIMITS, WORKED}, {SECCOMP, KILLED},   \
		     {ALL, KILLED}),                                         \
		.memory_bytes = CAP

static const struct attack attacks[] = {
	{"memory by mmap", by_mmap, LIMITED},
	{"memory by mprotect", by_mprotect, LIMITED},
	{"memory by brk", by_brk, LIMITED},
	{"memory by mremap", by_mremap, LIMITED},
	{"memory by mremap that keeps", by_mremap_keeping, LIMITED},
	{"memory by malloc", by_malloc, LIMITED},
	{"raise the limit of memory", by_raising, AS_BOTH,
	 ROWS({NONE, WORKED}, {RLIMITS | CAPS, EPERM},
	      {RLIMITS | CAPS | SECCOMP, EPERM}, {NO_SECCOMP, EPERM},
	      {ALL, EPERM}),
	 .memory_bytes = CAP},
	{"raise another limit", by_raising_another, AS_BOTH,
	 ROWS({NONE, WORKED}, {SECCOMP, KILLED}, {ALL, KILLED})},
	{"memory that grows as a stack", by_stack_like, FILTERED},
	{"shared memory", by_sharing, FILTERED},
};

int main(void)
{
	return ward_main(attacks, sizeof attacks / sizeof *attacks, NULL);
}
