#include "table/arrow_body.h"

#include <string.h>
#include "base/cleanup.h"
#include "base/err.h"
#include "table/arrow_fit.h"

#define WHERE "table"

void arrow_body_done(struct arrow_body *t)
{
	buf_done(&t->bytes);
	buf_done(&t->buffers);
	buf_done(&t->nodes);
}

/* A buffer ends; `at` is where it began. */
static int note_buffer(struct arrow_body *t, size_t at)
{
	static const char zeros[64];
	int64_t span[2] = {(int64_t)at, (int64_t)(t->bytes.len - at)};

	return buf_add(&t->buffers, span, sizeof span) ||
			       buf_add(&t->bytes, zeros, -t->bytes.len % 64)
		       ? -1
		       : 0;
}

static bool is_null(const struct arrow_out *c, uint64_t row)
{
	struct cell cell;

	if (c->fixed)
		return c->kinds[row] == CELL_BLANK;
	cell = c->cell(c->data, row);
	return cell.kind == CELL_BLANK || cell.kind == CELL_ERROR;
}

static int put_bits(struct arrow_body *t, const struct arrow_out *c,
		    bool values, int64_t *ret_zeros)
{
	size_t at = t->bytes.len;
	char *p;

	if (buf_reserve(&t->bytes, (t->rows + 7) / 8))
		return -1;
	p = t->bytes.data + at;
	memset(p, 0, (t->rows + 7) / 8);
	for (uint64_t i = 0; i < t->rows; i++) {
		bool bit = !is_null(c, t->from + i);

		if (bit && values)
			bit = c->cell(c->data, t->from + i).integer != 0;
		p[i / 8] = (char)(p[i / 8] | bit << (i % 8));
		*ret_zeros += !bit;
	}
	t->bytes.len += (t->rows + 7) / 8;
	return 0;
}

static int misfit(const struct arrow_body *t, const struct arrow_out *c,
		  uint64_t row, struct redoma_error *err)
{
	static const char *const names[] = {
		[ARROW_BOOL] = "bool",   [ARROW_INT] = "int64",
		[ARROW_UINT] = "uint",   [ARROW_FLOAT] = "float64",
		[ARROW_DATE] = "date32", [ARROW_TIME] = "timestamp",
		[ARROW_UTF8] = "utf8"};
	struct cell cell = c->cell(c->data, row);

	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "column %s was begun as Arrow's %s, and row %llu of it "
		       "is %s %s: state a type that all its cells have, as "
		       "--type %.40s=%s",
		       SHOW(str_of(c->name)), names[c->type.kind],
		       (unsigned long long)(t->first + row - t->from + 1),
		       cell.kind == CELL_INTEGER || cell.kind == CELL_ERROR
			       ? "an"
			       : "a",
		       cell_kind_name(cell.kind), c->name,
		       cell.kind == CELL_NUMBER || cell.kind == CELL_INTEGER
			       ? "number"
			       : "text");
}

static int put_numbers(struct arrow_body *t, const struct arrow_out *c,
		       struct redoma_error *err)
{
	for (uint64_t i = t->from; i < t->from + t->rows; i++) {
		struct cell cell = c->cell(c->data, i);
		int64_t v = 0;

		if (cell.kind != CELL_BLANK && cell.kind != CELL_ERROR &&
		    !arrow_fit(&c->type, &cell, &v))
			return misfit(t, c, i, err);
		if (buf_add(&t->bytes, &v, c->type.width))
			return err_nomem(err, WHERE);
	}
	return 0;
}

/* Offsets of the texts, and then the texts themselves. */
static int put_texts(struct arrow_body *t, const struct arrow_out *c,
		     struct buf *texts)
{
	unsigned width = c->type.kind == ARROW_UTF8 ? c->type.width : 4;
	size_t at = t->bytes.len;
	uint64_t end = 0;

	if (buf_add(&t->bytes, &end, width))
		return -1;
	for (uint64_t i = t->from; i < t->from + t->rows; i++) {
		struct cell cell = c->cell(c->data, i);

		if (cell.kind != CELL_BLANK && cell.kind != CELL_ERROR &&
		    arrow_fit_text(texts, &cell))
			return -1;
		end = texts->len;
		if (buf_add(&t->bytes, &end, width))
			return -1;
	}
	if (note_buffer(t, at))
		return -1;
	at = t->bytes.len;
	return buf_add(&t->bytes, texts->data, texts->len) || note_buffer(t, at)
		       ? -1
		       : 0;
}

static int put_fixed(struct arrow_body *t, const struct arrow_out *c,
		     struct redoma_error *err)
{
	size_t width = c->type.width, at = t->bytes.len;
	int r = 0;

	if (c->fixed &&
	    buf_add(&t->bytes, c->fixed + t->from * width, t->rows * width))
		return err_nomem(err, WHERE);
	if (!c->fixed)
		r = put_numbers(t, c, err);
	if (!r && note_buffer(t, at))
		r = err_nomem(err, WHERE);
	return r;
}

static int put_truths(struct arrow_body *t, const struct arrow_out *c,
		      struct redoma_error *err)
{
	size_t at = t->bytes.len;
	int64_t zeros = 0;

	for (uint64_t i = t->from; i < t->from + t->rows; i++) {
		struct cell cell = c->cell(c->data, i);

		if (cell.kind != CELL_BLANK && cell.kind != CELL_ERROR &&
		    cell.kind != CELL_TRUTH)
			return misfit(t, c, i, err);
	}
	return put_bits(t, c, true, &zeros) || note_buffer(t, at)
		       ? err_nomem(err, WHERE)
		       : 0;
}

static int put_values(struct arrow_body *t, const struct arrow_out *c,
		      struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf texts = {.cap = INT32_MAX};

	switch (c->type.kind) {
	case ARROW_UTF8:
	case ARROW_VIEWS:
		return put_texts(t, c, &texts) ? err_nomem(err, WHERE) : 0;
	case ARROW_BOOL:
		return put_truths(t, c, err);
	default:
		return put_fixed(t, c, err);
	}
}

int arrow_body_add(struct arrow_body *t, const struct arrow_out *c,
		   struct redoma_error *err)
{
	int64_t node[2] = {(int64_t)t->rows, 0};
	size_t at = t->bytes.len;

	if (c->type.kind == ARROW_NULL) {
		node[1] = node[0];
		return buf_add(&t->nodes, node, sizeof node)
			       ? err_nomem(err, WHERE)
			       : 0;
	}
	if (put_bits(t, c, false, &node[1]))
		return err_nomem(err, WHERE);
	/* Where none is null there is no bitmap. */
	if (!node[1])
		t->bytes.len = at;
	if (note_buffer(t, at) || buf_add(&t->nodes, node, sizeof node))
		return err_nomem(err, WHERE);
	return put_values(t, c, err);
}
