/* A batch: formulas over the rows of a table. */
#include <stdlib.h>
#include <string.h>
#include "columns/columns.h"
#include "formula.h"

/* ---- how the run ends ---- */

static void say(uint32_t *ret, uint32_t *ret_len, PyObject *text)
{
	Py_ssize_t n;
	const char *p = text ? PyUnicode_AsUTF8AndSize(text, &n) : NULL;

	PyErr_Clear();
	if (!p)
		return;
	/* The text stays: memory is put back after the run. */
	*ret = (uint32_t)(uintptr_t)p;
	*ret_len = (uint32_t)n;
}

static int end_with(enum guest_kind kind, const char *name, PyObject *message)
{
	struct guest_result *r = &guest.result;

	r->kind = kind;
	r->exit_code = 1;
	say(&r->name, &r->name_len, PyUnicode_FromString(name));
	say(&r->message, &r->message_len, message);
	return -1;
}

static int no_room(void)
{
	return end_with(GUEST_NO_MEMORY, "MemoryError",
			PyUnicode_FromString("out of memory"));
}

static int bad_formula(uint32_t i, const char *why)
{
	const struct formula_words *w = &table.formulas[i].words;
	PyObject *name = PyUnicode_DecodeUTF8(
		table.base + w->name, w->name_len > 100 ? 100 : w->name_len,
		"replace");

	return end_with(GUEST_SYNTAX, "SyntaxError",
			name ? PyUnicode_FromFormat("formula %U: %s", name, why)
			     : NULL);
}

static uint32_t number_of(PyObject *e, const char *name)
{
	PyObject *v = PyObject_GetAttrString(e, name);
	long n = v && PyLong_Check(v) ? PyLong_AsLong(v) : 0;

	Py_XDECREF(v);
	PyErr_Clear();
	return n > 0 ? (uint32_t)n : 0;
}

/* Where the parser stopped, in the formula as it was given. */
static void place(uint32_t i, PyObject *e)
{
	struct guest_result *r = &guest.result;

	r->line = number_of(e, "lineno");
	r->column = number_of(e, "offset");
	tree_place(i, &r->line, &r->column);
}

/* What the language's parser says. */
static int bad_text(uint32_t i)
{
	PyObject *e = PyErr_GetRaisedException(), *s = NULL;
	const char *why;

	if (e && PyErr_GivenExceptionMatches(e, PyExc_SyntaxError)) {
		place(i, e);
		s = PyObject_GetAttrString(e, "msg");
	} else if (e) {
		s = PyObject_Str(e);
	}
	why = s ? PyUnicode_AsUTF8(s) : NULL;
	PyErr_Clear();
	return bad_formula(i, why && *why ? why : "it is nested too deeply");
}

/* ---- order ---- */

/* So that each formula comes behind those that it reads. */
static int put_in_order(uint32_t i)
{
	struct formula *f = &table.formulas[i];

	if (f->state == 2)
		return 0;
	if (f->state == 1)
		return bad_formula(i, "it needs its own result: formulas that "
				      "name each other in a circle have no "
				      "value");
	f->state = 1;
	for (uint32_t k = 0; k < f->n_needs; k++)
		if (put_in_order(f->needs[k]))
			return -1;
	f->state = 2;
	table.order[table.n_ordered++] = i;
	return 0;
}

/* ---- rows ---- */

/* Each name that is there by now, with what `value` gives for it. */
static PyObject *named(PyObject *(*value)(uint32_t column, uint32_t i),
		       uint32_t i)
{
	uint32_t n = table.head.columns + table.head.formulas;
	PyObject *o = PyObject_CallNoArgs(formula_hook("Row"));

	for (uint32_t k = 0; o && k < n; k++) {
		const struct formula_column *c = &table.columns[k];
		PyObject *key, *v;

		if (k >= table.head.columns &&
		    table.formulas[k - table.head.columns].state != 3)
			continue;
		key = PyUnicode_DecodeUTF8(c->name, c->name_len, "replace");
		v = key ? value(k, i) : NULL;
		if (!v || PyDict_SetItem(o, key, v))
			Py_CLEAR(o);
		Py_XDECREF(key);
		Py_XDECREF(v);
	}
	return o;
}

static PyObject *cell_at(uint32_t column, uint32_t i)
{
	return table_cell(&table.columns[column], i);
}

static PyObject *whole_at(uint32_t column, uint32_t i)
{
	return table_whole(column);
}

static PyObject *one_arg(const struct formula_param *p, uint32_t i)
{
	switch (p->what) {
	case FORMULA_CELL:
		return table_cell(&table.columns[p->at], i);
	case FORMULA_WHOLE:
		return table_whole(p->at);
	case FORMULA_ROW:
		return named(cell_at, i);
	case FORMULA_ROWS:
		return named(whole_at, i);
	default:
		return PyLong_FromUnsignedLongLong(table.head.first + i);
	}
}

/* True if a cell of another formula is an error, and so is this one. */
static bool takes_error(const struct formula *f,
			const struct formula_place *at)
{
	for (uint32_t n = 0; n < f->n_params && !f->catches; n++) {
		const struct formula_column *c =
			&table.columns[f->params[n].at];

		if (f->params[n].what != FORMULA_CELL || !c->answer ||
		    c->kinds[at->i] != CELL_ERROR)
			continue;
		memcpy(answer_slot(at, CELL_ERROR),
		       c->values + (size_t)8 * at->i, 8);
		return true;
	}
	return false;
}

static PyObject *call(const struct formula *f, PyObject **args, uint32_t i)
{
	uint32_t n = 0;
	PyObject *v = NULL;

	while (n < f->n_params) {
		args[n] = one_arg(&f->params[n], i);
		if (!args[n])
			break;
		n++;
	}
	if (n == f->n_params)
		v = PyObject_Vectorcall(f->fn, args, n, NULL);
	while (n--)
		Py_DECREF(args[n]);
	return v;
}

static int one_row(const struct formula *f, PyObject **args,
		   const struct formula_place *at)
{
	PyObject *v;
	int r;

	formula_count.row++;
	poll_aside = false;
	if (takes_error(f, at))
		return 0;
	v = call(f, args, at->i);
	if (!v)
		return answer_raised(at);
	/* In case that something swallowed what ends a row. */
	r = poll_row_over() ? answer_raised(at) : answer_value(at, v);
	Py_DECREF(v);
	return r;
}

/* Rows that the program leaves, in their order. */
static int one_block(const struct formula *f, struct columns_formula *p,
		     struct formula_place *at, uint32_t n)
{
	PyObject *args[FORMULA_PARAMS_MAX];
	uint32_t i = at->i, end = i + n;
	int r = 0;

	poll_deadline();
	if (p)
		block_run(p, at->c, i, n);
	for (; i < end && !r; i++) {
		const uint8_t *kinds = at->c->kinds;
		const uint8_t *next =
			p ? memchr(kinds + i, COLUMNS_UNDONE, end - i)
			  : kinds + i;
		uint32_t done = next ? (uint32_t)(next - kinds) - i : end - i;

		formula_count.row += done;
		answer_count(done);
		i += done;
		at->i = i;
		if (next)
			r = one_row(f, args, at);
	}
	return r;
}

static int all_rows(uint32_t which)
{
	struct formula *f = &table.formulas[which];
	struct columns_formula *p = block_new(which);
	struct formula_place at = {
		.c = &table.columns[table.head.columns + which]};
	int r = 0;

	for (uint32_t i = 0; i < table.head.rows && !r; i += COLUMNS_BLOCK) {
		uint32_t left = table.head.rows - i;

		at.i = i;
		r = one_block(f, p, &at,
			      left < COLUMNS_BLOCK ? left : COLUMNS_BLOCK);
	}
	columns_free(p);
	f->state = 3;
	return r ? no_room() : 0;
}

static int compile(uint32_t i)
{
	const char *why = NULL;

	table.formulas[i].fn = tree_compile(i, &why);
	if (table.formulas[i].fn)
		return 0;
	if (guest.oom)
		return no_room();
	return why ? bad_formula(i, why) : bad_text(i);
}

void formula_batch(const char *base, const struct guest_span *all)
{
	if (!table_take(base, all))
		__builtin_trap();
	if (answer_begin()) {
		no_room();
		return;
	}
	for (uint32_t i = 0; i < table.head.formulas; i++)
		if (compile(i))
			return;
	for (uint32_t i = 0; i < table.head.formulas; i++)
		if (put_in_order(i))
			return;
	for (uint32_t i = 0; i < table.n_ordered; i++)
		if (all_rows(table.order[i]))
			return;
	guest.result.value = (uint32_t)(uintptr_t)table.answer;
	guest.result.value_len = (uint32_t)table.answer_len;
}
