#include "table/table.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "table/arrow.h"
#include "table/jsonl.h"
#include "table/rows.h"

#define WHERE "table"
#define ODD_ROWS 1000u

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

static bool has_column(const struct table *t, struct str name)
{
	for (size_t i = 0; i < t->n_columns; i++)
		if (str_equal(str_of(t->columns[i].name), name))
			return true;
	return false;
}

int table_add_column(struct table *t, struct str name, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	struct table_column *p;
	char *copy;

	if (!name.len ? buf_addf(&b, "column%zu", t->n_columns + 1)
		      : buf_add(&b, name.p, name.len))
		return err_nomem(err, WHERE);
	/* A name ends at a NUL for whoever reads it after us. */
	if (memchr(b.data, 0, b.len))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the name of column %zu has a NUL byte: is this "
			       "a text file?",
			       t->n_columns + 1);
	for (int n = 2; has_column(t, (struct str){b.data, b.len}); n++) {
		buf_clear(&b);
		if (buf_addf(&b, "%.*s_%d", (int)name.len, name.p, n))
			return err_nomem(err, WHERE);
	}
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
	if (buf_add(&t->header, c->raw.p, c->raw.len))
		return err_nomem(err, WHERE);
	for (size_t i = 0; i < c->n_fields && !r; i++)
		r = table_add_column(t, c->fields[i].text, err);
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

/* A cell of the row before kinds are known: its text. */
struct span {
	uint64_t at;
	uint32_t len;
	uint32_t quoted;
};

int rows_add_raw(struct table *t, struct str raw)
{
	uint64_t end;

	if (buf_add(&t->raw, raw.p, raw.len))
		return -1;
	end = t->raw.len;
	return buf_add(&t->ends, &end, sizeof end);
}

static int add_text(struct table *t, struct str text, bool quoted)
{
	struct span s = {t->texts.len, (uint32_t)text.len, quoted};

	if (buf_add(&t->texts, text.p, text.len))
		return -1;
	return buf_add(&t->spans, &s, sizeof s);
}

static int too_many(const struct table *t, struct redoma_error *err)
{
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "line %llu has %zu fields, and the header names %zu: "
		       "quote a field that has the delimiter %s in it",
		       (unsigned long long)t->csv.line, t->csv.n_fields,
		       t->n_columns,
		       SHOW(((struct str){&t->csv.delimiter, 1})));
}

/* Fields that are missing at the end are blank, also in what is written. */
static int add_record(struct table *t, struct redoma_error *err)
{
	struct csv *c = &t->csv;
	bool bad;

	if (c->n_fields > t->n_columns)
		return too_many(t, err);
	bad = rows_add_raw(t, c->raw);
	for (size_t i = 0; i < t->n_columns; i++) {
		bool there = i < c->n_fields;

		bad = bad || add_text(t, there ? c->fields[i].text : STR(""),
				      there && c->fields[i].quoted);
		bad = bad ||
		      (i >= c->n_fields && buf_add(&t->raw, &c->delimiter, 1));
	}
	if (bad)
		return err_nomem(err, WHERE);
	((uint64_t *)(void *)t->ends.data)[t->rows] = t->raw.len;
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

static void note_odd(struct table_column *c, uint64_t row, struct str text)
{
	struct table_odd *o = &c->odd;
	size_t n = text.len < sizeof o->text ? text.len : sizeof o->text - 1;

	if (o->count++)
		return;
	o->row = row;
	memcpy(o->text, text.p, n);
	o->text[n] = '\0';
}

/* Whether the cells so far are one kind but for few: a column of names has a
 * number here and there, one of prices a word. */
struct tally {
	uint64_t n[CELL_KINDS], odd_at;
	struct str odd;
};

static void weigh_odd(struct table *t, struct table_column *c,
		      const struct tally *y)
{
	const uint64_t *n = y->n;
	uint64_t of[] = {n[CELL_NUMBER] + n[CELL_INTEGER],
			 n[CELL_DATE] + n[CELL_TIME], n[CELL_TRUTH]};
	static const enum cell_kind kinds[] = {CELL_NUMBER, CELL_DATE,
					       CELL_TRUTH};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		if (n[CELL_TEXT] && of[i] > n[CELL_TEXT]) {
			c->odd.among = kinds[i];
			note_odd(c, t->before + y->odd_at + 1, y->odd);
			c->odd.count = n[CELL_TEXT];
		}
}

static void tell_kind(struct table *t, size_t column)
{
	const struct span *s = spans_of(t) + column;
	struct table_column *c = &t->columns[column];
	uint64_t most = t->rows;
	struct tally y = {0};

	/* A text is enough for the kind; some more tell whether it is odd. */
	for (uint64_t i = 0; i < most; i++, s += t->n_columns) {
		enum cell_kind k = cell_read(text_of(t, s)).kind;

		c->kind = cell_join(c->kind, k);
		if (k == CELL_TEXT && !y.n[k]) {
			y.odd_at = i;
			y.odd = text_of(t, s);
			most = most - i > ODD_ROWS ? i + ODD_ROWS : most;
		}
		y.n[k]++;
	}
	if (c->kind == CELL_TEXT)
		weigh_odd(t, c, &y);
	else
		c->odd.among = c->kind;
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

/* Kinds that were told and not stated are those of the first block: what a
 * wider kind takes is no text. */
static struct cell read_cell(const struct table_column *c, struct str text,
			     bool quoted)
{
	struct cell cell = cell_read_as(text, c->kind);

	/* "" is a text that is empty, where texts are. */
	if (!text.len && quoted && c->kind == CELL_TEXT)
		return (struct cell){.kind = CELL_TEXT, .text = STR("")};
	if (cell.kind != CELL_TEXT || c->kind == CELL_TEXT)
		return cell;
	if (c->stated)
		return (struct cell){.kind = CELL_ERROR,
				     .text = STR("#VALUE! the cell does not "
						 "have its column's type")};
	if (c->kind == CELL_INTEGER)
		return cell_read_as(text, CELL_NUMBER);
	return c->kind == CELL_DATE ? cell_read_as(text, CELL_TIME) : cell;
}

static int fill_column(struct table *t, size_t column)
{
	const struct span *s = spans_of(t) + column;
	struct table_column *c = &t->columns[column];
	int r = 0;

	for (uint64_t i = 0; i < t->rows && !r; i++, s += t->n_columns) {
		struct cell cell = read_cell(c, text_of(t, s), s->quoted);

		if (cell.kind == CELL_TEXT && c->kind != CELL_TEXT)
			note_odd(c, t->before + i + 1, text_of(t, s));
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
	for (size_t i = 0; i < t->n_columns; i++) {
		struct table_column *c = &t->columns[i];

		if (!c->stated && (!t->sampled || c->kind == CELL_BLANK))
			tell_kind(t, i);
		if (fill_column(t, i))
			return err_nomem(err, WHERE);
	}
	t->sampled = true;
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
