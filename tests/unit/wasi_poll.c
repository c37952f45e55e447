/* Waiting: regression list 6, cases C113 and C117. */
#include "wasi_world.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>

#define MS 1000000ull
#define AT_SUBS AT_DATA
#define AT_EVENTS 98304u

/* The flag that the handler sets; one test runs at a time. */
static struct world *alarmed;

static void on_alarm(int sig)
{
	(void)sig;
	alarmed->stop = 1;
}

/* Sets *stop after us microseconds, by a signal, as a deadline does. */
static void deadline_in(struct world *t, long us)
{
	struct sigaction action = {.sa_handler = on_alarm};
	struct itimerval timer = {.it_value = {us / 1000000, us % 1000000}};

	alarmed = t;
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void put_u64(struct world *t, uint32_t at, uint64_t v)
{
	memcpy(t->memory + at, &v, 8);
}

static void subscribe_clock(struct world *t, uint32_t i, uint64_t timeout,
			    uint32_t id, uint16_t flags)
{
	uint32_t at = AT_SUBS + i * SIZE_SUBSCRIPTION;

	memset(t->memory + at, 0, SIZE_SUBSCRIPTION);
	put_u64(t, at, 1000 + i);
	put_u64(t, at + 16, id);
	put_u64(t, at + 24, timeout);
	put_u64(t, at + 40, flags);
}

static void subscribe_fd(struct world *t, uint32_t i, uint8_t type,
			 uint32_t fd)
{
	uint32_t at = AT_SUBS + i * SIZE_SUBSCRIPTION;

	memset(t->memory + at, 0, SIZE_SUBSCRIPTION);
	put_u64(t, at, 1000 + i);
	t->memory[at + 8] = type;
	put_u64(t, at + 16, fd);
}

/* The number of events. */
static uint32_t wait_for(struct world *t, uint32_t n)
{
	assert_int_equal(call(t, "poll_oneoff", AT_SUBS, AT_EVENTS, n, AT_RET),
			 0);
	return ret_u32(t);
}

static uint64_t event(const struct world *t, uint32_t i, uint32_t offset)
{
	return ret_u64(t, AT_EVENTS + i * SIZE_EVENT + offset);
}

static void counts_are_bounded(void **state)
{
	static const uint32_t counts[] = {0, 1025, 1 << 20, 10000000,
					  UINT32_MAX};
	struct world *t = world_new();

	(void)state;
	world_begin(t);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(call(t, "poll_oneoff", 0, 0, counts[i],
				      AT_RET),
				 W_INVAL);
	/* 1024 are fine: all of them at once. */
	for (uint32_t i = 0; i < 1024; i++)
		subscribe_clock(t, i, 0, i % 2, 0);
	assert_int_equal(wait_for(t, 1024), 1024);
	assert_int_equal(event(t, 1023, 0), 2023);
	world_free(t);
}

static void sleep_takes_its_time(void **state)
{
	struct world *t = world_new();
	uint64_t before;

	(void)state;
	world_begin(t);
	for (uint32_t id = 0; id < 2; id++) {
		subscribe_clock(t, 0, 30 * MS, id, 0);
		before = now_ns();
		assert_int_equal(wait_for(t, 1), 1);
		assert_in_range(now_ns() - before, 30 * MS, 200 * MS);
		assert_int_equal(event(t, 0, 0), 1000);
		assert_int_equal(event(t, 0, 8), 0);
	}
	assert_false(t->w->report.used_clock);
	world_free(t);
}

static void first_clock_wins(void **state)
{
	struct world *t = world_new();
	uint64_t before = now_ns();

	(void)state;
	world_begin(t);
	subscribe_clock(t, 0, 3600000 * MS, 1, 0);
	subscribe_clock(t, 1, 20 * MS, 1, 0);
	subscribe_clock(t, 2, UINT64_MAX, 0, 0);
	assert_int_equal(wait_for(t, 3), 1);
	assert_int_equal(event(t, 0, 0), 1001);
	assert_in_range(now_ns() - before, 20 * MS, 200 * MS);
	world_free(t);
}

static void points_in_time(void **state)
{
	struct world *t = world_new();
	uint64_t before = now_ns(), start;

	(void)state;
	world_begin(t);
	subscribe_clock(t, 0, 1, 0, SUBCLOCK_ABSTIME); /* in 1970 */
	assert_int_equal(wait_for(t, 1), 1);
	assert_in_range(now_ns() - before, 0, 100 * MS);
	assert_true(t->w->report.used_clock);
	for (uint32_t id = 0; id < 2; id++) {
		assert_int_equal(call(t, "clock_time_get", id, 0, AT_RET), 0);
		start = ret_u64(t, AT_RET);
		subscribe_clock(t, 0, start + 20 * MS, id, SUBCLOCK_ABSTIME);
		assert_int_equal(wait_for(t, 1), 1);
		assert_int_equal(call(t, "clock_time_get", id, 0, AT_RET), 0);
		assert_in_range(ret_u64(t, AT_RET) - start, 20 * MS, 200 * MS);
	}
	world_free(t);
}

static void descriptors_are_ready_at_once(void **state)
{
	struct world *t = world_new();
	uint64_t before = now_ns();

	(void)state;
	world_file(t, "f", "0123456789");
	world_grant(t, GRANT_READ_FILE, "/f", "f");
	world_begin(t);
	subscribe_fd(t, 0, EVENT_FD_READ, 0);
	subscribe_clock(t, 1, 100 * MS, 1, 0);
	subscribe_fd(t, 2, EVENT_FD_WRITE, 1);
	subscribe_fd(t, 3, EVENT_FD_READ, must_open(t, "f", 0, RD));
	subscribe_fd(t, 4, EVENT_FD_READ, 99);
	subscribe_fd(t, 5, EVENT_FD_WRITE, 0);
	assert_int_equal(wait_for(t, 6), 5);
	assert_int_equal(event(t, 0, 0), 1000);
	assert_int_equal(event(t, 0, 16), 11); /* bytes of input */
	assert_int_equal(event(t, 0, 24), 0);
	assert_int_equal(event(t, 1, 0), 1002);
	assert_int_equal(event(t, 1, 8), EVENT_FD_WRITE << 16);
	assert_int_equal(event(t, 2, 16), 10);
	assert_int_equal(event(t, 3, 8), W_BADF | EVENT_FD_READ << 16);
	assert_int_equal(event(t, 4, 8), W_BADF | EVENT_FD_WRITE << 16);
	/* Input that is used up: ready, and at its end. */
	read_text(t, 0, 99);
	subscribe_fd(t, 0, EVENT_FD_READ, 0);
	assert_int_equal(wait_for(t, 1), 1);
	assert_int_equal(event(t, 0, 16), 0);
	assert_int_equal(event(t, 0, 24), EVENT_HANGUP);
	assert_in_range(now_ns() - before, 0, 90 * MS);
	world_free(t);
}

static void bad_subscriptions(void **state)
{
	struct world *t = world_new();

	(void)state;
	world_begin(t);
	subscribe_clock(t, 0, 0, 2, 0);
	subscribe_clock(t, 1, 0, UINT32_MAX, 0);
	subscribe_clock(t, 2, 0, 0, 2);
	assert_int_equal(wait_for(t, 3), 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(event(t, i, 8), W_INVAL);
	t->memory[AT_SUBS + 8] = 3;
	assert_int_equal(call(t, "poll_oneoff", AT_SUBS, AT_EVENTS, 1, AT_RET),
			 W_INVAL);
	world_free(t);
}

static void plans_without_clock(void **state)
{
	struct world *t = world_new();

	(void)state;
	t->plan.clock = SOURCE_NONE;
	world_begin(t);
	subscribe_clock(t, 0, 5 * MS, 1, 0); /* a pause tells no time */
	assert_int_equal(wait_for(t, 1), 1);
	assert_int_equal(event(t, 0, 8), 0);
	subscribe_clock(t, 0, 5 * MS, 1, SUBCLOCK_ABSTIME);
	assert_int_equal(wait_for(t, 1), 1);
	assert_int_equal(event(t, 0, 8), W_NOTCAPABLE);
	assert_true(was_denied(t, "clock", ""));
	world_end(t);
	t->plan.clock = SOURCE_FIXED;
	t->plan.clock_fixed_ns = 1000;
	world_begin(t);
	subscribe_clock(t, 0, 1000, 1, SUBCLOCK_ABSTIME);
	assert_int_equal(wait_for(t, 1), 1);
	assert_false(t->w->report.used_clock);
	world_free(t);
}

/* An hour, the largest number, a point far away: the deadline ends each. */
static void deadline_ends_every_wait(void **state)
{
	static const struct {
		uint64_t timeout;
		uint16_t flags;
	} rows[] = {{3600000 * MS, 0},
		    {UINT64_MAX, 0},
		    {INT64_MAX, 0},
		    {UINT64_MAX, SUBCLOCK_ABSTIME},
		    {INT64_MAX, SUBCLOCK_ABSTIME}};

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct world *t = world_new();
		uint64_t before = now_ns();

		world_begin(t);
		subscribe_clock(t, 0, rows[i].timeout, 0, rows[i].flags);
		deadline_in(t, 20000);
		(void)call(t, "poll_oneoff", AT_SUBS, AT_EVENTS, 1, AT_RET);
		assert_int_equal(t->w->report.end, WASI_END_STOP);
		assert_in_range(now_ns() - before, 15 * MS, 300 * MS);
		world_free(t);
	}
}

/* A signal that comes just before the wait begins is not lost: with many
 * delays around the time that a call takes, some hit the gap. */
static void no_wake_up_is_lost(void **state)
{
	sigset_t mask;

	(void)state;
	for (long us = 1; us < 200; us++) {
		struct world *t = world_new();
		uint64_t before;

		world_begin(t);
		subscribe_clock(t, 0, 5000 * MS, 1, 0);
		before = now_ns();
		deadline_in(t, us);
		(void)call(t, "poll_oneoff", AT_SUBS, AT_EVENTS, 1, AT_RET);
		assert_int_equal(t->w->report.end, WASI_END_STOP);
		assert_in_range(now_ns() - before, 0, 1000 * MS);
		world_free(t);
	}
	/* And the mask is as it was. */
	assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &mask), 0);
	assert_false(sigismember(&mask, SIGALRM));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_bounded),
		cmocka_unit_test(sleep_takes_its_time),
		cmocka_unit_test(first_clock_wins),
		cmocka_unit_test(points_in_time),
		cmocka_unit_test(descriptors_are_ready_at_once),
		cmocka_unit_test(bad_subscriptions),
		cmocka_unit_test(plans_without_clock),
		cmocka_unit_test(deadline_ends_every_wait),
		cmocka_unit_test(no_wake_up_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
