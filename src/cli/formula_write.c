#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/number.h"
#include "cli/formula.h"

static char delimiter_of(const struct formula_job *j)
{
	return j->table.format == TABLE_CSV ? j->table.csv.delimiter : ',';
}

/* As it stood, if the form is the same. */
static bool keeps_rows(const struct formula_job *j)
{
	return j->out_format == j->table.format;
}

int formula_write_head(const struct formula_job *j, struct buf *b)
{
	const struct table *t = &j->table;
	char d = delimiter_of(j);
	int r = 0;

	if (j->out_format != TABLE_CSV)
		return 0;
	if (keeps_rows(j))
		r = buf_add(b, t->header.data, t->header.len);
	for (size_t i = 0; i < t->n_columns && !keeps_rows(j) && !r; i++)
		r = (i && buf_add(b, &d, 1)) ||
		    csv_put(b, str_of(t->columns[i].name), d);
	for (size_t i = 0; i < j->n_formulas && !r; i++)
		r = buf_add(b, &d, 1) ||
		    csv_put(b, str_of(j->formulas[i].name), d);
	return r || buf_add(b, "\n", 1) ? -1 : 0;
}

/* #NAME? name 'prise' is not defined; #NAME? prise is not defined. */
static void take_name(struct formula_errors *e, struct str text)
{
	static const char tail[] = " is not defined";
	size_t n = strlen("#NAME? ");

	/* The blank between them is of both. */
	if (!str_ends(text, str_of(tail)) || text.len < n + strlen(tail))
		return;
	text = str_after(text, n);
	text.len -= strlen(tail);
	if (str_starts(text, STR("name '")) && text.len > 7) {
		text = str_after(text, 6);
		text.len--;
	}
	snprintf(e->name, sizeof e->name, "%.*s",
		 (int)(text.len < sizeof e->name ? text.len : 0), text.p);
}

void formula_note(struct formula_job *j, size_t formula,
		  const struct redoma_cell *c)
{
	struct formula_errors *e = &j->errors;
	size_t n = c->len < 11 ? c->len : 11, i = 0;
	char code[12] = {0};

	if (c->kind != REDOMA_CELL_ERROR)
		return;
	if (c->len && memchr(c->text, ' ', n))
		n = (size_t)((const char *)memchr(c->text, ' ', n) - c->text);
	memcpy(code, c->text, n);
	while (i < FORMULA_CODES - 1 && e->codes[i][0] &&
	       strcmp(e->codes[i], code))
		i++;
	memcpy(e->codes[i], code, sizeof code);
	e->n[i]++;
	j->failed[formula]++;
	if (!e->name[0] && !strcmp(code, "#NAME?"))
		take_name(e, (struct str){c->text, c->len});
	if (!e->all++)
		snprintf(e->first, sizeof e->first,
			 "the first in row %llu, %.40s: %.*s",
			 (unsigned long long)j->rows + 1,
			 j->formulas[formula].name,
			 (int)(c->len > 160 ? 160 : c->len), c->text);
}

struct cell formula_cell_from(const struct redoma_cell *c)
{
	struct cell cell = {.kind = (enum cell_kind)c->kind,
			    .integer = c->integer,
			    .text = {c->text, c->len}};

	if (c->kind == REDOMA_CELL_NUMBER)
		cell.number = c->number;
	return cell;
}

struct cell formula_cell_at(const struct table_column *c, uint64_t row)
{
	struct cell cell = {.kind = (enum cell_kind)c->kinds.data[row]};
	const char *v = c->values.data + 8 * row;
	uint32_t text[2];

	memcpy(&cell.integer, v, sizeof cell.integer);
	memcpy(text, v, sizeof text);
	if (cell.kind == CELL_TEXT || cell.kind == CELL_ERROR)
		cell.text = (struct str){
			c->heap.len ? c->heap.data + text[0] : "", text[1]};
	return cell;
}

static int put_csv(struct buf *b, const struct cell *c, char delimiter)
{
	struct buf text = {0};
	int r;

	if (c->kind == CELL_TEXT)
		return csv_put(b, c->text, delimiter);
	/* The code of an error is a guest's word too. */
	if (c->kind != CELL_ERROR &&
	    (c->kind != CELL_NUMBER || delimiter != '.'))
		return cell_print(b, c);
	r = cell_print(&text, c);
	if (!r)
		r = csv_put(b, (struct str){text.data, text.len}, delimiter);
	buf_done(&text);
	return r;
}

static int put_error(struct buf *b, struct str text)
{
	const char *blank = memchr(text.p, ' ', text.len);
	size_t n = blank ? (size_t)(blank - text.p) : text.len;

	return buf_addf(b, "{\"error\":") || json_put_string(b, text.p, n) ||
			       buf_addf(b, ",\"message\":") ||
			       json_put_string(b, text.p + n + (blank != NULL),
					       text.len - n -
						       (blank != NULL)) ||
			       buf_add(b, "}", 1)
		       ? -1
		       : 0;
}

static int put_json(struct buf *b, const struct cell *c)
{
	switch (c->kind) {
	case CELL_BLANK:
		return buf_add(b, "null", 4);
	case CELL_TEXT:
		return json_put_string(b, c->text.p, c->text.len);
	case CELL_ERROR:
		return put_error(b, c->text);
	case CELL_DATE:
	case CELL_TIME:
		return buf_add(b, "\"", 1) || cell_print(b, c) ||
				       buf_add(b, "\"", 1)
			       ? -1
			       : 0;
	case CELL_NUMBER:
		/* Arrow has such, and JSON has not. */
		if (!isfinite(c->number))
			return buf_add(b, "null", 4);
		return cell_print(b, c);
	default:
		return cell_print(b, c);
	}
}

/* A cell that formulas cannot take still has its text. */
static int put_as_it_was(struct buf *b, const struct formula_job *j,
			 size_t column, uint64_t row)
{
	CLEANUP(buf_done) struct buf text = {0};
	bool csv = j->out_format == TABLE_CSV;

	if (table_cell_text(&j->table, column, row, &text))
		return -1;
	/* What JSON Lines hold there is JSON, of CSV it is a text. */
	return csv ? csv_put(b, (struct str){text.data, text.len},
			     delimiter_of(j))
		   : json_put_string(b, text.data ? text.data : "", text.len);
}

static int put_key(struct buf *b, const char *name, bool first)
{
	return (!first && buf_add(b, ",", 1)) ||
			       json_put_string(b, name, strlen(name)) ||
			       buf_add(b, ":", 1)
		       ? -1
		       : 0;
}

/* Up to the closing brace, which is the last character but blanks. */
static struct str open_object(struct str row, bool *ret_empty)
{
	size_t n = row.len;

	while (n && row.p[n - 1] != '}')
		n--;
	n -= n > 0;
	row.len = n;
	while (n && (row.p[n - 1] == ' ' || row.p[n - 1] == '\t'))
		n--;
	*ret_empty = n && row.p[n - 1] == '{';
	return row;
}

static int put_old(const struct formula_job *j, uint64_t row, struct buf *b,
		   bool *ret_first)
{
	const struct table *t = &j->table;
	bool csv = j->out_format == TABLE_CSV;
	char d = delimiter_of(j);
	int r = 0;

	*ret_first = false;
	if (keeps_rows(j)) {
		struct str raw = table_row(t, row);

		if (!csv)
			raw = open_object(raw, ret_first);
		return buf_add(b, raw.p, raw.len);
	}
	r = csv ? 0 : buf_add(b, "{", 1);
	for (size_t i = 0; i < t->n_columns && !r; i++) {
		struct cell c = formula_cell_at(&t->columns[i], row);

		if (csv)
			r = i && buf_add(b, &d, 1);
		else
			r = put_key(b, t->columns[i].name, !i);
		if (!r && c.kind == CELL_ERROR)
			r = put_as_it_was(b, j, i, row);
		else if (!r)
			r = csv ? put_csv(b, &c, d) : put_json(b, &c);
	}
	return r;
}

int formula_write_row(struct formula_job *j, const struct redoma_sheet *s,
		      uint64_t row, struct buf *b)
{
	bool csv = j->out_format == TABLE_CSV, first;
	char d = delimiter_of(j);
	int r = put_old(j, row, b, &first);

	for (size_t i = 0; i < j->n_formulas && !r; i++) {
		struct redoma_cell c = redoma_sheet_cell(s, i, row);
		struct cell cell = formula_cell_from(&c);

		formula_note(j, i, &c);
		if (csv)
			r = buf_add(b, &d, 1) || put_csv(b, &cell, d);
		else
			r = put_key(b, j->formulas[i].name, first) ||
			    put_json(b, &cell);
		first = false;
	}
	if (!r)
		r = csv ? buf_add(b, "\n", 1) : buf_add(b, "}\n", 2);
	j->rows++;
	return r ? -1 : 0;
}
