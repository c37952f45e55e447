/* Python in one handle: each run begins with the state of the image, also in a
 * worker that is kept, and verify mode finds not a byte of the one before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <redoma.h>

#define ROUNDS 4

static struct redoma *open_with(const char *policy, bool verify)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *p = NULL;
	struct redoma *r = NULL;
	struct redoma_error err = {0};

	o.install_dir = TEST_BUILD;
	o.verify = verify;
	if (redoma_policy_parse(policy, strlen(policy), NULL, &p, &err) ||
	    redoma_open(p, &o, &r, &err))
		fail_msg("%s", err.text);
	redoma_policy_free(p);
	return r;
}

static struct redoma_result *run(struct redoma *r, const char *code)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *ret = NULL;
	struct redoma_error err = {0};

	q.tenant = "t";
	q.language = "py";
	q.source = code;
	q.source_len = strlen(code);
	if (redoma_run(r, &q, &ret, &err))
		fail_msg("%s", err.text);
	return ret;
}

static void expect(struct redoma *r, const char *code, const char *value)
{
	struct redoma_result *x = run(r, code);
	uint64_t len = 0;
	const char *v = redoma_result_value(x, &len);

	if (redoma_result_status(x) != REDOMA_STATUS_OK || !v ||
	    len != strlen(value) || memcmp(v, value, len))
		fail_msg("%s: %s", code, redoma_result_json(x, NULL));
	redoma_result_free(x);
}

static const char *const policies[] = {
	"redoma: 1\n",
	"redoma: 1\nreuse: tenant\n",
};

static const char dirty[] =
	"import builtins, sys, decimal, json, os, random, re, warnings\n"
	"re.compile('left+')\n"
	"builtins.len = lambda x: 99\n"
	"sys.modules['json'] = None\n"
	"decimal.getcontext().prec = 3\n"
	"os.environ['LEFT'] = 'x'\n"
	"os.chdir('/')\n"
	"warnings.simplefilter('error')\n"
	"left = 'secret' * 100000\n"
	"sys.setrecursionlimit(77)\n"
	"len([])";
static const char look[] =
	"import decimal, json, os, sys, warnings\n"
	"[len([]), decimal.getcontext().prec, os.environ.get('LEFT'),"
	" 'left' in globals(), json.dumps([1]), sys.getrecursionlimit(),"
	" 'error' in [f[0] for f in warnings.filters]]";
static const char clean[] = "[0,28,null,false,\"[1]\",1000,false]";

static void nothing_of_a_run_is_seen_by_the_next(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct redoma *r = open_with(policies[i], false);

		for (int n = 0; n < ROUNDS; n++) {
			expect(r, dirty, "99");
			expect(r, look, clean);
		}
		redoma_close(r);
	}
}

static void a_reset_puts_every_byte_back(void **state)
{
	struct redoma *r = open_with(policies[1], true);

	(void)state;
	expect(r, "1+1", "2");
	for (int n = 0; n < ROUNDS; n++) {
		struct redoma_result *x = run(r, dirty);
		const char *json;

		redoma_result_free(x);
		x = run(r, look);
		json = redoma_result_json(x, NULL);
		if (!strstr(json, "\"reset_wrong\":0"))
			fail_msg("%s", json);
		redoma_result_free(x);
	}
	redoma_close(r);
}

/* A deadline ends one run; the next is as good as new. */
static void a_deadline_ends_one_run_alone(void **state)
{
	static const char *const limits[] = {
		"redoma: 1\nlimits: {wall: 300ms}\n",
		"redoma: 1\nlimits: {wall: 300ms}\nreuse: tenant\n",
	};
	static const char *const endless[] = {
		"while True: pass",
		"while True:\n try:\n  while True: pass\n except: pass",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct redoma *r = open_with(limits[i], false);

		for (size_t k = 0; k < 2; k++) {
			struct redoma_result *x = run(r, endless[k]);

			if (redoma_result_status(x) != REDOMA_STATUS_WALL_LIMIT)
				fail_msg("%s", redoma_result_json(x, NULL));
			redoma_result_free(x);
			expect(r, look, clean);
		}
		redoma_close(r);
	}
}

static unsigned long long number(struct redoma_result *x, const char *name)
{
	const char *at = strstr(redoma_result_json(x, NULL), name);

	if (!at)
		fail_msg("no %s: %s", name, redoma_result_json(x, NULL));
	return strtoull(at + strlen(name), NULL, 10);
}

/* The pages that a small run writes to are few ranges: they are copied back,
 * none is mapped anew. */
static void a_kept_worker_faults_no_page(void **state)
{
	struct redoma *r = open_with(policies[1], false);
	int faulting = 0;

	(void)state;
	for (int n = 0; n < 60; n++) {
		struct redoma_result *x = run(r, "1+1");
		bool slow = strstr(redoma_result_json(x, NULL),
				   "\"reset\":\"copy\"");

		/* A kernel or machine without the fast way. */
		if (slow) {
			redoma_result_free(x);
			redoma_close(r);
			skip();
		}
		faulting += n >= 20 && number(x, "\"page_faults\":") > 2;
		redoma_result_free(x);
	}
	redoma_close(r);
	if (faulting > 5)
		fail_msg("%d of 40 runs faulted", faulting);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_of_a_run_is_seen_by_the_next),
		cmocka_unit_test(a_reset_puts_every_byte_back),
		cmocka_unit_test(a_deadline_ends_one_run_alone),
		cmocka_unit_test(a_kept_worker_faults_no_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
