/* Apache Arrow's C data interface, in and out.
 *
 * Source: https://arrow.apache.org/docs/format/CDataInterface.html */
#include <stdlib.h>
#include <string.h>
#include <redoma.h>
#include "base/buf.h"
#include "base/cell.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#define WHERE "core"

/* ---- in ---- */

static int layout_of(const struct ArrowSchema *s,
		     enum redoma_column_layout *ret, struct redoma_error *err)
{
	static const struct {
		const char *format;
		enum redoma_column_layout layout;
	} rows[] = {
		{"g", REDOMA_COLUMN_FLOAT64},  {"l", REDOMA_COLUMN_INT64},
		{"b", REDOMA_COLUMN_BOOL},     {"u", REDOMA_COLUMN_TEXT},
		{"tdD", REDOMA_COLUMN_DATE32},
	};

	if (!s->format || !s->name)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "a column has no name or no format");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].format, s->format) && !s->dictionary) {
			*ret = rows[i].layout;
			return 0;
		}
	if (!strncmp(s->format, "tsu:", 4)) {
		*ret = REDOMA_COLUMN_TIME_US;
		return 0;
	}
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "column %s has Arrow's type %s: cast it to float64, "
		       "int64, bool, utf8, date32 or timestamp[us]",
		       SHOW(str_of(s->name)), SHOW(str_of(s->format)));
}

static int column_from(const struct ArrowSchema *s, const struct ArrowArray *a,
		       int64_t offset, struct redoma_column *ret,
		       struct redoma_error *err)
{
	enum redoma_column_layout layout = REDOMA_COLUMN_CELLS;
	int64_t last;
	int r = layout_of(s, &layout, err);

	if (r)
		return r;
	if (a->n_buffers != (layout == REDOMA_COLUMN_TEXT ? 3 : 2) ||
	    a->length < 0 || a->offset < 0 || offset < 0)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "column %s is not laid out as its type says",
			       SHOW(str_of(s->name)));
	*ret = (struct redoma_column){
		.name = s->name,
		.layout = layout,
		.validity = a->null_count ? a->buffers[0] : NULL,
		.values = a->buffers[1],
		.offset = (uint64_t)(a->offset + offset),
	};
	if (layout != REDOMA_COLUMN_TEXT || !a->length || !a->buffers[1])
		return 0;
	last = a->offset + a->length;
	ret->heap = a->buffers[2];
	ret->heap_len = ((const uint32_t *)a->buffers[1])[last];
	return 0;
}

int redoma_columns_from_arrow(const struct ArrowSchema *schema,
			      const struct ArrowArray *batch,
			      struct redoma_column *ret,
			      struct redoma_error *err)
{
	int r = 0;

	if (!schema || !batch || !ret || !schema->format ||
	    strcmp(schema->format, "+s") ||
	    schema->n_children != batch->n_children)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "a table is a struct array (+s) with a child "
			       "for each column, and its schema");
	if (batch->null_count)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "a record batch has no null rows of its own");
	for (int64_t i = 0; i < schema->n_children && !r; i++) {
		if (batch->children[i]->length < batch->offset + batch->length)
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "a column has fewer rows than its "
				       "table");
		r = column_from(schema->children[i], batch->children[i],
				batch->offset, &ret[i], err);
	}
	return r;
}

/* ---- out ---- */

/* What the released struct owns. */
struct owned {
	const void *buffers[3];
	struct buf validity, values, heap;
};

static void release_array(struct ArrowArray *a)
{
	struct owned *o = a->private_data;

	buf_done(&o->validity);
	buf_done(&o->values);
	buf_done(&o->heap);
	free(o);
	a->release = NULL;
}

static void release_schema(struct ArrowSchema *s)
{
	free(s->private_data);
	s->release = NULL;
}

static void owned_free(struct owned **o)
{
	if (!*o)
		return;
	buf_done(&(*o)->validity);
	buf_done(&(*o)->values);
	buf_done(&(*o)->heap);
	free(*o);
}

static enum cell_kind kind_of(const struct redoma_sheet *s, uint64_t formula,
			      int64_t *ret_nulls)
{
	enum cell_kind kind = CELL_BLANK;
	uint64_t n = redoma_sheet_rows(s);

	*ret_nulls = 0;
	for (uint64_t i = 0; i < n; i++) {
		struct redoma_cell c = redoma_sheet_cell(s, formula, i);

		if (c.kind == REDOMA_CELL_ERROR || c.kind == REDOMA_CELL_BLANK)
			++*ret_nulls;
		else
			kind = cell_join(kind, (enum cell_kind)c.kind);
	}
	return kind;
}

static int put_bit(struct buf *b, uint64_t i, bool bit)
{
	if (i % 8 == 0 && buf_add(b, "", 1))
		return -1;
	if (bit)
		b->data[i / 8] |= (char)(1 << (i % 8));
	return 0;
}

static struct cell cell_from(const struct redoma_cell *c)
{
	struct cell cell = {.kind = (enum cell_kind)c->kind,
			    .integer = c->integer,
			    .text = {c->text, c->len}};

	if (c->kind == REDOMA_CELL_NUMBER)
		cell.number = c->number;
	return cell;
}

static int put_text(struct owned *o, const struct cell *c)
{
	uint32_t end;

	if (c && cell_print(&o->heap, c))
		return -1;
	end = (uint32_t)o->heap.len;
	return o->heap.len > INT32_MAX ? -1
				       : buf_add(&o->values, &end, sizeof end);
}

/* `c` NULL: a null. */
static int put_value(struct owned *o, enum cell_kind kind, uint64_t row,
		     const struct redoma_cell *rc)
{
	struct cell c = {0};
	double number;
	int32_t days;
	int64_t wide;

	if (rc)
		c = cell_from(rc);
	switch (kind) {
	case CELL_NUMBER:
		number = c.kind == CELL_INTEGER ? (double)c.integer : c.number;
		return buf_add(&o->values, &number, sizeof number);
	case CELL_TRUTH:
		return put_bit(&o->values, row, c.integer);
	case CELL_DATE:
		days = (int32_t)c.integer;
		return buf_add(&o->values, &days, sizeof days);
	case CELL_TIME:
		wide = c.kind == CELL_DATE ? c.integer * 86400000000
					   : c.integer;
		return buf_add(&o->values, &wide, sizeof wide);
	case CELL_INTEGER:
		return buf_add(&o->values, &c.integer, sizeof c.integer);
	default:
		return put_text(o, rc ? &c : NULL);
	}
}

static int fill(const struct redoma_sheet *s, uint64_t formula,
		enum cell_kind kind, struct owned *o)
{
	uint64_t n = redoma_sheet_rows(s);
	int r = 0;

	if (kind == CELL_TEXT)
		r = put_text(o, NULL);
	for (uint64_t i = 0; i < n && !r; i++) {
		struct redoma_cell c = redoma_sheet_cell(s, formula, i);
		bool null = c.kind == REDOMA_CELL_ERROR ||
			    c.kind == REDOMA_CELL_BLANK;

		r = put_bit(&o->validity, i, !null) ||
		    put_value(o, kind, i, null ? NULL : &c);
	}
	/* Buffers that are empty are there all the same. */
	return r || buf_reserve(&o->values, 8) || buf_reserve(&o->heap, 8) ||
			       buf_reserve(&o->validity, 8)
		       ? -1
		       : 0;
}

int redoma_sheet_to_arrow(const struct redoma_sheet *s, uint64_t formula,
			  const char *name, struct ArrowSchema *ret_schema,
			  struct ArrowArray *ret_array,
			  struct redoma_error *err)
{
	static const char *const formats[CELL_KINDS] = {
		[CELL_NUMBER] = "g", [CELL_TRUTH] = "b",
		[CELL_TEXT] = "u",   [CELL_INTEGER] = "l",
		[CELL_DATE] = "tdD", [CELL_TIME] = "tsu:UTC"};
	CLEANUP(owned_free) struct owned *o = calloc(1, sizeof *o);
	CLEANUP_FREE char *copy = strdup(name ? name : "");
	int64_t nulls;
	enum cell_kind kind = kind_of(s, formula, &nulls);

	if (kind == CELL_BLANK)
		kind = CELL_NUMBER;
	if (!o || !copy || fill(s, formula, kind, o))
		return err_nomem(err, WHERE);
	o->buffers[0] = nulls ? o->validity.data : NULL;
	o->buffers[1] = o->values.data;
	o->buffers[2] = o->heap.data;
	*ret_schema = (struct ArrowSchema){.format = formats[kind],
					   .name = copy,
					   .flags = ARROW_FLAG_NULLABLE,
					   .release = release_schema,
					   .private_data = copy};
	*ret_array =
		(struct ArrowArray){.length = (int64_t)redoma_sheet_rows(s),
				    .null_count = nulls,
				    .n_buffers = kind == CELL_TEXT ? 3 : 2,
				    .buffers = o->buffers,
				    .release = release_array,
				    .private_data = o};
	copy = NULL;
	o = NULL;
	return 0;
}
