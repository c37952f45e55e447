#include "table/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "table/arrow.h"
#include "table/jsonl.h"
#include "table/rows.h"

#define WHERE "table"

void table_done(struct table *t)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		struct table_column *c = &t->columns[i];

		free(c->name);
		buf_done(&c->kinds);
		buf_done(&c->values);
		buf_done(&c->heap);
		buf_done(&c->fixed);
	}
	free(t->columns);
	arrow_free(t->arrow);
	csv_done(&t->csv);
	buf_done(&t->raw);
	buf_done(&t->ends);
	buf_done(&t->header);
	buf_done(&t->texts);
	buf_done(&t->spans);
	*t = (struct table){0};
}

static struct table_column *find_column(const struct table *t, struct str name)
{
	for (size_t i = 0; i < t->n_columns; i++)
		if (str_equal(str_of(t->columns[i].name), name))
			return &t->columns[i];
	return NULL;
}

/* A name that no column has: `name`, or with a number behind it.  The first one
 * knows which numbers are taken, for a table may have thousands of them. */
static int make_unique(const struct table *t, struct str name, struct buf *b)
{
	struct table_column *first = find_column(t, name);

	if (!first)
		return buf_add(b, name.p, name.len);
	if (!first->twins)
		first->twins = 1;
	do {
		buf_clear(b);
		if (buf_addf(b, "%.*s_%u", (int)name.len, name.p,
			     ++first->twins))
			return -1;
	} while (find_column(t, (struct str){b->data, b->len}));
	return 0;
}

int table_add_column(struct table *t, struct str name, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	struct table_column *p;
	struct str base = name;
	char *copy, room[32];

	if (!name.len) {
		snprintf(room, sizeof room, "column%zu", t->n_columns + 1);
		base = str_of(room);
	}
	/* A name ends at a NUL for whoever reads it after us. */
	if (memchr(base.p, 0, base.len))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the name of column %zu has a NUL byte: is this "
			       "a text file?",
			       t->n_columns + 1);
	if (make_unique(t, base, &b))
		return err_nomem(err, WHERE);
	p = realloc(t->columns, (t->n_columns + 1) * sizeof *p);
	if (p)
		t->columns = p;
	copy = p ? buf_take(&b) : NULL;
	if (!copy)
		return err_nomem(err, WHERE);
	p[t->n_columns++] = (struct table_column){
		.name = copy,
		.renamed = name.len && !str_equal(str_of(copy), name)};
	return 0;
}

int table_state(struct table *t, struct str name, enum cell_kind kind,
		struct redoma_error *err)
{
	if (t->arrow)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "column %s cannot have a type stated: an Arrow "
			       "table says what its columns are",
			       SHOW(name));
	for (size_t i = 0; i < t->n_columns; i++) {
		struct table_column *c = &t->columns[i];

		if (!str_equal(str_of(c->name), name))
			continue;
		c->kind = kind;
		c->stated = true;
		return 0;
	}
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "the table has no column %s to have a type", SHOW(name));
}

static void note_foreign(struct table *t)
{
	if (!t->foreign_line && !str_is_utf8(t->csv.raw))
		t->foreign_line = t->csv.line;
}

static int open_csv(struct table *t, struct redoma_error *err)
{
	struct csv *c = &t->csv;
	bool more = false;
	int r = csv_next(c, &more, err);

	if (r)
		return r;
	if (!more)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the table is empty: a CSV file begins with the "
			       "names of its columns");
	note_foreign(t);
	if (buf_add(&t->header, c->raw.p, c->raw.len))
		return err_nomem(err, WHERE);
	for (size_t i = 0; i < c->n_fields && !r; i++) {
		const struct csv_field *f = &c->fields[i];

		r = table_add_column(
			t, f->quoted ? f->text : str_trim(f->text), err);
	}
	return r;
}

int table_open(struct table *t, struct redoma_error *err)
{
	switch (t->format) {
	case TABLE_CSV:
		return open_csv(t, err);
	case TABLE_JSONL:
		return jsonl_open(t, err);
	default:
		return arrow_open(t, err);
	}
}

/* ---- a block ---- */

enum span_kind {
	SPAN_PLAIN,
	SPAN_QUOTED,
	SPAN_WRONG, /* of a row that has more fields than there are columns */
};

/* A cell of the row before kinds are known: its text. */
struct span {
	uint64_t at;
	uint32_t len;
	uint32_t kind; /* enum span_kind */
};

int rows_add_raw(struct table *t, struct str raw)
{
	uint64_t end;

	if (buf_add(&t->raw, raw.p, raw.len))
		return -1;
	end = t->raw.len;
	return buf_add(&t->ends, &end, sizeof end);
}

static int add_text(struct table *t, struct str text, enum span_kind kind)
{
	struct span s = {t->texts.len, (uint32_t)text.len, kind};

	if (buf_add(&t->texts, text.p, text.len))
		return -1;
	return buf_add(&t->spans, &s, sizeof s);
}

/* Fields behind the last column: false if they are blank, as a delimiter at the
 * end of each row makes one. */
static bool has_surplus(const struct table *t)
{
	const struct csv *c = &t->csv;

	for (size_t i = t->n_columns; i < c->n_fields; i++)
		if (str_trim(c->fields[i].text).len)
			return true;
	return false;
}

/* So that what is written behind it lands in its column, what is too much
 * becomes one field with the last.  No cell of it is to be computed with: which
 * field is the surplus one, nobody knows. */
static int add_wrong_record(struct table *t)
{
	const struct csv *c = &t->csv;
	size_t last = t->n_columns - 1;
	size_t from = last ? c->fields[last - 1].end + 1 : 0;
	struct str rest = str_after(c->raw, from);
	uint64_t end;

	if (!t->many++)
		t->many_line = c->line;
	for (size_t i = 0; i < last; i++)
		if (add_text(t, c->fields[i].text, SPAN_WRONG))
			return -1;
	if (add_text(t, rest, SPAN_WRONG) || buf_add(&t->raw, c->raw.p, from) ||
	    csv_put(&t->raw, rest, c->delimiter))
		return -1;
	end = t->raw.len;
	return buf_add(&t->ends, &end, sizeof end);
}

static void note_few(struct table *t)
{
	if (!t->few++)
		t->few_line = t->csv.line;
}

/* Fields that are missing at the end are blank, also in what is written. */
static int add_fitting_record(struct table *t)
{
	const struct csv *c = &t->csv;
	size_t n = c->n_fields < t->n_columns ? c->n_fields : t->n_columns;
	struct str raw = {c->raw.p, c->fields[n - 1].end};

	if (rows_add_raw(t, raw))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (add_text(t, c->fields[i].text,
			     c->fields[i].quoted ? SPAN_QUOTED : SPAN_PLAIN))
			return -1;
	if (n == t->n_columns)
		return 0;
	note_few(t);
	for (size_t i = n; i < t->n_columns; i++)
		if (add_text(t, STR(""), SPAN_PLAIN) ||
		    buf_add(&t->raw, &c->delimiter, 1))
			return -1;
	((uint64_t *)(void *)t->ends.data)[t->rows] = t->raw.len;
	return 0;
}

static int add_record(struct table *t, struct redoma_error *err)
{
	note_foreign(t);
	if (has_surplus(t) ? add_wrong_record(t) : add_fitting_record(t))
		return err_nomem(err, WHERE);
	t->rows++;
	return 0;
}

static int fill_csv(struct table *t, uint64_t most, struct redoma_error *err)
{
	struct csv *c = &t->csv;
	bool more = true;
	int r = 0;

	while (!r && t->rows < most && t->raw.len < rows_room(t)) {
		r = csv_next(c, &more, err);
		if (r || !more)
			break;
		/* An empty line is no row, unless a row is one cell. */
		if (c->n_fields == 1 && !c->raw.len && t->n_columns > 1)
			continue;
		r = add_record(t, err);
	}
	return r;
}

static struct str text_of(const struct table *t, const struct span *s)
{
	return (struct str){t->texts.data + s->at, s->len};
}

static const struct span *spans_of(const struct table *t)
{
	return (const struct span *)(const void *)t->spans.data;
}

int rows_add_cell(struct table_column *c, const struct cell *cell)
{
	uint8_t kind = (uint8_t)cell->kind;
	uint32_t text[2] = {(uint32_t)c->heap.len, (uint32_t)cell->text.len};
	const void *value = &cell->integer;

	if (kind == CELL_TEXT || kind == CELL_ERROR) {
		value = text;
		if (buf_add(&c->heap, cell->text.p, cell->text.len))
			return -1;
	}
	return buf_add(&c->kinds, &kind, 1) || buf_add(&c->values, value, 8)
		       ? -1
		       : 0;
}

/* A text of a column of no stated kind is remembered: among numbers it may not
 * be what its author meant. */
static void note_text(struct table_column *c, uint64_t row, struct str text)
{
	struct table_mix *m = &c->mix;
	size_t n = text.len < sizeof m->text ? text.len : sizeof m->text - 1;

	m->digits += str_only(text, "0123456789.,-+ ");
	if (m->row)
		return;
	m->row = row;
	memcpy(m->text, text.p, n);
	m->text[n] = '\0';
}

static struct cell read_stated(const struct table_column *c, struct str text,
			       bool quoted)
{
	struct cell cell = cell_read_as(text, c->kind);

	/* "" is a text that is empty, where all are texts. */
	if (!text.len && quoted && c->kind == CELL_TEXT)
		return (struct cell){.kind = CELL_TEXT, .text = STR("")};
	if (cell.kind != CELL_TEXT || c->kind == CELL_TEXT)
		return cell;
	return (struct cell){.kind = CELL_ERROR,
			     .text = STR("#VALUE! the cell does not have its "
					 "column's type")};
}

static struct cell wrong_cell(void)
{
	return (struct cell){.kind = CELL_ERROR,
			     .text = STR("#VALUE! the row has more fields than "
					 "the header has names: quote a field "
					 "that has the delimiter in it")};
}

static int fill_column(struct table *t, size_t column)
{
	const struct span *s = spans_of(t) + column;
	struct table_column *c = &t->columns[column];
	int r = 0;

	for (uint64_t i = 0; i < t->rows && !r; i++, s += t->n_columns) {
		struct cell cell;

		if (s->kind == SPAN_WRONG)
			cell = wrong_cell();
		else if (c->stated)
			cell = read_stated(c, text_of(t, s),
					   s->kind == SPAN_QUOTED);
		else
			cell = cell_read(text_of(t, s));
		if (cell.kind == CELL_TEXT && !c->stated)
			note_text(c, t->before + i + 1, cell.text);
		c->mix.n[cell.kind]++;
		r = rows_add_cell(c, &cell);
	}
	return r;
}

static void clear(struct table *t)
{
	t->before += t->rows;
	t->rows = 0;
	buf_clear(&t->raw);
	buf_clear(&t->ends);
	buf_clear(&t->texts);
	buf_clear(&t->spans);
	for (size_t i = 0; i < t->n_columns; i++) {
		buf_clear(&t->columns[i].kinds);
		buf_clear(&t->columns[i].values);
		buf_clear(&t->columns[i].heap);
		buf_clear(&t->columns[i].fixed);
	}
}

int table_next(struct table *t, uint64_t most, struct redoma_error *err)
{
	int r;

	clear(t);
	if (t->format == TABLE_JSONL)
		return jsonl_fill(t, most, err);
	if (t->arrow)
		return arrow_fill(t, most, err);
	r = fill_csv(t, most, err);
	if (r || !t->rows)
		return r;
	for (size_t i = 0; i < t->n_columns; i++)
		if (fill_column(t, i))
			return err_nomem(err, WHERE);
	return 0;
}

int table_cell_text(const struct table *t, size_t column, uint64_t row,
		    struct buf *out)
{
	struct str s;

	/* A date that no cell has. */
	if (t->arrow)
		return buf_add(out, "#VALUE!", 7);
	if (t->format == TABLE_JSONL)
		return jsonl_cell_text(t, column, row, out);
	s = text_of(t, spans_of(t) + row * t->n_columns + column);
	return buf_add(out, s.p, s.len);
}

uint64_t table_bytes(const struct table *t)
{
	return t->arrow ? t->arrow->bytes : t->raw.len;
}

bool table_is_stream(const struct table *t)
{
	return t->arrow && !t->arrow->is_file;
}

struct str table_row(const struct table *t, uint64_t row)
{
	const uint64_t *ends = (const uint64_t *)(const void *)t->ends.data;
	uint64_t from = row ? ends[row - 1] : 0;

	return (struct str){t->raw.data + from, ends[row] - from};
}
