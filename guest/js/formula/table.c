/* The batch as it came; layout: docs/design/formula.md. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include "table.h"
#include "quick.h"
#include "text.h"

struct formula_table table;

static uint32_t word(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static int64_t wide(const char *p)
{
	int64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static double real(const char *p)
{
	double v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static bool bit(const void *p, uint32_t i)
{
	return ((const uint8_t *)p)[i / 8] >> (i % 8) & 1;
}

static JSValue text_value(JSContext *ctx, const struct formula_column *c,
			  uint32_t at, uint32_t len)
{
	const char *heap = c->answer ? table.answer + table.heap_at : c->heap;
	uint32_t heap_len =
		c->answer ? (uint32_t)(table.answer_len - table.heap_at)
			  : c->heap_len;

	if (at > heap_len || len > heap_len - at)
		return JS_NULL;
	return JS_NewStringLen(ctx, heap + at, len);
}

static JSValue integer_value(JSContext *ctx, int64_t n)
{
	int64_t most = (int64_t)1 << 53;

	return n >= -most && n <= most ? JS_NewInt64(ctx, n)
				       : JS_NewBigInt64(ctx, n);
}

/* What a formula gets for another one's error: it throws when it is used. */
static JSValue error_value(JSContext *ctx, const struct formula_column *c,
			   const char *v)
{
	const char *heap = c->answer ? table.answer + table.heap_at : c->heap;
	uint32_t at = word(v), len = word(v + 4);
	const char *blank = memchr(heap + at, ' ', len);
	size_t n = blank ? (size_t)(blank - (heap + at)) : len;
	JSValue e = JS_NewObjectProto(ctx, formula_realm.failure);

	if (JS_IsException(e))
		return e;
	JS_DefinePropertyValueStr(ctx, e, "code",
				  JS_NewStringLen(ctx, heap + at, n), 0);
	JS_DefinePropertyValueStr(
		ctx, e, "message",
		blank ? JS_NewStringLen(ctx, blank + 1, len - n - 1)
		      : JS_NewString(ctx, ""),
		0);
	return e;
}

static JSValue cells_value(JSContext *ctx, const struct formula_column *c,
			   uint32_t i)
{
	const char *v = c->values + (size_t)8 * i;

	switch (c->kinds[i]) {
	case CELL_NUMBER:
		return JS_NewFloat64(ctx, real(v));
	case CELL_TRUTH:
		return JS_NewBool(ctx, wide(v) != 0);
	case CELL_TEXT:
		return text_value(ctx, c, word(v), word(v + 4));
	case CELL_INTEGER:
		return integer_value(ctx, wide(v));
	case CELL_DATE:
		return JS_NewDate(ctx, (double)wide(v) * DAY_MS);
	case CELL_TIME:
		return JS_NewDate(ctx, floor((double)wide(v) / 1000));
	case CELL_ERROR:
		return error_value(ctx, c, v);
	default:
		return JS_NULL;
	}
}

JSValue table_cell(JSContext *ctx, const struct formula_column *c, uint32_t i)
{
	uint32_t at;

	if (c->layout == LAYOUT_CELLS)
		return cells_value(ctx, c, i);
	if (c->kinds && !bit(c->kinds, i))
		return JS_NULL;
	switch (c->layout) {
	case LAYOUT_FLOAT64:
		return JS_NewFloat64(ctx, real(c->values + (size_t)8 * i));
	case LAYOUT_INT64:
		return integer_value(ctx, wide(c->values + (size_t)8 * i));
	case LAYOUT_BOOL:
		return JS_NewBool(ctx, bit(c->values, i));
	case LAYOUT_TEXT:
		at = word(c->values + (size_t)4 * i);
		return text_value(ctx, c, at,
				  word(c->values + (size_t)4 * i + 4) - at);
	case LAYOUT_DATE32:
		return JS_NewDate(
			ctx, (double)(int32_t)word(c->values + (size_t)4 * i) *
				     DAY_MS);
	case LAYOUT_TIME_US:
		return JS_NewDate(
			ctx,
			floor((double)wide(c->values + (size_t)8 * i) / 1000));
	default:
		return JS_NULL;
	}
}

bool table_is_text(const struct formula_column *c, uint32_t i)
{
	if (c->layout == LAYOUT_CELLS)
		return c->kinds[i] == CELL_TEXT;
	return c->layout == LAYOUT_TEXT && (!c->kinds || bit(c->kinds, i));
}

JSValue formula_cell(JSContext *ctx, uint32_t column, uint32_t i)
{
	return table_cell(ctx, &table.columns[column], i);
}

uint32_t formula_rows(void)
{
	return table.head.rows;
}

bool formula_now_ms(double *ret)
{
	struct timeval t;

	answer_note(ANSWER_TIME);
	if (table.head.now_us == NO_TIME) {
		gettimeofday(&t, NULL);
		return false;
	}
	*ret = floor((double)table.head.now_us / 1000);
	return true;
}

uint32_t formula_column_of(JSValueConst object)
{
	void *p = JS_GetOpaque(object, formula_realm.column);

	return p ? (uint32_t)(uintptr_t)p - 1 : UINT32_MAX;
}

/* The host builds batches, but a wrong one must not become a wild read. */
static bool within(const struct guest_span *all, uint32_t at, uint64_t len)
{
	return at <= all->len && len <= all->len - at;
}

static bool take_column(const struct guest_span *all, const char *p,
			struct formula_column *c)
{
	static const uint8_t bits[LAYOUTS] = {64, 64, 64, 1, 32, 32, 64};
	struct column_words w;
	uint64_t n = table.head.rows, values;

	memcpy(&w, p, sizeof(w));
	if (w.layout >= LAYOUTS)
		return false;
	values = (n + (w.layout == LAYOUT_TEXT)) * bits[w.layout];
	if (!within(all, w.name, w.name_len) ||
	    !within(all, w.values, (values + 7) / 8) ||
	    !within(all, w.heap, w.heap_len) ||
	    !within(all, w.kinds,
		    w.layout == LAYOUT_CELLS ? n
		    : w.kinds                ? (n + 7) / 8
					     : 0))
		return false;
	*c = (struct formula_column){
		.name = table.base + w.name,
		.name_len = w.name_len,
		.layout = (enum formula_layout)w.layout,
		.kinds = w.kinds ? (const uint8_t *)table.base + w.kinds : NULL,
		.values = table.base + w.values,
		.heap = table.base + w.heap,
		.heap_len = w.heap_len};
	return true;
}

bool table_take(const char *base, const struct guest_span *all)
{
	const char *p = base + all->off + sizeof(table.head);
	uint64_t need;

	table.base = base + all->off;
	if (all->len < sizeof(table.head))
		return false;
	memcpy(&table.head, table.base, sizeof(table.head));
	need = (uint64_t)table.head.columns * sizeof(struct column_words) +
	       (uint64_t)table.head.formulas * sizeof(struct formula_words);
	if (table.head.magic != BATCH_MAGIC ||
	    need > all->len - sizeof(table.head))
		return false;
	table.columns = calloc(table.head.columns + table.head.formulas + 1,
			       sizeof(*table.columns));
	table.wholes = calloc(table.head.columns + table.head.formulas + 1,
			      sizeof(*table.wholes));
	table.formulas =
		calloc(table.head.formulas + 1, sizeof(*table.formulas));
	table.order = calloc(table.head.formulas + 1, sizeof(*table.order));
	if (!table.columns || !table.wholes || !table.formulas || !table.order)
		return false;
	for (uint32_t i = 0; i < table.head.columns + table.head.formulas; i++)
		table.wholes[i] = JS_UNDEFINED;
	for (uint32_t i = 0; i < table.head.columns; i++) {
		if (!take_column(all, p, &table.columns[i]))
			return false;
		p += sizeof(struct column_words);
	}
	for (uint32_t i = 0; i < table.head.formulas; i++) {
		struct formula_words *w = &table.formulas[i].words;

		memcpy(w, p, sizeof(*w));
		p += sizeof(*w);
		if (!within(all, w->name, w->name_len) ||
		    !within(all, w->text, w->text_len))
			return false;
	}
	return true;
}
