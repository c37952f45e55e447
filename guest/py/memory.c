/* The program break, kept inside linear memory.
 *
 * libc's own sbrk grows memory on every call past memory.size; after a reset
 * that keeps the instance, memory.size stays high while the heap is back at
 * its start, so memory would grow with every run.  This break is rolled back
 * with the heap it belongs to. */
#include <errno.h>
#include <stdint.h>
#include <unistd.h>
#include "guest.h"

static uintptr_t brk_now;

void *sbrk(intptr_t increment)
{
	uintptr_t have = (uintptr_t)__builtin_wasm_memory_size(0) << 16;
	uintptr_t old, want;

	if (!brk_now)
		brk_now = have;
	old = brk_now;
	if (increment < 0 || (uintptr_t)increment > UINTPTR_MAX - 65535 - old) {
		errno = increment < 0 ? EINVAL : ENOMEM;
		guest.oom = guest.oom || increment > 0;
		return (void *)-1;
	}
	want = old + (uintptr_t)increment;
	if (want > have &&
	    __builtin_wasm_memory_grow(0, (want - have + 65535) >> 16) ==
		    (size_t)-1) {
		guest.oom = true;
		errno = ENOMEM;
		return (void *)-1;
	}
	brk_now = want;
	return (void *)old;
}
