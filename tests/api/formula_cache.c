/* What formulas came to is given again to who asks for the very same, and to
 * nobody else.
 * test-seconds: 240 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <redoma.h>

#define MANY 1000000
#define FEW 64

static struct redoma *open_with(struct redoma_options o, const char *policy)
{
	struct redoma_policy *p;
	struct redoma_error e;
	struct redoma *h;

	o.install_dir = TEST_BUILD;
	if (redoma_policy_parse(policy, strlen(policy), "/", &p, &e) ||
	    redoma_open(p, &o, &h, &e))
		fail_msg("%s", e.text);
	redoma_policy_free(p);
	return h;
}

static struct redoma *open_handle(void)
{
	return open_with((struct redoma_options)REDOMA_OPTIONS_INIT,
			 "redoma: 1\nreuse: tenant\n");
}

static struct redoma_sheet *evaluate(struct redoma *h,
				     const struct redoma_formula_request *q)
{
	struct redoma_sheet *s;
	struct redoma_error e;

	if (redoma_formula(h, q, &s, &e))
		fail_msg("%s", e.text);
	assert_int_equal(redoma_result_status(redoma_sheet_result(s)),
			 REDOMA_STATUS_OK);
	assert_int_equal(redoma_sheet_rows(s), q->rows);
	return s;
}

static uint64_t cached(const struct redoma *h)
{
	struct redoma_stats s = REDOMA_STATS_INIT;

	assert_int_equal(redoma_stats(h, &s, NULL), 0);
	return s.cached;
}

static bool has(const struct redoma_sheet *s, const char *text)
{
	return strstr(redoma_result_json(redoma_sheet_result(s), NULL), text);
}

/* Whether it needed no run; it says so itself. */
static bool recalls(struct redoma *h, const struct redoma_formula_request *q)
{
	uint64_t before = cached(h), after;
	struct redoma_sheet *s = evaluate(h, q);

	after = cached(h);
	assert_true(has(s, "\"cached\":true") == (after > before));
	redoma_sheet_free(s);
	return after > before;
}

static void cells_are_equal(const struct redoma_sheet *a,
			    const struct redoma_sheet *b, uint64_t formulas)
{
	for (uint64_t f = 0; f < formulas; f++)
		for (uint64_t i = 0; i < redoma_sheet_rows(a); i++) {
			struct redoma_cell x = redoma_sheet_cell(a, f, i);
			struct redoma_cell y = redoma_sheet_cell(b, f, i);

			assert_int_equal(x.kind, y.kind);
			assert_memory_equal(&x.number, &y.number,
					    sizeof x.number);
			assert_int_equal(x.integer, y.integer);
			assert_int_equal(x.len, y.len);
			if (x.len)
				assert_memory_equal(x.text, y.text, x.len);
		}
}

/* ---- the same again ---- */

static uint64_t timed(struct redoma *h, const struct redoma_formula_request *q,
		      struct redoma_sheet **ret)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	*ret = evaluate(h, q);
	clock_gettime(CLOCK_MONOTONIC, &b);
	return (uint64_t)(b.tv_sec - a.tv_sec) * 1000000 +
	       (uint64_t)((b.tv_nsec - a.tv_nsec) / 1000);
}

static void a_million_rows(const char *language, const char *text)
{
	static double price[MANY];
	static int64_t qty[MANY];
	const struct redoma_formula f = {"total", text};
	const struct redoma_column columns[] = {
		{"price", REDOMA_COLUMN_FLOAT64, NULL, price, NULL, 0, 0},
		{"qty", REDOMA_COLUMN_INT64, NULL, qty, NULL, 0, 0},
	};
	struct redoma_formula_request q = REDOMA_FORMULA_REQUEST_INIT;
	struct redoma *h = open_handle();
	struct redoma_sheet *first, *again;
	uint64_t first_us, again_us, best_us = UINT64_MAX;

	for (int i = 0; i < MANY; i++) {
		price[i] = 1.25 * (i % 1000);
		qty[i] = i % 7;
	}
	q.language = language;
	q.formulas = &f;
	q.n_formulas = 1;
	q.columns = columns;
	q.n_columns = 2;
	/* So that no start of a worker is in it. */
	q.rows = 1;
	redoma_sheet_free(evaluate(h, &q));
	q.rows = MANY;
	first_us = timed(h, &q, &first);
	assert_true(has(first, "\"pure\":true"));
	assert_false(has(first, "cached"));
	for (int i = 0; i < 5; i++) {
		again_us = timed(h, &q, &again);
		best_us = again_us < best_us ? again_us : best_us;
		assert_true(has(again, "\"cached\":true"));
		assert_true(has(again, "\"pure\":true"));
		cells_are_equal(first, again, 1);
		redoma_sheet_free(again);
	}
	printf("# %s: %llu us, again %llu us\n", language,
	       (unsigned long long)first_us, (unsigned long long)best_us);
	assert_true(best_us < first_us / 5);
	redoma_sheet_free(first);
	redoma_close(h);
}

static void a_million_rows_again_take_less_than_a_fifth(void **state)
{
	(void)state;
	/* No simple ones, which take little more than to compare. */
	a_million_rows("js", "qty > 3 ? ROUND(price * qty, 1) : 0");
	a_million_rows("py", "ROUND(price*qty, 1) if qty>3 else 0");
}

/* ---- a little table, and what may differ in it ---- */

struct table {
	double a[FEW], b[FEW];
	uint8_t valid[FEW / 8];
	uint32_t offsets[FEW + 1];
	char text[FEW];
	struct redoma_formula formulas[2];
	struct redoma_column columns[3];
	struct redoma_formula_request q;
};

static void table_init(struct table *t)
{
	*t = (struct table){
		.formulas = {{"x", "a * 10 + LEN(c)"}, {"y", "b / (a - 3)"}},
		.columns = {{"a", REDOMA_COLUMN_FLOAT64, t->valid, t->a, NULL,
			     0, 0},
			    {"b", REDOMA_COLUMN_FLOAT64, NULL, t->b, NULL, 0,
			     0},
			    {"c", REDOMA_COLUMN_TEXT, NULL, t->offsets, t->text,
			     FEW, 0}},
		.q = REDOMA_FORMULA_REQUEST_INIT};
	for (uint32_t i = 0; i < FEW; i++) {
		t->a[i] = i;
		t->b[i] = 2 * i;
		t->text[i] = (char)('a' + i % 26);
		t->offsets[i] = i;
	}
	t->offsets[FEW] = FEW;
	memset(t->valid, 0xff, sizeof t->valid);
	t->q.language = "js";
	t->q.formulas = t->formulas;
	t->q.n_formulas = 2;
	t->q.columns = t->columns;
	t->q.n_columns = 3;
	t->q.rows = FEW;
}

static void no_difference(struct table *t)
{
	(void)t;
}

static void other_tenant(struct table *t)
{
	t->q.tenant = "other";
}

static void other_cell(struct table *t)
{
	t->b[FEW / 2]++;
}

static void other_text(struct table *t)
{
	t->text[FEW - 1]++;
}

static void other_length_of_text(struct table *t)
{
	t->offsets[FEW / 2]++;
}

static void other_validity(struct table *t)
{
	t->valid[3] ^= 4;
}

static void other_formula(struct table *t)
{
	t->formulas[1].text = "b / (a - 4)";
}

static void other_name(struct table *t)
{
	t->formulas[1].name = "z";
}

static void other_order(struct table *t)
{
	struct redoma_column c = t->columns[0];

	t->columns[0] = t->columns[1];
	t->columns[1] = c;
}

static void other_order_of_formulas(struct table *t)
{
	struct redoma_formula f = t->formulas[0];

	t->formulas[0] = t->formulas[1];
	t->formulas[1] = f;
}

static void other_type(struct table *t)
{
	t->columns[1].layout = REDOMA_COLUMN_INT64;
}

static void other_rows(struct table *t)
{
	t->q.rows--;
}

static void other_first(struct table *t)
{
	t->q.first = 1;
}

static void other_row_time(struct table *t)
{
	t->q.row_us = 50000;
}

static void other_language(struct table *t)
{
	t->q.language = "py";
}

static struct redoma_policy *narrow;

static void other_policy(struct table *t)
{
	const char text[] = "redoma: 1\nreuse: tenant\nlimits: {wall: 9s}\n";
	struct redoma_error e;

	if (!narrow &&
	    redoma_policy_parse(text, sizeof text - 1, "/", &narrow, &e))
		fail_msg("%s", e.text);
	t->q.narrow = narrow;
}

static const struct {
	const char *name;
	void (*change)(struct table *t);
} differences[] = {
#define ROW(what) {#what, what}
	ROW(other_tenant),     ROW(other_cell),
	ROW(other_text),       ROW(other_length_of_text),
	ROW(other_validity),   ROW(other_formula),
	ROW(other_name),       ROW(other_order),
	ROW(other_type),       ROW(other_order_of_formulas),
	ROW(other_rows),       ROW(other_first),
	ROW(other_row_time),   ROW(other_language),
	ROW(other_policy),
#undef ROW
};

/* For want of workers all would be run. */
static void have_workers(struct redoma *h, const struct table *t)
{
	const struct redoma_formula f = {"z", "1"};
	struct redoma_formula_request q = t->q;

	q.formulas = &f;
	q.n_formulas = 1;
	redoma_sheet_free(evaluate(h, &q));
}

/* Each finds what is its own as well, and what was there before stays. */
static void whatever_differs_is_run(void **state)
{
	struct redoma *h = open_handle();
	struct table t;

	(void)state;
	table_init(&t);
	assert_false(recalls(h, &t.q));
	for (size_t i = 0; i < sizeof differences / sizeof *differences; i++) {
		table_init(&t);
		no_difference(&t);
		assert_true(recalls(h, &t.q));
		differences[i].change(&t);
		have_workers(h, &t);
		if (recalls(h, &t.q))
			fail_msg("%s", differences[i].name);
		assert_true(recalls(h, &t.q));
	}
	redoma_policy_free(narrow);
	narrow = NULL;
	redoma_close(h);
}

/* Values, errors and what they say, in both languages. */
static void the_answer_is_the_same_to_the_last_byte(void **state)
{
	static const char *const languages[] = {"js", "py"};
	struct redoma *h = open_handle();
	struct table t;

	(void)state;
	table_init(&t);
	t.formulas[0].text = "IF(a < 9, UPPER(c) + TEXT(b, '0.00'), nosuch)";
	for (int i = 0; i < 2; i++) {
		struct redoma_sheet *first, *again;
		struct redoma_cell c;

		t.q.language = languages[i];
		first = evaluate(h, &t.q);
		again = evaluate(h, &t.q);
		assert_false(has(first, "cached"));
		assert_true(has(again, "\"cached\":true"));
		cells_are_equal(first, again, 2);
		c = redoma_sheet_cell(again, 0, 9);
		assert_int_equal(c.kind, REDOMA_CELL_ERROR);
		assert_memory_equal(c.text, "#NAME? ", 7);
		c = redoma_sheet_cell(again, 1, 3);
		assert_memory_equal(c.text, "#DIV/0! ", 8);
		/* The sheets are their own. */
		redoma_sheet_free(first);
		assert_memory_equal(redoma_sheet_cell(again, 1, 3).text,
				    "#DIV/0! ", 8);
		redoma_sheet_free(again);
	}
	redoma_close(h);
}

/* ---- what may not be given again ---- */

static void only_now_is_now(void **state)
{
	static const char *const languages[] = {"js", "py"};
	struct redoma *h = open_handle();
	struct table t;

	(void)state;
	table_init(&t);
	t.q.n_formulas = 1;
	for (int i = 0; i < 2; i++) {
		t.q.language = languages[i];
		t.formulas[0].text = "YEAR(NOW()) + a";
		t.q.now_us = 1000000;
		assert_false(recalls(h, &t.q));
		assert_true(recalls(h, &t.q));
		t.q.now_us = INT64_C(40) * 366 * 86400 * 1000000;
		assert_false(recalls(h, &t.q));
		assert_true(recalls(h, &t.q));
		t.q.now_us = 0;
		assert_false(recalls(h, &t.q));
		assert_false(recalls(h, &t.q));
		t.formulas[0].text = "IF(a < 0, TODAY(), a)";
		assert_false(recalls(h, &t.q));
		assert_true(recalls(h, &t.q)); /* nobody asked */
		t.formulas[0].text = "IF(a > 0, TODAY(), a)";
		assert_false(recalls(h, &t.q));
		assert_false(recalls(h, &t.q));
	}
	redoma_close(h);
}

static void the_policy_tells_the_time(void **state)
{
	static const struct {
		const char *clock;
		int64_t year;
	} rows[] = {{"real", 1970}, {"fixed:2026-01-01T00:00:00Z", 2026},
		    {"none", 0}};
	static const char *const languages[] = {"js", "py"};
	char text[80];

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct redoma *h;
		struct redoma_sheet *s;
		struct redoma_cell c;
		struct table t;

		snprintf(text, sizeof text, "redoma: 1\nclock: %s\n",
			 rows[i / 2].clock);
		h = open_with((struct redoma_options)REDOMA_OPTIONS_INIT, text);
		table_init(&t);
		t.q.n_formulas = 1;
		t.q.rows = 1;
		t.q.language = languages[i % 2];
		t.q.now_us = 1000000;
		t.formulas[0].text = "YEAR(NOW())";
		s = evaluate(h, &t.q);
		c = redoma_sheet_cell(s, 0, 0);
		if (rows[i / 2].year && c.kind == REDOMA_CELL_NUMBER)
			assert_int_equal(c.number, rows[i / 2].year);
		else if (rows[i / 2].year)
			assert_int_equal(c.integer, rows[i / 2].year);
		else
			assert_int_equal(c.kind, REDOMA_CELL_ERROR);
		redoma_sheet_free(s);
		redoma_close(h);
	}
}

static void what_is_not_pure_is_run(void **state)
{
	static const char *const texts[] = {
		"Math.random() + a", "new Date().getTime() + a",
		"Date.now() + a",
		/* Ended by the clock. */
		"a === 5 ? (() => { for (;;); })() : a"};
	struct redoma *h = open_handle();
	struct table t;

	(void)state;
	table_init(&t);
	t.q.n_formulas = 1;
	t.q.row_us = 20000;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct redoma_sheet *s;

		t.formulas[0].text = texts[i];
		s = evaluate(h, &t.q);
		if (!has(s, "\"pure\":false"))
			fail_msg("%s", texts[i]);
		redoma_sheet_free(s);
		if (recalls(h, &t.q))
			fail_msg("%s", texts[i]);
	}
	t.q.language = "py";
	t.formulas[0].text = "len([0 for x in iter(int, 1)]) if a == 5 else a";
	assert_false(recalls(h, &t.q));
	assert_false(recalls(h, &t.q));
	redoma_close(h);
}

/* Not the clock: another run ends at the same row. */
static void what_fuel_ends_is_pure(void **state)
{
	struct redoma *h = open_with(
		(struct redoma_options)REDOMA_OPTIONS_INIT,
		"redoma: 1\nlimits: {fuel: 20000000}\n");
	struct redoma_sheet *s;
	struct table t;

	(void)state;
	table_init(&t);
	t.q.n_formulas = 1;
	t.formulas[0].text = "index === 63 ? (() => { for (;;); })() : a";
	s = evaluate(h, &t.q);
	assert_memory_equal(redoma_sheet_cell(s, 0, 63).text, "#TIME! ", 7);
	assert_true(has(s, "\"pure\":true"));
	redoma_sheet_free(s);
	t.formulas[0].text = "a";
	assert_false(recalls(h, &t.q));
	assert_true(recalls(h, &t.q));
	redoma_close(h);
}

static void fails(struct redoma *h, const struct redoma_formula_request *q)
{
	uint64_t before = cached(h);
	struct redoma_sheet *s;
	struct redoma_error e;

	if (redoma_formula(h, q, &s, &e))
		fail_msg("%s", e.text);
	assert_int_not_equal(redoma_result_status(redoma_sheet_result(s)),
			     REDOMA_STATUS_OK);
	assert_int_equal(cached(h), before);
	redoma_sheet_free(s);
}

static void what_fails_is_run(void **state)
{
	struct redoma *h = open_handle();
	struct table t;

	(void)state;
	table_init(&t);
	t.formulas[0].text = "1 +";
	fails(h, &t.q);
	fails(h, &t.q);
	redoma_close(h);
}

/* A request that may not be is refused although its answer is known. */
static void what_is_kept_allows_nothing(void **state)
{
	const char wide[] = "redoma: 1\nreuse: tenant\nlimits: {wall: 20s}\n";
	struct redoma *h = open_handle();
	struct redoma_policy *p;
	struct redoma_sheet *s;
	struct redoma_error e;
	struct table t;

	(void)state;
	table_init(&t);
	assert_false(recalls(h, &t.q));
	assert_true(recalls(h, &t.q));
	assert_int_equal(
		redoma_policy_parse(wide, sizeof wide - 1, "/", &p, &e), 0);
	t.q.narrow = p;
	assert_int_equal(redoma_formula(h, &t.q, &s, &e), REDOMA_E_DENIED);
	redoma_policy_free(p);
	redoma_close(h);
}

static void never_recalls(struct redoma_options o, const char *policy)
{
	struct redoma *h = open_with(o, policy);
	struct table t;

	table_init(&t);
	for (int i = 0; i < 3; i++)
		if (recalls(h, &t.q))
			fail_msg("%s", policy);
	redoma_close(h);
}

static void nothing_is_kept_where_that_is_not_wanted(void **state)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;

	(void)state;
	never_recalls(o, "redoma: 1\nread: [/etc/passwd]\n");
	o.verify = 1;
	never_recalls(o, "redoma: 1\nreuse: tenant\n");
	o.verify = 0;
	o.single = 1;
	never_recalls(o, "redoma: 1\n");
	o.single = 0;
	o.formula_cache = 1;
	never_recalls(o, "redoma: 1\nreuse: tenant\n");
}

static void what_is_kept_is_bounded(void **state)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma *h;
	struct table t;

	(void)state;
	o.formula_cache = 5000; /* room for one */
	h = open_with(o, "redoma: 1\nreuse: tenant\n");
	table_init(&t);
	assert_false(recalls(h, &t.q));
	assert_true(recalls(h, &t.q));
	other_cell(&t);
	assert_false(recalls(h, &t.q));
	assert_true(recalls(h, &t.q));
	table_init(&t);
	assert_false(recalls(h, &t.q));
	redoma_close(h);
}

/* ---- an image in the place of another ---- */

static const char *below(const char *name)
{
	static char path[2][256];
	static unsigned next;
	const char *tmp = getenv("TMPDIR");
	char *p = path[next++ % 2];

	snprintf(p, sizeof path[0], "%s/%s", tmp ? tmp : "/tmp", name);
	return p;
}

static void put(const char *from, const char *to)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%s", TEST_BUILD, from);
	unlink(below(to));
	assert_int_equal(symlink(path, below(to)), 0);
}

#define IMAGE "install/images/js-formula.cwasm"
#define TENANTS 16 /* that have workers at a time */

static struct redoma *open_installed(void)
{
	static const char policy[] = "redoma: 1\nreuse: tenant\n";
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *p;
	struct redoma_error e;
	struct redoma *h;

	mkdir(below("install"), 0755);
	mkdir(below("install/images"), 0755);
	put("redoma-worker", "install/redoma-worker");
	put("images/js-formula.cwasm", IMAGE);
	o.install_dir = below("install");
	o.warm = 1;
	if (redoma_policy_parse(policy, sizeof policy - 1, "/", &p, &e) ||
	    redoma_open(p, &o, &h, &e))
		fail_msg("%s", e.text);
	redoma_policy_free(p);
	return h;
}

static void end_the_workers_of_others(struct redoma *h)
{
	struct redoma_formula f = {"x", "1"};
	struct redoma_formula_request q = REDOMA_FORMULA_REQUEST_INIT;
	char tenant[16];

	q.language = "js";
	q.tenant = tenant;
	q.formulas = &f;
	q.n_formulas = 1;
	q.rows = 1;
	for (int i = 0; i < TENANTS; i++) {
		snprintf(tenant, sizeof tenant, "other%d", i);
		redoma_sheet_free(evaluate(h, &q));
	}
}

static double first_cell(struct redoma *h,
			 const struct redoma_formula_request *q)
{
	struct redoma_sheet *s = evaluate(h, q);
	double number = redoma_sheet_cell(s, 0, 0).number;

	redoma_sheet_free(s);
	return number;
}

/* The other image stands for any: it answers otherwise. */
static void an_answer_is_of_the_image_that_would_run(void **state)
{
	struct redoma_formula f = {"x", "-7.0 % 5"};
	struct redoma_formula_request q = REDOMA_FORMULA_REQUEST_INIT;
	struct redoma *h = open_installed();

	(void)state;
	q.language = "js";
	q.formulas = &f;
	q.n_formulas = 1;
	q.rows = 1;
	assert_false(recalls(h, &q));
	assert_true(recalls(h, &q));
	put("images/py-formula.cwasm", IMAGE);
	/* The workers still have the old one. */
	for (int i = 0; i < 2; i++)
		assert_true(first_cell(h, &q) == -2);
	end_the_workers_of_others(h);
	assert_true(first_cell(h, &q) == 3);
	assert_true(recalls(h, &q));
	assert_true(first_cell(h, &q) == 3);
	put("images/js-formula.cwasm", IMAGE);
	end_the_workers_of_others(h);
	assert_true(first_cell(h, &q) == -2);
	redoma_close(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_differs_is_run),
		cmocka_unit_test(the_answer_is_the_same_to_the_last_byte),
		cmocka_unit_test(only_now_is_now),
		cmocka_unit_test(the_policy_tells_the_time),
		cmocka_unit_test(what_is_not_pure_is_run),
		cmocka_unit_test(what_fuel_ends_is_pure),
		cmocka_unit_test(what_fails_is_run),
		cmocka_unit_test(what_is_kept_allows_nothing),
		cmocka_unit_test(nothing_is_kept_where_that_is_not_wanted),
		cmocka_unit_test(what_is_kept_is_bounded),
		cmocka_unit_test(an_answer_is_of_the_image_that_would_run),
		cmocka_unit_test(a_million_rows_again_take_less_than_a_fifth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
