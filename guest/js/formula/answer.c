/* What goes back: a kind and 8 bytes for each cell, texts behind. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "table.h"
#include "quick.h"
#include "text.h"

#define MESSAGE_MAX 200

int answer_begin(void)
{
	size_t n = table.head.rows, f = table.head.formulas;
	size_t words = sizeof(struct answer_head) +
		       sizeof(struct answer_words) * f;
	size_t kinds = words, values = (kinds + f * n + 7) & ~(size_t)7;
	struct answer_head head = {ANSWER_MAGIC, (uint32_t)n, (uint32_t)f, 0,
				   0, 0};

	table.heap_at = values + 8 * f * n;
	head.heap = (uint32_t)table.heap_at;
	table.answer_room = table.heap_at + 4096;
	table.answer = malloc(table.answer_room);
	if (!table.answer)
		return -1;
	memset(table.answer, 0, table.heap_at);
	memcpy(table.answer, &head, sizeof(head));
	table.answer_len = table.heap_at;
	for (size_t i = 0; i < f; i++) {
		struct answer_words w = {(uint32_t)(kinds + i * n),
					 (uint32_t)(values + 8 * i * n)};
		struct formula_column *c =
			&table.columns[table.head.columns + i];
		const struct formula_words *fw = &table.formulas[i].words;

		memcpy(table.answer + sizeof(head) + sizeof(w) * i, &w,
		       sizeof(w));
		*c = (struct formula_column){.name = table.base + fw->name,
					     .name_len = fw->name_len,
					     .layout = LAYOUT_CELLS,
					     .kinds = (uint8_t *)table.answer +
						      w.kinds,
					     .values = table.answer + w.values,
					     .answer = true};
	}
	return 0;
}

void answer_note(uint32_t bits)
{
	struct answer_head *head = (struct answer_head *)(void *)table.answer;

	head->bits |= bits;
}

void answer_count(uint32_t cells)
{
	struct answer_head *head = (struct answer_head *)(void *)table.answer;

	head->columnar += cells;
}

/* Texts move the answer: what points into it is made anew. */
static int heap_add(const char *p, size_t n, char *value)
{
	size_t at = table.answer_len - table.heap_at,
	       slot = value - table.answer;
	uint32_t words[2] = {(uint32_t)at, (uint32_t)n};

	if (n > GUEST_VALUE_MAX - table.answer_len)
		return -1;
	if (n > table.answer_room - table.answer_len) {
		size_t room = 2 * (table.answer_room + n);
		char *q = realloc(table.answer, room);

		if (!q)
			return -1;
		for (uint32_t i = 0; i < table.head.formulas; i++) {
			struct formula_column *c =
				&table.columns[table.head.columns + i];

			c->kinds = (uint8_t *)q +
				   (c->kinds - (uint8_t *)table.answer);
			c->values = q + (c->values - table.answer);
		}
		table.answer = q;
		table.answer_room = room;
	}
	memcpy(table.answer + table.answer_len, p, n);
	table.answer_len += n;
	memcpy(table.answer + slot, words, sizeof(words));
	return 0;
}

int answer_no_room(void)
{
	guest.oom = true;
	JS_ThrowOutOfMemory(guest.ctx);
	return -1;
}

char *answer_slot(const struct formula_place *at, enum formula_kind kind)
{
	((uint8_t *)at->c->kinds)[at->i] = (uint8_t)kind;
	return (char *)at->c->values + (size_t)8 * at->i;
}

static void put_wide(const struct formula_place *at, enum formula_kind kind,
		     int64_t n)
{
	memcpy(answer_slot(at, kind), &n, sizeof(n));
}

int answer_error(const struct formula_place *at, const char *code,
		 const char *message)
{
	char text[MESSAGE_MAX + 16];
	int n = snprintf(text, sizeof(text), "%s %.*s", code, MESSAGE_MAX,
			 message);
	size_t len = n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1;

	/* A character that was cut, and halves of surrogate pairs. */
	while (len && !text_is_utf8((uint8_t *)text, len))
		len--;
	return heap_add(text, len, answer_slot(at, CELL_ERROR))
		       ? answer_no_room()
		       : 0;
}

static int put_number(const struct formula_place *at, double n)
{
	if (isnan(n))
		return answer_error(at, "#NUM!", "the result is not a number");
	if (isinf(n))
		return answer_error(at, "#DIV/0!", "the result is infinite");
	n = n == 0 ? 0 : n; /* no sheet has a negative zero */
	memcpy(answer_slot(at, CELL_NUMBER), &n, sizeof(n));
	return 0;
}

static int put_text(JSContext *ctx, const struct formula_place *at,
		    JSValueConst v)
{
	size_t n;
	const char *s = JS_ToCStringLen(ctx, &n, v);
	int r;

	if (!s)
		return answer_no_room();
	text_mend((char *)s, n);
	r = heap_add(s, n, answer_slot(at, CELL_TEXT));
	JS_FreeCString(ctx, s);
	return r ? answer_no_room() : 0;
}

static int put_date(JSContext *ctx, const struct formula_place *at,
		    JSValueConst v)
{
	double ms;

	(void)ctx;
	if (JS_ToFloat64(ctx, &ms, quick_primitive(v)) || isnan(ms))
		return answer_error(at, "#VALUE!",
				    "the result is no valid date");
	if (fmod(ms, DAY_MS) == 0)
		put_wide(at, CELL_DATE, (int64_t)(ms / DAY_MS));
	else
		put_wide(at, CELL_TIME, (int64_t)ms * 1000);
	return 0;
}

bool answer_is_failure(JSContext *ctx, JSValueConst v)
{
	JSValue proto = JS_GetPrototype(ctx, v);
	bool yes = JS_IsObject(proto) &&
		   JS_VALUE_GET_PTR(proto) ==
			   JS_VALUE_GET_PTR(formula_realm.failure);

	JS_FreeValue(ctx, proto);
	return yes;
}

static int put_bigint(JSContext *ctx, const struct formula_place *at,
		      JSValueConst v)
{
	int64_t n;
	JSValue back;
	bool fits;

	if (JS_ToBigInt64(ctx, &n, v))
		return answer_no_room();
	back = JS_NewBigInt64(ctx, n);
	fits = JS_IsStrictEqual(ctx, back, v);
	JS_FreeValue(ctx, back);
	if (!fits)
		return answer_error(at, "#NUM!",
				    "the result has more than 64 "
				    "bits");
	put_wide(at, CELL_INTEGER, n);
	return 0;
}

static int put_object(JSContext *ctx, const struct formula_place *at,
		      JSValueConst v)
{
	if (quick_kind(v) == QUICK_DATE)
		return put_date(ctx, at, v);
	if (answer_is_failure(ctx, v))
		return answer_failure(ctx, at, v);
	if (JS_IsArray(v) || formula_column_of(v) != UINT32_MAX)
		return answer_error(
			at, "#VALUE!",
			"the result is a list, and a cell holds one "
			"value: take one of it by INDEX, or make a "
			"text by TEXTJOIN");
	if (JS_IsFunction(ctx, v))
		return answer_error(at, "#VALUE!",
				    "the result is a function: "
				    "was it meant to be called?");
	return answer_error(
		at, "#VALUE!",
		"the result is an object, and a cell holds one value");
}

int answer_value(JSContext *ctx, const struct formula_place *at, JSValueConst v)
{
	int32_t n;

	switch (JS_VALUE_GET_NORM_TAG(v)) {
	case JS_TAG_INT:
		JS_ToInt32(ctx, &n, v);
		return put_number(at, n);
	case JS_TAG_FLOAT64:
		return put_number(at, JS_VALUE_GET_FLOAT64(v));
	case JS_TAG_BOOL:
		put_wide(at, CELL_TRUTH, JS_VALUE_GET_BOOL(v));
		return 0;
	case JS_TAG_NULL:
	case JS_TAG_UNDEFINED:
		put_wide(at, CELL_BLANK, 0);
		return 0;
	case JS_TAG_STRING:
	case JS_TAG_STRING_ROPE:
		return put_text(ctx, at, v);
	case JS_TAG_OBJECT:
		return put_object(ctx, at, v);
	case JS_TAG_BIG_INT:
	case JS_TAG_SHORT_BIG_INT:
		return put_bigint(ctx, at, v);
	default:
		return answer_error(at, "#VALUE!",
				    "the result cannot be held by "
				    "a cell");
	}
}

/* Text of a data property; "" if it has none. */
const char *answer_text_of(JSContext *ctx, JSValueConst e, const char *key)
{
	JSAtom a = JS_NewAtom(ctx, key);
	JSValue v = quick_data_property(ctx, e, a);
	const char *s = JS_IsString(v) ? JS_ToCString(ctx, v) : NULL;

	JS_FreeAtom(ctx, a);
	JS_FreeValue(ctx, v);
	return s ? s : "";
}

/* Texts are freed with the run. */
int answer_failure(JSContext *ctx, const struct formula_place *at,
		   JSValueConst e)
{
	const char *code = answer_text_of(ctx, e, "code");

	return answer_error(at, *code == '#' ? code : "#VALUE!",
			    answer_text_of(ctx, e, "message"));
}
