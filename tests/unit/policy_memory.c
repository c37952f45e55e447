/* Every allocation of the policy floor failing in turn: an error, nothing
 * leaked, outputs untouched. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "alloc_fail.h"
#include "base/cleanup.h"
#include "policy/policy.h"

static const char yaml[] =
	"redoma: 1\nlimits: {wall: 2s}\n"
	"read: [a, {host: b/, as: /c/}]\n"
	"write: [{host: o, max_bytes: 1MiB}]\nenv: {A: x, B: y}\n"
	"net: [{allow: GET https://x/, header: {A: {secret: B}}}]\n"
	"tools: [x, {name: y, where: {a: {maximum: 1}}}]\n"
	"native: {root: [runtime:node], pids: 3}\nwalls: [cgroup]\n";
static const char json[] =
	"{\"redoma\":1,\"read\":[\"a\",{\"host\":\"b\"}],\"env\":{\"A\":\"x\"}}";

static void policy_cleanup(struct policy **p)
{
	policy_free(*p);
}

static void parse_survives(const char *text)
{
	int e = REDOMA_E_NOMEM;
	long n = 0;

	for (; e && n < ALLOC_TRIES; n++) {
		CLEANUP(policy_cleanup) struct policy *p = NULL;
		struct redoma_error err = {0};

		alloc_left = n;
		e = policy_parse(text, strlen(text), "/base", &p, &err);
		alloc_left = -1;
		if (!e)
			break;
		if (e != REDOMA_E_NOMEM)
			fail_msg("allocation %ld: %s", n, err.text);
		assert_int_equal(err.code, REDOMA_E_NOMEM);
		assert_null(p);
	}
	assert_int_equal(e, 0);
	assert_true(n > 10);
}

static void parsing_survives(void **state)
{
	(void)state;
	parse_survives(yaml);
	parse_survives(json);
}

static void with_survives(const struct policy *p, const char *key,
			  const char *value)
{
	int e = REDOMA_E_NOMEM;
	long n = 0;

	for (; e && n < ALLOC_TRIES; n++) {
		CLEANUP(policy_cleanup) struct policy *q = NULL;
		struct redoma_error err = {0};

		alloc_left = n;
		e = policy_with(p, key, value, "/cwd", &q, &err);
		alloc_left = -1;
		if (!e)
			break;
		assert_int_equal(e, REDOMA_E_NOMEM);
		assert_null(q);
	}
	assert_int_equal(e, 0);
	assert_true(n > 10);
}

static void options_survive(void **state)
{
	CLEANUP(policy_cleanup) struct policy *p = NULL;

	(void)state;
	assert_int_equal(policy_parse(yaml, sizeof yaml - 1, "/b", &p, NULL),
			 0);
	with_survives(p, "read", "x=/y");
	with_survives(p, "write", "x=/y:1MiB");
	with_survives(p, "env", "C=z");
	with_survives(p, "env", "A=z");
	with_survives(p, "allow", "GET https://y/");
	with_survives(p, "tool", "z");
	with_survives(p, "limit", "wall=1s");
}

static void narrowing_and_printing_survive(void **state)
{
	CLEANUP(policy_cleanup) struct policy *p = NULL;
	struct redoma_error err = {0};
	int e = -1;
	long n = 0;

	(void)state;
	assert_int_equal(policy_parse(yaml, sizeof yaml - 1, "/b", &p, NULL),
			 0);
	alloc_left = 0;
	e = policy_contains(p, p, &err);
	alloc_left = -1;
	assert_int_equal(e, REDOMA_E_NOMEM);
	for (e = -1; e && n < ALLOC_TRIES; n++) {
		CLEANUP(buf_done) struct buf b = {0};

		alloc_left = n;
		e = policy_print(p, &b);
		alloc_left = -1;
	}
	assert_int_equal(e, 0);
	assert_true(n > 2);
}

static void plans_close_what_they_own(void **state)
{
	struct plan p = {0};
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	plan_done(NULL);
	plan_done(&p);
	p.grants = calloc(2, sizeof *p.grants);
	p.n_grants = 2;
	p.grants[0].guest = strdup("/a");
	p.grants[0].fd = fd;
	p.grants[1].fd = -1;
	p.argv = calloc(2, sizeof *p.argv);
	p.argv[0] = strdup("x");
	plan_done(&p);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_null(p.grants);
	plan_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parsing_survives),
		cmocka_unit_test(options_survive),
		cmocka_unit_test(narrowing_and_printing_survive),
		cmocka_unit_test(plans_close_what_they_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
