/* What the text of a cell says, and that numbers and times keep their value. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"
#include "base/cell.h"

static void assert_kind(const char *text, enum cell_kind want)
{
	struct cell c = cell_read(str_of(text));

	if (c.kind != want)
		fail_msg("%s is %s, not %s", text, cell_kind_name(c.kind),
			 cell_kind_name(want));
}

static void tells_kinds(void **state)
{
	static const struct {
		const char *text;
		enum cell_kind kind;
	} rows[] = {
		{"", CELL_BLANK},
		{"0", CELL_INTEGER},
		{"-12", CELL_INTEGER},
		{"+12", CELL_INTEGER},
		{"9007199254740992", CELL_INTEGER},
		{"9007199254740993", CELL_TEXT},
		{"1.5", CELL_NUMBER},
		{".5", CELL_NUMBER},
		{"1.", CELL_NUMBER},
		{"-1e-3", CELL_NUMBER},
		{"0.5", CELL_NUMBER},
		{"12345678901234567890.5", CELL_NUMBER},
		{"007", CELL_TEXT},
		{"00.5", CELL_TEXT},
		{"1,000", CELL_TEXT},
		{"1.000,5", CELL_TEXT},
		{"1e400", CELL_TEXT},
		{"0x10", CELL_TEXT},
		{"inf", CELL_TEXT},
		{"nan", CELL_TEXT},
		{" 1", CELL_INTEGER},
		{"1.5 \t", CELL_NUMBER},
		{" TRUE ", CELL_TRUTH},
		{"\t2024-02-29 ", CELL_DATE},
		{" \t", CELL_BLANK},
		{" x ", CELL_TEXT},
		{"\n1", CELL_TEXT},
		{"1 2", CELL_TEXT},
		{"\xc2\xa0" "1", CELL_TEXT},
		{"-", CELL_TEXT},
		{".", CELL_TEXT},
		{"1e", CELL_TEXT},
		{"true", CELL_TRUTH},
		{"FALSE", CELL_TRUTH},
		{"yes", CELL_TEXT},
		{"2024-02-29", CELL_DATE},
		{"2023-02-29", CELL_TEXT},
		{"1900-02-29", CELL_TEXT},
		{"2024-13-01", CELL_TEXT},
		{"2024-2-9", CELL_TEXT},
		{"2024-02-29T10:20", CELL_TIME},
		{"2024-02-29 10:20:30.123456Z", CELL_TIME},
		{"2024-02-29T10:20:30-03:00", CELL_TIME},
		{"2024-02-29T24:00", CELL_TEXT},
		{"2024-02-29T10:20:30.", CELL_TEXT},
		{"2024-02-29T10:20Zx", CELL_TEXT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_kind(rows[i].text, rows[i].kind);
	/* A text keeps its blanks. */
	assert_int_equal(cell_read(STR(" x ")).text.len, 3);
}

static void counts_time(void **state)
{
	struct cell c = cell_read(STR("2024-02-29T10:20:30.5+02:00"));
	struct buf b = {0};

	(void)state;
	/* date -u -d 2024-02-29T08:20:30 +%s */
	assert_true(c.integer == INT64_C(1709194830500000));
	assert_int_equal(cell_print(&b, &c), 0);
	assert_string_equal(b.data, "2024-02-29T08:20:30.5Z");
	buf_clear(&b);
	c = cell_read(STR("0001-01-01"));
	assert_true(c.integer == -719162);
	assert_int_equal(cell_print(&b, &c), 0);
	assert_string_equal(b.data, "0001-01-01");
	buf_done(&b);
}

static uint64_t next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* strtod is the oracle: what is written reads back, and what is read is the
 * nearest. */
static void numbers_keep_their_value(void **state)
{
	uint64_t x = 88172645463325252u;

	(void)state;
	for (int i = 0; i < 300000; i++) {
		uint64_t bits = next(&x);
		double n, back;
		char text[NUMBER_TEXT_MAX], other[64];
		size_t len;

		if (i % 3 == 0)
			memcpy(&n, &bits, sizeof n);
		else
			n = (double)(int64_t)(bits % 2000000000) /
			    (i % 3 == 1 ? 100.0 : 1e6);
		len = number_write(n, text);
		if (!len)
			continue;
		assert_true(number_read((struct str){text, len}, &back));
		assert_memory_equal(&back, &n, sizeof n);
		assert_true(strtod(text, NULL) == n);
		snprintf(other, sizeof other, "%.20g", n);
		assert_true(number_read(str_of(other), &back));
		assert_true(back == strtod(other, NULL));
	}
}

static void writes_short_numbers(void **state)
{
	static const struct {
		double n;
		const char *text;
	} rows[] = {
		{0.1, "0.1"},
		{-0.25, "-0.25"},
		{1.005, "1.005"},
		{-1.5, "-1.5"},
		{100, "100"},
		{1e14, "100000000000000"},
		{90.0 * 1.1, "99.00000000000001"},
		{0.000001, "0.000001"},
		{123456.789, "123456.789"},
	};
	char text[NUMBER_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		number_write(rows[i].n, text);
		if (rows[i].n == 0.000001)
			assert_true(strtod(text, NULL) == 0.000001);
		else
			assert_string_equal(text, rows[i].text);
	}
}

static void columns_take_what_fits(void **state)
{
	struct cell c = cell_read_as(STR("12"), CELL_NUMBER);

	(void)state;
	assert_int_equal(c.kind, CELL_NUMBER);
	assert_true(c.number == 12);
	assert_int_equal(cell_read_as(STR("n/a"), CELL_NUMBER).kind, CELL_TEXT);
	assert_int_equal(cell_read_as(STR("12"), CELL_TEXT).kind, CELL_TEXT);
	assert_int_equal(cell_read_as(STR(""), CELL_TEXT).kind, CELL_BLANK);
	assert_int_equal(cell_read_as(STR(" "), CELL_NUMBER).kind, CELL_BLANK);
	c = cell_read_as(STR(" "), CELL_TEXT);
	assert_true(c.kind == CELL_TEXT && c.text.len == 1);
	c = cell_read_as(STR("1970-01-02"), CELL_TIME);
	assert_true(c.kind == CELL_TIME && c.integer == INT64_C(86400000000));
	assert_int_equal(cell_join(CELL_INTEGER, CELL_NUMBER), CELL_NUMBER);
	assert_int_equal(cell_join(CELL_BLANK, CELL_DATE), CELL_DATE);
	assert_int_equal(cell_join(CELL_DATE, CELL_INTEGER), CELL_TEXT);
}

/* A decimal comma of the locale changes nothing. */
static int use_comma(void **state)
{
	(void)state;
	(void)(setlocale(LC_ALL, "pt_BR.UTF-8") ||
	       setlocale(LC_ALL, "de_DE.UTF-8"));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_kinds),
		cmocka_unit_test(counts_time),
		cmocka_unit_test(numbers_keep_their_value),
		cmocka_unit_test(writes_short_numbers),
		cmocka_unit_test(columns_take_what_fits),
		cmocka_unit_test_setup(writes_short_numbers, use_comma),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
