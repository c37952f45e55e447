#include "cli/formula.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/job.h"
#include "cli/print.h"

#define WHERE "cli"
#define BLOCK_ROWS 65536u

static void sheet_cleanup(struct redoma_sheet **s)
{
	redoma_sheet_free(*s);
}

static struct redoma_column *columns_of(const struct table *t)
{
	struct redoma_column *list = calloc(t->n_columns + 1, sizeof *list);

	for (size_t i = 0; list && i < t->n_columns; i++) {
		const struct table_column *c = &t->columns[i];

		list[i] = (struct redoma_column){
			.name = c->name,
			.layout = REDOMA_COLUMN_CELLS,
			.validity = c->kinds.data,
			.values = c->values.data,
			.heap = c->heap.data,
			.heap_len = c->heap.len,
		};
	}
	return list;
}

/* Not before the formulas are known to be some: who redirects the output has
 * nothing then. */
static int put_head(struct formula_job *j, struct buf *b)
{
	if (j->begun)
		return 0;
	j->begun = true;
	return formula_write_head(j, b);
}

int formula_put(const struct formula_job *j, const struct buf *b,
		struct redoma_error *err)
{
	struct redoma_error why = {0};
	int r;

	if (!j->out_name)
		return print_bytes(j->out, b->data, b->len, err);
	r = print_bytes(j->out, b->data, b->len, &why);
	if (!r)
		return 0;
	errno = why.sys;
	return err_sys(err, WHERE, "write to %s", SHOW(str_of(j->out_name)));
}

static int write_block(struct formula_job *j, const struct redoma_sheet *s,
		       struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	uint64_t n = redoma_sheet_rows(s);

	if (formula_form_is_arrow(j->out_format))
		return n ? formula_arrow_write(j, s, err) : 0;
	if (n && put_head(j, &b))
		return err_nomem(err, WHERE);
	for (uint64_t i = 0; i < n; i++) {
		if (formula_write_row(j, s, i, &b))
			return err_nomem(err, WHERE);
		if (b.len >= 1 << 18 || i + 1 == n) {
			int r = formula_put(j, &b, err);

			if (r)
				return r;
			buf_clear(&b);
		}
	}
	return 0;
}

static int run_block(struct formula_job *j, struct redoma *r,
		     struct redoma_sheet **ret, struct redoma_error *err)
{
	CLEANUP_FREE struct redoma_column *columns = columns_of(&j->table);
	struct redoma_formula_request q = REDOMA_FORMULA_REQUEST_INIT;
	int rc;

	if (!columns)
		return err_nomem(err, WHERE);
	q.language = j->language;
	q.formulas = j->formulas;
	q.n_formulas = j->n_formulas;
	q.columns = columns;
	q.n_columns = j->table.n_columns;
	q.rows = j->table.rows;
	q.first = j->rows;
	q.narrow = j->narrow;
	q.now_us = j->now_us;
	q.row_us = j->row_us;
	rc = redoma_formula(r, &q, ret, err);
	/* A signal between two runs cancels none. */
	if (!rc && job_is_cancelled())
		return err_set(err, REDOMA_E_WORKER, WHERE, "cancelled");
	return rc ? rc : write_block(j, *ret, err);
}

static bool is_ok(const struct redoma_sheet *s)
{
	struct redoma_result *r = redoma_sheet_result(s);

	return !r || redoma_result_status(r) == REDOMA_STATUS_OK;
}

static void show_progress(const struct formula_job *j)
{
	char text[64];

	snprintf(text, sizeof text, "%llu rows", (unsigned long long)j->rows);
	print_wait(NULL, text);
}

/* What stands behind the last row.  A table without a row has its names
 * alone. */
static int finish(struct formula_job *j, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf head = {0};

	if (formula_form_is_arrow(j->out_format))
		return formula_arrow_end(j, err);
	if (put_head(j, &head))
		return err_nomem(err, WHERE);
	return formula_put(j, &head, err);
}

int formula_run(struct formula_job *j, struct redoma *r,
		struct redoma_sheet **ret, struct redoma_error *err)
{
	CLEANUP(sheet_cleanup) struct redoma_sheet *s = NULL;
	int rc = 0;

	while (!rc && j->table.rows) {
		redoma_sheet_free(TAKE_PTR(s));
		rc = run_block(j, r, &s, err);
		if (rc || !is_ok(s))
			break;
		if (!j->quiet)
			show_progress(j);
		rc = table_next(&j->table, BLOCK_ROWS, err);
	}
	if (!j->quiet)
		print_wait(NULL, NULL);
	if (!rc && (!s || is_ok(s)))
		rc = finish(j, err);
	if (!rc)
		*ret = TAKE_PTR(s);
	return rc;
}
