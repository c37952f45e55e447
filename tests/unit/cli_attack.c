/* What `redoma doctor --attack` concludes from a run: fed here with runs that
 * never were, since none of the real ones is to succeed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include "base/cleanup.h"
#include "cli/attack.h"

#define NONCE "0123456789abcdef0123456789abcdef"

static const struct attack_nonce nonces[ATTACK_NONCES] = {
	{"a file of the host", "fedcba9876543210fedcba9876543210"},
	{"a variable of the host", NONCE},
};

static const struct attack_row back = {
	.profile = ATTACK_NATIVE, .name = "x", .title = "t", .wall = "mount"};
static const struct attack_row ended = {.profile = ATTACK_NATIVE,
					.name = "x",
					.title = "t",
					.wall = "core",
					.ends = ENDS(WALL_LIMIT) |
						ENDS(MEMORY_LIMIT) |
						ENDS(BREACH)};

static struct attack_verdict judge(const struct attack_row *row,
				   enum redoma_status status, const char *out,
				   const char *all, const char *touched)
{
	struct attack_evidence e = {.status = status,
				    .out = out,
				    .out_len = out ? strlen(out) : 0,
				    .all = all,
				    .all_len = all ? strlen(all) : 0,
				    .touched = touched};
	struct attack_verdict v;

	memset(&v, 0x5a, sizeof v);
	attack_judge(row, &e, nonces, &v);
	return v;
}

static int exit_after(const struct attack_verdict *v, bool lacks)
{
	const struct attack_verdict good = {.result = ATTACK_STOPPED};
	struct attack_tally t = {0};

	attack_count(&t, &good);
	attack_count(&t, v);
	attack_count(&t, &good);
	return (int)attack_exit(&t, lacks);
}

static void succeeds(struct attack_verdict v, const char *detail)
{
	assert_int_equal(v.result, ATTACK_SUCCEEDED);
	assert_null(v.wall);
	if (!strstr(v.detail, detail))
		fail_msg("no \"%s\" in \"%s\"", detail, v.detail);
	assert_int_equal(exit_after(&v, false), EXIT_BREACH);
	assert_int_equal(exit_after(&v, true), EXIT_BREACH);
}

/* Whatever it says of itself, and however the run ended. */
static void a_nonce_that_comes_out_is_a_success(void **state)
{
	(void)state;
	succeeds(judge(&back, REDOMA_STATUS_OK, "stopped ENOENT\n",
		       "{\"stdout\":\"" NONCE "\"}", NULL),
		 "it has read a variable of the host");
	succeeds(judge(&back, REDOMA_STATUS_BREACH, NULL,
		       "{\"error\":{\"message\":\"x" NONCE "\"}}", NULL),
		 "a variable");
	succeeds(judge(&ended, REDOMA_STATUS_WALL_LIMIT, "stopped EPERM\n",
		       NONCE, NULL),
		 "a variable");
	assert_int_equal(judge(&back, REDOMA_STATUS_OK, "stopped ENOENT\n",
			       "0123456789abcdef0123456789abcde", NULL)
				 .result,
			 ATTACK_STOPPED);
}

static void a_canary_that_was_touched_is_a_success(void **state)
{
	(void)state;
	succeeds(judge(&back, REDOMA_STATUS_OK, "stopped ENOENT\n", "{}",
		       "it has changed a file of the host"),
		 "it has changed a file of the host");
	succeeds(judge(&ended, REDOMA_STATUS_WALL_LIMIT, NULL, NULL,
		       "it has signalled a process"),
		 "signalled");
}

static void what_an_attack_claims_is_a_success(void **state)
{
	(void)state;
	succeeds(judge(&back, REDOMA_STATUS_OK, "\nSUCCESS of a kind\n", "{}",
		       NULL),
		 "SUCCESS of a kind");
	succeeds(judge(&ended, REDOMA_STATUS_WALL_LIMIT, "SUCCESS", "{}", NULL),
		 "SUCCESS");
	succeeds(judge(&back, REDOMA_STATUS_OK, "SUCCESS\nread: x", "{}", NULL),
		 "SUCCESS");
	/* What should have ended the run did not. */
	succeeds(judge(&ended, REDOMA_STATUS_OK, "nothing\n", "{}", NULL),
		 "the run ended well");
}

static void stopped_by(struct attack_verdict v, const char *wall,
		       const char *detail)
{
	assert_int_equal(v.result, ATTACK_STOPPED);
	assert_string_equal(v.wall, wall);
	assert_string_equal(v.detail, detail);
	assert_false(v.unclear);
	assert_int_equal(exit_after(&v, false), EXIT_OK);
	assert_int_equal(exit_after(&v, true), EXIT_SANDBOX);
}

static void the_wall_is_named(void **state)
{
	struct attack_row script = {.profile = ATTACK_JS,
				    .wall = "wasm",
				    .ends = ENDS(MEMORY_LIMIT) | ENDS(ERROR)};

	(void)state;
	stopped_by(judge(&back, REDOMA_STATUS_OK, "x\nstopped EROFS\n", "{}",
			 NULL),
		   "mount", "EROFS");
	stopped_by(judge(&back, REDOMA_STATUS_OK, "stopped ENOSYS", "{}", NULL),
		   "seccomp", "ENOSYS");
	stopped_by(judge(&script, REDOMA_STATUS_OK, "stopped ENOSYS", "{}",
			 NULL),
		   "wasm", "ENOSYS");
	stopped_by(judge(&back, REDOMA_STATUS_OK, "tried\n", "{}", NULL),
		   "mount", "no canary saw it");
	stopped_by(judge(&ended, REDOMA_STATUS_WALL_LIMIT, NULL, "{}", NULL),
		   "core", "wall_limit");
	stopped_by(judge(&ended, REDOMA_STATUS_MEMORY_LIMIT, "x", "{}", NULL),
		   "cgroup", "memory_limit");
	stopped_by(judge(&script, REDOMA_STATUS_MEMORY_LIMIT, "x", "{}", NULL),
		   "wasm", "memory_limit");
	stopped_by(judge(&ended, REDOMA_STATUS_BREACH, NULL, "{}", NULL),
		   "seccomp", "breach");
	stopped_by(judge(&script, REDOMA_STATUS_ERROR, "x", "{}", NULL),
		   "wasm", "error");
}

static void is_unclear(struct attack_verdict v)
{
	assert_int_equal(v.result, ATTACK_SKIPPED);
	assert_true(v.unclear);
	assert_null(v.wall);
	assert_int_equal(exit_after(&v, false), EXIT_INTERNAL);
}

static void what_says_nothing_is_not_stopped(void **state)
{
	(void)state;
	is_unclear(judge(&back, REDOMA_STATUS_OK, NULL, "{}", NULL));
	is_unclear(judge(&back, REDOMA_STATUS_OK, "stopped", "{}", NULL));
	is_unclear(judge(&back, REDOMA_STATUS_OK, "tried hard\n", "{}", NULL));
	is_unclear(judge(&back, REDOMA_STATUS_OK, "not stopped EPERM\n", "{}",
			 NULL));
	/* It died after it had spoken, or was ended by what was not to. */
	is_unclear(judge(&back, REDOMA_STATUS_ERROR, "stopped EPERM\n", "{}",
			 NULL));
	is_unclear(judge(&back, REDOMA_STATUS_WALL_LIMIT, "", "{}", NULL));
	is_unclear(judge(&ended, REDOMA_STATUS_CRASHED, "", "{}", NULL));
	is_unclear(judge(&back, REDOMA_STATUS_OK, "stopped EPERM\n", NULL,
			 NULL));
}

static void a_refused_run_is_skipped(void **state)
{
	struct redoma_error err = {.code = REDOMA_E_UNSUPPORTED,
				   .text = "no memory cgroup"};
	struct attack_verdict v;
	struct attack_tally none = {0};

	(void)state;
	attack_judge_refused(&err, &v);
	assert_int_equal(v.result, ATTACK_SKIPPED);
	assert_false(v.unclear);
	assert_string_equal(v.detail, "no memory cgroup");
	assert_int_equal(exit_after(&v, true), EXIT_SANDBOX);
	err.code = REDOMA_E_WORKER;
	attack_judge_refused(&err, &v);
	is_unclear(v);
	/* Nothing was tried at all. */
	assert_int_equal(attack_exit(&none, false), EXIT_INTERNAL);
	none.n[ATTACK_SKIPPED] = 3;
	assert_int_equal(attack_exit(&none, false), EXIT_INTERNAL);
	assert_int_equal(attack_exit(&none, true), EXIT_SANDBOX);
}

/* Each row of the table, with the longest words there are. */
static void rows_fit_a_terminal(void **state)
{
	struct attack_verdict v = {.wall = "landlock"};

	(void)state;
	memset(v.detail, 'x', sizeof v.detail - 1);
	for (size_t i = 0; i < attack_rows_n; i++)
		for (v.result = 0; v.result <= ATTACK_SKIPPED; v.result++) {
			CLEANUP(buf_done) struct buf b = {0};
			const char *line;

			assert_int_equal(attack_add_row(&b, &attack_rows[i],
							&v),
					 0);
			for (line = b.data; *line;
			     line = strchr(line, '\n') + 1)
				assert_true(strcspn(line, "\n") < 80);
		}
}

static void no_row_is_there_twice(void **state)
{
	size_t n[ATTACK_PROFILES] = {0};

	(void)state;
	for (size_t i = 0; i < attack_rows_n; i++) {
		const struct attack_row *a = &attack_rows[i];

		n[a->profile]++;
		for (size_t k = 0; k < i; k++)
			assert_false(a->profile == attack_rows[k].profile &&
				     !strcmp(a->name, attack_rows[k].name));
	}
	assert_true(n[ATTACK_JS] >= 10 && n[ATTACK_WASM] >= 10 &&
		    n[ATTACK_NATIVE] >= 30);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_nonce_that_comes_out_is_a_success),
		cmocka_unit_test(a_canary_that_was_touched_is_a_success),
		cmocka_unit_test(what_an_attack_claims_is_a_success),
		cmocka_unit_test(the_wall_is_named),
		cmocka_unit_test(what_says_nothing_is_not_stopped),
		cmocka_unit_test(a_refused_run_is_skipped),
		cmocka_unit_test(rows_fit_a_terminal),
		cmocka_unit_test(no_row_is_there_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
