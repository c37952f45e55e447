/* What one policy allows and another does not, item by item. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "policy/diff.h"

#define V "redoma: 1\n"

static void policy_cleanup(struct policy **p)
{
	policy_free(*p);
}

static struct policy *parse(const char *text, const char *dir)
{
	struct redoma_error err = {0};
	struct policy *p = NULL;

	if (policy_parse(text, strlen(text), dir, &p, &err))
		fail_msg("%s\n%s", text, err.text);
	return p;
}

static void assert_diff(const char *a, const char *b, const char *want)
{
	CLEANUP(policy_cleanup) struct policy *one = parse(a, "/base");
	CLEANUP(policy_cleanup) struct policy *two = parse(b, "/base");
	CLEANUP(buf_done) struct buf out = {0};
	struct redoma_error err = {0};

	assert_int_equal(policy_diff(one, two, &out, &err), 0);
	assert_string_equal(out.data ? out.data : "", want);
	/* The one-sentence check is the oracle of the whole. */
	assert_int_equal(policy_contains(one, two, &err) == REDOMA_E_DENIED,
			 *want != 0);
}

static void same_or_less_is_nothing(void **state)
{
	(void)state;
	assert_diff("", "", "");
	assert_diff(V "read: [/a, /d/]\nenv: {A: b}\nreuse: tenant\n"
		      "walls: [landlock]\nlimits: {wall: 2s}",
		    V "read: [/d/x]\nlimits: {wall: 1s}\nclock: none", "");
}

static void each_key_is_told(void **state)
{
	(void)state;
	assert_diff("", V "limits: {memory: 256MiB, fuel: 5}",
		    "- limits.memory: 128MiB\n+ limits.memory: 256MiB\n");
	assert_diff(V "limits: {fuel: 5}", "",
		    "- limits.fuel: 5\n+ limits.fuel: not counted\n");
	assert_diff("", V "env: {A: b, C: d}",
		    "+ env:\n+   A: \"b\"\n+ env:\n+   C: \"d\"\n");
	assert_diff(V "clock: none\nrandom: seed:1\non_denied: end",
		    V "random: seed:2\non_denied: error",
		    "- clock: none\n+ clock: real\n"
		    "- random: seed:1\n+ random: seed:2\n"
		    "- on_denied: end\n+ on_denied: error\n");
	assert_diff("", V "walls: [landlock]\nreuse: tenant",
		    "- walls: required\n+ walls: [landlock]\n"
		    "- reuse: never\n+ reuse: tenant\n");
	assert_diff("", V "native: {pids: 33}",
		    "- native: {root: [], tmp: 64MiB, pids: 32}\n"
		    "+ native: {root: [], tmp: 64MiB, pids: 33}\n");
	assert_diff("", V "tools: [a]", "- tools: []\n+ tools: [a]\n");
}

static void only_the_wider_grants_are_told(void **state)
{
	(void)state;
	assert_diff(V "read: [/a, /d/]", V "read: [/a, /d/x, /e]",
		    "+ read:\n+   - host: \"/e\"\n+     as: \"/e\"\n"
		    "+     follow: false\n");
	assert_diff(V "write: [{host: /o, max_bytes: 1MiB}]",
		    V "write: [{host: /o, max_bytes: 2MiB}]",
		    "+ write:\n+   - host: \"/o\"\n+     as: \"/o\"\n"
		    "+     max_bytes: 2MiB\n+     mode: replace\n");
}

/* The same word is another file below another directory. */
static void names_start_from_each_policys_own_place(void **state)
{
	CLEANUP(policy_cleanup) struct policy *a = parse(V "read: [x]", "/one");
	CLEANUP(policy_cleanup) struct policy *b = parse(V "read: [x]", "/two");
	CLEANUP(policy_cleanup) struct policy *c =
		parse(V "read: [{host: one/x, as: /x}]", "/");
	CLEANUP(buf_done) struct buf out = {0};
	struct redoma_error err = {0};

	(void)state;
	assert_int_equal(policy_diff(a, b, &out, &err), 0);
	assert_non_null(strstr(out.data, "+   - host: \"x\""));
	buf_clear(&out);
	assert_int_equal(policy_diff(a, c, &out, &err), 0);
	assert_int_equal(out.len, 0);
}

static void halves_that_add_up_are_told(void **state)
{
	CLEANUP(policy_cleanup) struct policy *a = parse(
		V "write: [{host: /d/, max_bytes: 2MiB, max_files: 2}]", "/");
	CLEANUP(policy_cleanup) struct policy *b = parse(
		V "write: [{host: /d/a/, max_bytes: 2MiB, max_files: 1}, "
		  "{host: /d/b/, max_bytes: 2MiB, max_files: 1}]", "/");
	CLEANUP(buf_done) struct buf out = {0};
	struct redoma_error err = {0};

	(void)state;
	assert_int_equal(policy_diff(a, b, &out, &err), 0);
	assert_int_equal(strncmp(out.data, "+ together: ", 12), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_or_less_is_nothing),
		cmocka_unit_test(each_key_is_told),
		cmocka_unit_test(only_the_wider_grants_are_told),
		cmocka_unit_test(names_start_from_each_policys_own_place),
		cmocka_unit_test(halves_that_add_up_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
