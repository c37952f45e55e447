/* The deadline of a run whose timer may still be an earlier run's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "engine/engine.h"
#include "worker/deadline.h"

#define SOON_US 20000u
#define LATER_US 80000u
#define NEVER_US 60000000u
/* A busy machine delays a signal, and never brings it forward. */
#define GIVE_UP_US 20000000u

static struct engine *engine;
static volatile int32_t word;

static int set_up(void **state)
{
	struct redoma_error e;

	(void)state;
	return engine_new(PROFILE_IMAGE, &engine, &e) ||
	       deadline_install(engine, &e) || deadline_create(&e);
}

static int tear_down(void **state)
{
	(void)state;
	engine_free(engine);
	return 0;
}

static void arm(uint64_t wall_us, uint64_t cpu_us)
{
	struct redoma_error e;

	assert_int_equal(deadline_arm(wall_us, cpu_us, &e), 0);
	word = 0;
	deadline_watch(&word);
}

/* Microseconds since `from` when the run was told to end. */
static uint64_t wait_for_word(uint64_t from)
{
	while (!word && clock_monotonic_us() - from < GIVE_UP_US)
		;
	return clock_monotonic_us() - from;
}

static void spin(uint64_t us)
{
	uint64_t from = clock_monotonic_us();

	while (clock_monotonic_us() - from < us)
		;
}

static void check_wall_ends(uint64_t wall_us)
{
	uint64_t t, from = clock_monotonic_us();

	arm(wall_us, NEVER_US);
	t = wait_for_word(from);
	assert_true(*deadline_stop());
	assert_in_range(t, wall_us, GIVE_UP_US / 2);
	assert_int_equal(deadline_disarm(), DEADLINE_WALL);
}

static void a_short_run_after_a_long_one(void **state)
{
	(void)state;
	arm(NEVER_US, NEVER_US);
	assert_int_equal(deadline_disarm(), DEADLINE_NONE);
	check_wall_ends(SOON_US);
}

static void a_long_run_after_a_short_one(void **state)
{
	(void)state;
	arm(SOON_US, NEVER_US);
	assert_int_equal(deadline_disarm(), DEADLINE_NONE);
	/* The timer of the first fires in the second, which goes on and ends
	 * at its own time. */
	check_wall_ends(LATER_US);
}

static void a_timer_between_runs_ends_none(void **state)
{
	(void)state;
	arm(SOON_US, NEVER_US);
	assert_int_equal(deadline_disarm(), DEADLINE_NONE);
	spin(3 * SOON_US);
	assert_false(*deadline_stop());
	assert_int_equal(word, 0);
	check_wall_ends(SOON_US);
}

static void the_next_run_begins_clean(void **state)
{
	(void)state;
	check_wall_ends(SOON_US);
	arm(NEVER_US, NEVER_US);
	assert_false(*deadline_stop());
	assert_int_equal(word, 0);
	spin(2 * SOON_US);
	assert_int_equal(word, 0);
	assert_int_equal(deadline_disarm(), DEADLINE_NONE);
}

static void cpu_time_ends_by_itself(void **state)
{
	(void)state;
	arm(NEVER_US, SOON_US);
	wait_for_word(clock_monotonic_us());
	assert_int_equal(deadline_disarm(), DEADLINE_CPU);
	arm(SOON_US, NEVER_US);
	wait_for_word(clock_monotonic_us());
	assert_int_equal(deadline_disarm(), DEADLINE_WALL);
}

/* Signals of many timers against many runs. */
static void no_deadline_is_lost(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 400; i++) {
		uint64_t wall_us, from = clock_monotonic_us();

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		wall_us = 1 + (seed >> 33) % 400;
		arm(wall_us, NEVER_US);
		if (seed >> 63)
			assert_in_range(wait_for_word(from), 0, GIVE_UP_US / 2);
		deadline_disarm();
	}
}

static volatile uint32_t rows[3];

static uint64_t wait_for_row(uint32_t row)
{
	uint64_t from = clock_monotonic_us();

	while (rows[1] != row && clock_monotonic_us() - from < GIVE_UP_US)
		;
	return clock_monotonic_us() - from;
}

/* Rows that go on are left alone; each that does not is ended after its time,
 * and the run goes on to its own end. */
static void a_row_is_ended_alone(void **state)
{
	uint64_t from = clock_monotonic_us();
	struct redoma_error e;

	(void)state;
	arm(GIVE_UP_US, NEVER_US);
	rows[0] = rows[1] = 0;
	assert_int_equal(deadline_rows(rows, SOON_US, &e), 0);
	while (clock_monotonic_us() - from < 4 * SOON_US)
		rows[0]++;
	assert_int_equal(rows[1], 0);
	for (int i = 0; i < 3; i++) {
		uint32_t row = ++rows[0];

		assert_in_range(wait_for_row(row), SOON_US / 2,
				GIVE_UP_US / 2);
		assert_false(*deadline_stop());
		assert_int_equal(word, 0);
	}
	/* What the image wants to be set of its word, beside what is. */
	rows[2] = 2;
	word = 4;
	wait_for_row(++rows[0]);
	assert_int_equal(word, 6);
	rows[2] = 0;
	word = 0;
	assert_int_equal(deadline_disarm(), DEADLINE_NONE);
	rows[1] = 0;
	spin(3 * SOON_US);
	assert_int_equal(rows[1], 0);
	/* Looks at rows do not put the run's own end off. */
	from = clock_monotonic_us();
	arm(LATER_US, NEVER_US);
	rows[0]++;
	assert_int_equal(deadline_rows(rows, SOON_US, &e), 0);
	assert_in_range(wait_for_word(from), LATER_US, GIVE_UP_US / 2);
	assert_int_equal(rows[1], rows[0]);
	assert_int_equal(deadline_disarm(), DEADLINE_WALL);
	check_wall_ends(SOON_US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_short_run_after_a_long_one),
		cmocka_unit_test(a_long_run_after_a_short_one),
		cmocka_unit_test(a_timer_between_runs_ends_none),
		cmocka_unit_test(a_row_is_ended_alone),
		cmocka_unit_test(the_next_run_begins_clean),
		cmocka_unit_test(cpu_time_ends_by_itself),
		cmocka_unit_test(no_deadline_is_lost),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
