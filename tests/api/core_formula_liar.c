/* An interpreter of formulas that was broken: it answers what it likes.  What it
 * said is given again to those alone who would be told the same by a run: its
 * own tenant, for the very same formulas and columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <redoma.h>

#include "../unit/wasm_build.h"
#include "wire/batch.h"

#define LIE 666
#define RESULT_AT 1024
#define ANSWER_AT 2048
#define ROOM_AT 65536
#define SHORT_LEB(n) 0x80 | ((n) & 0x7f), (n) >> 7

static char top[] = "/tmp/redoma-liar-XXXXXX";

static const char *below(const char *name)
{
	static char path[4][256];
	static unsigned next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof path[0], "%s/%s", top, name);
	return p;
}

/* One row and one formula, whatever was asked for. */
static void put_answer(struct wasm *m)
{
	const struct {
		struct batch_answer head;
		struct batch_cells cells;
		uint64_t kind;
		int64_t value;
	} answer = {{BATCH_ANSWER_MAGIC, 1, 1, 48, 0, 0}, {32, 40},
		    REDOMA_CELL_INTEGER, LIE};
	/* docs/design/javascript.md: magic, kind, exit code, value, ... */
	const uint32_t result[13] = {0x31524452, 0, 0, ANSWER_AT,
				     sizeof answer};

	_Static_assert(sizeof answer == 48, "there is no padding in it");
	wasm_data(m, RESULT_AT, result, sizeof result);
	wasm_data(m, ANSWER_AT, &answer, sizeof answer);
}

static void add(struct wasm *m, const char *name, uint32_t type,
		const uint8_t *code, size_t len)
{
	wasm_export(m, name, 0, wasm_func(m, type, "", code, len));
}

static void put_module(const char *path)
{
	struct wasm m = {0};
	struct buf b = {0};
	uint32_t none, one, two;
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	none = wasm_type(&m, "", "i");
	one = wasm_type(&m, "i", "i");
	two = wasm_type(&m, "ii", "i");
	wasm_memory(&m, 32, -1);
	wasm_export(&m, "memory", 2, 0);
	add(&m, "redoma_alloc", one, CODE(0x41, 0x80, 0x80, 0x04));
	add(&m, "redoma_run", two, CODE(0x41, 0));
	add(&m, "redoma_batch", two, CODE(0x41, 0));
	add(&m, "redoma_result", none, CODE(0x41, SHORT_LEB(RESULT_AT)));
	add(&m, "redoma_interrupt_ptr", none, CODE(0x41, SHORT_LEB(512)));
	add(&m, "redoma_rows_ptr", none, CODE(0x41, SHORT_LEB(528)));
	put_answer(&m);
	wasm_finish(&m, &b);
	assert_int_equal(fwrite(b.data, 1, b.len, f), b.len);
	fclose(f);
	buf_done(&b);
}

static int make_install(void **state)
{
	static const char *const parts[] = {"redoma-worker", "redoma-usher",
					    "redoma-compile", "redoma-init"};
	char command[1024], from[512];

	(void)state;
	assert_non_null(mkdtemp(top));
	assert_int_equal(mkdir(below("images"), 0755), 0);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		snprintf(from, sizeof from, "%s/%s", TEST_BUILD, parts[i]);
		assert_int_equal(symlink(from, below(parts[i])), 0);
	}
	put_module(below("images/js-formula.wasm"));
	snprintf(command, sizeof command,
		 "%s/redoma-compile --image %s %s", TEST_BUILD,
		 below("images/js-formula.wasm"),
		 below("images/js-formula.cwasm"));
	return system(command);
}

static int remove_install(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", top);
	return system(command);
}

struct question {
	double cell;
	struct redoma_formula formula;
	struct redoma_column column;
	struct redoma_formula_request q;
};

static void question_init(struct question *a)
{
	*a = (struct question){
		.cell = 1,
		.formula = {"f", "a + 1"},
		.column = {"a", REDOMA_COLUMN_FLOAT64, NULL, &a->cell, NULL, 0,
			   0},
		.q = REDOMA_FORMULA_REQUEST_INIT};
	a->q.tenant = "fooled";
	a->q.language = "js";
	a->q.formulas = &a->formula;
	a->q.n_formulas = 1;
	a->q.columns = &a->column;
	a->q.n_columns = 1;
	a->q.rows = 1;
}

/* The cell; *ret: it was not asked of the interpreter. */
static int64_t answer(struct redoma *h, const struct question *a, bool *ret)
{
	struct redoma_sheet *s;
	struct redoma_error e;
	struct redoma_cell c;

	if (redoma_formula(h, &a->q, &s, &e))
		fail_msg("%s", e.text);
	c = redoma_sheet_cell(s, 0, 0);
	*ret = strstr(redoma_result_json(redoma_sheet_result(s), NULL),
		      "\"cached\":true");
	redoma_sheet_free(s);
	return c.integer;
}

static struct redoma *open_in(const char *install)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_error e;
	struct redoma *h;

	o.install_dir = install;
	if (redoma_open(NULL, &o, &h, &e))
		fail_msg("%s", e.text);
	return h;
}

static void is_asked_anew(struct redoma *h, const struct question *a)
{
	bool cached;

	assert_int_equal(answer(h, a, &cached), LIE);
	assert_false(cached);
}

static void a_lie_is_told_again_to_its_own_alone(void **state)
{
	struct redoma *h = open_in(top);
	struct question a, other;
	bool cached;

	(void)state;
	question_init(&a);
	is_asked_anew(h, &a);
	/* As a run would have told it. */
	assert_int_equal(answer(h, &a, &cached), LIE);
	assert_true(cached);
	question_init(&other);
	other.q.tenant = "not fooled";
	is_asked_anew(h, &other);
	question_init(&other);
	other.formula.text = "a + 2";
	is_asked_anew(h, &other);
	question_init(&other);
	other.formula.name = "g";
	is_asked_anew(h, &other);
	question_init(&other);
	other.cell = 2;
	is_asked_anew(h, &other);
	redoma_close(h);
}

/* The control: an interpreter that is whole. */
static void the_truth_is_two(void **state)
{
	struct redoma *h = open_in(TEST_BUILD);
	struct redoma_sheet *s;
	struct redoma_error e;
	struct question a;

	(void)state;
	question_init(&a);
	if (redoma_formula(h, &a.q, &s, &e))
		fail_msg("%s", e.text);
	assert_true(redoma_sheet_cell(s, 0, 0).number == 2);
	redoma_sheet_free(s);
	redoma_close(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lie_is_told_again_to_its_own_alone),
		cmocka_unit_test(the_truth_is_two),
	};

	return cmocka_run_group_tests(tests, make_install, remove_install);
}
