/* base/reap.h - children that ended, and what the kernel counted of them. */
#ifndef BASE_REAP_H
#define BASE_REAP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Of a process and the children that it waited for, all its life. */
struct reaped {
	uint64_t cpu_us;
	uint64_t memory_bytes; /* most that one of them had resident */
	uint64_t page_faults;
};

/* Reaps one child; false: none has ended. */
bool reap_any(siginfo_t *ret, struct reaped *ret_used);

#endif
