#include <stdlib.h>

#include "base/cleanup.h"
#include "cli/formula.h"
#include "cli/print.h"

#define WHERE "cli"
#define TEXT_BYTES ((uint64_t)64 << 20) /* of results in a record batch */

/* What a column of the output is made of. */
struct origin {
	const struct table_column *old; /* NULL: a formula */
	const struct redoma_sheet *sheet;
	uint64_t formula;
};

struct formula_arrow {
	struct arrow_writer writer;
	struct arrow_out *columns; /* owned */
	struct origin *origins;    /* owned, one for each */
};

void formula_arrow_free(struct formula_arrow *a)
{
	if (!a)
		return;
	arrow_writer_done(&a->writer);
	free(a->columns);
	free(a->origins);
	free(a);
}

static struct cell cell_of(const void *data, uint64_t row)
{
	const struct origin *o = data;
	struct redoma_cell c;

	if (o->old)
		return formula_cell_at(o->old, row);
	c = redoma_sheet_cell(o->sheet, o->formula, row);
	return formula_cell_from(&c);
}

/* The kind of all cells of the block. */
static enum cell_kind kind_of(const struct origin *o, uint64_t rows)
{
	enum cell_kind kind = CELL_BLANK;

	for (uint64_t i = 0; i < rows && kind != CELL_TEXT; i++) {
		enum cell_kind k = cell_of(o, i).kind;

		kind = cell_join(kind, k == CELL_ERROR ? CELL_BLANK : k);
	}
	return kind;
}

static struct arrow_type type_of(const struct formula_job *j,
				 const struct origin *o, uint64_t rows)
{
	enum cell_kind kind = CELL_BLANK;

	if (o->old && o->old->arrow) {
		struct arrow_type t = *o->old->arrow;

		/* Its texts are all there is of a dictionary. */
		t.index_width = 0;
		return t;
	}
	if (o->old)
		kind = o->old->kind;
	else if (j->kinds)
		kind = j->kinds[o->formula];
	return arrow_type_of(kind == CELL_BLANK ? kind_of(o, rows) : kind);
}

static int begin(struct formula_job *j, const struct redoma_sheet *s,
		 struct buf *b, struct redoma_error *err)
{
	size_t old = j->table.n_columns, n = old + j->n_formulas;
	struct formula_arrow *a = calloc(1, sizeof *a);

	j->arrow = a;
	if (!a)
		return err_nomem(err, WHERE);
	a->columns = calloc(n, sizeof *a->columns);
	a->origins = calloc(n, sizeof *a->origins);
	if (!a->columns || !a->origins)
		return err_nomem(err, WHERE);
	for (size_t i = 0; i < n; i++) {
		struct arrow_out *c = &a->columns[i];
		struct origin *o = &a->origins[i];

		if (i < old)
			o->old = &j->table.columns[i];
		else
			*o = (struct origin){NULL, s, i - old};
		*c = (struct arrow_out){
			.name = o->old ? o->old->name
				       : j->formulas[i - old].name,
			.type = type_of(j, o, s ? redoma_sheet_rows(s) : 0),
			.cell = cell_of,
			.data = o,
		};
	}
	a->writer.is_file = j->out_format == TABLE_ARROW;
	a->writer.columns = a->columns;
	a->writer.n_columns = n;
	j->begun = true;
	return arrow_put_head(&a->writer, b, err);
}

/* Where the columns of this block are. */
static void set_block(struct formula_arrow *a, const struct redoma_sheet *s)
{
	for (size_t i = 0; i < a->writer.n_columns; i++) {
		struct arrow_out *c = &a->columns[i];
		struct origin *o = &a->origins[i];

		o->sheet = s;
		if (!o->old || !o->old->arrow || !arrow_type_bytes(&c->type))
			continue;
		c->fixed = o->old->fixed.data;
		c->kinds = (const uint8_t *)o->old->kinds.data;
	}
}

/* From there on, as many rows as make a record batch. */
static uint64_t count_rows(struct formula_job *j, const struct redoma_sheet *s,
			   uint64_t from)
{
	uint64_t n = redoma_sheet_rows(s), bytes = 0, i = from;

	for (; i < n && bytes < TEXT_BYTES; i++) {
		for (size_t k = 0; k < j->n_formulas; k++) {
			struct redoma_cell c = redoma_sheet_cell(s, k, i);

			formula_note(j, k, &c);
			bytes += c.len;
		}
		j->rows++;
	}
	return i - from;
}

static int write_out(struct formula_job *j, struct buf *b,
		     struct redoma_error *err)
{
	int r = formula_put(j, b, err);

	buf_clear(b);
	return r;
}

int formula_arrow_write(struct formula_job *j, const struct redoma_sheet *s,
			struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	uint64_t n = s ? redoma_sheet_rows(s) : 0, rows;
	int r = j->arrow ? 0 : begin(j, s, &b, err);

	if (!r)
		set_block(j->arrow, s);
	for (uint64_t from = 0; from < n && !r; from += rows) {
		rows = count_rows(j, s, from);
		r = arrow_put_rows(&j->arrow->writer, from, rows, &b, err);
		if (!r)
			r = write_out(j, &b, err);
	}
	if (!r)
		r = write_out(j, &b, err);
	return r || s ? r : formula_arrow_end(j, err);
}

int formula_arrow_end(struct formula_job *j, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	int r = j->arrow ? arrow_put_tail(&j->arrow->writer, &b, err)
			 : formula_arrow_write(j, NULL, err);

	return r ? r : write_out(j, &b, err);
}
