#include "table/arrow.h"

#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "table/rows.h"

#define WHERE "table"
#define NAME_MAX_BYTES 4096u
#define DICTIONARIES_MAX ((uint64_t)256 << 20) /* bytes of all of them */
#define EMPTY_ROWS_MAX ((uint64_t)1 << 24) /* that no byte of the table needs */
#define CELL_BYTES 4u /* what a cell counts of a block, beside its text */

void arrow_free(struct arrow *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n_dictionaries; i++) {
		buf_done(&a->dictionaries[i].entries);
		buf_done(&a->dictionaries[i].heap);
	}
	free(a->dictionaries);
	free(a->columns);
	pieces_done(&a->pieces);
	buf_done(&a->schema);
	buf_done(&a->meta);
	buf_done(&a->there);
	buf_done(&a->texts);
	buf_done(&a->views);
	buf_done(&a->sizes);
	buf_done(&a->room);
	free(a);
}

/* ---- the schema ---- */

static int other_format(const struct buf *head, struct redoma_error *err)
{
	struct str s = {head->data, head->len};

	if (str_starts(s, STR("PAR1")))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "this is a Parquet file, which is not read: "
			       "write the table as Arrow IPC, CSV or JSON "
			       "Lines");
	if (str_starts(s, STR("FEA1")))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "this is Feather V1, which is not read: write "
			       "the table as Feather V2");
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "this is no Arrow IPC file or stream (or one from "
		       "before Arrow 0.15): --format says "
		       "what a table is whose name does not tell");
}

/* A file begins with its magic, and goes on as a stream does. */
static int tell_form(struct arrow *a, struct redoma_error *err)
{
	static const char magic[8] = "ARROW1", more[4] = "\xff\xff\xff\xff";
	int r = pieces_take(&a->pieces, sizeof magic, &a->meta, err);

	if (r)
		return r;
	a->is_file =
		a->meta.len == sizeof magic && !memcmp(a->meta.data, magic, 6);
	if (a->is_file)
		return 0;
	if (a->meta.len != sizeof magic || memcmp(a->meta.data, more, 4))
		return other_format(&a->meta, err);
	pieces_return(&a->pieces, &a->meta);
	return 0;
}

static int find_dictionary(struct arrow *a, const struct flat_table *field,
			   struct arrow_column *c, struct redoma_error *err)
{
	struct flat_table encoding = flat_child(field, 4);
	int64_t id = flat_number(&encoding, 0, 8, 0);
	struct arrow_dictionary *p;

	if (!c->type.index_width)
		return 0;
	for (size_t i = 0; i < a->n_dictionaries; i++) {
		if (a->dictionaries[i].id != id)
			continue;
		c->dictionary = i;
		return a->dictionaries[i].type.width == c->type.width
			       ? 0
			       : arrow_bad(a, "a dictionary has two types",
					   err);
	}
	p = realloc(a->dictionaries, (a->n_dictionaries + 1) * sizeof *p);
	if (!p)
		return err_nomem(err, WHERE);
	a->dictionaries = p;
	c->dictionary = a->n_dictionaries;
	p[a->n_dictionaries++] = (struct arrow_dictionary){
		.id = id, .type = {.kind = ARROW_UTF8, .width = c->type.width}};
	return 0;
}

static int take_field(struct table *t, const struct flat_table *field,
		      struct redoma_error *err)
{
	struct arrow *a = t->arrow;
	struct arrow_column *c = &a->columns[t->n_columns];
	struct str name = flat_text(field, 0);
	int r;

	if (a->flat.bad)
		return arrow_bad(a, "the schema makes no sense", err);
	if (name.len > NAME_MAX_BYTES)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the name of column %zu has more than %u bytes",
			       t->n_columns + 1, NAME_MAX_BYTES);
	r = arrow_type_read(field, name, &c->type, err);
	if (!r)
		r = find_dictionary(a, field, c, err);
	if (!r && a->flat.bad)
		r = arrow_bad(a, "the schema makes no sense", err);
	if (!r)
		r = table_add_column(t, name, err);
	if (!r)
		t->columns[t->n_columns - 1].arrow = &c->type;
	return r;
}

static int take_schema(struct table *t, const struct flat_table *head,
		       struct redoma_error *err)
{
	struct arrow *a = t->arrow;
	struct flat_list fields = flat_list(head, 1, 4);
	int r = 0;

	if (flat_number(head, 0, 2, 0))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the Arrow table is big-endian, which is not "
			       "read");
	if (a->flat.bad)
		return arrow_bad(a, "the schema makes no sense", err);
	if (!fields.n || fields.n > CSV_FIELDS_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the Arrow table has %u columns: a table has 1 "
			       "to %u",
			       fields.n, CSV_FIELDS_MAX);
	a->columns = calloc(fields.n, sizeof *a->columns);
	if (!a->columns)
		return err_nomem(err, WHERE);
	for (uint32_t i = 0; i < fields.n && !r; i++) {
		struct flat_table field = flat_item(&fields, i);

		r = take_field(t, &field, err);
	}
	/* Names of zones lie in it. */
	a->schema = a->meta;
	a->meta = (struct buf){0};
	return r;
}

int arrow_open(struct table *t, struct redoma_error *err)
{
	struct arrow *a = t->arrow = calloc(1, sizeof *a);
	struct flat_table head = {0};
	int kind = 0, r;

	if (!a)
		return err_nomem(err, WHERE);
	pieces_open(&a->pieces, t->csv.feed.fd);
	r = tell_form(a, err);
	if (!r)
		r = arrow_message(a, &head, &kind, err);
	if (r)
		return r;
	if (kind != ARROW_SCHEMA)
		return arrow_bad(a, "it does not begin with a schema", err);
	return take_schema(t, &head, err);
}

/* ---- dictionaries ---- */

static int too_large(const struct arrow_dictionary *d, struct redoma_error *err)
{
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "the dictionaries of the Arrow table have more than "
		       "%llu MiB together with dictionary %lld: write its "
		       "column as utf8",
		       (unsigned long long)DICTIONARIES_MAX >> 20,
		       (long long)d->id);
}

/* n of its values, from a->row on. */
static int add_entries(struct arrow *a, const struct arrow_column *c, size_t n,
		       struct arrow_dictionary *d, struct redoma_error *err)
{
	struct table_column cells = {.arrow = &c->type};
	struct arrow_text *texts;
	uint64_t base = d->heap.len;
	int r = arrow_cells(a, c, n, &cells, err);

	if (!r && (buf_add(&d->heap, cells.heap.data, cells.heap.len) ||
		   buf_reserve(&d->entries, n * sizeof *texts)))
		r = err_nomem(err, WHERE);
	for (size_t i = 0; i < n && !r; i++) {
		struct arrow_text e = {.at = ARROW_TEXT_NULL};
		uint32_t v[2];

		memcpy(v, cells.values.data + 8 * i, sizeof v);
		if (cells.kinds.data[i] == CELL_TEXT)
			e = (struct arrow_text){base + v[0], v[1], 0};
		if (buf_add(&d->entries, &e, sizeof e))
			r = err_nomem(err, WHERE);
	}
	buf_done(&cells.kinds);
	buf_done(&cells.values);
	buf_done(&cells.heap);
	return r;
}

static struct arrow_dictionary *dictionary_of(struct arrow *a, int64_t id)
{
	for (size_t i = 0; i < a->n_dictionaries; i++)
		if (a->dictionaries[i].id == id)
			return &a->dictionaries[i];
	return NULL;
}

static bool have_room(const struct arrow *a, uint64_t texts)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < a->n_dictionaries; i++)
		sum += a->dictionaries[i].heap.len +
		       a->dictionaries[i].entries.len;
	return texts <= DICTIONARIES_MAX &&
	       sum + texts + a->rows * sizeof(struct arrow_text) <=
		       DICTIONARIES_MAX;
}

static int take_dictionary(struct arrow *a, const struct flat_table *head,
			   struct redoma_error *err)
{
	int64_t id = flat_number(head, 0, 8, 0);
	bool more = flat_number(head, 2, 1, 0) != 0;
	struct flat_table data = flat_child(head, 1);
	struct arrow_dictionary *d = dictionary_of(a, id);
	struct arrow_column c = {0};
	int r;

	if (a->flat.bad || !data.flat || !d)
		return arrow_bad(a, "a dictionary that no column has", err);
	c.type = d->type;
	r = arrow_batch(a, &data, &c, 1, err);
	if (r)
		return r;
	if (!more) {
		buf_done(&d->entries);
		buf_done(&d->heap);
	}
	d->there = true;
	if (!have_room(a, c.texts.len))
		return too_large(d, err);
	while (a->row < a->rows && !r) {
		uint64_t n = a->rows - a->row;

		n = n < ARROW_STEP ? n : ARROW_STEP;
		r = add_entries(a, &c, (size_t)n, d, err);
		a->row += n;
	}
	a->row = a->rows = 0;
	return r;
}

/* ---- rows ---- */

/* Rows of nulls alone take no bytes: a few would promise billions of them. */
static int take_batch(struct table *t, const struct flat_table *head,
		      struct redoma_error *err)
{
	struct arrow *a = t->arrow;
	int r = arrow_batch(a, head, a->columns, t->n_columns, err);

	for (size_t i = 0; i < t->n_columns; i++)
		if (a->columns[i].type.kind != ARROW_NULL)
			return r;
	a->empty_rows += a->rows;
	if (r || a->empty_rows <= EMPTY_ROWS_MAX)
		return r;
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "all columns of the Arrow table are of type null, and "
		       "it has more than %llu rows: write one column of "
		       "another type, as a number of each row",
		       (unsigned long long)EMPTY_ROWS_MAX);
}

/* The next batch, with the dictionaries before it.  a->over: there is none. */
static int next_batch(struct table *t, struct redoma_error *err)
{
	struct arrow *a = t->arrow;
	struct flat_table head = {0};
	int kind, r;

	for (;;) {
		r = arrow_message(a, &head, &kind, err);
		if (r)
			return r;
		switch (kind) {
		case ARROW_BATCH:
			return take_batch(t, &head, err);
		case ARROW_DICTIONARY:
			r = take_dictionary(a, &head, err);
			if (r)
				return r;
			break;
		case ARROW_SCHEMA:
			return arrow_bad(a, "a second schema", err);
		default:
			a->over = true;
			return 0;
		}
	}
}

static uint64_t *sizes_of(struct arrow *a)
{
	return (uint64_t *)(void *)a->sizes.data;
}

/* The bytes of each of the next n rows. */
static int measure(struct table *t, size_t n, struct redoma_error *err)
{
	struct arrow *a = t->arrow;
	int r = 0;

	buf_clear(&a->sizes);
	if (buf_reserve(&a->sizes, n * sizeof(uint64_t)))
		return err_nomem(err, WHERE);
	for (size_t i = 0; i < n; i++)
		sizes_of(a)[i] = CELL_BYTES * t->n_columns;
	for (size_t k = 0; k < t->n_columns && !r; k++) {
		const struct arrow_column *c = &a->columns[k];
		const struct arrow_text *texts;

		if (!arrow_has_texts(c))
			continue;
		r = arrow_there(a, c, n, err);
		if (!r)
			r = arrow_texts(a, c, n, err);
		texts = (const struct arrow_text *)(void *)a->texts.data;
		for (size_t i = 0; i < n && !r; i++)
			sizes_of(a)[i] += texts[i].len;
	}
	return r;
}

/* The next rows of the batch, as many as the block has room for. */
static int take_rows(struct table *t, uint64_t most, struct redoma_error *err)
{
	struct arrow *a = t->arrow;
	uint64_t left = a->rows - a->row;
	size_t n = rows_room(t) / (CELL_BYTES * t->n_columns) + 1, fit = 0;
	int r;

	n = n < ARROW_STEP ? n : ARROW_STEP;
	n = left < n ? (size_t)left : n;
	n = most < n ? (size_t)most : n;
	r = measure(t, n, err);
	for (; fit < n && !r && a->bytes < rows_room(t); fit++) {
		a->bytes += sizes_of(a)[fit];
		if (sizes_of(a)[fit] > RECORD_MAX)
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "a row of the Arrow table has more than "
				       "%zu MiB",
				       RECORD_MAX >> 20);
	}
	for (size_t i = 0; i < t->n_columns && !r; i++)
		r = arrow_cells(a, &a->columns[i], fit, &t->columns[i], err);
	a->row += fit;
	t->rows += fit;
	return r;
}

int arrow_fill(struct table *t, uint64_t most, struct redoma_error *err)
{
	struct arrow *a = t->arrow;
	int r = 0;

	a->bytes = 0;
	while (!r && !a->over && t->rows < most && a->bytes < rows_room(t))
		r = a->row < a->rows ? take_rows(t, most - t->rows, err)
				     : next_batch(t, err);
	return r;
}
