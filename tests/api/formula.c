/* Formulas by the library: columns as Apache Arrow lays them out, in and out,
 * in batches, under limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <redoma.h>

#define ROWS 1000

static struct redoma *open_with(struct redoma_options o, const char *key,
				const char *value)
{
	struct redoma_policy *p, *q;
	struct redoma_error e;
	struct redoma *h;

	o.install_dir = TEST_BUILD;
	assert_int_equal(redoma_policy_parse("", 0, NULL, &p, &e), 0);
	if (key) {
		assert_int_equal(
			redoma_policy_with(p, key, value, NULL, &q, &e), 0);
		redoma_policy_free(p);
		p = q;
	}
	if (redoma_open(p, &o, &h, &e))
		fail_msg("%s", e.text);
	redoma_policy_free(p);
	return h;
}

static struct redoma *open_handle(const char *key, const char *value)
{
	return open_with((struct redoma_options)REDOMA_OPTIONS_INIT, key,
			 value);
}

static struct redoma_sheet *evaluate(struct redoma *h,
				     const struct redoma_formula_request *q)
{
	struct redoma_sheet *s;
	struct redoma_error e;

	if (redoma_formula(h, q, &s, &e))
		fail_msg("%s", e.text);
	return s;
}

/* A record batch of its own making, as another library hands it over. */
struct world {
	double price[ROWS];
	int64_t qty[ROWS];
	uint8_t valid[ROWS / 8], truth[ROWS / 8];
	int32_t offsets[ROWS + 1], day[ROWS];
	int64_t time[ROWS];
	char names[4 * ROWS];
	struct ArrowSchema schemas[6], *schema_list[6], schema;
	struct ArrowArray arrays[6], *array_list[6], batch;
	const void *buffers[6][3];
	struct redoma_column columns[6];
};

static void fill(struct world *w)
{
	for (int i = 0; i < ROWS; i++) {
		char name[8];

		w->price[i] = i / 4.0;
		w->qty[i] = i % 7;
		w->day[i] = i;
		w->time[i] = (int64_t)i * 3600000000 + 1000;
		snprintf(name, sizeof name, "n%03d", i);
		memcpy(w->names + 4 * i, name, 4);
		w->offsets[i] = 4 * i;
		if (i % 3)
			w->valid[i / 8] |= (uint8_t)(1 << (i % 8));
		if (i % 2)
			w->truth[i / 8] |= (uint8_t)(1 << (i % 8));
	}
	w->offsets[ROWS] = 4 * ROWS;
}

static struct world *world_new(int64_t offset)
{
	static const char *const names[] = {"price", "qty", "yes",
					    "name",  "day", "time"};
	static const char *const formats[] = {"g", "l",   "b",
					      "u", "tdD", "tsu:UTC"};
	struct world *w = calloc(1, sizeof *w);
	struct redoma_error e;

	assert_non_null(w);
	fill(w);
	w->buffers[0][0] = w->valid;
	w->buffers[0][1] = w->price;
	w->buffers[1][1] = w->qty;
	w->buffers[2][1] = w->truth;
	w->buffers[3][1] = w->offsets;
	w->buffers[3][2] = w->names;
	w->buffers[4][1] = w->day;
	w->buffers[5][1] = w->time;
	for (int i = 0; i < 6; i++) {
		w->schemas[i].name = names[i];
		w->schemas[i].format = formats[i];
		w->schema_list[i] = &w->schemas[i];
		w->arrays[i].length = ROWS;
		w->arrays[i].null_count = i ? 0 : -1;
		w->arrays[i].n_buffers = i == 3 ? 3 : 2;
		w->arrays[i].buffers = w->buffers[i];
		w->array_list[i] = &w->arrays[i];
	}
	w->schema.format = "+s";
	w->schema.n_children = w->batch.n_children = 6;
	w->schema.children = w->schema_list;
	w->batch.children = w->array_list;
	w->batch.length = ROWS - offset;
	w->batch.offset = offset;
	if (redoma_columns_from_arrow(&w->schema, &w->batch, w->columns, &e))
		fail_msg("%s", e.text);
	return w;
}

static struct redoma_formula_request
request(const struct world *w, const struct redoma_formula *f, uint64_t n)
{
	struct redoma_formula_request q = REDOMA_FORMULA_REQUEST_INIT;

	q.language = "js";
	q.formulas = f;
	q.n_formulas = n;
	q.columns = w->columns;
	q.n_columns = 6;
	q.rows = (uint64_t)w->batch.length;
	return q;
}

static const struct redoma_formula all[] = {
	{"total", "price * qty"},  {"label", "name + (yes ? '!' : '')"},
	{"next", "EDATE(day, 0)"}, {"hour", "HOUR(time)"},
	{"big", "price > 100"},    {"div", "10 / qty"},
	{"when", "time"},
};
#define N_ALL (sizeof all / sizeof *all)

/* The same in Python, where nothing is no number. */
static const struct redoma_formula all_py[N_ALL] = {
	{"total", "(price or 0) * qty"}, {"label", "name + ('!' if yes else '')"},
	{"next", "EDATE(day, 0)"},	 {"hour", "HOUR(time)"},
	{"big", "(price or 0) > 100"},	 {"div", "10 / qty"},
	{"when", "time"},
};

static double number_of(struct redoma_cell c)
{
	return c.kind == REDOMA_CELL_INTEGER ? (double)c.integer : c.number;
}

static void check_row(const struct redoma_sheet *s, uint64_t row, int i)
{
	struct redoma_cell c = redoma_sheet_cell(s, 0, row);
	char label[16];

	assert_true(c.kind == REDOMA_CELL_NUMBER ||
		    c.kind == REDOMA_CELL_INTEGER);
	assert_true(number_of(c) == (i % 3 ? i / 4.0 * (i % 7) : 0));
	c = redoma_sheet_cell(s, 1, row);
	snprintf(label, sizeof label, "n%03d%s", i, i % 2 ? "!" : "");
	assert_int_equal(c.len, strlen(label));
	assert_memory_equal(c.text, label, c.len);
	c = redoma_sheet_cell(s, 2, row);
	assert_true(c.kind == REDOMA_CELL_DATE && c.integer == i);
	assert_true(number_of(redoma_sheet_cell(s, 3, row)) == i % 24);
	assert_true(redoma_sheet_cell(s, 4, row).integer ==
		    (i % 3 && i / 4.0 > 100));
	c = redoma_sheet_cell(s, 5, row);
	assert_int_equal(c.kind,
			 i % 7 ? REDOMA_CELL_NUMBER : REDOMA_CELL_ERROR);
}

static struct redoma_formula_request request_py(struct world *w)
{
	struct redoma_formula_request q = request(w, all_py, N_ALL);

	q.language = "py";
	return q;
}

/* Whole, and cut at each offset of a bitmap's byte. */
static void check_arrival(bool py)
{
	struct redoma *h = open_handle("reuse", "tenant");

	for (int64_t offset = 0; offset < 9; offset++) {
		struct world *w = world_new(offset);
		struct redoma_formula_request q =
			py ? request_py(w) : request(w, all, N_ALL);
		struct redoma_sheet *s = evaluate(h, &q);

		assert_int_equal(redoma_sheet_rows(s), ROWS - offset);
		for (int64_t i = offset; i < ROWS; i++)
			check_row(s, (uint64_t)(i - offset), (int)i);
		redoma_sheet_free(s);
		free(w);
	}
	redoma_close(h);
}

static void arrow_columns_arrive(void **state)
{
	(void)state;
	check_arrival(false);
	check_arrival(true);
}

static void results_leave_as_arrow(void **state)
{
	static const char *const formats[] = {"g", "u", "tdD",    "g",
					      "b", "g", "tsu:UTC"};
	struct redoma *h = open_handle(NULL, NULL);
	struct world *w = world_new(0);
	struct redoma_formula_request q = request(w, all, N_ALL);
	struct redoma_sheet *s = evaluate(h, &q);
	struct ArrowSchema schema[N_ALL];
	struct ArrowArray a[N_ALL];
	struct redoma_error e;

	(void)state;
	for (size_t i = 0; i < N_ALL; i++) {
		assert_int_equal(redoma_sheet_to_arrow(s, i, all[i].name,
						       &schema[i], &a[i], &e),
				 0);
		assert_string_equal(schema[i].format, formats[i]);
		assert_string_equal(schema[i].name, all[i].name);
		assert_int_equal(a[i].length, ROWS);
	}
	/* They outlive what they were made from. */
	redoma_sheet_free(s);
	free(w);
	redoma_close(h);
	assert_int_equal(a[5].null_count, (ROWS + 6) / 7);
	for (int i = 0; i < ROWS; i++) {
		const uint8_t *valid = a[5].buffers[0];
		const int32_t *offsets = a[1].buffers[1];

		assert_int_equal(valid[i / 8] >> (i % 8) & 1, i % 7 != 0);
		assert_int_equal(((const int32_t *)a[2].buffers[1])[i], i);
		assert_int_equal(offsets[i + 1] - offsets[i], 4 + i % 2);
		assert_true(((const int64_t *)a[6].buffers[1])[i] ==
			    (int64_t)i * 3600000000 + 1000);
	}
	for (size_t i = 0; i < N_ALL; i++) {
		schema[i].release(&schema[i]);
		a[i].release(&a[i]);
		assert_null(a[i].release);
	}
}

static void run_script(struct redoma *h)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *x;
	struct redoma_error e;

	q.language = "js";
	q.source = "globalThis.left = 6; typeof SUM + left * 7";
	q.source_len = strlen(q.source);
	if (redoma_run(h, &q, &x, &e))
		fail_msg("%s", e.text);
	assert_string_equal(redoma_result_value(x, NULL), "\"undefined42\"");
	redoma_result_free(x);
}

static void check_kept(struct redoma *h,
		       const struct redoma_formula_request *q)
{
	struct redoma_sheet *s = evaluate(h, q);
	const char *json = redoma_result_json(redoma_sheet_result(s), NULL);

	/* One batch's reset is told by the next. */
	if (!strstr(json, "\"reset_wrong\":0"))
		fail_msg("%s", json);
	check_row(s, 500, 500);
	redoma_sheet_free(s);
}

/* In one pool, of one tenant: workers of three images, and not a byte of one
 * batch in the next. */
static void a_kept_worker_is_put_back(void **state)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma *h;
	struct world *w = world_new(0);
	struct redoma_formula_request js = request(w, all, N_ALL);
	struct redoma_formula_request py = request_py(w);

	(void)state;
	o.verify = 1;
	h = open_with(o, "reuse", "tenant");
	for (int i = 0; i < 5; i++) {
		check_kept(h, &js);
		run_script(h);
		check_kept(h, &py);
	}
	free(w);
	redoma_close(h);
}

/* So little output that the rows go in many batches: the cells are the same. */
static void batches_do_not_show(void **state)
{
	struct redoma *h = open_handle("limit", "output=20KiB");
	struct world *w = world_new(0);
	struct redoma_formula_request q = request(w, all, N_ALL);
	const struct redoma_formula whole = {"sum", "SUM(rows.qty) + index"};
	struct redoma_sheet *s = evaluate(h, &q);

	(void)state;
	assert_int_equal(redoma_sheet_rows(s), ROWS);
	for (int i = 0; i < ROWS; i++)
		check_row(s, (uint64_t)i, i);
	redoma_sheet_free(s);
	q.formulas = &whole;
	q.n_formulas = 1;
	q.first = 5000;
	s = evaluate(h, &q);
	assert_true(redoma_sheet_cell(s, 0, 1).number == 2997 + 5001);
	assert_int_equal(redoma_sheet_cell(s, 0, ROWS).kind, REDOMA_CELL_BLANK);
	assert_int_equal(redoma_sheet_cell(s, 7, 0).kind, REDOMA_CELL_BLANK);
	redoma_sheet_free(s);
	free(w);
	redoma_close(h);
}

/* One row takes what no batch has: it alone is an error. */
static void a_row_that_ends_its_batch_is_alone(void **state)
{
	const struct redoma_formula f = {
		"f", "qty === 3 && index === 10 ? "
		     "'x'.repeat(1 << 20).length + 'y'.repeat(1 << 20) : qty"};
	struct redoma *h = open_handle("limit", "output=256KiB");
	struct world *w = world_new(0);
	struct redoma_formula_request q = request(w, &f, 1);
	struct redoma_sheet *s = evaluate(h, &q);

	(void)state;
	assert_int_equal(redoma_sheet_rows(s), ROWS);
	for (uint64_t i = 0; i < ROWS; i++) {
		struct redoma_cell c = redoma_sheet_cell(s, 0, i);

		assert_int_equal(c.kind, i == 10 ? REDOMA_CELL_ERROR
						 : REDOMA_CELL_NUMBER);
		assert_true(i == 10 || c.number == (double)(i % 7));
	}
	assert_int_equal(redoma_result_status(redoma_sheet_result(s)),
			 REDOMA_STATUS_OK);
	redoma_sheet_free(s);
	free(w);
	redoma_close(h);
}

/* There is none to leave out or to cut at. */
static void formulas_without_rows_fail_as_a_run_does(void **state)
{
	const struct redoma_formula f = {"f", "1"};
	/* Less than the interpreter has. */
	struct redoma *h = open_handle("limit", "memory=4MiB");
	struct world *w = world_new(0);
	struct redoma_formula_request q = request(w, &f, 1);
	struct redoma_sheet *s;

	(void)state;
	q.language = "py";
	q.rows = 0;
	s = evaluate(h, &q);
	assert_non_null(redoma_sheet_result(s));
	assert_int_equal(redoma_result_status(redoma_sheet_result(s)),
			 REDOMA_STATUS_MEMORY_LIMIT);
	assert_int_equal(redoma_sheet_rows(s), 0);
	redoma_sheet_free(s);
	free(w);
	redoma_close(h);
}

static void fails(struct redoma *h, const struct redoma_formula_request *q,
		  const char *says)
{
	struct redoma_sheet *s = NULL;
	struct redoma_error e = {0};

	assert_int_equal(redoma_formula(h, q, &s, &e), REDOMA_E_INVALID);
	if (!strstr(e.text, says))
		fail_msg("%s", e.text);
	assert_null(s);
}

static void misuse_is_refused(void **state)
{
	struct redoma *h = open_handle(NULL, NULL);
	struct world *w = world_new(0);
	struct redoma_formula_request q = request(w, all, 0);
	struct redoma_error e;

	(void)state;
	fails(h, &q, "formulas");
	q = request(w, all, 1);
	q.language = "wasm";
	fails(h, &q, "js");
	q.language = "lua";
	fails(h, &q, "lua");
	q.language = NULL;
	q.size = 8;
	fails(h, &q, "formulas");
	q = request(w, all, 1);
	w->columns[0].values = NULL;
	fails(h, &q, "values");
	w->schemas[2].format = "i";
	assert_int_equal(redoma_columns_from_arrow(&w->schema, &w->batch,
						   w->columns, &e),
			 REDOMA_E_INVALID);
	assert_non_null(strstr(e.text, "yes"));
	w->schema.format = "g";
	assert_int_equal(redoma_columns_from_arrow(&w->schema, &w->batch,
						   w->columns, &e),
			 REDOMA_E_INVALID);
	free(w);
	redoma_close(h);
}

static void a_formula_that_does_not_parse_is_a_result(void **state)
{
	const struct redoma_formula f = {"bad", "1 +"};
	struct redoma *h = open_handle(NULL, NULL);
	struct world *w = world_new(0);
	struct redoma_formula_request q = request(w, &f, 1);
	struct redoma_sheet *s = evaluate(h, &q);
	uint64_t len;

	(void)state;
	assert_int_equal(redoma_sheet_rows(s), 0);
	assert_int_equal(redoma_result_status(redoma_sheet_result(s)),
			 REDOMA_STATUS_INVALID);
	assert_non_null(strstr(redoma_result_json(redoma_sheet_result(s), &len),
			       "formula bad"));
	redoma_sheet_free(s);
	free(w);
	redoma_close(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrow_columns_arrive),
		cmocka_unit_test(results_leave_as_arrow),
		cmocka_unit_test(a_kept_worker_is_put_back),
		cmocka_unit_test(batches_do_not_show),
		cmocka_unit_test(a_row_that_ends_its_batch_is_alone),
		cmocka_unit_test(formulas_without_rows_fail_as_a_run_does),
		cmocka_unit_test(misuse_is_refused),
		cmocka_unit_test(a_formula_that_does_not_parse_is_a_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
