/* Outcomes: there and back, and every way to break one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/outcome.h"

static struct outcome_text text(const char *s)
{
	return (struct outcome_text){s, (uint32_t)strlen(s)};
}

static void encode(struct buf *b)
{
	static struct outcome_written w[1];
	struct outcome o = {.status = REDOMA_STATUS_ERROR,
			    .exit_code = -3,
			    .signal = 9,
			    .used_random = true,
			    .cpu_us = 12,
			    .line = 4,
			    .column = 9};

	w[0] = (struct outcome_written){1, 77, text("a/b.txt")};
	o.name = text("TypeError");
	o.message = text("no");
	o.n_denials = 1;
	o.denials[0] = (struct outcome_denial){
		text("open"), text("/etc/passwd"), 2, 98304, false};
	o.n_written = 1;
	o.written = w;
	assert_int_equal(outcome_encode(&o, b, NULL), 0);
}

static void there_and_back(void **state)
{
	struct buf b = {0};
	struct outcome o;

	(void)state;
	encode(&b);
	assert_int_equal(outcome_decode(b.data, b.len, &o, NULL), 0);
	assert_int_equal(o.status, REDOMA_STATUS_ERROR);
	assert_int_equal(o.exit_code, -3);
	assert_int_equal(o.signal, 9);
	assert_true(o.used_random);
	assert_false(o.used_clock);
	assert_int_equal(o.cpu_us, 12);
	assert_int_equal(o.line, 4);
	assert_memory_equal(o.name.p, "TypeError", 9);
	assert_int_equal(o.denials[0].count, 2);
	assert_int_equal(o.denials[0].needed, 98304);
	assert_memory_equal(o.denials[0].path.p, "/etc/passwd", 11);
	assert_int_equal(o.written[0].handle, 77);
	assert_int_equal(o.written[0].path.len, 7);
	outcome_done(&o);
	buf_done(&b);
}

static void cut_anywhere(void **state)
{
	struct buf b = {0};
	struct outcome o;
	size_t i;

	(void)state;
	encode(&b);
	for (i = 0; i < b.len; i++)
		assert_int_equal(outcome_decode(b.data, i, &o, NULL),
				 REDOMA_E_INVALID);
	assert_int_equal(buf_add(&b, "x", 1), 0);
	assert_int_equal(outcome_decode(b.data, b.len, &o, NULL),
			 REDOMA_E_INVALID);
	buf_done(&b);
}

/* Status, flags, the counts of denials and files, and the signal. */
static void forged_numbers(void **state)
{
	static const size_t at[] = {0, 2, 13, 14, 15};
	struct outcome o;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof at / sizeof *at; i++) {
		struct buf b = {0};

		encode(&b);
		memset(b.data + at[i] * 8, 0xff, 8);
		assert_int_equal(outcome_decode(b.data, b.len, &o, NULL),
				 REDOMA_E_INVALID);
		buf_done(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(forged_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
