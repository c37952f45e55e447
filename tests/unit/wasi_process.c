/* Arguments, environment, streams, clock, randomness, exit. */
#include "wasi_world.h"

#include <time.h>

static void arguments_and_environment(void **state)
{
	struct world *t = world_new();

	(void)state;
	world_begin(t);
	assert_int_equal(call(t, "args_sizes_get", AT_RET, AT_RET + 4), 0);
	assert_int_equal(ret_u32(t), 2);
	assert_int_equal(ret_u64(t, AT_RET) >> 32, 9);
	assert_int_equal(call(t, "args_get", AT_RET, AT_DATA), 0);
	assert_memory_equal(t->memory + AT_DATA, "tool\0a b", 9);
	assert_int_equal(ret_u32(t), AT_DATA);
	assert_int_equal(ret_u64(t, AT_RET) >> 32, AT_DATA + 5);
	assert_int_equal(call(t, "environ_sizes_get", AT_RET, AT_RET + 4), 0);
	assert_int_equal(ret_u32(t), 1);
	assert_int_equal(call(t, "environ_get", AT_RET, AT_DATA), 0);
	assert_string_equal((char *)t->memory + AT_DATA, "TZ=UTC");
	world_free(t);
}

static void standard_streams(void **state)
{
	struct world *t = world_new();

	(void)state;
	world_begin(t);
	assert_string_equal(read_text(t, 0, 5), "input");
	assert_string_equal(read_text(t, 0, 100), " bytes");
	assert_string_equal(read_text(t, 0, 100), "");
	assert_int_equal(write_text(t, 1, "to out"), 0);
	assert_int_equal(ret_u32(t), 6);
	assert_int_equal(write_text(t, 2, "to err"), 0);
	assert_string_equal(t->out[1].data, "to out");
	assert_string_equal(t->out[2].data, "to err");
	assert_int_equal(write_text(t, 0, "x"), W_BADF);
	assert_int_equal(call(t, "fd_read", 1, iov(t, AT_DATA, 1), 1, AT_RET),
			 W_BADF);
	assert_int_equal(call(t, "fd_seek", 1, 0, WHENCE_CUR, AT_RET), W_SPIPE);
	/* Not a terminal: a character device without seek would be one. */
	assert_int_equal(call(t, "fd_fdstat_get", 1, AT_RET), 0);
	assert_int_equal(ret_u32(t), FILETYPE_UNKNOWN);
	assert_int_equal(ret_u64(t, AT_RET + 8), RIGHTS_OUT);
	world_free(t);
}

/* Regression list 9. */
static void empty_writes_and_absent_streams(void **state)
{
	struct world *t = world_new();

	(void)state;
	world_begin(t);
	for (int i = 0; i < 100000; i++)
		assert_int_equal(
			call(t, "fd_write", 1, AT_IOV, 0, AT_RET), 0);
	for (int i = 0; i < 100000; i++)
		assert_int_equal(write_text(t, 1, ""), 0);
	assert_int_equal(t->out[1].len, 0);
	for (uint32_t fd = 0; fd < 3; fd++)
		assert_int_equal(call(t, "fd_close", fd), 0);
	assert_int_equal(write_text(t, 1, "x"), W_BADF);
	assert_int_equal(write_text(t, 2, "x"), W_BADF);
	assert_int_equal(call(t, "fd_read", 0, AT_IOV, 0, AT_RET), W_BADF);
	assert_int_equal(t->w->report.end, WASI_END_NONE);
	world_free(t);
}

static void output_limit_ends(void **state)
{
	struct world *t = world_new();

	(void)state;
	t->output_max = 10;
	world_begin(t);
	assert_int_equal(write_text(t, 1, "0123456789"), 0);
	assert_int_equal(t->w->report.end, WASI_END_NONE);
	(void)write_text(t, 2, "x");
	assert_int_equal(t->w->report.end, WASI_END_OUTPUT);
	world_free(t);
}

static int broken_write(void *data, int stream, const void *p, size_t n)
{
	(void)stream;
	(void)p;
	(void)n;
	return *(int *)data;
}

static void lost_core_and_late_deadline_end(void **state)
{
	static const struct {
		int error;
		enum wasi_end end;
	} rows[] = {{EPIPE, WASI_END_HOST}, {EINTR, WASI_END_STOP}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct world *t = world_new();
		int error = rows[i].error;

		t->host = (struct wasi_host){.data = &error,
					     .write = broken_write};
		world_begin(t);
		(void)write_text(t, 1, "x");
		assert_int_equal(t->w->report.end, rows[i].end);
		world_free(t);
	}
}

static void exit_keeps_any_code(void **state)
{
	static const uint32_t codes[] = {0, 1, 255, 256, UINT32_MAX};

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct world *t = world_new();

		world_begin(t);
		(void)call(t, "proc_exit", codes[i]);
		world_end(t);
		assert_int_equal(t->report.end, WASI_END_EXIT);
		assert_int_equal(t->report.exit_code, codes[i]);
		world_free(t);
	}
}

static uint64_t now(struct world *t, uint32_t id)
{
	assert_int_equal(call(t, "clock_time_get", id, 1, AT_RET), 0);
	return ret_u64(t, AT_RET);
}

static void real_clock(void **state)
{
	struct world *t = world_new();
	uint64_t first, real;
	struct timespec ts;

	(void)state;
	world_begin(t);
	assert_false(t->w->report.used_clock);
	first = now(t, 1);
	assert_int_equal(first / 1000000000, 1);
	assert_true(now(t, 1) >= first);
	real = now(t, 0);
	clock_gettime(CLOCK_REALTIME, &ts);
	assert_in_range(real / 1000000000, (uint64_t)ts.tv_sec - 2, ts.tv_sec);
	assert_true(t->w->report.used_clock);
	assert_int_equal(call(t, "clock_res_get", 0, AT_RET), 0);
	assert_true(ret_u64(t, AT_RET) > 0);
	for (uint32_t id = 2; id < 5; id++)
		assert_int_equal(call(t, "clock_time_get", id, 1, AT_RET),
				 W_INVAL);
	world_free(t);
}

static void fixed_clock_stands(void **state)
{
	struct world *t = world_new();

	(void)state;
	t->plan.clock = SOURCE_FIXED;
	t->plan.clock_fixed_ns = 1767225600000000000;
	world_begin(t);
	assert_int_equal(now(t, 0), 1767225600000000000);
	assert_int_equal(now(t, 1), 1767225600000000000);
	assert_false(t->w->report.used_clock);
	world_free(t);
}

static void no_clock_no_random(void **state)
{
	struct world *t = world_new();

	(void)state;
	t->plan.clock = t->plan.random = SOURCE_NONE;
	world_begin(t);
	assert_int_equal(call(t, "clock_time_get", 0, 1, AT_RET), W_NOTCAPABLE);
	assert_int_equal(call(t, "random_get", AT_DATA, 8), W_NOTCAPABLE);
	assert_true(was_denied(t, "clock", ""));
	assert_true(was_denied(t, "random", ""));
	assert_false(t->w->report.used_clock || t->w->report.used_random);
	world_free(t);
}

static void real_random_differs(void **state)
{
	struct world *t = world_new();
	uint8_t first[32];

	(void)state;
	world_begin(t);
	assert_int_equal(call(t, "random_get", AT_DATA, 32), 0);
	memcpy(first, t->memory + AT_DATA, 32);
	assert_int_equal(call(t, "random_get", AT_DATA, 32), 0);
	assert_memory_not_equal(first, t->memory + AT_DATA, 32);
	assert_true(t->w->report.used_random);
	assert_int_equal(call(t, "random_get", AT_DATA, 0), 0);
	world_free(t);
}

static void seeded_random_repeats(void **state)
{
	struct world *t = world_new();
	uint8_t whole[64];

	(void)state;
	t->plan.random = SOURCE_FIXED;
	t->plan.random_seed = 42;
	world_begin(t);
	assert_int_equal(call(t, "random_get", AT_DATA, 64), 0);
	memcpy(whole, t->memory + AT_DATA, 64);
	world_end(t);
	/* The same bytes, however they are cut. */
	world_begin(t);
	for (uint32_t at = 0, n = 1; at < 64; at += n, n = n * 2 + 1) {
		if (n > 64 - at)
			n = 64 - at;
		assert_int_equal(call(t, "random_get", AT_DATA + at, n), 0);
	}
	assert_memory_equal(whole, t->memory + AT_DATA, 64);
	assert_false(t->w->report.used_random);
	world_end(t);
	t->plan.random_seed = 43;
	world_begin(t);
	assert_int_equal(call(t, "random_get", AT_DATA, 64), 0);
	assert_memory_not_equal(whole, t->memory + AT_DATA, 64);
	world_free(t);
}

/* Regression list 7: 4 GiB are asked for; the deadline ends it. */
static void huge_random_is_bounded(void **state)
{
	struct world *t = world_new();

	(void)state;
	world_begin(t);
	assert_int_equal(call(t, "random_get", 0, UINT32_MAX), W_FAULT);
	assert_int_equal(call(t, "random_get", 0, WORLD_MEMORY + 1), W_FAULT);
	memset(t->memory, 0, WORLD_MEMORY);
	t->stop = 1;
	(void)call(t, "random_get", 0, WORLD_MEMORY);
	assert_int_equal(t->w->report.end, WASI_END_STOP);
	for (size_t i = 0; i < WORLD_MEMORY; i++)
		assert_int_equal(t->memory[i], 0);
	world_free(t);
}

static void sockets_do_not_exist(void **state)
{
	static const char *const names[] = {"sock_accept", "sock_recv",
					    "sock_send", "sock_shutdown"};
	struct world *t = world_new();
	uint64_t args[9] = {1, 0, 0, 0, AT_RET, AT_RET};

	(void)state;
	world_begin(t);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(call_args(t, names[i], args), W_NOTCAPABLE);
	assert_true(was_denied(t, "socket", ""));
	assert_int_equal(t->w->report.denials[0].count, 4);
	assert_int_equal(call(t, "sched_yield"), 0);
	world_free(t);
}

static void denials_are_bounded(void **state)
{
	struct world *t = world_new();
	char name[32];

	(void)state;
	world_begin(t);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "secret%d", i);
		assert_int_equal(open_at(t, 3, name, 0, RD), W_ACCES);
		assert_int_equal(open_at(t, 3, name, 0, RD), W_ACCES);
	}
	world_end(t);
	assert_int_equal(t->report.n_denials, WASI_DENIALS_MAX);
	assert_int_equal(t->report.denials[0].count, 2);
	assert_string_equal(t->report.denials[63].path, "/secret63");
	assert_int_equal(t->report.more_denials, 72);
	world_begin(t);
	assert_int_equal(t->w->report.n_denials, 0);
	world_free(t);
}

static void denial_can_end_the_run(void **state)
{
	struct world *t = world_new();

	(void)state;
	t->plan.end_on_denied = true;
	world_begin(t);
	(void)open_at(t, 3, "etc/passwd", 0, RD);
	world_end(t);
	assert_int_equal(t->report.end, WASI_END_DENIED);
	assert_string_equal(t->report.denials[0].path, "/etc/passwd");
	world_free(t);
}

/* Begin and end of a run without grants allocate nothing and are quick. */
static void empty_run_is_cheap(void **state)
{
	struct world *t = world_new();
	struct timespec a, b;
	int64_t ns;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int i = 0; i < 10000; i++) {
		world_begin(t);
		world_end(t);
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	ns = (b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec;
	print_message("begin and end: %ld ns\n", (long)(ns / 10000));
	assert_true(ns / 10000 < 50000);
	world_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_and_environment),
		cmocka_unit_test(standard_streams),
		cmocka_unit_test(empty_writes_and_absent_streams),
		cmocka_unit_test(output_limit_ends),
		cmocka_unit_test(lost_core_and_late_deadline_end),
		cmocka_unit_test(exit_keeps_any_code),
		cmocka_unit_test(real_clock),
		cmocka_unit_test(fixed_clock_stands),
		cmocka_unit_test(no_clock_no_random),
		cmocka_unit_test(real_random_differs),
		cmocka_unit_test(seeded_random_repeats),
		cmocka_unit_test(huge_random_is_bounded),
		cmocka_unit_test(sockets_do_not_exist),
		cmocka_unit_test(denials_are_bounded),
		cmocka_unit_test(denial_can_end_the_run),
		cmocka_unit_test(empty_run_is_cheap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
