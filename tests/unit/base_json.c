/* The JSON reader against RFC 8259 and the writer against hostile bytes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/json.h"

struct text {
	const char *p;
	size_t len;
};
#define T(s) {"" s, sizeof(s) - 1}

static const struct text accepted[] = {
	T("null"), T("true"), T("false"), T("0"), T("-0"), T("1"), T("-1"),
	T("1.5"), T("-0.0"), T("1e400"), T("-1e400"), T("1E+2"), T("1e-400"),
	T("0.1e1"), T("123456789012345678901234567890"),
	T("18446744073709551615"), T("18446744073709551616"),
	T("0.0000000000000000000000000000000000000000000000000000000001"),
	T("\"\""), T("\"a\""), T("\"\\u0000\""), T("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
	T("\"\\ud83d\\ude00\""), T("\"\xf0\x9f\x98\x80\""), T("\"\x7f\""),
	T("\"\xe2\x80\xa8\""), T("\"\xef\xbf\xbf\""), T("\"\\uFFFF\""),
	T("[]"), T("{}"), T("[[]]"), T("[null,1,\"a\",{}]"),
	T("{\"a\":1,\"b\":2}"), T("{\"\":0}"), T("{\"a\":{\"a\":1}}"),
	T("[{\"a\":1},{\"a\":1}]"), T(" \t\r\n1\n"), T("[ 1 , 2 ]"),
	T("{ \"a\" : 1 }"), T("[\"\\u0060\\u012a\\u12AB\"]"),
};

static const struct text refused[] = {
	T(""), T(" "), T("\n"), T("\xef\xbb\xbf" "1"), T("\0"), T("1\0"),
	T("nul"), T("True"), T("NaN"), T("Infinity"), T("-Infinity"), T("-"),
	T("+1"), T("01"), T("-01"), T("1."), T(".5"), T("1e"), T("1e+"),
	T("0x1"), T("1_000"), T("--1"), T("1 2"), T("1,"), T("[1,]"),
	T("[,1]"), T("[1 2]"), T("["), T("]"), T("[1"), T("[}"), T("{"),
	T("{\"a\"}"), T("{\"a\":}"), T("{\"a\":1,}"), T("{,}"), T("{a:1}"),
	T("{'a':1}"), T("{1:1}"), T("{\"a\":1 \"b\":2}"), T("\""),
	T("\"a"), T("'a'"), T("\"\n\""), T("\"\t\""), T("\"\x01\""),
	T("\"\\x41\""), T("\"\\u12\""), T("\"\\u12G4\""), T("\"\\\""),
	T("\"\\ud800\""), T("\"\\udc00\""), T("\"\\ud800\\u0041\""),
	T("\"\x80\""), T("\"\xc0\xaf\""), T("\"\xed\xa0\x80\""),
	T("\"\xf4\x90\x80\x80\""), T("\"\xe2\x82\""), T("1/**/"),
	T("// c\n1"), T("# c\n1"), T("[1]x"), T("{} {}"), T("\xff"),
	T("\x0b" "1"), T("\xc2\xa0" "1"), T("undefined"),
	T("{\"a\":1,\"a\":1}"), T("{\"a\":1,\"\\u0061\":2}"),
	T("[{\"k\":{\"x\":1,\"y\":2,\"x\":3}}]"), T("{\"\":1,\"\":2}"),
};

static void accepts_what_the_grammar_has(void **state)
{
	struct redoma_error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
		if (json_validate(accepted[i].p, accepted[i].len, &err))
			fail_msg("%s: %s", accepted[i].p, err.text);
	}
}

static void refuses_what_it_has_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct redoma_error err = {0};

		if (json_validate(refused[i].p, refused[i].len, &err) !=
		    REDOMA_E_INVALID)
			fail_msg("accepted: %s", refused[i].p);
		assert_int_equal(err.code, REDOMA_E_INVALID);
		assert_string_equal(err.where, "json");
		assert_true(strlen(err.text) > 5);
		/* Never reads past the end: the same bytes, exactly sized. */
		{
			CLEANUP_FREE char *copy = malloc(refused[i].len);

			memcpy(copy, refused[i].p, refused[i].len);
			assert_int_equal(json_validate(copy, refused[i].len,
						       NULL),
					 REDOMA_E_INVALID);
		}
	}
}

static char *repeat(const char *s, size_t n, const char *middle)
{
	CLEANUP(buf_done) struct buf b = {0};

	for (size_t i = 0; i < n; i++)
		assert_int_equal(buf_add(&b, s, strlen(s)), 0);
	assert_int_equal(buf_add(&b, middle, strlen(middle)), 0);
	return buf_take(&b);
}

static void caps_depth(void **state)
{
	CLEANUP_FREE char *open = repeat("[", 100000, "");
	CLEANUP_FREE char *objects = repeat("{\"a\":", 100000, "");
	CLEANUP_FREE char *in_string = repeat("[", 2000, "\"");
	CLEANUP_FREE char *fits = repeat("[", 1000, "");
	CLEANUP_FREE char *closes = repeat("]", 1001, "");
	CLEANUP(buf_done) struct buf b = {0};
	struct redoma_error err = {0};

	(void)state;
	assert_int_equal(json_validate(open, 100000, &err), REDOMA_E_INVALID);
	assert_non_null(strstr(err.text, "line 1 column 1001"));
	assert_non_null(strstr(err.text, "1000 levels"));
	assert_int_equal(json_validate(objects, strlen(objects), &err),
			 REDOMA_E_INVALID);
	assert_int_equal(buf_addf(&b, "%s%.1000s", fits, closes), 0);
	assert_int_equal(json_validate(b.data, b.len, &err), 0);
	buf_clear(&b);
	assert_int_equal(buf_addf(&b, "[%s%.1001s", fits, closes), 0);
	assert_int_equal(json_validate(b.data, b.len, &err), REDOMA_E_INVALID);
	buf_clear(&b);
	assert_int_equal(buf_addf(&b, "\"%s", in_string), 0);
	assert_int_equal(json_validate(b.data, b.len, &err), 0);
}

static void names_line_and_column(void **state)
{
	struct redoma_error err = {0};
	const char *twins = "{\"a\": 1,\n  \"b\": \"x\\n\",\n  \"a\": 3}";

	(void)state;
	assert_int_equal(json_validate("[1,\n  2,\n  x]", 13, &err),
			 REDOMA_E_INVALID);
	assert_non_null(strstr(err.text, "line 3 column 3"));
	assert_int_equal(json_validate(twins, strlen(twins), &err),
			 REDOMA_E_INVALID);
	assert_non_null(strstr(err.text, "line 3 column 4"));
	assert_non_null(strstr(err.text, "twice"));
	assert_int_equal(json_validate("", 0, &err), REDOMA_E_INVALID);
	assert_non_null(strstr(err.text, "empty"));
}

static void finds_twins_among_many_keys(void **state)
{
	CLEANUP(buf_done) struct buf b = {0};

	(void)state;
	assert_int_equal(buf_addf(&b, "{\"k0\":0"), 0);
	for (int i = 1; i < 5000; i++)
		assert_int_equal(buf_addf(&b, ",\"k%d\":0", i), 0);
	assert_int_equal(buf_addf(&b, "}"), 0);
	assert_int_equal(json_validate(b.data, b.len, NULL), 0);
	b.data[b.len - 1] = ',';
	assert_int_equal(buf_addf(&b, "\"k2500\":1}"), 0);
	assert_int_equal(json_validate(b.data, b.len, NULL), REDOMA_E_INVALID);
}

static void getters_tell_kinds_apart(void **state)
{
	static const char text[] =
		"{\"u\":18446744073709551615,\"i\":-9223372036854775808,"
		"\"f\":1.0,\"big\":1e400,\"s\":\"a\\u0000b\",\"t\":true,"
		"\"n\":null,\"arr\":[1,[2],3],\"over\":18446744073709551616,"
		"\"zero\":-0}";
	CLEANUP(json_cleanup) struct json_doc *d = NULL;
	const struct json_value *r;
	uint64_t u = 7;
	int64_t i = 7;
	double f = 7;
	size_t len = 0, at;

	(void)state;
	assert_int_equal(json_parse(text, sizeof text - 1, &d, NULL), 0);
	r = json_root(d);
	assert_int_equal(json_kind(r), JSON_OBJECT);
	assert_int_equal(json_count(r), 10);
	assert_true(json_u64(json_member(r, "u"), &u));
	assert_true(u == UINT64_MAX);
	assert_true(json_i64(json_member(r, "i"), &i));
	assert_true(i == INT64_MIN);
	assert_false(json_u64(json_member(r, "i"), &u));
	assert_false(json_u64(json_member(r, "over"), &u));
	assert_false(json_i64(json_member(r, "u"), &i));
	assert_false(json_u64(json_member(r, "f"), &u));
	assert_true(json_double(json_member(r, "f"), &f) && f == 1.0);
	assert_true(json_double(json_member(r, "zero"), &f) && f == 0);
	assert_false(json_double(json_member(r, "big"), &f));
	assert_string_equal(json_digits(json_member(r, "big"), &len), "1e400");
	assert_memory_equal(json_string(json_member(r, "s"), &len), "a\0b", 4);
	assert_int_equal(len, 3);
	assert_true(json_is_true(json_member(r, "t")));
	assert_int_equal(json_kind(json_member(r, "n")), JSON_NULL);
	assert_null(json_member(r, "none"));
	assert_null(json_string(json_member(r, "none"), &len));
	assert_int_equal(json_count(json_member(r, "none")), 0);
	assert_int_equal(json_count(json_member(r, "arr")), 3);
	assert_true(json_offset(d, json_member(r, "s"), &at));
	assert_memory_equal(text + at, "a\\u0000b", 8);
	assert_false(json_offset(d, json_member(r, "t"), &at));
}

static void walks_in_order(void **state)
{
	static const char text[] = "{\"a\":[1,{\"x\":[]},3],\"b\":{},\"c\":[]}";
	CLEANUP(json_cleanup) struct json_doc *d = NULL;
	struct json_iter it, in;
	char seen[8] = "";
	uint64_t sum = 0, n;
	size_t len;

	(void)state;
	assert_int_equal(json_parse(text, sizeof text - 1, &d, NULL), 0);
	it = json_iter(json_root(d));
	while (json_next(&it)) {
		strcat(seen, json_string(it.key, &len));
		in = json_iter(it.value);
		while (json_next(&in)) {
			assert_null(in.key);
			sum += json_u64(in.value, &n) ? n : 100;
		}
	}
	assert_string_equal(seen, "abc");
	assert_int_equal(sum, 104);
	in = json_iter(NULL);
	assert_false(json_next(&in));
}

static void assert_put(const char *in, size_t len, const char *out)
{
	CLEANUP(buf_done) struct buf b = {0};

	assert_int_equal(json_put_string(&b, in, len), 0);
	assert_string_equal(b.data, out);
	assert_int_equal(json_validate(b.data, b.len, NULL), 0);
}

static void writes_strings_that_read_back(void **state)
{
	(void)state;
	assert_put("", 0, "\"\"");
	assert_put("a\"\\\n\r\t\0\x1b\x7f", 9,
		   "\"a\\\"\\\\\\n\\r\\t\\u0000\\u001b\\u007f\"");
	assert_put("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa", 9,
		   "\"\\u2028\\u2029\xe2\x80\xaa\"");
	assert_put("\xc2\x85\xc2\xa0", 4, "\"\\u0085\xc2\xa0\"");
	assert_put("\xf0\x9f\x98\x80", 4, "\"\xf0\x9f\x98\x80\"");
	/* Table 3-8 of the Unicode standard. */
	assert_put("\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64", 13,
		   "\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" "b\xef\xbf\xbd"
		   "c\xef\xbf\xbd\xef\xbf\xbd" "d\"");
	assert_put("\xed\xa0\x80", 3,
		   "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	assert_put("\xf0\x9f\x98", 3, "\"\xef\xbf\xbd\"");
}

static void leaves_the_buffer_when_full(void **state)
{
	CLEANUP(buf_done) struct buf b = {.cap = 8};

	(void)state;
	assert_int_equal(buf_add(&b, "keep", 4), 0);
	assert_int_equal(json_put_string(&b, "12345678", 8), -1);
	assert_string_equal(b.data, "keep");
	assert_int_equal(b.len, 4);
}

static void writes_documents(void **state)
{
	CLEANUP(buf_done) struct buf b = {0};
	struct json_writer w = {.buf = &b};

	(void)state;
	json_write_begin(&w, '{');
	json_write_key(&w, "a");
	json_write_begin(&w, '[');
	json_write_u64(&w, UINT64_MAX);
	json_write_i64(&w, INT64_MIN);
	json_write_double(&w, 0.1);
	json_write_double(&w, (double)INFINITY);
	json_write_bool(&w, true);
	json_write_end(&w, ']');
	json_write_key_n(&w, "b\0", 2);
	json_write_begin(&w, '{');
	json_write_end(&w, '}');
	json_write_key(&w, "c");
	json_write_raw(&w, "[1]", 3);
	assert_int_equal(json_write_done(&w), -1);
	json_write_key(&w, "d");
	json_write_text(&w, NULL);
	json_write_end(&w, '}');
	assert_int_equal(json_write_done(&w), 0);
	assert_string_equal(b.data,
			    "{\"a\":[18446744073709551615,-9223372036854775808,"
			    "0.1,null,true],\"b\\u0000\":{},\"c\":[1],"
			    "\"d\":null}");
}

static void failure_sticks(void **state)
{
	CLEANUP(buf_done) struct buf b = {.cap = 4};
	struct json_writer w = {.buf = &b};

	(void)state;
	json_write_begin(&w, '[');
	json_write_text(&w, "too long for it");
	json_write_end(&w, ']');
	assert_int_equal(json_write_done(&w), -1);
	w = (struct json_writer){.buf = &b};
	json_write_end(&w, ']');
	assert_int_equal(json_write_done(&w), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_what_the_grammar_has),
		cmocka_unit_test(refuses_what_it_has_not),
		cmocka_unit_test(caps_depth),
		cmocka_unit_test(names_line_and_column),
		cmocka_unit_test(finds_twins_among_many_keys),
		cmocka_unit_test(getters_tell_kinds_apart),
		cmocka_unit_test(walks_in_order),
		cmocka_unit_test(writes_strings_that_read_back),
		cmocka_unit_test(leaves_the_buffer_when_full),
		cmocka_unit_test(writes_documents),
		cmocka_unit_test(failure_sticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
