#include "table/jsonl.h"

#include <string.h>
#include "base/cleanup.h"
#include "base/json.h"
#include "table/rows.h"

#define WHERE "table"
#define SAMPLE_ROWS 1000
#define SAMPLE_BYTES (RECORD_MAX / 4)

/* The next line without its end, from `at` bytes behind what is consumed;
 * *ret_end is where the one behind it begins. */
static int look(struct table *t, size_t at, struct str *ret, size_t *ret_end,
		struct redoma_error *err)
{
	struct feed *f = &t->csv.feed;

	for (;;) {
		size_t left = f->have - f->at;
		const char *p = f->p ? f->p + f->at + at : "";
		const char *end = left > at ? memchr(p, '\n', left - at) : NULL;
		int r;

		if (end || f->end) {
			ret->p = p;
			ret->len = end ? (size_t)(end - p) : left - at;
			*ret_end = at + ret->len + (end != NULL);
			if (ret->len && ret->p[ret->len - 1] == '\r')
				ret->len--;
			return ret->len > RECORD_MAX ? feed_too_long(err) : 0;
		}
		r = feed_more(f, err);
		if (r)
			return r;
	}
}

static bool is_blank(struct str s)
{
	while (s.len && (*s.p == ' ' || *s.p == '\t'))
		s = str_after(s, 1);
	return !s.len;
}

static int parse(struct table *t, struct str line, struct json_doc **ret,
		 struct redoma_error *err)
{
	struct redoma_error why;
	int r = json_parse(line.p, line.len, ret, &why);

	if (r == REDOMA_E_INVALID && !str_is_utf8(line))
		return err_set(err, r, WHERE,
			       "line %llu is not UTF-8, which JSON is; write "
			       "the table so, if it is Latin-1 by iconv -f "
			       "latin1 -t utf-8",
			       (unsigned long long)t->line);
	if (r == REDOMA_E_INVALID)
		return err_set(err, r, WHERE, "line %llu is not JSON: %.120s",
			       (unsigned long long)t->line, why.text);
	if (r) {
		if (err)
			*err = why;
		return r;
	}
	if (json_kind(json_root(*ret)) == JSON_OBJECT)
		return 0;
	json_free(*ret);
	*ret = NULL;
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "line %llu is not an object: a row is one, as {\"price\""
		       ": 12}",
		       (unsigned long long)t->line);
}

static bool is_known(const struct table *t, struct str name)
{
	for (size_t i = 0; i < t->n_columns; i++)
		if (str_equal(str_of(t->columns[i].name), name))
			return true;
	return false;
}

static int take_names(struct table *t, struct str line,
		      struct redoma_error *err)
{
	CLEANUP(json_cleanup) struct json_doc *doc = NULL;
	struct json_iter it;
	int r = parse(t, line, &doc, err);

	if (r)
		return r;
	it = json_iter(json_root(doc));
	while (!r && json_next(&it)) {
		struct str name;

		name.p = json_string(it.key, &name.len);
		/* A name that a column cannot have is not one. */
		if (name.len && !memchr(name.p, 0, name.len) &&
		    !is_known(t, name))
			r = table_add_column(t, name, err);
	}
	return r;
}

int jsonl_open(struct table *t, struct redoma_error *err)
{
	struct feed *f = &t->csv.feed;
	size_t at = 0, end = 0;
	struct str line;
	int r = feed_begin(f, 4096, err);

	/* The same lines whatever the pieces are that they come in. */
	for (int n = 0; !r && n < SAMPLE_ROWS && at < SAMPLE_BYTES; n++) {
		r = look(t, at, &line, &end, err);
		/* With those before it this one is too long; not by itself. */
		if (r == REDOMA_E_INVALID && n) {
			r = 0;
			break;
		}
		if (r || end == at)
			break;
		t->line = (uint64_t)n + 1;
		if (!r && !is_blank(line))
			r = take_names(t, line, err);
		at = end;
	}
	t->line = 0;
	if (!r && !t->n_columns)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the table is empty: each of its lines is an "
			       "object");
	return r;
}

/* An integer that no integer here takes may be a name, and is its digits. */
static struct cell number(const struct table_column *column,
			  const struct json_value *v, struct str digits)
{
	struct cell c = {.kind = CELL_NUMBER};
	bool whole = !strpbrk(digits.p, ".eE");
	bool any = column->stated && column->kind == CELL_NUMBER;

	if (whole && json_i64(v, &c.integer))
		c.kind = CELL_INTEGER;
	else if (whole && !any && !str_equal(digits, STR("-0")))
		c = (struct cell){.kind = CELL_TEXT, .text = digits};
	else if (!json_double(v, &c.number))
		c = (struct cell){.kind = CELL_ERROR,
				  .text = STR("#NUM! the number is too "
					      "large")};
	return c;
}

static struct cell stated(struct str text, enum cell_kind kind)
{
	struct cell c = cell_read_as(text, kind);

	if (c.kind != CELL_TEXT)
		return c;
	return (struct cell){.kind = CELL_ERROR,
			     .text = STR("#VALUE! the cell does not have its "
					 "column's type")};
}

static struct cell cell_of(const struct table_column *c,
			   const struct json_value *v)
{
	struct str text = {"", 0};
	struct cell cell = {.kind = CELL_BLANK};

	switch (json_kind(v)) {
	case JSON_NULL:
		return cell;
	case JSON_BOOL:
		cell.kind = CELL_TRUTH;
		cell.integer = json_is_true(v);
		return cell;
	case JSON_NUMBER:
		text.p = json_digits(v, &text.len);
		return number(c, v, text);
	case JSON_STRING:
		text.p = json_string(v, &text.len);
		if (c->stated && c->kind != CELL_TEXT)
			return stated(text, c->kind);
		return (struct cell){.kind = CELL_TEXT, .text = text};
	default:
		return (struct cell){
			.kind = CELL_ERROR,
			.text = STR("#VALUE! a list or an object is no "
				    "cell")};
	}
}

static bool is_late(const struct table *t, struct str name)
{
	for (size_t i = 0; i < t->n_late; i++)
		if (str_equal(str_of(t->late[i].name), name))
			return true;
	return false;
}

/* Members that are no columns: the table's width was settled before they
 * came. */
static void note_late(struct table *t, const struct json_value *row)
{
	struct json_iter it = json_iter(row);

	while (t->n_late < TABLE_LATE_MAX && json_next(&it)) {
		struct table_late *late = &t->late[t->n_late];
		struct str name;

		name.p = json_string(it.key, &name.len);
		name.len = name.len < sizeof late->name
				   ? name.len
				   : sizeof late->name - 1;
		if (!name.len || memchr(name.p, 0, name.len) ||
		    is_known(t, name) || is_late(t, name))
			continue;
		memcpy(late->name, name.p, name.len);
		late->line = t->line;
		t->n_late++;
	}
}

static int take_row(struct table *t, struct str line, struct redoma_error *err)
{
	CLEANUP(json_cleanup) struct json_doc *doc = NULL;
	int r = parse(t, line, &doc, err);
	size_t found = 0;
	bool bad;

	if (r)
		return r;
	bad = rows_add_raw(t, line);
	for (size_t i = 0; i < t->n_columns && !bad; i++) {
		struct table_column *c = &t->columns[i];
		const struct json_value *v =
			json_member(json_root(doc), c->name);
		struct cell cell = cell_of(c, v);

		found += v != NULL;
		bad = rows_add_cell(c, &cell);
	}
	if (found < json_count(json_root(doc)))
		note_late(t, json_root(doc));
	if (bad)
		return err_nomem(err, WHERE);
	t->rows++;
	return 0;
}

int jsonl_fill(struct table *t, uint64_t most, struct redoma_error *err)
{
	struct feed *f = &t->csv.feed;
	int r = 0;

	while (!r && t->rows < most && t->raw.len < rows_room(t)) {
		struct str line;
		size_t end;

		r = look(t, 0, &line, &end, err);
		if (r || !end)
			break;
		t->line++;
		if (!is_blank(line))
			r = take_row(t, line, err);
		f->at += end;
	}
	return r;
}

int jsonl_cell_text(const struct table *t, size_t column, uint64_t row,
		    struct buf *out)
{
	CLEANUP(json_cleanup) struct json_doc *doc = NULL;
	struct str line = table_row(t, row);
	struct json_writer w = {.buf = out};
	const struct json_value *v;
	const char *p;
	size_t len;

	if (json_parse(line.p, line.len, &doc, NULL))
		return -1;
	v = json_member(json_root(doc), t->columns[column].name);
	p = json_string(v, &len);
	if (p)
		return buf_add(out, p, len);
	json_write_value(&w, v);
	return json_write_done(&w);
}
