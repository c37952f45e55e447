/* Arguments of tools against what the policy says of them: each keyword by what
 * it lets through and by what it keeps out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "policy/decimal.h"
#include "policy/policy.h"

static void policy_cleanup(struct policy **p)
{
	policy_free(*p);
}

/* The verdict on arguments under `where: {a: RULE}`. */
static int check(const char *rule, const char *args, struct redoma_error *err)
{
	CLEANUP(policy_cleanup) struct policy *p = NULL;
	CLEANUP(json_cleanup) struct json_doc *doc = NULL;
	char text[500];

	snprintf(text, sizeof text,
		 "redoma: 1\ntools: [{name: t, where: {a: %s}}]\n", rule);
	if (policy_parse(text, strlen(text), "/", &p, err) ||
	    json_parse(args, strlen(args), &doc, err))
		fail_msg("%s %s: %s", rule, args, err->text);
	return where_check(p->tools[0].where, json_root(doc), err);
}

static void allowed(const char *rule, const char *args)
{
	struct redoma_error err = {0};

	if (check(rule, args, &err))
		fail_msg("%s refuses %s: %s", rule, args, err.text);
}

static void refused(const char *rule, const char *args, const char *says)
{
	struct redoma_error err = {0};
	int r = check(rule, args, &err);

	if (r != REDOMA_E_DENIED || !strstr(err.text, says))
		fail_msg("%s, %s: %d %s", rule, args, r, err.text);
}

static void numbers(void **state)
{
	(void)state;
	allowed("{maximum: 1000}", "{\"a\":1000}");
	allowed("{maximum: 1000}", "{\"a\":-1e30}");
	allowed("{maximum: 1000}", "{\"a\":1e3, \"b\":\"free\"}");
	refused("{maximum: 1000}", "{\"a\":1000.0000000000000000000001}",
		"maximum 1000");
	refused("{maximum: 1000}", "{\"a\":1e400}", "maximum");
	refused("{maximum: 9007199254740992}", "{\"a\":9007199254740993}",
		"maximum");
	refused("{minimum: 0}", "{\"a\":-1e-400}", "minimum");
	allowed("{minimum: 0}", "{\"a\":-0.0}");
	refused("{exclusiveMinimum: 0}", "{\"a\":0e99}", "exclusiveMinimum");
	allowed("{exclusiveMaximum: 5}", "{\"a\":4.999999999999999999999}");
	refused("{exclusiveMaximum: 5}", "{\"a\":5.0}", "exclusiveMaximum");
	allowed("{type: integer}", "{\"a\":1.50e1}");
	refused("{type: integer}", "{\"a\":1.5}", "type");
}

/* What JSON Schema lets through, and a tool that converts would take. */
static void other_kinds_do_not_pass(void **state)
{
	static const char *const values[] = {
		"\"5000\"", "[5000]", "{\"a\":1}", "true", "null",
		"{\"$redoma\":\"bigint\",\"value\":\"5000\"}",
	};
	char args[120];

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		snprintf(args, sizeof args, "{\"a\":%s}", values[i]);
		refused("{maximum: 1000}", args, "maximum");
		refused("{type: number}", args, "type");
		if (i)
			refused("{maxLength: 100}", args, "maxLength");
		if (i != 1)
			refused("{items: {type: number}}", args, "items");
	}
	refused("{maxItems: 3}", "{\"a\":\"xy\"}", "maxItems");
	refused("{maximum: 1000}", "{}", "is not there");
	refused("{maximum: 1000}", "{\"A\":1}", "is not there");
	refused("{maximum: 1000}",
		"{\"$redoma\":\"object\",\"value\":{\"a\":1}}", "is not there");
}

static void texts_and_lists(void **state)
{
	(void)state;
	allowed("{maxLength: 3}", "{\"a\":\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"}");
	refused("{maxLength: 3}", "{\"a\":\"abcd\"}", "maxLength 3");
	refused("{minLength: 1}", "{\"a\":\"\"}", "minLength");
	allowed("{maxItems: 2, items: {maximum: 1}}", "{\"a\":[0,1]}");
	refused("{maxItems: 2}", "{\"a\":[0,1,2]}", "maxItems");
	refused("{minItems: 1}", "{\"a\":[]}", "minItems");
	refused("{items: {maximum: 1}}", "{\"a\":[0,2]}", "maximum");
	refused("{items: {items: {type: string}}}", "{\"a\":[[\"x\"],[1]]}",
		"type");
}

static void choices(void **state)
{
	(void)state;
	allowed("{enum: [BRL, USD]}", "{\"a\":\"USD\"}");
	allowed("{enum: [BRL, USD]}", "{\"a\":\"\\u0055SD\"}");
	refused("{enum: [BRL, USD]}", "{\"a\":\"usd\"}", "enum");
	refused("{enum: [BRL, USD]}", "{\"a\":\"USD\\u0000\"}", "enum");
	refused("{enum: [BRL, USD]}", "{\"a\":[\"USD\"]}", "enum");
	allowed("{enum: [1, true, null]}", "{\"a\":1.0}");
	allowed("{enum: [1, true, null]}", "{\"a\":true}");
	allowed("{enum: [1, true, null]}", "{\"a\":null}");
	refused("{enum: [1, true, null]}", "{\"a\":\"1\"}", "enum");
	refused("{enum: [1, true, null]}", "{\"a\":false}", "enum");
	refused("{const: \"1\"}", "{\"a\":1}", "const");
	allowed("{type: [string, \"null\"]}", "{\"a\":null}");
	refused("{type: [string, \"null\"]}", "{\"a\":0}", "type");
}

/* A key that is there twice is no JSON of ours: neither of them is taken. */
static void no_second_value_hides(void **state)
{
	static const char twice[] = "{\"a\":1,\"\\u0061\":5000}";
	struct json_doc *doc;
	struct redoma_error err;

	(void)state;
	assert_int_equal(json_parse(twice, strlen(twice), &doc, &err),
			 REDOMA_E_INVALID);
}

static void decimals(void **state)
{
	static const char *const rising[] = {
		"-1e99999999999999999999", "-1e400", "-12", "-1.25", "-0.001",
		"0", "1e-99999999999999999999", "0.0009", "0.001", "0.00101",
		"1", "1.5", "9.99", "10", "10.000000000000000000001", "1e2",
		"123456789012345678901234567890", "1e400",
		"1e99999999999999999999",
	};
	static const char *const same[][2] = {
		{"0", "-0.000e7"}, {"1", "1.0"}, {"100", "1e2"},
		{"0.01", "1e-2"}, {"1200", "0.12E+4"}, {"-5", "-50e-1"},
	};
	static const char *const none[] = {"", "-", ".5", "5.", "01", "1e",
					   "+1", "0x1", "1e+", "nan", "1 "};
	size_t n = sizeof rising / sizeof *rising;

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++) {
			int c = decimal_compare(str_of(rising[i]),
						str_of(rising[k]));

			if ((c > 0) != (i > k) || (c < 0) != (i < k))
				fail_msg("%s %s: %d", rising[i], rising[k], c);
		}
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		assert_int_equal(decimal_compare(str_of(same[i][0]),
						 str_of(same[i][1])), 0);
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		assert_false(decimal_is(str_of(none[i])));
	assert_true(decimal_is(STR("-0.5E-3")));
	assert_true(decimal_is_whole(STR("1e3")));
	assert_true(decimal_is_whole(STR("0.0")));
	assert_false(decimal_is_whole(STR("1e-1")));
}

/* ---- what would let a refused call through ---- */

static struct policy *with_where(const char *text)
{
	struct policy *p = NULL;
	struct redoma_error err;
	char all[2000];

	snprintf(all, sizeof all,
		 "redoma: 1\ntools: [{name: t, where: %s}]\n", text);
	if (policy_parse(all, strlen(all), "/", &p, &err))
		fail_msg("%s: %s", text, err.text);
	return p;
}

static bool lets(const char *where, const char *args)
{
	CLEANUP(policy_cleanup) struct policy *p = with_where(where);
	CLEANUP(json_cleanup) struct json_doc *doc = NULL;
	struct redoma_error err;

	assert_int_equal(json_parse(args, strlen(args), &doc, &err), 0);
	return !where_check(p->tools[0].where, json_root(doc), NULL);
}

/* where, widened by each of args (separated by '|'), is `want`, which is read
 * back and allows all of them. */
static void widened(const char *where, const char *args, const char *want)
{
	CLEANUP(policy_cleanup) struct policy *p = with_where(where);
	struct where *w = where_share(p->tools[0].where);
	char all[2000], *next = all;
	const char *one;

	snprintf(all, sizeof all, "%s", args);
	while ((one = strsep(&next, "|"))) {
		struct json_doc *doc = NULL;
		struct where *wider = NULL;
		struct redoma_error err;

		assert_int_equal(json_parse(one, strlen(one), &doc, &err), 0);
		assert_int_equal(where_widen(w, json_root(doc), &wider, &err),
				 0);
		json_free(doc);
		where_free(w);
		w = wider;
	}
	if (strcmp(where_text(w), want))
		fail_msg("%s by %s: %s, not %s", where, args, where_text(w),
			 want);
	where_free(w);
	snprintf(all, sizeof all, "%s", args);
	for (next = all; (one = strsep(&next, "|"));)
		if (!lets(want, one))
			fail_msg("%s does not let %s through", want, one);
}

#define PAY "{amount: {type: number, minimum: 0, maximum: 1000}, "             \
	    "currency: {enum: [BRL, USD]}}"

static void only_what_failed_gives_way(void **state)
{
	(void)state;
	widened(PAY, "{\"amount\":5000, \"currency\":\"USD\"}",
		"{amount: {type: [number], minimum: 0, maximum: 5000}, "
		"currency: {enum: [\"BRL\", \"USD\"]}}");
	widened(PAY, "{\"amount\":1, \"currency\":\"EUR\"}",
		"{amount: {type: [number], minimum: 0, maximum: 1000}, "
		"currency: {enum: [\"BRL\", \"USD\", \"EUR\"]}}");
	/* Both, and in two calls. */
	widened(PAY, "{\"amount\":-2.5, \"currency\":null}|"
		     "{\"amount\":1e4, \"currency\":\"USD\"}",
		"{amount: {type: [number], minimum: -2.5, maximum: 1e4}, "
		"currency: {enum: [\"BRL\", \"USD\", null]}}");
	/* What is not there, and what no bound of its kind lets through. */
	widened(PAY, "{\"currency\":\"USD\"}",
		"{currency: {enum: [\"BRL\", \"USD\"]}}");
	widened(PAY, "{\"amount\":\"5\", \"currency\":\"USD\"}",
		"{amount: {type: [number, string]}, "
		"currency: {enum: [\"BRL\", \"USD\"]}}");
	widened(PAY, "{}", "{}");
}

static void each_keyword_gives_way(void **state)
{
	(void)state;
	widened("{a: {exclusiveMaximum: 5, exclusiveMinimum: 1}}",
		"{\"a\":5}|{\"a\":0.5}", "{a: {minimum: 0.5, maximum: 5}}");
	widened("{a: {maximum: 9, exclusiveMaximum: 5}}", "{\"a\":7}",
		"{a: {maximum: 7}}");
	widened("{a: {maximum: 4, exclusiveMaximum: 5}}", "{\"a\":7}",
		"{a: {maximum: 7}}");
	widened("{a: {minLength: 2, maxLength: 3}}",
		"{\"a\":\"\xc3\xa9\"}|{\"a\":\"abcd\"}",
		"{a: {minLength: 1, maxLength: 4}}");
	widened("{a: {minItems: 2, maxItems: 2}}", "{\"a\":[]}|{\"a\":[1,2,3]}",
		"{a: {minItems: 0, maxItems: 3}}");
	widened("{a: {type: integer}, b: {const: 1}}", "{\"a\":1.5,\"b\":2}",
		"{a: {type: [number, integer]}, b: {enum: [1, 2]}}");
	widened("{a: {items: {maximum: 3, type: number}}}",
		"{\"a\":[1, 9, 4]}|{\"a\":[10]}",
		"{a: {items: {type: [number], maximum: 10}}}");
	widened("{a: {items: {maximum: 3}, maxItems: 2}}", "{\"a\":[\"x\"]}",
		"{a: {maxItems: 2}}");
	widened("{a: {items: {maximum: 3}}, 'b: c': {maximum: 1}}",
		"{\"a\":1, \"b: c\":1}", "{\"b: c\": {maximum: 1}}");
	widened("{a: {enum: [x]}}", "{\"a\":[1]}", "{}");
	widened("{a: {enum: [x]}}", "{\"a\":\"\\\"]\"}",
		"{a: {enum: [\"x\", \"\\\"]\"]}}");
}

/* A guest chooses the value: what nobody would read is not put into a rule. */
static void long_values_are_not_taken_over(void **state)
{
	char args[300];

	(void)state;
	snprintf(args, sizeof args, "{\"a\":\"%0100d\",\"b\":1}", 7);
	widened("{a: {enum: [x], maxLength: 200}, b: {maximum: 1}}", args,
		"{a: {maxLength: 200}, b: {maximum: 1}}");
	snprintf(args, sizeof args, "{\"a\":1%0100d}", 0);
	widened("{a: {minimum: 0, maximum: 5}}", args, "{a: {minimum: 0}}");
	widened("{a: {enum: [x]}}", "{\"a\":\"x\\ny\"}", "{}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(other_kinds_do_not_pass),
		cmocka_unit_test(texts_and_lists),
		cmocka_unit_test(choices),
		cmocka_unit_test(no_second_value_hides),
		cmocka_unit_test(decimals),
		cmocka_unit_test(only_what_failed_gives_way),
		cmocka_unit_test(each_keyword_gives_way),
		cmocka_unit_test(long_values_are_not_taken_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
