/* Times, sizes, counts: every sentence, and print -> parse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"

typedef const char *parse_fn(struct str, uint64_t *);

static void assert_reads(parse_fn *parse, const char *text, uint64_t want)
{
	uint64_t n = 0;
	const char *bad = parse(str_of(text), &n);

	if (bad)
		fail_msg("%s: %s", text, bad);
	assert_true(n == want);
}

static void assert_says(parse_fn *parse, const char *text, const char *part)
{
	uint64_t n = 77;
	const char *bad = parse(str_of(text), &n);

	if (!bad || !strstr(bad, part))
		fail_msg("%s: %s", text, bad ? bad : "accepted");
	assert_true(n == 77);
}

static void reads_times(void **state)
{
	(void)state;
	assert_reads(units_time, "1ms", 1000);
	assert_reads(units_time, "500ms", 500000);
	assert_reads(units_time, "2s", 2000000);
	assert_reads(units_time, "1m", 60000000);
	assert_reads(units_time, "1_000ms", 1000000);
}

static void refuses_times(void **state)
{
	(void)state;
	assert_says(units_time, "2", "needs a unit");
	assert_says(units_time, "2h", "unknown unit");
	assert_says(units_time, "2us", "unknown unit");
	assert_says(units_time, "2 s", "unknown unit");
	assert_says(units_time, "2S", "unknown unit");
	assert_says(units_time, "0", "zero");
	assert_says(units_time, "0s", "zero");
	assert_says(units_time, "-1s", "negative");
	assert_says(units_time, "1.5s", "1500ms");
	assert_says(units_time, "", "not a time");
	assert_says(units_time, "s", "not a time");
	assert_says(units_time, "+1s", "not a time");
	assert_says(units_time, "01s", "begin with 0");
	assert_says(units_time, "1__0s", "underscore");
	assert_says(units_time, "1_s", "underscore");
	assert_says(units_time, "_1s", "not a time");
	assert_says(units_time, "18446744073709551616ms", "too large");
	assert_says(units_time, "18446744073709551615ms", "too large");
	assert_says(units_time, "307445734561826m", "too large");
}

static void reads_sizes(void **state)
{
	(void)state;
	assert_reads(units_size, "1B", 1);
	assert_reads(units_size, "1KiB", 1024);
	assert_reads(units_size, "64MiB", 64 << 20);
	assert_reads(units_size, "4GiB", (uint64_t)4 << 30);
	assert_reads(units_size, "18446744073709551615B", UINT64_MAX);
}

static void refuses_sizes(void **state)
{
	(void)state;
	assert_says(units_size, "64", "needs a unit");
	assert_says(units_size, "64MB", "MiB");
	assert_says(units_size, "64M", "MiB");
	assert_says(units_size, "64mib", "MiB");
	assert_says(units_size, "0MiB", "zero");
	assert_says(units_size, "-5MiB", "negative");
	assert_says(units_size, "1.5MiB", "1536KiB");
	assert_says(units_size, "17179869184GiB", "too large");
	assert_says(units_size, "MiB", "not a size");
}

static void reads_counts(void **state)
{
	(void)state;
	assert_reads(units_count, "1", 1);
	assert_reads(units_count, "5_000_000_000", 5000000000);
	assert_reads(units_count, "18446744073709551615", UINT64_MAX);
	assert_reads(units_number, "0", 0);
	assert_says(units_count, "0", "zero");
	assert_says(units_count, "-0", "negative");
	assert_says(units_count, "00", "begin with 0");
	assert_says(units_count, "0_1", "begin with 0");
	assert_says(units_count, "1k", "no unit");
	assert_says(units_count, "1e3", "no unit");
	assert_says(units_count, "0x10", "no unit");
	assert_says(units_count, "1.0", "whole");
	assert_says(units_count, "many", "not a number");
	assert_says(units_count, "18446744073709551616", "too large");
	assert_says(units_count, "99999999999999999999", "too large");
}

static void never_reads_past_the_view(void **state)
{
	uint64_t n = 0;

	(void)state;
	assert_null(units_time((struct str){"12ms", 4}, &n));
	assert_true(n == 12000);
	assert_null(units_time((struct str){"12ms", 3}, &n));
	assert_true(n == 720000000);
	assert_non_null(units_time((struct str){"12ms", 2}, &n));
	assert_non_null(units_time((struct str){0}, &n));
}

static void prints_what_it_reads(void **state)
{
	static const uint64_t sizes[] = {
		1, 1023, 1024, 1025, 1 << 20, (1 << 20) + 1024,
		(uint64_t)3 << 30, UINT64_MAX,
	};
	static const uint64_t times[] = {1, 999, 1000, 1001, 59000, 60000,
					 61000, 86400000};
	char text[UNITS_TEXT_MAX];
	uint64_t n;

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		units_print_size(sizes[i], text);
		assert_null(units_size(str_of(text), &n));
		assert_true(n == sizes[i]);
	}
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		units_print_time(times[i] * 1000, text);
		assert_null(units_time(str_of(text), &n));
		assert_true(n == times[i] * 1000);
	}
	assert_string_equal(units_print_time(60000000, text), "1m");
	assert_string_equal(units_print_time(1500000, text), "1500ms");
	assert_string_equal(units_print_time(1, text), "1ms");
	assert_string_equal(units_print_size(1 << 20, text), "1MiB");
}

static void shows_three_digits(void **state)
{
	char text[UNITS_TEXT_MAX];

	(void)state;
	assert_string_equal(units_show_time(812, text), "812us");
	assert_string_equal(units_show_time(2003000, text), "2.003s");
	assert_string_equal(units_show_time(2003999, text), "2.003s");
	assert_string_equal(units_show_time(2100000, text), "2.1s");
	assert_string_equal(units_show_time(1500, text), "1.5ms");
	assert_string_equal(units_show_time(0, text), "0us");
	assert_string_equal(units_show_size(1536, text), "1.5KiB");
	assert_string_equal(units_show_size(1179648, text), "1.125MiB");
	assert_string_equal(units_show_size(1023, text), "1023B");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_times),
		cmocka_unit_test(refuses_times),
		cmocka_unit_test(reads_sizes),
		cmocka_unit_test(refuses_sizes),
		cmocka_unit_test(reads_counts),
		cmocka_unit_test(never_reads_past_the_view),
		cmocka_unit_test(prints_what_it_reads),
		cmocka_unit_test(shows_three_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
