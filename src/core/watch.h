/* core/watch.h - a run's deadlines as seen from outside. */
#ifndef CORE_WATCH_H
#define CORE_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include "core/converse.h"
#include "policy/plan.h"
#include "pool/pool.h"

struct watch {
	uint64_t start_us, wall_at_us, cpu_at_us;
	uint64_t cpu_us;     /* the limit */
	uint64_t cpu_before; /* what was used when the run began */
	clockid_t cpu_clock;
	int cpu_fd; /* a native jail's, of group_cpu_read; -1: cpu_clock */
	unsigned cpus;
	bool has_cpu;
};

/* cpu_fd: borrowed; -1: the clock of the worker's process counts. */
void watch_start(struct watch *w, const struct slot *s, const struct limits *l,
		 int cpu_fd);
/* Called when time ran out; true if that is really the end: *ret says which. */
bool watch_over(struct watch *w, enum verdict *ret);

#endif
