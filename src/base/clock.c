#include "base/clock.h"

#include <time.h>

static uint64_t read_us(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint64_t clock_monotonic_us(void)
{
	return read_us(CLOCK_MONOTONIC);
}

uint64_t clock_realtime_us(void)
{
	return read_us(CLOCK_REALTIME);
}

uint64_t clock_thread_us(void)
{
	return read_us(CLOCK_THREAD_CPUTIME_ID);
}
