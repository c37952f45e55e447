#include "core/watch.h"

#include <sched.h>
#include "base/clock.h"
#include "jail/group.h"

/* The CPU clock of a parked worker counts its earlier runs too. */
static uint64_t used_us(const struct watch *w)
{
	struct timespec t;
	uint64_t n;

	if (w->cpu_fd >= 0) {
		n = group_cpu_read(w->cpu_fd);
		return n == UINT64_MAX ? w->cpu_before : n;
	}
	if (clock_gettime(w->cpu_clock, &t))
		return w->cpu_before;
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static unsigned count_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set))
		return 1;
	return (unsigned)CPU_COUNT(&set);
}

/* Many processes use more CPU time than passes. */
static uint64_t next_look(const struct watch *w, uint64_t now, uint64_t left)
{
	return now + left / (w->cpus ? w->cpus : 1) + 1000;
}

void watch_start(struct watch *w, const struct slot *s, const struct limits *l,
		 int cpu_fd)
{
	bool native = cpu_fd >= 0, limited = l->cpu_us < l->wall_us;
	bool clock = native;

	w->start_us = clock_monotonic_us();
	w->wall_at_us = w->start_us + l->wall_us +
			(s->spawner ? NATIVE_GRACE_US : GRACE_US);
	w->cpu_us = l->cpu_us + GRACE_US;
	w->cpu_fd = cpu_fd;
	w->cpus = native ? count_cpus() : 1;
	w->cpu_before = 0;
	/* A worker that is new has told what it used. */
	if (!native && !s->spawner && (limited || s->runs))
		clock = !clock_getcpuclockid(s->pid, &w->cpu_clock);
	/* A process with one thread cannot use more CPU time than passes. */
	w->has_cpu = native || (clock && limited);
	w->cpu_before = clock ? used_us(w) : s->ready.used_us;
	w->cpu_at_us = w->has_cpu ? next_look(w, w->start_us, w->cpu_us)
				  : UINT64_MAX;
}

bool watch_over(struct watch *w, enum verdict *ret)
{
	uint64_t now = clock_monotonic_us(), used;

	if (now >= w->wall_at_us) {
		*ret = VERDICT_WALL;
		return true;
	}
	if (!w->has_cpu || now < w->cpu_at_us)
		return false;
	used = used_us(w);
	/* The number of a worker that is gone may be another process's by
	 * now, which has used less. */
	used -= used < w->cpu_before ? used : w->cpu_before;
	if (used >= w->cpu_us) {
		*ret = VERDICT_CPU;
		return true;
	}
	w->cpu_at_us = next_look(w, now, w->cpu_us - used);
	return false;
}
