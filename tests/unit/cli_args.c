/* The table-driven parser of command lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "cli/args.h"

static const struct option mine[] = {
	{.name = "limit", .value = "K=V", .repeats = true, .help = "a limit"},
	{.name = "policy", .value = "FILE", .help = "a policy"},
	{.name = "json", .help = "as JSON"},
	{.name = "native", .later = true, .help = "native programs"},
	{0},
};
static const struct option theirs[] = {
	{.name = "help", .letter = 'h', .help = "help"},
	{0},
};
static const struct option *const tables[] = {mine, theirs, NULL};

#define ARGV(...) ((char *[]){__VA_ARGS__, NULL})

static void keeps_order_and_takes_both_forms(void **state)
{
	CLEANUP(args_done) struct args a = {0};

	(void)state;
	assert_int_equal(args_parse(tables,
				    ARGV("a.js", "--limit", "wall=1s", "-h",
					 "--limit=cpu=2s", "--json", "b"),
				    &a, NULL),
			 0);
	assert_int_equal(a.n_words, 2);
	assert_string_equal(a.words[1], "b");
	assert_int_equal(a.n_given, 4);
	assert_string_equal(a.given[0].value, "wall=1s");
	assert_string_equal(a.given[2].value, "cpu=2s");
	assert_true(args_has(&a, "json"));
	assert_true(args_has(&a, "help"));
	assert_false(args_has(&a, "policy"));
	assert_null(args_value(&a, "policy"));
	assert_null(a.rest);
}

static void two_dashes_end_options(void **state)
{
	CLEANUP(args_done) struct args a = {0};

	(void)state;
	assert_int_equal(args_parse(tables,
				    ARGV("a.js", "--", "--json", "--", "-x"),
				    &a, NULL),
			 0);
	assert_int_equal(a.n_given, 0);
	assert_int_equal(a.n_rest, 3);
	assert_string_equal(a.rest[0], "--json");
	assert_string_equal(a.rest[1], "--");
	assert_null(a.rest[3]);
}

static void a_value_may_look_like_an_option(void **state)
{
	CLEANUP(args_done) struct args a = {0};

	(void)state;
	assert_int_equal(
		args_parse(tables, ARGV("--policy", "--json", "-"), &a, NULL),
		0);
	assert_string_equal(args_value(&a, "policy"), "--json");
	assert_false(args_has(&a, "json"));
	assert_string_equal(a.words[0], "-");
}

static void refuses(char **argv, const char *says)
{
	struct args a = {.n_words = 77};
	struct redoma_error err = {0};

	assert_int_equal(args_parse(tables, argv, &a, &err), REDOMA_E_INVALID);
	assert_int_equal(a.n_words, 77);
	if (!strstr(err.text, says))
		fail_msg("\"%s\" does not say \"%s\"", err.text, says);
}

static void says_what_is_wrong(void **state)
{
	(void)state;
	refuses(ARGV("--limt", "a=b"), "did you mean --limit?");
	refuses(ARGV("--zzzzzz"), "there is no option \"zzzzzz\"");
	refuses(ARGV("--"  "=1"), "there is no option");
	refuses(ARGV("--policy"), "--policy needs a value");
	refuses(ARGV("--json=1"), "takes no value");
	refuses(ARGV("--policy=a", "--policy=b"), "given twice");
	refuses(ARGV("--json", "--json"), "given twice");
	refuses(ARGV("--native"), "not in this release");
	refuses(ARGV("--native=x"), "not in this release");
	refuses(ARGV("-x"), "there is no option \"-x\"");
	refuses(ARGV("-hh"), "there is no option");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_order_and_takes_both_forms),
		cmocka_unit_test(two_dashes_end_options),
		cmocka_unit_test(a_value_may_look_like_an_option),
		cmocka_unit_test(says_what_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
