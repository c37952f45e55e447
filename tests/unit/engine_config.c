/* The table of settings: each row is known and is what every engine reports; a
 * wrong row ends the process and says which one it was. */
#include "engine_fixture.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/config.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const struct config_table *const tables[] = {
	&config_common, &config_pool, &config_compiler};

static uint64_t check_row(wasm_config_t *c, const struct config_row *r)
{
	int ways = r->feature + !!r->flag + !!r->size + !!r->pool_flag +
		   !!r->pool_size + !!r->pool_count;

	if (ways > 1)
		fail_msg("%s is set in %d ways", r->name, ways);
	if (!r->feature)
		return 0;
	if (!rd_config_feature(c, r->name, false) || !rd_feature_bits(r->name))
		fail_msg("no proposal %s", r->name);
	return rd_feature_bits(r->name);
}

static bool is_twice(const char *name)
{
	int n = 0;

	for (size_t t = 0; t < COUNT(tables); t++)
		for (size_t i = 0; i < tables[t]->n; i++)
			n += !strcmp(tables[t]->rows[i].name, name);
	return n > 1;
}

static void every_row_is_known_and_alone(void **state)
{
	wasm_config_t *c = wasm_config_new();
	uint64_t seen = 0;

	(void)state;
	for (size_t t = 0; t < COUNT(tables); t++)
		for (size_t i = 0; i < tables[t]->n; i++) {
			const struct config_row *r = &tables[t]->rows[i];

			seen |= check_row(c, r);
			if (is_twice(r->name))
				fail_msg("%s has two rows", r->name);
		}
	assert_int_equal(seen, rd_features_known());
	wasm_config_delete(c);
}

/* Written down once more: a table that is changed by mistake is seen. */
static void what_is_on_is_this(void **state)
{
	static const char *const names[] = {
		"mutable-global",  "saturating-float-to-int",
		"sign-extension",  "reference-types",
		"multi-value",	   "bulk-memory",
		"simd",		   "floats",
		"extended-const",  "exceptions",
		"gc-types",
	};
	struct config_choice how = {.profile = PROFILE_MODULE};
	wasm_engine_t *e = config_engine(&config_pool, &how);
	uint64_t want = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		want |= rd_feature_bits(names[i]);
	assert_int_equal(rd_engine_features(e), want);
	wasm_engine_delete(e);
}

static uint64_t number(const wasm_engine_t *e, const char *name)
{
	uint64_t n = 0;

	if (!rd_engine_number(e, name, &n))
		fail_msg("no setting %s", name);
	return n;
}

static void every_profile_is_what_its_rows_say(void **state)
{
	(void)state;
	for (int p = 0; p < PROFILES; p++)
		for (int scan = 0; scan <= rd_pagemap_available(); scan++) {
			struct config_choice how = {
				.profile = (enum profile)p, .scan = scan};
			wasm_engine_t *e = config_engine(&config_pool, &how);

			assert_int_equal(number(e, "epoch-interruption"),
					 profile_has_epoch(how.profile));
			assert_int_equal(number(e, "consume-fuel"),
					 profile_has_fuel(how.profile));
			assert_int_equal(number(e, "pool-pagemap-scan"), scan);
			assert_int_equal(number(e, "pool-memory-keep-resident"),
					 (scan ? 8 : 1) * MIB);
			assert_int_equal(number(e, "max-wasm-stack"),
					 ENGINE_STACK_BYTES);
			assert_int_equal(number(e, "pool-memory-size"),
					 ENGINE_MEMORY_MAX);
			wasm_engine_delete(e);
			e = config_engine(&config_compiler, &how);
			assert_int_equal(number(e, "opt-level"),
					 WASMTIME_OPT_LEVEL_SPEED);
			assert_false(rd_engine_number(e, "pool-tables",
						      &(uint64_t){0}));
			wasm_engine_delete(e);
		}
}

/* What a child that makes this engine says; it must abort. */
static void dies(const struct config_table *common,
		 const struct config_table *part, const char *words)
{
	const struct config_table *const both[2] = {common, part};
	struct config_choice how = {.profile = PROFILE_MODULE};
	char text[4096];
	size_t n = 0;
	ssize_t got;
	int fds[2], status;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0});
		signal(SIGABRT, SIG_DFL);
		dup2(fds[1], STDERR_FILENO);
		config_build(both, &how);
		_exit(0);
	}
	assert_true(pid > 0);
	close(fds[1]);
	while ((got = read(fds[0], text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	text[n] = 0;
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT ||
	    !strstr(text, words))
		fail_msg("\"%s\": status %x: %s", words, status, text);
}

static void a_wrong_row_aborts(void **state)
{
	static const struct {
		struct config_row row;
		const char *words;
	} bad[] = {
		{{"no-such-thing", .feature = true},
		 "settings are wrong: this Wasmtime knows no proposal "
		 "\"no-such-thing\"\n"},
		{{"", .feature = true}, "knows no proposal \"\"\n"},
		{{"no-such-thing", .value = {0}},
		 "settings are wrong: this Wasmtime has no setting "
		 "\"no-such-thing\"\n"},
		/* of a part that this engine does not have */
		{{"pool-tables", .value = {0}},
		 "has no setting \"pool-tables\"\n"},
		/* not as it is by default */
		{{"inlining", .value = {1}},
		 "\"inlining\" is 0 and must be 1\n"},
		/* set to another value than the table's other row says */
		{{"memory-may-move", .value = {1},
		  .flag = wasmtime_config_memory_may_move_set},
		 "\"memory-may-move\" is 1 and must be 0\n"},
		{{"simd", .feature = true},
		 "the proposal \"simd\" must be on\n"},
		{{"tail-call", .value = {1}, .feature = true},
		 "the proposal \"tail-call\" must be off\n"},
		/* what Wasmtime itself refuses */
		{{"memory-control", .value = {1}, .feature = true},
		 "wasm_memory_control feature is not supported"},
		{{"max-wasm-stack", .value = {ENGINE_STACK_BYTES * 2},
		  .size = wasmtime_config_max_wasm_stack_set},
		 "max_wasm_stack size cannot exceed"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct config_table part = {.rows = &bad[i].row, .n = 1};

		dies(&config_common, &part, bad[i].words);
	}
}

static void a_row_that_is_missing_aborts(void **state)
{
	struct config_table fewer = config_common;

	(void)state;
	fewer.rows++;
	fewer.n--;
	dies(&fewer, &config_pool, "proposals without a row: bits 1\n");
	dies(&(struct config_table){0}, &config_compiler,
	     "proposals without a row");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_known_and_alone),
		cmocka_unit_test(what_is_on_is_this),
		cmocka_unit_test(every_profile_is_what_its_rows_say),
		cmocka_unit_test(a_wrong_row_aborts),
		cmocka_unit_test(a_row_that_is_missing_aborts),
	};

	jar_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
