/* The deadline of a run whose timer may still be an earlier run's. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "engine/engine.h"
#include "worker/deadline.h"

#define SOON_US 20000u
#define LATER_US 80000u
#define DEAF_US 100000u
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

static int watch(void *memory, size_t size, struct redoma_error *err)
{
	const struct deadline_batch b = {.words = memory ? memory : rows,
					 .row_us = SOON_US,
					 .deaf_us = DEAF_US,
					 .memory = memory,
					 .reserved = size,
					 .code_end = UINTPTR_MAX};

	return deadline_rows(&b, err);
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
	assert_int_equal(watch(NULL, 0, &e), 0);
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
	assert_int_equal(watch(NULL, 0, &e), 0);
	assert_in_range(wait_for_word(from), LATER_US, GIVE_UP_US / 2);
	assert_int_equal(rows[1], rows[0]);
	assert_int_equal(deadline_disarm(), DEADLINE_WALL);
	check_wall_ends(SOON_US);
}

static uint64_t wait_until_shut(uint64_t from)
{
	while (!*deadline_stop() &&
	       clock_monotonic_us() - from < 2 * GIVE_UP_US)
		;
	return clock_monotonic_us() - from;
}

/* A row that computes on all the same loses its memory, which is there again
 * with what was in it. */
static void a_deaf_row_loses_its_memory(void **state)
{
	const size_t size = 1 << 16;
	char *p = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	uint64_t from, cpu;
	struct redoma_error e;
	int fds[2];

	(void)state;
	assert_true(p != MAP_FAILED && !pipe(fds));
	assert_int_equal(mprotect(p, size, PROT_READ | PROT_WRITE), 0);
	p[size - 1] = 7;
	arm(2 * GIVE_UP_US, NEVER_US);
	assert_int_equal(watch(p, 2 * size, &e), 0);
	++*(volatile uint32_t *)p;
	/* What has no CPU is not deaf. */
	from = clock_monotonic_us();
	cpu = clock_thread_us();
	while (clock_monotonic_us() - from < SOON_US + 2 * DEAF_US)
		usleep(1000);
	assert_int_equal(((volatile uint32_t *)p)[1], 1);
	if (clock_thread_us() - cpu < DEAF_US)
		assert_false(*deadline_stop());
	++*(volatile uint32_t *)p;
	from = clock_monotonic_us();
	cpu = clock_thread_us();
	wait_until_shut(from);
	assert_in_range(clock_thread_us() - cpu, DEAF_US, 10 * DEAF_US);
	assert_in_range(clock_monotonic_us() - from, SOON_US + DEAF_US,
			GIVE_UP_US);
	assert_int_equal(write(fds[1], p + size - 1, 1), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(deadline_disarm(), DEADLINE_ROW);
	assert_int_equal(deadline_reopen(p, size, &e), 0);
	assert_int_equal(p[size - 1], 7);
	/* Before the first row it may take longer. */
	arm(2 * GIVE_UP_US, NEVER_US);
	assert_int_equal(watch(p, 2 * size, &e), 0);
	assert_in_range(wait_until_shut(clock_monotonic_us()), 1000000,
			GIVE_UP_US);
	assert_int_equal(deadline_disarm(), DEADLINE_ROW);
	assert_int_equal(deadline_reopen(p, size, &e), 0);
	check_wall_ends(SOON_US);
	close(fds[0]);
	close(fds[1]);
	munmap(p, 2 * size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_short_run_after_a_long_one),
		cmocka_unit_test(a_long_run_after_a_short_one),
		cmocka_unit_test(a_timer_between_runs_ends_none),
		cmocka_unit_test(a_row_is_ended_alone),
		cmocka_unit_test(a_deaf_row_loses_its_memory),
		cmocka_unit_test(the_next_run_begins_clean),
		cmocka_unit_test(cpu_time_ends_by_itself),
		cmocka_unit_test(no_deadline_is_lost),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
