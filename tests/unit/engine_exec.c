/* Every way a run can end, in every profile that can end so. */
#include "engine_fixture.h"

#include <time.h>

static volatile sig_atomic_t stop;
static struct engine *interrupted;

static void on_timer(int sig)
{
	(void)sig;
	stop = 1;
	engine_interrupt(interrupted);
}

static timer_t timer_after_ms(struct engine *e, long ms)
{
	struct sigaction sa = {.sa_handler = on_timer, .sa_flags = SA_ONSTACK};
	struct sigevent se = {.sigev_notify = SIGEV_SIGNAL,
			      .sigev_signo = SIGRTMIN};
	struct itimerspec it = {.it_value = {ms / 1000, ms % 1000 * 1000000}};
	timer_t t;

	interrupted = e;
	stop = 0;
	assert_int_equal(sigaction(SIGRTMIN, &sa, NULL), 0);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &se, &t), 0);
	assert_int_equal(timer_settime(t, 0, &it, NULL), 0);
	return t;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* add, a loop without end, recursion without end, abort after a refused
 * growth, division by zero. */
static void build_sampler(struct wasm *m)
{
	uint32_t add = wasm_type(m, "iIfF", "iIfF");
	uint32_t plain = wasm_type(m, "", "");
	uint32_t one = wasm_type(m, "i", "i");

	wasm_memory(m, 1, -1);
	wasm_export(m, "memory", 2, 0);
	wasm_export(m, "echo", 0,
		    wasm_func(m, add, "",
			      CODE(0x20, 0, 0x20, 1, 0x20, 2, 0x20, 3)));
	wasm_export(m, "spin", 0,
		    wasm_func(m, plain, "", CODE(0x03, 0x40, 0x0c, 0, 0x0b)));
	wasm_export(m, "recurse", 0,
		    wasm_func(m, plain, "", CODE(0x10, 2)));
	wasm_export(m, "grow", 0,
		    wasm_func(m, one, "", CODE(0x20, 0, 0x40, 0)));
	wasm_export(m, "hog", 0, /* grow by 65,535 pages, then unreachable */
		    wasm_func(m, plain, "",
			      CODE(0x41, 0xff, 0xff, 3, 0x40, 0, 0x1a, 0x00)));
	wasm_export(m, "abort", 0, wasm_func(m, plain, "", CODE(0x00)));
	wasm_export(m, "divide", 0,
		    wasm_func(m, plain, "",
			      CODE(0x41, 1, 0x41, 0, 0x6d, 0x1a)));
	wasm_export(m, "far", 0, /* load at 2^32 - 4 */
		    wasm_func(m, plain, "",
			      CODE(0x41, 0x7c, 0x28, 2, 0, 0x1a)));
	wasm_export(m, "_start", 0, wasm_func(m, plain, "", CODE(0x01)));
}

static void every_profile_runs(void **state)
{
	(void)state;
	for (int p = 0; p < PROFILES; p++) {
		CLEANUP(buf_done) struct buf v = {0};
		const char *const argv[] = {"-5", "0xffffffffffffffff", "1.5",
					    "-1e300", NULL};
		bool fuel = p == PROFILE_IMAGE_FUEL || p == PROFILE_MODULE_FUEL;
		struct wasm m = {0};
		struct jar j;

		build_sampler(&m);
		jar_open(&j, (enum profile)p, &m, NULL);
		must(&j, module_entry(j.e, NULL, 0, &j.err));
		jar_begin(&j, MIB, fuel ? 1000000 : 0);
		must(&j, exec_start(j.x, &j.out, &j.err));
		assert_int_equal(j.out.end, EXEC_DONE);
		assert_int_equal(j.out.memory_bytes, 65536);
		assert_int_equal(j.out.fuel_used > 0, fuel);
		must(&j, exec_invoke(j.x, "echo", argv, &j.out, &v, &j.err));
		assert_int_equal(j.out.end, EXEC_DONE);
		assert_string_equal(v.data, "[-5,-1,1.5,-1e+300]");
		jar_close(&j);
	}
}

static void arguments_are_checked(void **state)
{
	static const char *const bad[][4] = {
		{"x", "0", "0", "0"},	       {"4294967296", "0", "0", "0"},
		{"-2147483649", "0", "0", "0"}, {"0", "", "0", "0"},
		{"0", "18446744073709551616", "0", "0"},
		{"0", "-9223372036854775809", "0", "0"},
		{"0", "0", "1.5x", "0"},       {"0", "0", "0", " 1"},
		{" 1", "0", "0", "0"},	       {"--1", "0", "0", "0"},
	};
	const char *const few[] = {"1", NULL};
	struct wasm m = {0};
	struct jar j;

	(void)state;
	build_sampler(&m);
	jar_open(&j, PROFILE_MODULE, &m, NULL);
	jar_begin(&j, MIB, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *argv[5] = {bad[i][0], bad[i][1], bad[i][2],
				       bad[i][3], NULL};
		struct buf v = {0};

		assert_int_equal(exec_invoke(j.x, "echo", argv, &j.out, &v,
					     &j.err),
				 REDOMA_E_INVALID);
		assert_non_null(strstr(j.err.text, "argument"));
		assert_null(v.data);
	}
	assert_int_equal(exec_invoke(j.x, "echo", few, &j.out, NULL, &j.err),
			 REDOMA_E_INVALID);
	assert_string_equal(j.err.text,
			    "\"echo\" takes 4 arguments, 1 were given");
	assert_int_equal(exec_invoke(j.x, "memory", few, &j.out, NULL, &j.err),
			 REDOMA_E_INVALID);
	jar_close(&j);
}

static void odd_numbers_are_tagged(void **state)
{
	static const struct {
		const char *f32, *want;
	} rows[] = {
		{"nan", "{\"$redoma\":\"nan\"}"},
		{"inf", "{\"$redoma\":\"inf\"}"},
		{"-inf", "{\"$redoma\":\"-inf\"}"},
		{"-0", "{\"$redoma\":\"-0\"}"},
		{"0.1", "0.1"},
		{"16777217", "16777216"},
	};
	struct wasm m = {0};
	struct jar j;

	(void)state;
	build_sampler(&m);
	jar_open(&j, PROFILE_MODULE, &m, NULL);
	jar_begin(&j, MIB, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP(buf_done) struct buf v = {0}, want = {0};
		const char *const argv[] = {"4294967295", "9007199254740992",
					    rows[i].f32, "0.1", NULL};

		must(&j, exec_invoke(j.x, "echo", argv, &j.out, &v, &j.err));
		assert_int_equal(buf_addf(&want,
					  "[-1,{\"$redoma\":\"bigint\","
					  "\"value\":\"9007199254740992\"},"
					  "%s,0.1]",
					  rows[i].want),
				 0);
		assert_string_equal(v.data, want.data);
	}
	jar_close(&j);
}

static void ends_with(struct jar *j, const char *name, enum exec_end end,
		      int trap)
{
	CLEANUP(buf_done) struct buf v = {0};

	jar_call(j, name, &v);
	if (j->out.end != end)
		print_error("%s: %s: %s\n", name, exec_end_name(j->out.end),
			    j->out.text);
	assert_int_equal(j->out.end, end);
	assert_int_equal(j->out.trap, trap);
	assert_null(strchr(j->out.text, '/'));
	assert_true(strlen(j->out.text) > 3);
}

static void traps_are_told_apart(void **state)
{
	static const struct {
		const char *name;
		enum exec_end end;
		int trap;
	} rows[] = {
		{"recurse", EXEC_STACK, WASMTIME_TRAP_CODE_STACK_OVERFLOW},
		{"abort", EXEC_TRAP,
		 WASMTIME_TRAP_CODE_UNREACHABLE_CODE_REACHED},
		{"hog", EXEC_MEMORY,
		 WASMTIME_TRAP_CODE_UNREACHABLE_CODE_REACHED},
		{"divide", EXEC_TRAP,
		 WASMTIME_TRAP_CODE_INTEGER_DIVISION_BY_ZERO},
		{"far", EXEC_TRAP, WASMTIME_TRAP_CODE_MEMORY_OUT_OF_BOUNDS},
	};

	(void)state;
	for (int p = 0; p < PROFILES; p++) {
		bool fuel = p == PROFILE_IMAGE_FUEL || p == PROFILE_MODULE_FUEL;
		struct wasm m = {0};
		struct jar j;

		build_sampler(&m);
		jar_open(&j, (enum profile)p, &m, NULL);
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			jar_begin(&j, 4 * MIB, fuel ? 1u << 30 : 0);
			ends_with(&j, rows[i].name, rows[i].end, rows[i].trap);
			exec_reset(j.x);
		}
		jar_close(&j);
	}
}

static void memory_stops_exactly_at_its_limit(void **state)
{
	static const struct {
		const char *pages, *want;
		bool denied;
	} rows[] = {{"15", "1", false}, {"1", "-1", true}, {"0", "16", true}};
	struct wasm m = {0};
	struct jar j;

	(void)state;
	build_sampler(&m);
	jar_open(&j, PROFILE_MODULE, &m, NULL);
	jar_begin(&j, MIB + 65535, 0); /* 16 pages and not one more */
	for (size_t i = 0; i < 3; i++) {
		CLEANUP(buf_done) struct buf v = {0};
		const char *const argv[] = {rows[i].pages, NULL};

		must(&j, exec_invoke(j.x, "grow", argv, &j.out, &v, &j.err));
		assert_string_equal(v.data, rows[i].want);
		assert_int_equal(j.out.memory_denied, rows[i].denied);
		assert_int_equal(j.out.memory_bytes, MIB);
	}
	exec_reset(j.x);
	jar_begin(&j, MIB, 0);
	assert_false(j.out.memory_denied);
	assert_int_equal(j.out.memory_bytes, 65536);
	jar_close(&j);
}

static void initial_memory_over_the_limit(void **state)
{
	struct exec_limits l = {.memory_bytes = MIB};
	struct wasm m = {0};
	struct jar j;

	(void)state;
	wasm_memory(&m, 17, -1);
	wasm_export(&m, "memory", 2, 0);
	jar_open(&j, PROFILE_MODULE, &m, NULL);
	must(&j, exec_begin(j.x, &l, &j.out, &j.err));
	assert_int_equal(j.out.end, EXEC_MEMORY);
	exec_reset(j.x);
	l.memory_bytes += 65536;
	must(&j, exec_begin(j.x, &l, &j.out, &j.err));
	assert_int_equal(j.out.end, EXEC_DONE);
	jar_close(&j);
}

static void fuel_is_exact_and_repeatable(void **state)
{
	uint64_t used = 0;
	struct wasm m = {0};
	struct jar j;

	(void)state;
	build_sampler(&m);
	jar_open(&j, PROFILE_MODULE_FUEL, &m, NULL);
	for (int i = 0; i < 3; i++) {
		jar_begin(&j, MIB, 100000);
		ends_with(&j, "spin", EXEC_FUEL,
			  WASMTIME_TRAP_CODE_OUT_OF_FUEL);
		exec_reset(j.x);
		jar_begin(&j, MIB, 100000);
		must(&j, exec_start(j.x, &j.out, &j.err));
		assert_true(!i || used == j.out.fuel_used);
		used = j.out.fuel_used;
		exec_reset(j.x);
	}
	jar_close(&j);
}

static void a_loop_ends_at_its_deadline(void **state)
{
	struct wasm m = {0};
	struct jar j;
	timer_t t;
	double from;

	(void)state;
	build_sampler(&m);
	jar_open(&j, PROFILE_MODULE, &m, &stop);
	stop = 0;
	jar_begin(&j, MIB, 0);
	from = now_ms();
	t = timer_after_ms(j.e, 50);
	ends_with(&j, "spin", EXEC_INTERRUPT, WASMTIME_TRAP_CODE_INTERRUPT);
	assert_true(now_ms() - from >= 49);
	assert_true(now_ms() - from < 1050);
	timer_delete(t);
	exec_reset(j.x);
	/* What passed before exec_begin is not lost ... */
	must(&j, exec_begin(j.x, &(struct exec_limits){.memory_bytes = MIB},
			    &j.out, &j.err));
	assert_int_equal(j.out.end, EXEC_INTERRUPT);
	exec_reset(j.x);
	/* ... and what belonged to that run does not hurt the next. */
	stop = 0;
	jar_begin(&j, MIB, 0);
	must(&j, exec_start(j.x, &j.out, &j.err));
	assert_int_equal(j.out.end, EXEC_DONE);
	jar_close(&j);
}

/* A start function with one byte sequence as its body. */
static void start_ends(enum profile p, const uint8_t *code, size_t len,
		       enum exec_end end)
{
	struct exec_limits l = {.memory_bytes = MIB,
				.fuel = p == PROFILE_MODULE_FUEL ? 100000 : 0};
	struct wasm m = {0};
	struct jar j;
	timer_t t;
	uint32_t plain = wasm_type(&m, "", "");

	wasm_memory(&m, 1, -1);
	wasm_export(&m, "memory", 2, 0);
	m.start = 1 + wasm_func(&m, plain, "", code, len);
	wasm_export(&m, "_start", 0, wasm_func(&m, plain, "", CODE(0x01)));
	jar_open(&j, p, &m, NULL);
	t = timer_after_ms(j.e, 50);
	must(&j, exec_begin(j.x, &l, &j.out, &j.err));
	assert_int_equal(j.out.end, end);
	assert_int_equal(exec_start(j.x, &j.out, &j.err), REDOMA_E_INVALID);
	timer_delete(t);
	jar_close(&j);
}

static void start_functions_are_under_all_limits(void **state)
{
	(void)state;
	start_ends(PROFILE_MODULE, CODE(0x03, 0x40, 0x0c, 0, 0x0b),
		   EXEC_INTERRUPT);
	start_ends(PROFILE_MODULE_FUEL, CODE(0x03, 0x40, 0x0c, 0, 0x0b),
		   EXEC_FUEL);
	start_ends(PROFILE_MODULE, CODE(0x00), EXEC_TRAP);
	start_ends(PROFILE_MODULE, CODE(0x10, 0), EXEC_STACK);
	start_ends(PROFILE_MODULE,
		   CODE(0x41, 0xff, 0xff, 3, 0x40, 0, 0x1a, 0x00), EXEC_MEMORY);
}

static void misuse_is_refused(void **state)
{
	struct exec_limits none = {0}, fuel = {MIB, 5}, fit = {MIB, 0};
	struct exec_limits wide = {ENGINE_MEMORY_MAX + 1, 0};
	struct wasm m = {0};
	struct jar j;

	(void)state;
	build_sampler(&m);
	jar_open(&j, PROFILE_MODULE, &m, NULL);
	assert_int_equal(exec_begin(j.x, &none, &j.out, &j.err),
			 REDOMA_E_INVALID);
	assert_int_equal(exec_begin(j.x, &wide, &j.out, &j.err),
			 REDOMA_E_INVALID);
	assert_int_equal(exec_begin(j.x, &fuel, &j.out, &j.err),
			 REDOMA_E_INVALID);
	assert_int_equal(exec_start(j.x, &j.out, &j.err), REDOMA_E_INVALID);
	must(&j, exec_begin(j.x, &fit, &j.out, &j.err));
	assert_int_equal(exec_begin(j.x, &fit, &j.out, &j.err),
			 REDOMA_E_BUSY);
	assert_int_equal(module_load_bytes(j.e, "x", 1, &j.err),
			 REDOMA_E_BUSY);
	assert_int_equal(module_link(j.e, NULL, &j.err), REDOMA_E_BUSY);
	jar_close(&j);
	exec_free(NULL);
	engine_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_profile_runs),
		cmocka_unit_test(arguments_are_checked),
		cmocka_unit_test(odd_numbers_are_tagged),
		cmocka_unit_test(traps_are_told_apart),
		cmocka_unit_test(memory_stops_exactly_at_its_limit),
		cmocka_unit_test(initial_memory_over_the_limit),
		cmocka_unit_test(fuel_is_exact_and_repeatable),
		cmocka_unit_test(a_loop_ends_at_its_deadline),
		cmocka_unit_test(start_functions_are_under_all_limits),
		cmocka_unit_test(misuse_is_refused),
	};

	jar_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
