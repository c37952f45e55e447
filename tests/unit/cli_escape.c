/* Bytes of a guest on a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "cli/escape.h"

static void becomes(const char *from, size_t len, enum escape_keep keep,
		    const char *to)
{
	CLEANUP(buf_done) struct buf b = {0};

	assert_int_equal(escape_add(&b, from, len, keep), 0);
	assert_string_equal(b.data ? b.data : "", to);
}
#define TEXT(from, to) becomes("" from, sizeof(from) - 1, ESCAPE_TEXT, to)
#define LINE(from, to) becomes("" from, sizeof(from) - 1, ESCAPE_LINE, to)

static void plain_text_stays(void **state)
{
	(void)state;
	TEXT("", "");
	TEXT("a\tb\n", "a\tb\n");
	TEXT("S\xc3\xa3o \xf0\x9f\x98\x80", "S\xc3\xa3o \xf0\x9f\x98\x80");
}

static void what_acts_is_shown(void **state)
{
	(void)state;
	TEXT("\x1b[2J", "\\x1b[2J");
	TEXT("\x1b]52;c;aGk=\x07", "\\x1b]52;c;aGk=\\x07");
	TEXT("a\rb", "a\\rb");
	TEXT("a\0b", "a\\x00b");
	TEXT("\x7f\x08", "\\x7f\\x08");
	TEXT("\xc2\x9b" "31m", "\\u{9b}31m");
	TEXT("\xe2\x80\xae" "abc", "\\u{202e}abc");
	TEXT("\xe2\x81\xa6", "\\u{2066}");
	TEXT("\xe2\x80\xa8", "\\u{2028}");
}

static void bytes_that_are_not_utf8_are_shown(void **state)
{
	(void)state;
	TEXT("a\xff" "b", "a\\xffb");
	TEXT("\x9b" "31m", "\\x9b31m");
	TEXT("\xc0\xaf", "\\xc0\\xaf");
	TEXT("\xe2\x82", "\\xe2\\x82");
}

static void a_line_stays_one_line(void **state)
{
	(void)state;
	LINE("a\nredoma: forged", "a\\nredoma: forged");
	LINE("a\tb", "a\\tb");
}

static void a_full_buffer_is_said(void **state)
{
	CLEANUP(buf_done) struct buf b = {.cap = 4};

	(void)state;
	assert_int_equal(escape_add(&b, "abcdefgh", 8, ESCAPE_TEXT), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_text_stays),
		cmocka_unit_test(what_acts_is_shown),
		cmocka_unit_test(bytes_that_are_not_utf8_are_shown),
		cmocka_unit_test(a_line_stays_one_line),
		cmocka_unit_test(a_full_buffer_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
