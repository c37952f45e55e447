/* redoma_formula: batches of rows through the ordinary pipeline. */
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"
#include "core/fit.h"
#include "core/handle.h"
#include "core/recall.h"
#include "core/run.h"
#include "core/sheet.h"
#include "wire/batch.h"
#include "wire/frame.h"
#include "wire/outcome.h"

#define WHERE "core"
#define ROW_US 100000u
#define ROWS_MAX 65536u /* of a batch that need not have all rows */
#define CELL_BYTES 32u  /* what a cell of an answer is taken to need */
/* What the batches of a call that fail may take together, if that is more than
 * limits.wall. */
#define LOST_US 120000000u
/* How long a row computes on that was told to end: as long again as a row has,
 * and at least so long.  Of all rows, none of which can be left out, longer. */
#define DEAF_US 20000u
#define DEAF_TIMES 10u
#define DEAF_WHOLE_US 1000000u

struct redoma_sheet {
	struct redoma_result **results; /* owned array, one a part */
	struct sheet_part *parts;       /* likewise, in the rows' order */
	size_t n, room;
	uint64_t rows;
	struct redoma_result *last; /* owned: the batch that failed, or NULL */
};

/* What one call is about. */
struct work {
	struct redoma *h;
	const struct redoma_formula_request *q;
	struct redoma_sheet *sheet;
	struct recall recall;
	bool *used;
	bool whole; /* the formulas see all rows: no part will do */
	bool fits;  /* without a row there is memory enough */
	int64_t now_us;
	uint64_t lost_us, may_lose_us; /* of time, in batches that failed */
	bool guessed;	 /* this batch was cut where the last one failed */
	uint64_t then;	 /* rows of the batch behind it; 0: not said */
	/* A row that does not end was cut off: what came of it is its answer.
	 * NULL: none is known.  Owned. */
	struct redoma_result *late;
	uint64_t late_at, late_then;
};

void redoma_sheet_free(struct redoma_sheet *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		redoma_result_free(s->results[i]);
	redoma_result_free(s->last);
	free(s->results);
	free(s->parts);
	free(s);
}

static void sheet_cleanup(struct redoma_sheet **s)
{
	redoma_sheet_free(*s);
}

struct redoma_result *redoma_sheet_result(const struct redoma_sheet *s)
{
	return s->last || !s->n ? s->last : s->results[s->n - 1];
}

uint64_t redoma_sheet_rows(const struct redoma_sheet *s)
{
	return s->rows;
}

struct redoma_cell redoma_sheet_cell(const struct redoma_sheet *s,
				     uint64_t formula, uint64_t row)
{
	size_t low = 0, high = s->n;

	while (low + 1 < high) {
		size_t mid = (low + high) / 2;

		if (s->parts[mid].from <= row)
			low = mid;
		else
			high = mid;
	}
	if (low < s->n && row - s->parts[low].from < s->parts[low].rows &&
	    formula < s->parts[low].formulas)
		return sheet_cell(&s->parts[low], formula,
				  row - s->parts[low].from);
	return (struct redoma_cell){REDOMA_CELL_BLANK, 0, 0, NULL, 0};
}

static const struct policy *policy_of(const struct work *w)
{
	return w->q->narrow ? (const struct policy *)w->q->narrow
			    : w->h->policy;
}

static const struct limits *limits_of(const struct work *w)
{
	return &policy_of(w)->limits;
}

/* ---- which columns a jar has to have ---- */

static size_t skip_blanks(struct str text, size_t at)
{
	while (at < text.len && strchr(" \t\r\n", text.p[at]))
		at++;
	return at;
}

/* .name or ["name"]: a name is told, and stands in the text itself; .name(: it
 * may be a method, which sees all of them. */
static bool tells_name(struct str text)
{
	size_t at = 2;

	if (str_starts(text, STR("."))) {
		at = skip_blanks(text, 1);
		at = skip_blanks(text, at + str_name(str_after(text, at)));
		return at == text.len || text.p[at] != '(';
	}
	if (!str_starts(text, STR("[\"")) && !str_starts(text, STR("['")))
		return false;
	while (at < text.len && text.p[at] != text.p[1])
		at++;
	return at + 1 < text.len && text.p[at + 1] == ']';
}

static bool names_all(struct str text, const char *word)
{
	size_t end;

	while (str_has_word(text, str_of(word), &end)) {
		text = str_after(text, end);
		if (!tells_name(text))
			return true;
	}
	return false;
}

static void find_used(struct work *w)
{
	const struct redoma_formula_request *q = w->q;
	bool all = false;
	size_t end;

	for (uint64_t i = 0; i < q->n_formulas; i++) {
		struct str text = str_of(q->formulas[i].text);

		all = all || memchr(text.p, '\\', text.len) ||
		      names_all(text, "row") || names_all(text, "rows") ||
		      names_all(text, "col");
		w->whole = w->whole || str_has_word(text, STR("rows"), &end);
	}
	for (uint64_t i = 0; i < q->n_columns; i++) {
		w->used[i] = all;
		for (uint64_t k = 0; k < q->n_formulas && !w->used[i]; k++)
			w->used[i] = strstr(q->formulas[k].text,
					    q->columns[i].name) != NULL;
	}
}

/* ---- batches ---- */

static int keep_part(struct redoma_sheet *s, const struct sheet_part *part,
		     struct redoma_result *result, struct redoma_error *err)
{
	if (s->n == s->room) {
		size_t room = s->room ? 2 * s->room : 8;
		void *p = realloc(s->parts, room * sizeof *s->parts);
		void *q;

		if (p)
			s->parts = p;
		q = p ? realloc(s->results, room * sizeof(*s->results)) : NULL;
		if (!q) {
			redoma_result_free(result);
			return err_nomem(err, WHERE);
		}
		s->results = q;
		s->room = room;
	}
	s->parts[s->n] = *part;
	s->results[s->n++] = result;
	return 0;
}

static uint32_t deaf_us(const struct work *w)
{
	uint64_t us = w->whole ? DEAF_TIMES * w->q->row_us : w->q->row_us;
	uint64_t least = w->whole ? DEAF_WHOLE_US : DEAF_US;

	us = us < least ? least : us;
	return us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

/* Fills the batch.  *ret: of a run, or of an earlier one's answer. */
static int run_rows(struct work *w, uint64_t from, uint64_t rows,
		    struct buf *batch, struct redoma_result **ret,
		    struct redoma_error *err)
{
	const struct sheet_slice slice = {w->q, w->used, from,
					  rows, w->now_us, deaf_us(w)};
	struct redoma_request q = REDOMA_REQUEST_INIT;
	int r = sheet_encode(&slice, batch, err);

	if (!r)
		r = recall_find(&w->recall, batch, ret, err);
	if (r || *ret)
		return r;
	q.tenant = w->q->tenant;
	q.language = w->q->language ? w->q->language : "py";
	q.name = "formula";
	q.input = batch->data;
	q.input_len = batch->len;
	q.narrow = w->q->narrow;
	return run_batch(w->h, &q, ret, err);
}

static bool is_named(const struct redoma_result *res, struct str name)
{
	return str_equal((struct str){res->name.data, res->name.len}, name);
}

/* A row went on although it was told to end, and which one: the guest's word,
 * which could have said this of each of these rows. */
static bool is_late(const struct redoma_result *res)
{
	return res->status == REDOMA_STATUS_TRAP &&
	       is_named(res, STR(OUTCOME_ROW_TIME));
}

/* Ended by what one row may have done to the others: how to say that, or
 * NULL. */
static const char *row_failed(const struct work *w,
			      const struct redoma_result *res)
{
	if (w->whole || !w->q->rows || w->lost_us >= w->may_lose_us)
		return NULL;
	switch (res->status) {
	case REDOMA_STATUS_MEMORY_LIMIT:
		return "#VALUE! the row needs more memory than a run may have";
	case REDOMA_STATUS_OUTPUT_LIMIT:
		return "#VALUE! the row's result is larger than an output may "
		       "be";
	case REDOMA_STATUS_STACK_LIMIT:
		return "#VALUE! the row needs more stack than there is";
	/* Without a row it was the formulas that took so long. */
	case REDOMA_STATUS_FUEL_LIMIT:
		return res->row ? "#TIME! this row takes more fuel than a run "
				  "may"
				: NULL;
	case REDOMA_STATUS_TRAP:
		if (!is_late(res))
			return "#VALUE! the row made the interpreter fail";
		return res->row ? "#TIME! this row took longer than a row may"
				: NULL;
	default:
		return NULL;
	}
}

/* Of a row that failed alone only its cell tells. */
static int answer_with(struct work *w, const char *why,
		       struct redoma_result *res, struct redoma_error *err)
{
	res->status = REDOMA_STATUS_OK;
	res->exit_code = 0;
	res->limit_name = NULL;
	buf_clear(&res->name);
	buf_clear(&res->message);
	buf_clear(&res->stack);
	buf_clear(&res->value);
	if (!sheet_fail(w->q->n_formulas, why, &res->value))
		return 0;
	redoma_result_free(res);
	return err_nomem(err, WHERE);
}

/* How many rows to try again of those that failed: those before the one that
 * was being computed, or else it alone.  Which one that was is the guest's
 * word: where it did not help, half of them. */
static uint64_t cut(struct work *w, uint64_t rows, uint32_t row)
{
	uint64_t at = row ? (row - 1) % rows : 0;

	w->guessed = row && !w->guessed;
	w->then = w->guessed && at;
	if (!w->guessed)
		return (rows + 1) / 2;
	return at ? at : 1;
}

/* One row of `rows` was cut off: those before it are to be tried again, it is
 * not.  Takes res.  Gives how many those are. */
static uint64_t leave_out(struct work *w, uint64_t from, uint64_t rows,
			  struct redoma_result *res)
{
	uint64_t at = (res->row - 1) % rows;

	redoma_result_free(w->late);
	w->late = res;
	w->late_at = from + at;
	w->late_then = 2 * (at + 1);
	return at;
}

/* A batch whose answer makes sense is one to remember. */
static int keep_rows(struct work *w, struct sheet_part part, struct buf *batch,
		     struct redoma_result *res, struct redoma_error *err)
{
	part.p = res->value.data;
	part.len = res->value.len;
	if (res->status == REDOMA_STATUS_OK && sheet_check(&part)) {
		/* A limit of time is a clock, unless fuel is what is meant. */
		res->pure = res->pure &&
			    (limits_of(w)->fuel || !sheet_has_late(&part));
		if (!res->usage.cached)
			w->h->stats.columnar += sheet_columnar(&part);
		if (batch)
			recall_keep(&w->recall, batch, &part, res);
		return keep_part(w->sheet, &part, res, err);
	}
	if (res->status == REDOMA_STATUS_OK) {
		res->status = REDOMA_STATUS_TRAP;
		res->exit_code = 1;
		if (buf_addf(&res->name, "Trap") ||
		    buf_addf(&res->message, "the interpreter's answer makes "
					    "no sense")) {
			redoma_result_free(res);
			return err_nomem(err, WHERE);
		}
	}
	w->sheet->last = res;
	return 0;
}

/* Takes res: of one row, which failed. */
static int fail_rows(struct work *w, struct sheet_part part, const char *why,
		     struct redoma_result *res, struct redoma_error *err)
{
	int r = answer_with(w, why, res, err);

	return r ? r : keep_rows(w, part, NULL, res, err);
}

/* Memory ran out before any row had enough. */
static bool may_not_fit(const struct work *w, const struct redoma_result *res)
{
	return res->status == REDOMA_STATUS_MEMORY_LIMIT && !w->fits &&
	       !w->sheet->n;
}

/* What is too little without a row already is no row's fault: sets *ret_done if
 * it is. */
static int try_without(struct work *w, bool *ret_done,
		       struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf batch = {.cap = FRAME_TEXT_MAX};
	struct redoma_result *res = NULL;
	int r = run_rows(w, 0, 0, &batch, &res, err);

	if (r)
		return r;
	*ret_done = res->status == REDOMA_STATUS_MEMORY_LIMIT;
	w->fits = !*ret_done;
	if (w->fits) {
		redoma_result_free(res);
		return 0;
	}
	res->limit_hint = "raise limits.memory: the interpreter with these "
			  "formulas needs more before it has seen a row";
	w->sheet->last = res;
	return 0;
}

/* Sets *ret_done to whether they are; if not, *step to how many of them to try
 * instead. */
static int one_batch(struct work *w, uint64_t from, uint64_t rows,
		     uint64_t *step, bool *ret_done, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf batch = {.cap = FRAME_TEXT_MAX};
	const struct sheet_part part = {
		.from = from, .rows = rows, .formulas = w->q->n_formulas};
	uint64_t began = clock_monotonic_us();
	struct redoma_result *res = NULL;
	const char *why;
	int r = run_rows(w, from, rows, &batch, &res, err);

	if (r)
		return r;
	why = row_failed(w, res);
	*ret_done = false;
	if (why && may_not_fit(w, res))
		r = try_without(w, ret_done, err);
	if (r || *ret_done) {
		redoma_result_free(res);
		return r;
	}
	if (why)
		w->lost_us += clock_monotonic_us() - began;
	*ret_done = !why || rows == 1;
	if (*ret_done) {
		w->guessed = false;
		return why ? fail_rows(w, part, why, res, err)
			   : keep_rows(w, part, &batch, res, err);
	}
	if (is_late(res)) {
		w->guessed = false;
		*step = leave_out(w, from, rows, res);
		return 0;
	}
	*step = cut(w, rows, res->row);
	redoma_result_free(res);
	return 0;
}

static int late_row(struct work *w, struct redoma_error *err)
{
	const struct sheet_part part = {
		.from = w->late_at, .rows = 1, .formulas = w->q->n_formulas};
	struct redoma_result *res = TAKE_PTR(w->late);

	w->then = w->late_then;
	return fail_rows(w, part, "#TIME! this row took longer than a row may",
			 res, err);
}

/* As many rows as an answer has room for. */
static uint64_t step_of(const struct work *w)
{
	uint64_t n = limits_of(w)->output_bytes / CELL_BYTES /
		     w->q->n_formulas;

	if (w->whole)
		return w->q->rows;
	return n < 1 ? 1 : n > ROWS_MAX ? ROWS_MAX : n;
}

/* Cut where a batch fails, until the row that does it is alone. */
static int all_batches(struct work *w, struct redoma_error *err)
{
	uint64_t most = step_of(w), step = most, at = 0;
	int r = 0;

	do {
		uint64_t left = (w->late ? w->late_at : w->q->rows) - at;
		uint64_t rows = left < step ? left : step;
		bool done = true;

		if (w->late && !left) {
			rows = 1;
			r = late_row(w, err);
		} else {
			r = one_batch(w, at, rows, &step, &done, err);
		}
		if (!done)
			continue;
		at += rows;
		step = w->then ? w->then : 2 * step;
		step = step < most ? step : most;
		w->then = 0;
	} while (!r && !w->sheet->last && at < w->q->rows);
	redoma_result_free(w->late);
	w->sheet->rows = w->sheet->last ? 0 : at;
	for (size_t i = 0; i < w->sheet->n && w->sheet->last; i++)
		w->sheet->rows += w->sheet->parts[i].rows;
	return r;
}

static bool is_column(const struct redoma_column *c, uint64_t rows)
{
	if (!c->name || c->layout > REDOMA_COLUMN_TIME_US)
		return false;
	if (!rows)
		return true;
	return c->values && (c->layout != REDOMA_COLUMN_CELLS || c->validity);
}

static int check(const struct redoma_formula_request *q,
		 struct redoma_error *err)
{
	if (!q->n_formulas || !q->formulas || q->n_formulas > 1000)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "a request has 1 to 1000 formulas");
	if ((q->n_columns && !q->columns) || q->n_columns > 16384 ||
	    q->rows > UINT32_MAX / 16)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "a table has at most 16384 columns and 268 "
			       "million rows a call");
	for (uint64_t i = 0; i < q->n_formulas; i++)
		if (!q->formulas[i].name || !q->formulas[i].text)
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "each formula has a name and a text");
	for (uint64_t i = 0; i < q->n_columns; i++)
		if (!is_column(&q->columns[i], q->rows))
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "each column has a name, a layout and "
				       "values");
	if (q->row_us > UINT32_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "row_us is over an hour");
	return 0;
}

/* Where fuel is counted the clock ends no row: which one is ended is the same
 * on every machine.  It is the one that takes all the fuel of a run, alone. */
static int choose_row_limit(const struct work *w,
			    struct redoma_formula_request *q,
			    struct redoma_error *err)
{
	if (!limits_of(w)->fuel) {
		q->row_us = q->row_us ? q->row_us : ROW_US;
		return 0;
	}
	if (!q->row_us)
		return 0;
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "with limits.fuel a row is bounded by fuel, which does "
		       "not depend on the machine, and has no limit of time: "
		       "leave out row_us (--row-time), or limits.fuel");
}

/* What NOW says is a clock, which is the policy's to give; what a caller has
 * instead of the real one is no more than that. */
static int64_t now_of(const struct work *w)
{
	const struct policy *p = policy_of(w);

	if (p->clock == SOURCE_NONE)
		return BATCH_NO_TIME;
	if (p->clock == SOURCE_FIXED)
		return p->clock_fixed_ns / 1000;
	return w->q->now_us ? w->q->now_us : (int64_t)clock_realtime_us();
}

static int evaluate(struct redoma *h, struct redoma_formula_request *q,
		    struct redoma_sheet **ret, struct redoma_error *err)
{
	CLEANUP(sheet_cleanup) struct redoma_sheet *s = NULL;
	CLEANUP_FREE bool *used = NULL;
	struct work w = {.h = h, .q = q};
	int r = check(q, err);

	if (r)
		return r;
	w.now_us = now_of(&w);
	w.sheet = s = calloc(1, sizeof *s);
	w.used = used = calloc(q->n_columns + 1, sizeof *used);
	if (!s || !used)
		return err_nomem(err, WHERE);
	r = choose_row_limit(&w, q, err);
	if (r)
		return r;
	find_used(&w);
	recall_begin(&w.recall, h, q);
	w.may_lose_us = limits_of(&w)->wall_us;
	if (w.may_lose_us < LOST_US)
		w.may_lose_us = LOST_US;
	r = all_batches(&w, err);
	if (!r)
		*ret = TAKE_PTR(s);
	return r;
}

int redoma_formula(struct redoma *h, const struct redoma_formula_request *q,
		   struct redoma_sheet **ret, struct redoma_error *err)
{
	struct redoma_formula_request known;
	int r;

	if (!h || !q || !ret)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "redoma_formula needs a handle, a request and "
			       "a place for the sheet");
	r = handle_begin(h, err);
	if (r)
		return r;
	r = fit_struct(&known, sizeof known, q, q->size, err);
	if (!r)
		r = evaluate(h, &known, ret, err);
	handle_end(h);
	return r;
}
