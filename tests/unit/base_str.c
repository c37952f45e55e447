/* Views, UTF-8, shown bytes, nearest names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/nearest.h"
#include "base/str.h"

static void compares_and_splits(void **state)
{
	struct str a = STR("?"), b = STR("?");

	(void)state;
	assert_true(str_equal(STR("abc"), str_of("abc")));
	assert_false(str_equal(STR("abc"), STR("ab")));
	assert_true(str_equal((struct str){0}, STR("")));
	assert_true(str_starts(STR("fixed:x"), STR("fixed:")));
	assert_false(str_starts(STR("fix"), STR("fixed:")));
	assert_true(str_ends(STR("docs/"), STR("/")));
	assert_false(str_ends(STR(""), STR("/")));
	assert_true(str_equal(str_after(STR("abc"), 1), STR("bc")));
	assert_int_equal(str_after(STR("abc"), 9).len, 0);
	assert_false(str_split(STR("abc"), '=', &a, &b));
	assert_true(str_equal(a, STR("?")));
	assert_true(str_split(STR("a=b=c"), '=', &a, &b));
	assert_true(str_equal(a, STR("a")) && str_equal(b, STR("b=c")));
	assert_true(str_split_last(STR("a=b=c"), '=', &a, &b));
	assert_true(str_equal(a, STR("a=b")) && str_equal(b, STR("c")));
	assert_true(str_split(STR("="), '=', &a, &b));
	assert_true(!a.len && !b.len && a.p && b.p);
	assert_false(str_split((struct str){0}, '=', &a, &b));
}

static void trims_blanks_alone(void **state)
{
	(void)state;
	assert_true(str_equal(str_trim(STR(" \ta b\t ")), STR("a b")));
	assert_true(str_equal(str_trim(STR("a\n ")), STR("a\n")));
	assert_int_equal(str_trim(STR(" \t ")).len, 0);
	assert_int_equal(str_trim(STR("")).len, 0);
	assert_true(str_only(STR("0-9"), "0123456789-"));
	assert_true(str_only(STR(""), ""));
	assert_false(str_only(STR("0x"), "0"));
	assert_false(str_only((struct str){"0\0", 2}, "0"));
}

static void names_end_where_a_language_ends_them(void **state)
{
	(void)state;
	assert_int_equal(str_name(STR("a1_$ b")), 4);
	assert_int_equal(str_name(STR("caf\xc3\xa9(")), 5);
	assert_int_equal(str_name(STR(".a")), 0);
	assert_int_equal(str_name((struct str){0}), 0);
}

static size_t decode(uint32_t code, char out[4])
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xe0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3f));
		out[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3f));
	out[2] = (char)(0x80 | (code >> 6 & 0x3f));
	out[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

static void knows_every_code_point(void **state)
{
	char c[4];

	(void)state;
	for (uint32_t code = 0; code < 0x110000 + 0x1000; code++) {
		size_t len = decode(code, c);
		int good = code < 0xd800 || (code > 0xdfff && code < 0x110000);

		assert_int_equal(str_utf8(c, len), good ? len : 0);
		if (len > 1)
			assert_int_equal(str_utf8(c, len - 1), 0);
	}
	assert_int_equal(str_utf8("\xc0\x80", 2), 0);
	assert_int_equal(str_utf8("\xc1\xbf", 2), 0);
	assert_int_equal(str_utf8("\xe0\x9f\xbf", 3), 0);
	assert_int_equal(str_utf8("\xf0\x8f\xbf\xbf", 4), 0);
	assert_int_equal(str_utf8("\x80", 1), 0);
	assert_int_equal(str_utf8("\xff", 1), 0);
	assert_int_equal(str_utf8("a", 0), 0);
}

static void tells_utf8(void **state)
{
	static const char text[] = "0123456789abcde\xc3\xa9 \xf0\x9f\x98\x80.";
	char cut[sizeof text];

	(void)state;
	assert_true(str_is_utf8(STR("")));
	assert_true(str_is_utf8(STR("a\0b")));
	/* Wherever the part that is not ASCII lies. */
	for (size_t i = 0; i < 16; i++) {
		size_t n = sizeof text - 1 - i;

		assert_true(str_is_utf8((struct str){text + i, n}));
		assert_false(str_is_utf8((struct str){text + i, n - 2}));
		memcpy(cut, text, sizeof text);
		cut[i] = '\xff';
		assert_false(str_is_utf8((struct str){cut, sizeof text - 1}));
	}
}

static void tells_plain_text(void **state)
{
	(void)state;
	assert_true(str_is_plain(STR("")));
	assert_true(str_is_plain(STR("caf\xc3\xa9 \xf0\x9f\x98\x80")));
	assert_false(str_is_plain(STR("a\nb")));
	assert_false(str_is_plain(STR("a\0b")));
	assert_false(str_is_plain(STR("a\x7f")));
	assert_false(str_is_plain(STR("\xc2\x9b" "31m")));
	assert_false(str_is_plain(STR("\xe2\x80\xa8")));
	assert_false(str_is_plain(STR("\xff")));
}

static void shows_hostile_bytes(void **state)
{
	char dst[STR_SHOWN_MAX], big[300];

	(void)state;
	assert_string_equal(str_show(STR("a b"), dst), "\"a b\"");
	assert_string_equal(str_show(STR(""), dst), "\"\"");
	assert_string_equal(str_show(STR("\x1b[2J\n\"\\"), dst),
			    "\"\\x1b[2J\\x0a\\\"\\\\\"");
	assert_string_equal(str_show(STR("\xff\xc3\xa9"), dst),
			    "\"\\xff\xc3\xa9\"");
	memset(big, 'x', sizeof big);
	str_show((struct str){big, sizeof big}, dst);
	assert_true(strlen(dst) < STR_SHOWN_MAX);
	assert_string_equal(dst + strlen(dst) - 5, "x\"...");
	memset(big, 0x01, sizeof big);
	str_show((struct str){big, sizeof big}, dst);
	assert_true(strlen(dst) < STR_SHOWN_MAX);
	for (size_t i = 0; i + 4 <= sizeof big; i += 4)
		memcpy(big + i, "\xf0\x9f\x98\x80", 4);
	str_show((struct str){big, sizeof big}, dst);
	assert_true(str_is_plain(str_of(dst)));
}

static void finds_the_nearest_name(void **state)
{
	static const char *const names[] = {"limits", "read", "write", "env",
					    "reuse", "walls", NULL};

	(void)state;
	assert_string_equal(nearest_name(STR("limts"), names), "limits");
	assert_string_equal(nearest_name(STR("limit"), names), "limits");
	assert_string_equal(nearest_name(STR("Limits"), names), "limits");
	assert_string_equal(nearest_name(STR("raed"), names), "read");
	assert_string_equal(nearest_name(STR("wriet"), names), "write");
	assert_string_equal(nearest_name(STR("wall"), names), "walls");
	assert_null(nearest_name(STR("xyz"), names));
	assert_null(nearest_name(STR(""), names));
	assert_null(nearest_name(STR("network"), names));
	assert_null(nearest_name((struct str){"limitslimitslimitslimitslimits"
					      "limits", 36}, names));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compares_and_splits),
		cmocka_unit_test(trims_blanks_alone),
		cmocka_unit_test(names_end_where_a_language_ends_them),
		cmocka_unit_test(knows_every_code_point),
		cmocka_unit_test(tells_utf8),
		cmocka_unit_test(tells_plain_text),
		cmocka_unit_test(shows_hostile_bytes),
		cmocka_unit_test(finds_the_nearest_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
