/* Batches as they leave, and answers that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/sheet.h"
#include "wire/batch.h"

#define ROWS 20

static double numbers[ROWS];
static const uint8_t bits[] = {0xa5, 0x3c, 0x0f};
static uint32_t offsets[ROWS + 1];
static const char heap[] = "abcdefghijklmnopqrstuvwxyz";
static uint8_t kinds[ROWS];
static uint32_t values[2 * ROWS];

static struct redoma_column columns[] = {
	{"n", REDOMA_COLUMN_FLOAT64, bits, numbers, NULL, 0, 2},
	{"b", REDOMA_COLUMN_BOOL, NULL, bits, NULL, 0, 0},
	{"t", REDOMA_COLUMN_TEXT, NULL, offsets, heap, 26, 0},
	{"c", REDOMA_COLUMN_CELLS, kinds, values, heap, 26, 0},
};
static const struct redoma_formula formula = {"f", "n"};

static int set_up(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < ROWS; i++) {
		numbers[i] = i;
		offsets[i] = i;
		kinds[i] = REDOMA_CELL_TEXT;
		values[2 * i] = i;
		values[2 * i + 1] = 2;
	}
	offsets[ROWS] = ROWS;
	return 0;
}

static struct redoma_formula_request request(void)
{
	struct redoma_formula_request q = REDOMA_FORMULA_REQUEST_INIT;

	q.formulas = &formula;
	q.n_formulas = 1;
	q.columns = columns;
	q.n_columns = 4;
	q.rows = 16;
	return q;
}

static bool bit(const char *p, uint64_t i)
{
	return (unsigned char)p[i / 8] >> (i % 8) & 1;
}

/* Every slice holds the rows it names, however they lie. */
static void slices_hold_their_rows(void **state)
{
	const bool used[] = {true, true, true, true};
	struct redoma_formula_request q = request();
	struct redoma_error e;

	(void)state;
	for (uint64_t from = 0; from < 16; from++) {
		const struct sheet_slice s = {&q, used, from, 16 - from, 1, 0};
		struct batch_column w[4];
		struct buf b = {0};

		assert_int_equal(sheet_encode(&s, &b, &e), 0);
		memcpy(w, b.data + sizeof(struct batch_head), sizeof w);
		for (uint64_t i = 0; i < 16 - from; i++) {
			uint64_t at = from + i;
			double n;
			uint32_t t;

			memcpy(&n, b.data + w[0].values + 8 * i, 8);
			assert_true(n == (double)(at + 2));
			assert_int_equal(bit(b.data + w[0].kinds, i),
					 bit((const char *)bits, at + 2));
			assert_int_equal(bit(b.data + w[1].values, i),
					 bit((const char *)bits, at));
			memcpy(&t, b.data + w[2].values + 4 * i, 4);
			assert_int_equal(b.data[w[2].heap + t], heap[at]);
			memcpy(&t, b.data + w[3].values + 8 * i, 4);
			assert_int_equal(b.data[w[3].heap + t], heap[at]);
		}
		buf_done(&b);
	}
}

static void columns_that_lie_are_refused(void **state)
{
	const bool used[] = {false, false, true, false};
	const bool cells[] = {false, false, false, true};
	struct redoma_formula_request q = request();
	struct sheet_slice s = {&q, used, 0, 16, 1, 0};
	struct buf b = {0};
	struct redoma_error e;

	(void)state;
	offsets[16] = 27;
	assert_int_equal(sheet_encode(&s, &b, &e), REDOMA_E_INVALID);
	offsets[16] = 16;
	values[2 * 5 + 1] = 1000;
	s.used = cells;
	assert_int_equal(sheet_encode(&s, &b, &e), REDOMA_E_INVALID);
	buf_done(&b);
}

static void an_answer_is_believed_only_whole(void **state)
{
	struct buf b = {0};
	struct sheet_part part = {.rows = 1, .formulas = 3};
	struct redoma_cell c;

	(void)state;
	assert_int_equal(sheet_fail(3, "#N/A nothing", &b), 0);
	part.p = b.data;
	for (part.len = 0; part.len < b.len; part.len++)
		assert_false(sheet_check(&part));
	assert_true(sheet_check(&part));
	c = sheet_cell(&part, 2, 0);
	assert_int_equal(c.kind, REDOMA_CELL_ERROR);
	assert_int_equal(c.len, 12);
	assert_memory_equal(c.text, "#N/A nothing", 12);
	part.rows = 2;
	assert_false(sheet_check(&part));
	part.rows = 1;
	part.formulas = 2;
	assert_false(sheet_check(&part));
	buf_done(&b);
}

/* What it says of itself, and what its cells say. */
static void an_answer_tells_what_it_depends_on(void **state)
{
	static const char *const texts[] = {"#TIME! too long", "#TIME",
					    "#VALUE! #TIME!"};
	struct sheet_part part = {.rows = 1, .formulas = 3};
	struct batch_answer a;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct buf b = {0};

		assert_int_equal(sheet_fail(3, texts[i], &b), 0);
		part.p = b.data;
		part.len = b.len;
		assert_true(sheet_has_late(&part) == !i);
		assert_false(sheet_has_time(&part));
		memcpy(&a, b.data, sizeof a);
		a.bits = BATCH_ANSWER_TIME;
		memcpy(b.data, &a, sizeof a);
		assert_true(sheet_check(&part));
		assert_true(sheet_has_time(&part));
		a.bits = 2;
		memcpy(b.data, &a, sizeof a);
		assert_false(sheet_check(&part));
		a.bits = 0;
		a.columnar = 3;
		memcpy(b.data, &a, sizeof a);
		assert_true(sheet_check(&part));
		assert_int_equal(sheet_columnar(&part), 3);
		a.columnar = 4; /* more than there are */
		memcpy(b.data, &a, sizeof a);
		assert_false(sheet_check(&part));
		buf_done(&b);
	}
}

/* The first of its cells becomes one of that kind. */
static bool is_believed(enum redoma_cell_kind kind, int64_t value)
{
	struct sheet_part part = {.rows = 1, .formulas = 1};
	struct buf b = {0};
	struct batch_cells w;
	bool ret;

	assert_int_equal(sheet_fail(1, "#N/A", &b), 0);
	memcpy(&w, b.data + sizeof(struct batch_answer), sizeof w);
	b.data[w.kinds] = (char)kind;
	memcpy(b.data + w.values, &value, sizeof value);
	part.p = b.data;
	part.len = b.len;
	ret = sheet_check(&part);
	buf_done(&b);
	return ret;
}

static void values_can_be_counted_with(void **state)
{
	const int64_t days = 100000000, us = days * 86400 * 1000000;

	(void)state;
	assert_true(is_believed(REDOMA_CELL_DATE, days));
	assert_true(is_believed(REDOMA_CELL_DATE, -days));
	assert_false(is_believed(REDOMA_CELL_DATE, days + 1));
	assert_false(is_believed(REDOMA_CELL_DATE, INT64_MIN));
	assert_true(is_believed(REDOMA_CELL_TIME, us));
	assert_false(is_believed(REDOMA_CELL_TIME, us + 1));
	assert_false(is_believed(REDOMA_CELL_TIME, INT64_MIN));
	assert_true(is_believed(REDOMA_CELL_INTEGER, INT64_MIN));
	assert_true(is_believed(REDOMA_CELL_NUMBER, 0));
	/* The bits of a NaN, and of an infinity. */
	assert_false(is_believed(REDOMA_CELL_NUMBER, -1));
	assert_false(is_believed(REDOMA_CELL_NUMBER, INT64_C(0x7ff) << 52));
	assert_false(is_believed(REDOMA_CELL_ERROR + 1, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(slices_hold_their_rows, set_up),
		cmocka_unit_test_setup(columns_that_lie_are_refused, set_up),
		cmocka_unit_test(an_answer_is_believed_only_whole),
		cmocka_unit_test(an_answer_tells_what_it_depends_on),
		cmocka_unit_test(values_can_be_counted_with),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
