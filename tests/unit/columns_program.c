/* What guest/columns does by itself, built for this machine: which formulas it
 * takes, which rows it leaves, that it stays within its bounds of time and of
 * memory, and writes nowhere else.  That what it computes is right is for
 * tests/cases/formula_columns.c to say, which asks the interpreters. */
#include "alloc_fail.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "../cases/columns_world.h"
#include "columns/columns.h"
#include "columns/plan.h"
#include "columns/step.h"

#define N(list) (sizeof(list) / sizeof *(list))
#define MEMORY_MAX (200u << 10)
#define GUARD 0x77

static struct table table;
static volatile uint32_t count;

struct made {
	uint8_t kinds[COLUMNS_BLOCK + 8];
	union cell values[COLUMNS_BLOCK + 1];
};

static enum columns_name find(void *data, const char *p, size_t n, bool quoted,
			      uint32_t *ret)
{
	(void)data;
	if (!quoted && n == 5 && !memcmp(p, "index", 5))
		return COLUMNS_INDEX;
	for (uint32_t i = 0; i < COLUMNS; i++) {
		*ret = i;
		if (strlen(table.columns[i].name) == n &&
		    !memcmp(table.columns[i].name, p, n))
			return COLUMNS_COLUMN;
	}
	return COLUMNS_NO_NAME;
}

static struct columns_formula *read_text(const char *text, bool python)
{
	const struct columns_scope scope = {find, NULL};

	return columns_new(text, strlen(text), python ? COLUMNS_PY : COLUMNS_JS,
			   &scope);
}

static void find_cells(const struct columns_formula *f,
		       struct columns_cells cells[COLUMNS_CELLS_MAX])
{
	const uint32_t *names;
	size_t n = columns_names(f, &names);

	for (size_t i = 0; i < n; i++) {
		const struct redoma_column *c = &table.columns[names[i]];

		cells[i] = (struct columns_cells){c->layout, c->validity,
						  c->values};
	}
}

/* NULL: it is not simple. */
static struct columns_formula *bind(const char *text, bool python)
{
	struct columns_cells cells[COLUMNS_CELLS_MAX];
	struct columns_formula *f = read_text(text, python);

	if (!f)
		return NULL;
	find_cells(f, cells);
	if (columns_bind(f, cells))
		return f;
	columns_free(f);
	return NULL;
}

static void run(struct columns_formula *f, uint32_t from, uint32_t rows,
		struct made *ret)
{
	struct columns_cells cells[COLUMNS_CELLS_MAX];
	const struct columns_block b = {.cells = cells,
					.index = 5,
					.from = from,
					.rows = rows,
					.kinds = ret->kinds,
					.values = (char *)ret->values,
					.count = &count};

	find_cells(f, cells);
	memset(ret, GUARD, sizeof *ret);
	columns_run(f, &b);
	for (size_t i = rows; i < sizeof ret->kinds; i++)
		assert_int_equal(ret->kinds[i], GUARD);
	for (size_t i = 8 * rows; i < sizeof ret->values; i++)
		assert_int_equal(((uint8_t *)ret->values)[i], GUARD);
}

/* How many of the first block's rows it computes; -1: it is not simple. */
static int computed(const char *text, bool python)
{
	struct columns_formula *f = bind(text, python);
	struct made made;
	int n = 0;

	if (!f)
		return -1;
	run(f, 0, COLUMNS_BLOCK, &made);
	columns_free(f);
	for (size_t i = 0; i < COLUMNS_BLOCK; i++)
		n += made.kinds[i] != COLUMNS_UNDONE;
	return n;
}

static void each_is(const char *const *texts, bool python, int want)
{
	for (; *texts; texts++) {
		int n = computed(*texts, python);

		if (n != want)
			fail_msg("%s: %s: %d", python ? "py" : "js", *texts, n);
	}
}

static void what_is_no_simple_formula_is_refused(void **state)
{
	static const char *const none[] = {
		"",	  "f +",   "f f",     "(f",	 "f)",	  "IF(f)",
		"x",	  "'x'",   "f ** 2",  "f(1)",	 "[f]",	  "f, n",
		"f.n",	  "row",   "row.x",   "row[0]",	 "1_0",	  "0x1",
		"07",	  "1e",	   "1n",      "1j",	 "f = n", "IF(f, n,)",
		"f\x01",  "\xc3\xa4", "==f",  "MAX(f)",	 "f << 1", "~f",
		"IFS(f, n, t)", "ABS(f, n)", "row[\"f\\\"]", "1.e", NULL};
	static const char *const js[] = {"f // n", "f and n", "f ?? n",
					 "f++",	   "--f",     "f?.n",
					 "f => n", "not f",   "f /* */",
					 NULL};
	static const char *const python[] = {"f && n", "f ? n : t", "!f",
					     "f if n", "f is n",    "f === n",
					     "f # n",  NULL};

	(void)state;
	table_tame(&table);
	each_is(none, false, -1);
	each_is(none, true, -1);
	each_is(js, false, -1);
	each_is(python, true, -1);
}

static void what_is_too_large_is_refused(void **state)
{
	struct words deep = {.n = 0}, wide = {.n = 0};

	(void)state;
	table_tame(&table);
	for (int i = 0; i < 100; i++)
		say(&deep, "(");
	say(&deep, "f");
	for (int i = 0; i < 100; i++)
		say(&deep, ")");
	assert_int_equal(computed(deep.p, false), -1);
	for (int i = 0; i < 300; i++)
		say(&wide, i ? "+f" : "f");
	/* 300 terms, and 200. */
	assert_int_equal(computed(wide.p, false), -1);
	assert_int_equal(computed(wide.p + 200, false), COLUMNS_BLOCK);
}

/* What takes a thousand times as long as a sum has its bound. */
static void the_time_of_a_block_is_bounded(void **state)
{
	static const char *const terms[] = {"f%n", "n//3", "f/n"};

	(void)state;
	table_tame(&table);
	for (size_t k = 0; k < N(terms); k++) {
		struct words w = {.n = 0};
		int n = 0;

		for (; n < 200; n++) {
			say(&w, n ? "+" : "");
			say(&w, terms[k]);
			if (computed(w.p, true) < 0)
				break;
		}
		/* Of each some, but not without end. */
		assert_in_range(n, 5, k ? 120 : 8);
	}
	for (int op = STEP_FLOAT_ADD; op <= STEP_SELECT; op++)
		assert_in_range(step_cost(op), 1, 256);
}

static void far_remainders_are_left(void **state)
{
	static const char *const texts[] = {"f % g", NULL};
	static const double far[][2] = {{1e300, 3}, {0x1p41, 1.5}, {1, 0},
					{1, 5e-324}, {INFINITY, 2}};
	static const double near[][2] = {{0x1p40, 1.5}, {-7, 3}, {5e-324, 1},
					 {3, 1e300}, {1, 0x1p-39}};

	(void)state;
	table_tame(&table);
	table.columns[1].validity = NULL;
	for (size_t k = 0; k < 5; k++) {
		for (int i = 0; i < 2 * ROOM; i++)
			table.cells[i % 2].values[i / 2].f = far[k][i % 2];
		each_is(texts, false, 0);
		each_is(texts, true, 0);
		for (int i = 0; i < 2 * ROOM; i++)
			table.cells[i % 2].values[i / 2].f = near[k][i % 2];
		each_is(texts, false, COLUMNS_BLOCK);
		each_is(texts, true, COLUMNS_BLOCK);
	}
}

/* One after another, by its first row. */
static void rows_that_are_uncertain_are_left(void **state)
{
	static const struct {
		const char *text;
		double f;
		int64_t n;
		bool js, python; /* whether it is computed */
	} rows[] = {
		{"n + 1", 1, INT64_MAX, false, false},
		{"n - 1", 1, INT64_MIN, false, false},
		{"n * n", 1, 3037000500, true, false},
		{"-n", 1, INT64_MIN, false, false},
		{"ABS(n)", 1, INT64_MIN, false, false},
		{"n // n", 1, 0, false, false},
		{"n / n", 1, 0, false, false},
		{"n % n", 1, 0, false, false},
		{"n + 0", 1, INT64_C(1) << 53, true, true},
		{"n + 0", 1, (INT64_C(1) << 53) + 1, false, true},
		{"n < f", 1, (INT64_C(1) << 53) + 1, false, false},
		{"n / 3", 1, (INT64_C(1) << 53) + 1, false, false},
		{"f * 10", 1e308, 1, false, false},
		{"f", NAN, 1, false, false},
		{"IF(f, 1, 2)", NAN, 1, false, false},
		{"IF(n > 1, 1 / f, 2)", 0, 1, true, true},
		{"IF(n > 1, 1 / f, 2)", 0, 2, false, false},
		{"IFS(n > 1, 2)", 0, 1, false, false},
		{"f == f", NAN, 1, true, true},
		{"null + 1", 1, 1, false, false},
	};
	static const char *const blank[] = {"g", "m", "u", NULL};

	(void)state;
	for (size_t k = 0; k < N(rows); k++) {
		table_tame(&table);
		for (int i = 0; i < ROOM; i++) {
			table.cells[0].values[i].f = rows[k].f;
			table.cells[2].values[i].i = rows[k].n;
		}
		for (int p = 0; p < 2; p++) {
			bool want = p ? rows[k].python : rows[k].js;
			int n = computed(rows[k].text, p);

			if (n != (want ? (int)COLUMNS_BLOCK : 0) &&
			    (n > 0 || want))
				fail_msg("%d: %s: %d", p, rows[k].text, n);
		}
	}
	for (int k = 1; k < 6; k += 2)
		memset(table.cells[k].valid, 0, sizeof table.cells[k].valid);
	each_is(blank, false, 0);
	each_is(blank, true, 0);
}

static void each_step_counts(void **state)
{
	struct columns_formula *f;
	struct made made;

	(void)state;
	table_tame(&table);
	f = bind("f + 1 - n * 2 + f - 3", false);
	assert_non_null(f);
	count = 10;
	run(f, 0, 100, &made);
	assert_in_range(count, 15, 40);
	columns_free(f);
}

static void any_formula_over_any_rows(void **state)
{
	(void)state;
	seed = 11;
	for (int i = 0; i < 3000; i++) {
		bool python = i % 2;
		struct words w = {.python = python};
		struct columns_formula *f;
		struct made a, b;

		if (i % 30 == 0)
			table_fill(&table);
		say_formula(&w);
		f = bind(w.p, python);
		for (int k = 0; f && k < 4; k++) {
			uint32_t rows = 1 + below(COLUMNS_BLOCK);
			uint32_t from = below(ROWS_MAX - COLUMNS_BLOCK);

			run(f, from, rows, &a);
			run(f, from, rows, &b);
			assert_memory_equal(a.kinds, b.kinds, rows);
			for (uint32_t r = 0; r < rows; r++)
				assert_true(a.kinds[r] == COLUMNS_UNDONE ||
					    a.kinds[r] <= COLUMNS_INTEGER);
		}
		columns_free(f);
	}
}

/* All types of three columns, one after the other, and many steps. */
static void memory_is_little(void **state)
{
	struct words w = {.n = 0};
	struct columns_formula *f;
	size_t before, after;
	struct made made;

	(void)state;
	table_fill(&table);
	for (int i = 0; i < 40; i++) {
		char term[40];

		snprintf(term, sizeof term, "%s(c - %d.5) * (d + e)",
			 i ? "+" : "", i);
		say(&w, term);
	}
	before = mallinfo2().uordblks;
	f = bind(w.p, false);
	assert_non_null(f);
	for (uint32_t k = 0; k + COLUMNS_BLOCK < ROWS_MAX; k += COLUMNS_BLOCK)
		run(f, k, COLUMNS_BLOCK, &made);
	after = mallinfo2().uordblks;
	print_message("# %zu bytes\n", after - before);
	assert_true(after - before <= MEMORY_MAX);
	columns_free(f);
}

/* Then the interpreter has it. */
static void without_memory_there_is_no_program(void **state)
{
	struct made made;
	long n;

	(void)state;
	table_fill(&table);
	for (n = 0; n < 100; n++) {
		struct columns_formula *f;

		alloc_refusals = 0;
		alloc_left = n;
		f = bind("IF(c > 1, d, e) + 1", true);
		if (f)
			run(f, 0, COLUMNS_BLOCK, &made);
		alloc_left = -1;
		columns_free(f);
		if (!alloc_refusals)
			break;
	}
	assert_in_range(n, 3, 99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_simple_formula_is_refused),
		cmocka_unit_test(what_is_too_large_is_refused),
		cmocka_unit_test(the_time_of_a_block_is_bounded),
		cmocka_unit_test(far_remainders_are_left),
		cmocka_unit_test(rows_that_are_uncertain_are_left),
		cmocka_unit_test(each_step_counts),
		cmocka_unit_test(any_formula_over_any_rows),
		cmocka_unit_test(memory_is_little),
		cmocka_unit_test(without_memory_there_is_no_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
