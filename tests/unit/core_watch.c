/* A run's deadlines as seen from outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "core/watch.h"

#define HOUR_US 3600000000u

/* One look at a run whose process has by now used what this one has. */
static struct watch looked_at(uint64_t before_us, uint64_t limit_us)
{
	return (struct watch){.wall_at_us = UINT64_MAX,
			      .cpu_us = limit_us,
			      .cpu_before = before_us,
			      .cpu_clock = CLOCK_PROCESS_CPUTIME_ID,
			      .cpu_fd = -1,
			      .cpus = 1,
			      .has_cpu = true};
}

static void what_a_process_used_since_is_what_counts(void **state)
{
	struct watch w = looked_at(0, 1);
	enum verdict v;

	(void)state;
	assert_true(watch_over(&w, &v));
	assert_int_equal(v, VERDICT_CPU);
}

static void a_clock_that_went_back_ends_no_run(void **state)
{
	struct watch w = looked_at(HOUR_US, HOUR_US);
	enum verdict v;

	(void)state;
	assert_false(watch_over(&w, &v));
	assert_true(w.cpu_at_us > HOUR_US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_process_used_since_is_what_counts),
		cmocka_unit_test(a_clock_that_went_back_ends_no_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
