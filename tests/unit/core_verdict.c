/* What happened to a worker, and what is said of it. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "core/verdict.h"

static struct policy *policy;
static struct granted *granted;

static int seal_default(void **state)
{
	struct granted_want w = {0};

	(void)state;
	if (policy_parse("", 0, ".", &policy, NULL))
		return -1;
	w.policy = policy;
	return granted_open(NULL, &w, &granted, NULL);
}

static int unseal(void **state)
{
	(void)state;
	granted_close(granted);
	policy_free(policy);
	return 0;
}

/* *res holds what came before the verdict; the caller frees it. */
static struct redoma_result *judge(enum verdict v, const struct outcome *o,
				   struct spawn_dead dead, const char *value)
{
	struct redoma_result *res = result_new();
	struct talk t = {.result = res, .verdict = v};

	assert_non_null(res);
	if (o)
		t.outcome = *o;
	if (value)
		assert_int_equal(buf_add(&res->value, value, strlen(value)),
				 0);
	assert_int_equal(verdict_fill(res, &t, &dead, granted, NULL), 0);
	return res;
}

static void kills_by_the_core(void **state)
{
	static const struct {
		enum verdict v;
		enum redoma_status status;
		const char *limit;
	} rows[] = {
		{VERDICT_WALL, REDOMA_STATUS_WALL_LIMIT, "wall"},
		{VERDICT_CPU, REDOMA_STATUS_CPU_LIMIT, "cpu"},
		{VERDICT_OUTPUT, REDOMA_STATUS_OUTPUT_LIMIT, "output"},
		{VERDICT_CANCELLED, REDOMA_STATUS_CANCELLED, NULL},
		{VERDICT_PROTOCOL, REDOMA_STATUS_BREACH, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct redoma_result *r = judge(
			rows[i].v, NULL, (struct spawn_dead){0}, "1");

		assert_int_equal(r->status, rows[i].status);
		assert_int_equal(r->exit_code, 1);
		assert_int_equal(r->value.len, 0);
		assert_int_equal(r->truncated,
				 rows[i].v == VERDICT_OUTPUT);
		if (rows[i].limit)
			assert_string_equal(r->limit_name, rows[i].limit);
		else
			assert_null(r->limit_name);
		redoma_result_free(r);
	}
}

static void ends_of_a_process(void **state)
{
	static const struct {
		struct spawn_dead dead;
		enum redoma_status status;
		const char *message;
	} rows[] = {
		{{.code = CLD_KILLED, .status = SIGSYS},
		 REDOMA_STATUS_BREACH, "outside its list"},
		{{.code = CLD_DUMPED, .status = SIGSYS},
		 REDOMA_STATUS_BREACH, "outside its list"},
		{{.code = CLD_KILLED, .status = SIGSEGV},
		 REDOMA_STATUS_CRASHED, "signal 11"},
		/* An exit code that happens to be the signal's number. */
		{{.code = CLD_EXITED, .status = SIGSYS},
		 REDOMA_STATUS_CRASHED, "code 31"},
		{{0}, REDOMA_STATUS_CRASHED, "gone"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct redoma_result *r =
			judge(VERDICT_GONE, NULL, rows[i].dead, "1");

		assert_int_equal(r->status, rows[i].status);
		assert_true(verdict_is_bad(r->status));
		assert_non_null(strstr(r->message.data, rows[i].message));
		assert_int_equal(r->value.len, 0);
		redoma_result_free(r);
	}
}

/* A limit, not a crash: and no wall was touched. */
static void a_groups_memory_is_a_limit(void **state)
{
	struct spawn_dead dead = {
		.code = CLD_KILLED, .status = SIGKILL, .oom = 1};
	struct redoma_result *r = judge(VERDICT_GONE, NULL, dead, "1");

	(void)state;
	assert_int_equal(r->status, REDOMA_STATUS_MEMORY_LIMIT);
	assert_false(verdict_is_bad(r->status));
	assert_string_equal(r->limit_name, "memory");
	assert_string_equal(r->limit_used, "");
	assert_int_equal(r->value.len, 0);
	redoma_result_free(r);
	/* What the filter ended is a breach all the same. */
	dead.status = SIGSYS;
	r = judge(VERDICT_GONE, NULL, dead, "1");
	assert_int_equal(r->status, REDOMA_STATUS_BREACH);
	redoma_result_free(r);
}

static void an_outcome_is_carried(void **state)
{
	static const struct outcome o = {
		.status = REDOMA_STATUS_OK, .cpu_us = 1, .reset_us = 2,
		.memory_bytes = 4, .read_bytes = 5, .written_bytes = 6,
		.page_faults = 7, .resets_wrong = 8};
	struct redoma_result *r =
		judge(VERDICT_OUTCOME, &o, (struct spawn_dead){0}, "[1]");

	(void)state;
	assert_int_equal(r->status, REDOMA_STATUS_OK);
	assert_int_equal(r->exit_code, 0);
	assert_string_equal(r->value.data, "[1]");
	assert_true(r->pure);
	assert_int_equal(r->usage.cpu_us, 1);
	assert_int_equal(r->usage.reset_us, 2);
	assert_int_equal(r->usage.memory_bytes, 4);
	assert_int_equal(r->usage.read_bytes, 5);
	assert_int_equal(r->usage.written_bytes, 6);
	assert_int_equal(r->usage.page_faults, 7);
	assert_int_equal(r->usage.reset_wrong, 8);
	assert_false(r->usage.has_fuel);
	redoma_result_free(r);
}

static void what_a_run_used_takes_its_purity(void **state)
{
	static const struct outcome rows[] = {
		{.used_clock = true},
		{.used_random = true},
		{.used_unpinned = true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct redoma_result *r = judge(VERDICT_OUTCOME, &rows[i],
						(struct spawn_dead){0}, NULL);

		assert_false(r->pure);
		redoma_result_free(r);
	}
}

static void outcomes_that_no_honest_worker_sends(void **state)
{
	static const struct outcome ok = {.status = REDOMA_STATUS_OK};
	static const struct outcome breach = {.status = REDOMA_STATUS_BREACH};
	static const struct outcome crash = {.status = REDOMA_STATUS_CRASHED};
	static const struct {
		const struct outcome *o;
		const char *value;
	} rows[] = {
		{&breach, NULL}, {&crash, NULL},  {&ok, "1,\"a\":2"},
		{&ok, "{"},	 {&ok, "\"\xff\""}, {&ok, " "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct redoma_result *r =
			judge(VERDICT_OUTCOME, rows[i].o,
			      (struct spawn_dead){0}, rows[i].value);

		assert_int_equal(r->status, REDOMA_STATUS_BREACH);
		assert_int_equal(r->value.len, 0);
		assert_int_equal(r->exit_code, 1);
		redoma_result_free(r);
	}
}

static void errors_keep_their_words_and_lose_their_value(void **state)
{
	static const struct outcome o = {
		.status = REDOMA_STATUS_ERROR, .exit_code = 5,
		.name = {"N", 1}, .message = {"M", 1}, .stack = {"S", 1},
		.line = 3, .column = 4};
	struct redoma_result *r =
		judge(VERDICT_OUTCOME, &o, (struct spawn_dead){0}, "1");

	(void)state;
	assert_int_equal(r->status, REDOMA_STATUS_ERROR);
	assert_int_equal(r->exit_code, 5);
	assert_string_equal(r->name.data, "N");
	assert_string_equal(r->message.data, "M");
	assert_string_equal(r->stack.data, "S");
	assert_int_equal(r->line, 3);
	assert_int_equal(r->column, 4);
	assert_int_equal(r->value.len, 0);
	redoma_result_free(r);
}

static void denials_are_copied(void **state)
{
	struct outcome o = {.status = REDOMA_STATUS_DENIED, .n_denials = 1};
	struct redoma_result *r;

	(void)state;
	o.denials[0] = (struct outcome_denial){
		.op = {"an operation of many letters", 28},
		.path = {"/a\0b", 4},
		.count = 3,
		.write = true};
	r = judge(VERDICT_OUTCOME, &o, (struct spawn_dead){0}, NULL);
	assert_int_equal(r->n_denials, 1);
	assert_string_equal(r->denials[0].op, "an operation of");
	assert_int_equal(r->denials[0].path_len, 4);
	assert_memory_equal(r->denials[0].path, "/a\0b", 5);
	assert_int_equal(r->denials[0].count, 3);
	assert_true(r->denials[0].write);
	redoma_result_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kills_by_the_core),
		cmocka_unit_test(ends_of_a_process),
		cmocka_unit_test(a_groups_memory_is_a_limit),
		cmocka_unit_test(an_outcome_is_carried),
		cmocka_unit_test(what_a_run_used_takes_its_purity),
		cmocka_unit_test(outcomes_that_no_honest_worker_sends),
		cmocka_unit_test(errors_keep_their_words_and_lose_their_value),
		cmocka_unit_test(denials_are_copied),
	};

	return cmocka_run_group_tests(tests, seal_default, unseal);
}
