/* One handle, many runs: each has its own budget, sees nothing of another, and
 * a run that ends badly does not spoil the next.  Misuse is an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <redoma.h>

static struct redoma *open_with(const char *policy)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *p = NULL;
	struct redoma *r = NULL;
	struct redoma_error err = {0};

	o.install_dir = TEST_BUILD;
	if (redoma_policy_parse(policy, strlen(policy), NULL, &p, &err) ||
	    redoma_open(p, &o, &r, &err))
		fail_msg("%s", err.text);
	redoma_policy_free(p);
	return r;
}

static struct redoma_result *run_as(struct redoma *r, const char *tenant,
				    const char *code)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *ret = NULL;
	struct redoma_error err = {0};

	q.tenant = tenant;
	q.language = "js";
	q.source = code;
	q.source_len = strlen(code);
	if (redoma_run(r, &q, &ret, &err))
		fail_msg("%s", err.text);
	return ret;
}

/* Runs code and compares status and value (NULL: any). */
static void expect_as(struct redoma *r, const char *tenant, const char *code,
		      enum redoma_status status, const char *value)
{
	struct redoma_result *x = run_as(r, tenant, code);
	uint64_t len = 0;
	const char *v = redoma_result_value(x, &len);

	if (redoma_result_status(x) != status)
		fail_msg("%s: %s", code, redoma_result_json(x, &len));
	if (value) {
		assert_non_null(v);
		assert_int_equal(len, strlen(value));
		assert_memory_equal(v, value, len);
	}
	redoma_result_free(x);
}

static void expect(struct redoma *r, const char *code,
		   enum redoma_status status, const char *value)
{
	expect_as(r, NULL, code, status, value);
}

static const char *const policies[] = {
	"redoma: 1\nlimits: {wall: 500ms, cpu: 400ms}\n",
	"redoma: 1\nlimits: {wall: 500ms, cpu: 400ms}\nreuse: tenant\n",
};

/* C127: the deadline holds for every run, not for the first only. */
static void good_endless_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct redoma *r = open_with(policies[i]);

		for (int n = 0; n < 3; n++) {
			expect(r, "1 + 1", REDOMA_STATUS_OK, "2");
			struct redoma_result *x = run_as(r, NULL, "for (;;);");

			assert_true(redoma_result_status(x) ==
					    REDOMA_STATUS_WALL_LIMIT ||
				    redoma_result_status(x) ==
					    REDOMA_STATUS_CPU_LIMIT);
			redoma_result_free(x);
			expect(r, "'fine'", REDOMA_STATUS_OK, "\"fine\"");
		}
		redoma_close(r);
	}
}

/* C053, C217: what one run spent is not charged to the next. */
static void each_run_has_its_own_budget(void **state)
{
	static const char busy[] =
		"const t = Date.now(); while (Date.now() - t < 250); 1";

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct redoma *r = open_with(policies[i]);

		for (int n = 0; n < 4; n++)
			expect(r, busy, REDOMA_STATUS_OK, "1");
		redoma_close(r);
	}
}

/* U7, C015: globals, prototypes and built-ins are those of a fresh jar. */
static void nothing_of_a_run_is_seen_by_the_next(void **state)
{
	static const char dirty[] =
		"globalThis.left = new Array(1e5).fill('secret');"
		"Object.prototype.left = 1; Array.prototype.toJSON = () => 'x';"
		"JSON.stringify = () => 'forged'; Math.max = () => 'no';"
		"process.env.LEFT = 'x'; console.log = null; 'dirty'";
	static const char look[] =
		"[typeof left, typeof ({}).left, typeof [].toJSON,"
		"JSON.stringify([1]), Math.max(1, 2), process.env.LEFT ?? 0,"
		"typeof console.log].join()";

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct redoma *r = open_with(policies[i]);

		for (int n = 0; n < 5; n++) {
			struct redoma_result *x = run_as(r, NULL, dirty);

			redoma_result_free(x);
			expect(r, look, REDOMA_STATUS_OK,
			       "\"undefined,undefined,undefined,[1],2,0,"
			       "function\"");
		}
		redoma_close(r);
	}
}

/* The same for a run that threw, ran out of memory or out of stack. */
static void bad_ends_leave_nothing(void **state)
{
	static const char *const bad[] = {
		"globalThis.left = 1; throw new Error('x')",
		"globalThis.left = 1; for (;;) left = [left, new Array(1e4)]",
		"globalThis.left = 1; const f = () => f(); f()",
		"globalThis.left = 1; process.exit(3)",
		"globalThis.left = 1; await new Promise(() => {})",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct redoma *r = open_with(policies[i]);

		for (size_t n = 0; n < sizeof(bad) / sizeof(*bad); n++) {
			redoma_result_free(run_as(r, NULL, bad[n]));
			expect(r, "typeof left", REDOMA_STATUS_OK,
			       "\"undefined\"");
		}
		redoma_close(r);
	}
}

static void tenants_are_apart(void **state)
{
	struct redoma *r = open_with(policies[1]);

	(void)state;
	for (int n = 0; n < 3; n++) {
		expect_as(r, "a", "globalThis.left = 1; 'a'", REDOMA_STATUS_OK,
			  "\"a\"");
		expect_as(r, "b", "typeof left", REDOMA_STATUS_OK,
			  "\"undefined\"");
	}
	redoma_close(r);
}

static void randomness_is_new_in_every_run(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct redoma *r = open_with(policies[i]);
		char seen[6][64] = {{0}};

		for (size_t n = 0; n < 6; n++) {
			struct redoma_result *x =
				run_as(r, NULL, "String(Math.random())");
			uint64_t len = 0;
			const char *v = redoma_result_value(x, &len);

			assert_non_null(v);
			assert_in_range(len, 3, 60);
			memcpy(seen[n], v, len);
			for (size_t k = 0; k < n; k++)
				assert_string_not_equal(seen[n], seen[k]);
			redoma_result_free(x);
		}
		redoma_close(r);
	}
}

/* C153: values that make no sense are errors, never an abort. */
static void misuse_is_an_error(void **state)
{
	struct redoma *r = open_with(policies[0]);
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *x = NULL;
	struct redoma_policy *p = NULL;
	struct redoma_error err = {0};
	static const unsigned char junk[] = {0, 'a', 's', 'm', 9, 9, 9, 9};

	(void)state;
	assert_int_not_equal(redoma_run(r, &q, &x, &err), 0);
	assert_null(x);
	q.language = "cobol";
	q.source = "1";
	q.source_len = 1;
	assert_int_equal(redoma_run(r, &q, &x, &err), REDOMA_E_INVALID);
	q.language = "js";
	q.size = sizeof(q) + 4096;
	assert_int_not_equal(redoma_run(r, &q, &x, NULL), 0);
	q.size = 0;
	(void)!redoma_run(r, &q, &x, NULL);
	redoma_result_free(x);
	x = NULL;
	q = (struct redoma_request)REDOMA_REQUEST_INIT;
	q.source = junk;
	q.source_len = sizeof(junk);
	q.language = "wasm";
	if (!redoma_run(r, &q, &x, &err))
		assert_int_equal(redoma_result_status(x),
				 REDOMA_STATUS_INVALID);
	redoma_result_free(x);
	assert_int_equal(redoma_policy_parse("redoma: 9", 9, NULL, &p, &err),
			 REDOMA_E_INVALID);
	assert_null(p);
	assert_int_not_equal(redoma_policy_read("/no/such", &p, NULL), 0);
	redoma_cancel(r); /* nothing is running */
	expect(r, "1", REDOMA_STATUS_OK, "1");
	redoma_result_free(NULL);
	redoma_policy_free(NULL);
	redoma_close(NULL);
	redoma_cancel(NULL);
	redoma_free(NULL);
	redoma_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_endless_good),
		cmocka_unit_test(each_run_has_its_own_budget),
		cmocka_unit_test(nothing_of_a_run_is_seen_by_the_next),
		cmocka_unit_test(bad_ends_leave_nothing),
		cmocka_unit_test(tenants_are_apart),
		cmocka_unit_test(randomness_is_new_in_every_run),
		cmocka_unit_test(misuse_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
