/* Column programs give what the interpreter gives, to the bit: formulas made
 * at random over columns of all layouts, each beside itself in [...][0], which
 * no program has.  And they are used where they may be, as the handle counts.
 *
 * cases_formula_columns [SEED [ROUNDS]]
 * test-seconds: 240 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include "columns_world.h"

#define AT_ONCE 6
#define N(list) (sizeof(list) / sizeof *(list))

static unsigned rounds = 120;
static struct table table;

static struct redoma *open_with(const char *policy)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *p;
	struct redoma_error e;
	struct redoma *h;

	o.install_dir = TEST_BUILD;
	o.formula_cache = 1;
	if (redoma_policy_parse(policy, strlen(policy), "/", &p, &e) ||
	    redoma_open(p, &o, &h, &e))
		fail_msg("%s", e.text);
	redoma_policy_free(p);
	return h;
}

static struct redoma *open_handle(void)
{
	return open_with("redoma: 1\nreuse: tenant\n"
			 "limits:\n  wall: 60s\n");
}

static struct redoma_formula_request ask(const char *language,
					 const struct redoma_formula *f,
					 uint64_t n)
{
	struct redoma_formula_request q = REDOMA_FORMULA_REQUEST_INIT;

	q.language = language;
	q.formulas = f;
	q.n_formulas = n;
	q.columns = table.columns;
	q.n_columns = COLUMNS;
	q.rows = table.rows;
	q.row_us = 10000000;
	return q;
}

static struct redoma_sheet *evaluate(struct redoma *h,
				     const struct redoma_formula_request *q)
{
	struct redoma_sheet *s;
	struct redoma_error e;

	if (redoma_formula(h, q, &s, &e))
		fail_msg("%s", e.text);
	if (redoma_result_status(redoma_sheet_result(s)) ||
	    redoma_sheet_rows(s) != q->rows)
		fail_msg("%s: %s", q->formulas->text,
			 redoma_result_json(redoma_sheet_result(s), NULL));
	return s;
}

static uint64_t columnar(const struct redoma *h)
{
	struct redoma_stats s = REDOMA_STATS_INIT;

	assert_int_equal(redoma_stats(h, &s, NULL), 0);
	return s.columnar;
}

/* ---- they are used ---- */

/* How many cells of one formula a program computes. */
static uint64_t computed(struct redoma *h, const char *language,
			 const char *text, uint32_t rows)
{
	const struct redoma_formula f = {"p0", text};
	struct redoma_formula_request q = ask(language, &f, 1);
	uint64_t before = columnar(h);

	q.rows = rows;
	redoma_sheet_free(evaluate(h, &q));
	return columnar(h) - before;
}

static const char *const simple[2][26] = {
	{"f * n", "n > 3 ? f * n : 0", "IF(n > 3, f * n, 0)", "IF(t, f)",
	 "IFS(n > 3, 1, true, f)", "AND(t, n > 1)", "OR(t, f < n)", "NOT(t)",
	 "ABS(-f)", "IFERROR(f, 0)", "-f + +n", "!t", "n % 7", "f / 4",
	 "index * 2", "row.f + col[\"n\"]", "f == n", "f === n", "t && f",
	 "f || n", "=f + 1", "1", "(f)", "null", "n - 1.5e3",
	 "f > 1 !== t ? 1 : true"},
	{"f * n", "f * n if n > 3 else 0", "IF(n > 3, f * n, 0)", "IF(t, f)",
	 "IFS(n > 3, 1, True, f)", "AND(t, n > 1)", "OR(t, f < n)", "NOT(t)",
	 "ABS(-f)", "IFERROR(f, 0)", "-f + +n", "not t", "n % 7", "f / 4",
	 "index * 2", "row.f + col[\"n\"]", "f == n", "f // n", "t and f",
	 "f or n", "=f + 1", "1", "(f)", "None", "n // 2 - 1",
	 "1 < n < 5 or not t"},
};

static void simple_formulas_are_computed_many_rows_at_once(void **state)
{
	static const char *const languages[] = {"js", "py"};
	static const char *const others[] = {"[f][0]", "MAX(f, n)", "f ** 2",
					     "c + 'x'"};
	struct redoma *h = open_handle();

	(void)state;
	table_tame(&table);
	table.rows = 1000;
	for (int k = 0; k < 2; k++) {
		for (size_t i = 0; i < N(simple[k]); i++) {
			uint64_t n = computed(h, languages[k], simple[k][i],
					      1000);

			if (n != 1000)
				fail_msg("%s: %s: %llu of 1000", languages[k],
					 simple[k][i], (unsigned long long)n);
		}
		for (size_t i = 0; i < N(others); i++)
			assert_int_equal(computed(h, languages[k], others[i],
						  1000),
					 0);
		/* Not worth it. */
		assert_int_equal(computed(h, languages[k], "f * n", 63), 0);
		assert_int_equal(computed(h, languages[k], "f * n", 64), 64);
	}
	redoma_close(h);
}

/* ---- they give the same ---- */

static bool is_same(const struct redoma_cell *a, const struct redoma_cell *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == REDOMA_CELL_TEXT || a->kind == REDOMA_CELL_ERROR)
		return a->len == b->len && !memcmp(a->text, b->text, a->len);
	return !memcmp(&a->number, &b->number, sizeof a->number) &&
	       a->integer == b->integer;
}

static void differ(const struct redoma_formula_request *q, int i, uint64_t row,
		   const struct redoma_cell *a, const struct redoma_cell *b)
{
	fail_msg("%s: %s: row %llu of %llu: kind %d, %a, %lld, %.*s; by the "
		 "interpreter kind %d, %a, %lld, %.*s",
		 q->language, q->formulas[2 * i].text, (unsigned long long)row,
		 (unsigned long long)q->rows, (int)a->kind, a->number,
		 (long long)a->integer, (int)a->len, a->text, (int)b->kind,
		 b->number, (long long)b->integer, (int)b->len, b->text);
}

/* Formulas and the same kept from their programs, in turns. */
static void compare(struct redoma *h, const struct redoma_formula_request *q)
{
	struct redoma_sheet *s = evaluate(h, q);

	for (int i = 0; i < AT_ONCE; i++) {
		for (uint64_t k = 0; k < q->rows; k++) {
			struct redoma_cell a = redoma_sheet_cell(s, 2 * i, k);
			struct redoma_cell b =
				redoma_sheet_cell(s, 2 * i + 1, k);

			if (!is_same(&a, &b))
				differ(q, i, k, &a, &b);
		}
	}
	redoma_sheet_free(s);
}

static uint64_t round_of(struct redoma *h, bool python)
{
	static char texts[2 * AT_ONCE][sizeof(struct words)];
	static char names[2 * AT_ONCE][4];
	struct redoma_formula f[2 * AT_ONCE];
	struct redoma_formula_request q;
	struct words w;

	table_fill(&table);
	for (int i = 0; i < AT_ONCE; i++) {
		w = (struct words){.python = python, .others = i};
		say_formula(&w);
		snprintf(texts[2 * i], sizeof texts[0], "%s", w.p);
		snprintf(texts[2 * i + 1], sizeof texts[0], "[%s][0]", w.p);
		snprintf(names[2 * i], sizeof names[0], "p%d", i);
		snprintf(names[2 * i + 1], sizeof names[0], "q%d", i);
	}
	for (int i = 0; i < 2 * AT_ONCE; i++)
		f[i] = (struct redoma_formula){names[i], texts[i]};
	q = ask(python ? "py" : "js", f, 2 * AT_ONCE);
	q.first = chance(10) ? (UINT64_C(1) << 53) - 100 : below(1000);
	compare(h, &q);
	return q.rows * AT_ONCE;
}

static void a_program_gives_what_the_interpreter_gives(void **state)
{
	struct redoma *h = open_handle();
	uint64_t cells = 0;

	(void)state;
	for (unsigned i = 0; i < rounds; i++) {
		cells += round_of(h, false);
		cells += round_of(h, true);
	}
	print_message("# %llu cells, %llu by programs\n",
		      (unsigned long long)cells,
		      (unsigned long long)columnar(h));
	/* Or it compares the interpreter with itself. */
	assert_true(columnar(h) > cells / 5);
	redoma_close(h);
}

/* ---- limits ---- */

static void under_fuel_each_row_counts_by_itself(void **state)
{
	static const char *const fuel[] = {"1000000", "2000000"};
	char policy[128];

	(void)state;
	for (int k = 0; k < 2; k++) {
		const struct redoma_formula f = {"p0", "f * n + 1"};
		struct redoma_formula_request q = ask(k ? "py" : "js", &f, 1);
		struct redoma_sheet *s;
		struct redoma *h;

		table_tame(&table);
		q.rows = ROWS_MAX;
		q.row_us = 0;
		snprintf(policy, sizeof policy,
			 "redoma: 1\nlimits:\n  fuel: %s\n", fuel[k]);
		h = open_with(policy);
		s = evaluate(h, &q);
		/* It was cut, so that this limit was one. */
		assert_int_equal(columnar(h), 0);
		for (uint64_t i = 0; i < q.rows; i++)
			assert_int_equal(redoma_sheet_cell(s, 0, i).kind,
					 REDOMA_CELL_NUMBER);
		redoma_sheet_free(s);
		redoma_close(h);
	}
}

/* Remainders of numbers that lie far apart take a thousand times as long. */
static void a_block_takes_no_rows_time(void **state)
{
	const char *language = "js";
	struct redoma *h = open_handle();
	struct words w = {.n = 0};

	(void)state;
	for (int i = 0; i < 110; i++)
		say(&w, i ? "+f%g" : "f%g");
	table_tame(&table);
	for (uint32_t i = 0; i < ROOM; i++) {
		table.cells[0].values[i].f = 0x1.fp1023;
		table.cells[1].values[i].f = 0x3p-1074;
	}
	table.columns[1].validity = NULL;
	for (int k = 0; k < 2; k++, language = "py") {
		const struct redoma_formula f = {"p0", w.p};
		struct redoma_formula_request q = ask(language, &f, 1);
		struct redoma_sheet *s;

		q.rows = 1024;
		q.row_us = 10000;
		s = evaluate(h, &q);
		for (uint64_t i = 0; i < q.rows; i++)
			assert_int_equal(redoma_sheet_cell(s, 0, i).kind,
					 REDOMA_CELL_NUMBER);
		redoma_sheet_free(s);
	}
	redoma_close(h);
}

/* ---- names ---- */

/* f + n of a table that is tame. */
static double sum_at(uint64_t row)
{
	uint64_t f = table.columns[0].offset + row;
	uint64_t n = table.columns[2].offset + row;

	return 1 + (double)f / 4 + (double)(1 + n % 7);
}

/* In JavaScript a name of a column may be one that rewritten formulas use. */
static void columns_may_have_names_of_ours(void **state)
{
	static const char *const names[] = {"$t", "$s", "$$0", "$$1", "$T",
					    "$A", "$EN"};
	struct redoma *h = open_handle();
	char texts[2][96];

	(void)state;
	for (size_t i = 0; i < N(names); i++) {
		const struct redoma_formula f[] = {{"p0", texts[0]},
						   {"q0", texts[1]}};
		struct redoma_formula_request q = ask("js", f, 2);
		struct redoma_sheet *s;

		table_tame(&table);
		table.columns[0].name = names[i];
		q.rows = 200;
		snprintf(texts[0], sizeof texts[0],
			 "IF(AND(%s, n), row.n, 2) * 1 + %s", names[i],
			 names[i]);
		snprintf(texts[1], sizeof texts[1], "[%.80s][0]", texts[0]);
		s = evaluate(h, &q);
		for (uint64_t k = 0; k < q.rows; k++) {
			struct redoma_cell a = redoma_sheet_cell(s, 0, k);
			struct redoma_cell b = redoma_sheet_cell(s, 1, k);

			assert_true(is_same(&a, &b));
			/* The last three are helpers. */
			assert_int_equal(a.kind, i < 4 ? REDOMA_CELL_NUMBER
						       : REDOMA_CELL_ERROR);
			if (i < 4)
				assert_true(a.number == sum_at(k));
		}
		redoma_sheet_free(s);
	}
	assert_int_equal(columnar(h), 4 * 200);
	redoma_close(h);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			simple_formulas_are_computed_many_rows_at_once),
		cmocka_unit_test(a_program_gives_what_the_interpreter_gives),
		cmocka_unit_test(under_fuel_each_row_counts_by_itself),
		cmocka_unit_test(a_block_takes_no_rows_time),
		cmocka_unit_test(columns_may_have_names_of_ours),
	};

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 10) * 0x9e3779b97f4a7c15 + 1;
	if (argc > 2)
		rounds = (unsigned)atoi(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
