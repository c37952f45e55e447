/* Makes the n-th allocation fail, and all after it unless alloc_once is set: set
 * alloc_left, call, set it back to -1; alloc_refusals counts what failed.  This
 * header defines malloc, calloc, realloc and strdup of the whole test program,
 * so one file of it includes this. */
#ifndef UNIT_ALLOC_FAIL_H
#define UNIT_ALLOC_FAIL_H

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* -1: every allocation succeeds; n: n more do. */
static long alloc_left = -1;
static int alloc_once;
static long alloc_refusals;

/* dlsym itself may allocate before the real functions are known. */
static _Alignas(16) unsigned char alloc_early[4096];
static size_t alloc_early_used;

static void *alloc_early_take(size_t n)
{
	void *p = alloc_early + alloc_early_used;

	alloc_early_used += (n + 15) & ~(size_t)15;
	return alloc_early_used <= sizeof alloc_early ? p : NULL;
}

static int alloc_refused(void)
{
	if (alloc_left < 0)
		return 0;
	if (alloc_left-- > 0)
		return 0;
	alloc_left = alloc_once ? -1 : 0;
	alloc_refusals++;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t n)
{
	static void *(*real)(size_t);
	static int looking;

	if (!real) {
		if (looking)
			return alloc_early_take(n);
		looking = 1;
		*(void **)&real = dlsym(RTLD_NEXT, "malloc");
		looking = 0;
	}
	return alloc_refused() ? NULL : real(n);
}

void *calloc(size_t n, size_t size)
{
	static void *(*real)(size_t, size_t);
	static int looking;

	if (!real) {
		if (looking)
			return alloc_early_take(n * size);
		looking = 1;
		*(void **)&real = dlsym(RTLD_NEXT, "calloc");
		looking = 0;
	}
	return alloc_refused() ? NULL : real(n, size);
}

void *realloc(void *p, size_t n)
{
	static void *(*real)(void *, size_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "realloc");
	return alloc_refused() ? NULL : real(p, n);
}

char *strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *p = malloc(n);

	return p ? memcpy(p, s, n) : NULL;
}

#define ALLOC_TRIES 5000

#endif
