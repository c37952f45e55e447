/* redoma_batch: formulas over the rows of a table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "table.h"
#include "columns/columns.h"
#include "quick.h"
#include "text.h"

/* ---- names ---- */

static bool is_helper(const char *p, size_t n)
{
	JSContext *ctx = formula_realm.ctx;
	JSAtom a = JS_NewAtomLen(ctx, p, n);
	int r = JS_GetOwnProperty(ctx, NULL, formula_realm.helpers, a);

	JS_FreeAtom(ctx, a);
	return r > 0;
}

static bool find_column(const char *p, size_t n, uint32_t *ret)
{
	/* A formula hides a column of the table of that name, but for
	 * itself: "price=price * 2". */
	for (uint32_t i = table.head.columns + table.head.formulas; i-- > 0;)
		if (i != table.head.columns + table.reading &&
		    table.columns[i].name_len == n &&
		    !memcmp(table.columns[i].name, p, n)) {
			*ret = i;
			return true;
		}
	return false;
}

static void note_need(struct formula *f, uint32_t other)
{
	for (uint32_t i = 0; i < f->n_needs; i++)
		if (f->needs[i] == other)
			return;
	if (!f->needs)
		f->needs = calloc(table.head.formulas, sizeof(*f->needs));
	if (f->needs)
		f->needs[f->n_needs++] = other;
}

enum formula_name formula_find_name(void *data, const char *p, size_t n,
				    bool quoted, uint32_t *ret_at)
{
	(void)data;
	if (!quoted) {
		if (n == 3 && (!memcmp(p, "row", 3) || !memcmp(p, "col", 3)))
			return FORMULA_ROW;
		if (n == 4 && !memcmp(p, "rows", 4))
			return FORMULA_ROWS;
		if (n == 5 && !memcmp(p, "index", 5))
			return FORMULA_INDEX;
	}
	if (!find_column(p, n, ret_at) || (!quoted && is_helper(p, n)))
		return FORMULA_NONE;
	if (*ret_at >= table.head.columns)
		note_need(&table.formulas[table.reading],
			  *ret_at - table.head.columns);
	return FORMULA_CELL;
}

static int bad_formula(uint32_t i, const char *why)
{
	const struct formula_words *w = &table.formulas[i].words;

	JS_ThrowSyntaxError(guest.ctx, "formula %.*s: %s",
			    (int)(w->name_len > 100 ? 100 : w->name_len),
			    table.base + w->name, why);
	return -1;
}

/* Ordered so that each formula comes behind those that it reads. */
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

/* ---- compiling ---- */

static int compile(uint32_t i)
{
	struct formula *f = &table.formulas[i];
	struct formula_scope scope = {formula_find_name, NULL};
	JSContext *ctx = formula_realm.ctx;
	JSValue fn, e;
	const char *s;

	table.reading = i;
	formula_rewrite(table.base + f->words.text, f->words.text_len, &scope,
			&f->text);
	if (f->text.wrong)
		return bad_formula(i, f->text.wrong);
	if (!f->text.p) {
		guest.oom = true;
		JS_ThrowOutOfMemory(guest.ctx);
		return -1;
	}
	fn = formula_compile(ctx, f->text.p, f->text.len, "formula", 0);
	/* All but the outer parentheses must be one function. */
	if (!JS_IsException(fn) && !quick_sole_function(fn, f->text.len - 2))
		return bad_formula(i, "it is not one expression");
	if (!JS_IsException(fn))
		fn = JS_EvalFunction(ctx, fn);
	if (!JS_IsException(fn)) {
		f->fn = fn;
		return 0;
	}
	e = JS_GetException(ctx);
	s = JS_ToCString(ctx, e);
	return bad_formula(i, s ? s : "it does not parse");
}

/* ---- rows ---- */

static int put_thrown(JSContext *ctx, const struct formula_place *at)
{
	JSValue e = JS_GetException(ctx);
	int r;

	if (guest.interrupt) {
		JS_Throw(guest.ctx, e);
		return -1;
	}
	formula_aside = false;
	if (formula_row_over())
		r = answer_error(at, "#TIME!",
				 "this row took longer than a row "
				 "may");
	else if (guest.oom)
		r = answer_no_room();
	else if (JS_IsObject(e) && answer_is_failure(ctx, e))
		r = answer_failure(ctx, at, e);
	else if (quick_kind(e) != QUICK_ERROR)
		r = answer_error(at, "#VALUE!", "the formula threw a value");
	else
		r = answer_error(at,
				 quick_is_native_error(ctx, e, "ReferenceError")
					 ? "#NAME?"
					 : "#VALUE!",
				 answer_text_of(ctx, e, "message"));
	JS_FreeValue(ctx, e);
	return r;
}

/* An object without a prototype: names like __proto__ are data. */
static JSValue row_object(JSContext *ctx, uint32_t i)
{
	JSValue o = JS_NewObjectProtoClass(ctx, JS_NULL, formula_realm.row);
	uint32_t n = table.head.columns + table.head.formulas;

	for (uint32_t k = 0; k < n && !JS_IsException(o); k++) {
		const struct formula_column *c = &table.columns[k];
		JSAtom a;

		if (k >= table.head.columns &&
		    table.formulas[k - table.head.columns].state != 3)
			continue;
		a = JS_NewAtomLen(ctx, c->name, c->name_len);
		JS_DefinePropertyValue(ctx, o, a, table_cell(ctx, c, i),
				       JS_PROP_C_W_E);
		JS_FreeAtom(ctx, a);
	}
	return o;
}

static JSValue whole_column(JSContext *ctx, uint32_t k)
{
	if (JS_IsUndefined(table.wholes[k])) {
		JSValue o = JS_NewObjectClass(ctx, formula_realm.column);

		if (JS_IsException(o))
			return o;
		JS_SetOpaque(o, (void *)(uintptr_t)(k + 1));
		/* Every row gets this very object. */
		JS_PreventExtensions(ctx, o);
		table.wholes[k] = o;
	}
	return JS_DupValue(ctx, table.wholes[k]);
}

/* Every column that is there by now, as a read-only list. */
static JSValue rows_object(JSContext *ctx)
{
	JSValue o = JS_NewObjectProtoClass(ctx, JS_NULL, formula_realm.row);
	uint32_t n = table.head.columns + table.head.formulas;

	for (uint32_t k = 0; k < n && !JS_IsException(o); k++) {
		const struct formula_column *c = &table.columns[k];
		JSAtom a;

		if (k >= table.head.columns &&
		    table.formulas[k - table.head.columns].state != 3)
			continue;
		a = JS_NewAtomLen(ctx, c->name, c->name_len);
		JS_DefinePropertyValue(ctx, o, a, whole_column(ctx, k),
				       JS_PROP_ENUMERABLE);
		JS_FreeAtom(ctx, a);
	}
	if (!JS_IsException(o))
		JS_PreventExtensions(ctx, o);
	return o;
}

struct call {
	const struct formula *f;
	JSValue args[FORMULA_PARAMS_MAX];
	JSValue rows;
	struct formula_place at;
};

static JSValue one_arg(JSContext *ctx, const struct call *k,
		       const struct formula_param *p)
{
	uint32_t i = k->at.i;

	switch (p->what) {
	case FORMULA_CELL:
		return table_cell(ctx, &table.columns[p->at], i);
	case FORMULA_ROW:
		return row_object(ctx, i);
	case FORMULA_ROWS:
		return JS_DupValue(ctx, k->rows);
	case FORMULA_INDEX:
		return JS_NewInt64(ctx, (int64_t)table.head.first + i);
	default:
		return JS_UNDEFINED;
	}
}

static void free_args(JSContext *ctx, struct call *k, uint32_t n)
{
	while (n--)
		JS_FreeValue(ctx, k->args[n]);
}

/* True if a cell of another formula is an error, and so is this one. */
static bool takes_error(struct call *k)
{
	const struct formula_text *x = &k->f->text;
	uint32_t i = k->at.i;

	for (uint32_t n = 0; n < x->n_params && !x->catches; n++) {
		const struct formula_column *c =
			&table.columns[x->params[n].at];

		if (x->params[n].what != FORMULA_CELL || !c->answer ||
		    c->kinds[i] != CELL_ERROR)
			continue;
		memcpy(answer_slot(&k->at, CELL_ERROR),
		       c->values + (size_t)8 * i, 8);
		return true;
	}
	return false;
}

static int take_args(JSContext *ctx, struct call *k)
{
	const struct formula_text *x = &k->f->text;

	for (uint32_t n = 0; n < x->n_params; n++) {
		k->args[n] = one_arg(ctx, k, &x->params[n]);
		if (!JS_IsException(k->args[n]))
			continue;
		free_args(ctx, k, n);
		return -1;
	}
	return 0;
}

/* A column whose cell in this row is a text that the formula was given. */
static const struct formula_column *find_text(const struct call *k)
{
	const struct formula_text *x = &k->f->text;

	for (uint32_t n = 0; n < x->n_params; n++) {
		const struct formula_column *c =
			&table.columns[x->params[n].at];

		if (x->params[n].what == FORMULA_CELL &&
		    table_is_text(c, k->at.i))
			return c;
	}
	return NULL;
}

/* NaN is what a text comes to as a number. */
static int put_result(JSContext *ctx, const struct call *k, JSValueConst v)
{
	const struct formula_column *c =
		JS_VALUE_GET_NORM_TAG(v) == JS_TAG_FLOAT64 &&
				isnan(JS_VALUE_GET_FLOAT64(v))
			? find_text(k)
			: NULL;
	char why[128];

	if (!c)
		return answer_value(ctx, &k->at, v);
	snprintf(why, sizeof(why),
		 "the result is not a number: there is a text in column %.*s",
		 (int)(c->name_len > 60 ? 60 : c->name_len), c->name);
	return answer_error(&k->at, "#VALUE!", why);
}

static int one_row(JSContext *ctx, struct call *k)
{
	uint32_t n = k->f->text.n_params;
	JSValue v;
	int r;

	formula_count.row++;
	if (takes_error(k))
		return 0;
	if (take_args(ctx, k))
		return put_thrown(ctx, &k->at);
	v = JS_Call(ctx, k->f->fn, JS_UNDEFINED, (int)n,
		    (JSValueConst *)k->args);
	free_args(ctx, k, n);
	if (JS_IsException(v))
		return put_thrown(ctx, &k->at);
	r = put_result(ctx, k, v);
	JS_FreeValue(ctx, v);
	return r;
}

static bool uses_rows(const struct formula *f)
{
	for (uint32_t i = 0; i < f->text.n_params; i++)
		if (f->text.params[i].what == FORMULA_ROWS)
			return true;
	return false;
}

/* Rows that the program leaves, in their order. */
static int one_block(JSContext *ctx, struct call *k, struct columns_formula *p,
		     uint32_t n)
{
	uint32_t i = k->at.i, end = i + n;
	int r = 0;

	if (guest.interrupt) {
		JS_ThrowInternalError(guest.ctx, "interrupted");
		return -1;
	}
	if (p)
		block_run(p, k->at.c, i, n);
	for (; i < end && !r; i++) {
		const uint8_t *kinds = k->at.c->kinds;
		const uint8_t *next =
			p ? memchr(kinds + i, COLUMNS_UNDONE, end - i)
			  : kinds + i;
		uint32_t done = next ? (uint32_t)(next - kinds) - i : end - i;

		formula_count.row += done;
		answer_count(done);
		i += done;
		k->at.i = i;
		if (next)
			r = one_row(ctx, k);
	}
	return r;
}

static int all_rows(JSContext *ctx, uint32_t which)
{
	struct formula *f = &table.formulas[which];
	struct call *k = calloc(1, sizeof(*k));
	struct columns_formula *p = block_new(which);
	int r = 0;

	if (!k)
		return answer_no_room();
	k->f = f;
	k->rows = uses_rows(f) ? rows_object(ctx) : JS_UNDEFINED;
	k->at.c = &table.columns[table.head.columns + which];
	for (uint32_t i = 0; i < table.head.rows && !r; i += COLUMNS_BLOCK) {
		uint32_t left = table.head.rows - i;

		k->at.i = i;
		r = one_block(ctx, k, p,
			      left < COLUMNS_BLOCK ? left : COLUMNS_BLOCK);
	}
	f->state = 3;
	columns_free(p);
	free(k);
	return r;
}

static int evaluate(void)
{
	JSContext *ctx = formula_realm.ctx;

	if (answer_begin())
		return answer_no_room();
	for (uint32_t i = 0; i < table.head.formulas; i++)
		if (compile(i))
			return -1;
	for (uint32_t i = 0; i < table.head.formulas; i++)
		if (put_in_order(i))
			return -1;
	for (uint32_t i = 0; i < table.n_ordered; i++)
		if (all_rows(ctx, table.order[i]))
			return -1;
	guest.result.value = (uint32_t)(uintptr_t)table.answer;
	guest.result.value_len = (uint32_t)table.answer_len;
	return 0;
}

int formula_batch(const char *base, const struct guest_span *all)
{
	if (!table_take(base, all))
		__builtin_trap();
	return evaluate();
}
