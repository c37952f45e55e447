#include "core/sheet.h"

#include <math.h>
#include <string.h>
#include "base/str.h"
#include "wire/batch.h"
#include "wire/frame.h"

#define WHERE "core"
/* As far as the dates of ECMAScript go, either way. */
#define DAYS_MAX INT64_C(100000000)
#define TIME_US_MAX (DAYS_MAX * 86400 * 1000000)

struct encoder {
	const struct sheet_slice *slice;
	struct buf *out;
	size_t base; /* where the batch begins in out */
	bool failed;
};

static uint32_t here(const struct encoder *e)
{
	return (uint32_t)(e->out->len - e->base);
}

static uint32_t put(struct encoder *e, const void *p, uint64_t n)
{
	uint32_t at = here(e);

	if (n > FRAME_TEXT_MAX || here(e) > FRAME_TEXT_MAX - n ||
	    (n && buf_add(e->out, p, n)))
		e->failed = true;
	return at;
}

static void align(struct encoder *e)
{
	static const char zero[8];

	put(e, zero, -(uint64_t)here(e) % 8);
}

/* n bits from the one at `from` on, as a bitmap of their own. */
static uint32_t put_bits(struct encoder *e, const uint8_t *p, uint64_t from,
			 uint64_t n)
{
	uint32_t at = here(e);
	unsigned shift = from % 8;

	p += from / 8;
	if (!shift)
		return put(e, p, (n + 7) / 8);
	for (uint64_t i = 0; i < n; i += 8) {
		uint8_t b = (uint8_t)(p[i / 8] >> shift);

		if (n - i > 8 - shift)
			b |= (uint8_t)(p[i / 8 + 1] << (8 - shift));
		put(e, &b, 1);
	}
	return at;
}

/* Offsets from the first row's on, and only the bytes that they span. */
static void put_texts(struct encoder *e, const struct redoma_column *c,
		      uint64_t from, struct batch_column *w)
{
	const uint32_t *offsets = (const uint32_t *)c->values + from;
	uint64_t n = e->slice->rows;
	uint32_t first = offsets[0];

	if (offsets[n] < first || offsets[n] > c->heap_len) {
		e->failed = true;
		return;
	}
	w->heap_len = offsets[n] - first;
	w->heap = put(e, (const char *)c->heap + first, w->heap_len);
	align(e);
	w->values = here(e);
	for (uint64_t i = 0; i <= n; i++) {
		uint32_t at = offsets[i] - first;

		put(e, &at, sizeof at);
	}
}

/* The bytes of a batch's texts that lie around all of its cells. */
static void put_cells(struct encoder *e, const struct redoma_column *c,
		      uint64_t from, struct batch_column *w)
{
	const uint8_t *kinds = (const uint8_t *)c->validity + from;
	const uint32_t *values = (const uint32_t *)c->values + 2 * from;
	uint64_t n = e->slice->rows, low = UINT64_MAX, high = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = values[2 * i], end = at + values[2 * i + 1];

		if (kinds[i] != REDOMA_CELL_TEXT &&
		    kinds[i] != REDOMA_CELL_ERROR)
			continue;
		low = at < low ? at : low;
		high = end > high ? end : high;
	}
	if (high > c->heap_len) {
		e->failed = true;
		return;
	}
	low = low > high ? high : low;
	w->kinds = put(e, kinds, n);
	align(e);
	w->values = put(e, values, 8 * n);
	w->heap_len = (uint32_t)(high - low);
	w->heap = put(e, (const char *)c->heap + low, w->heap_len);
	if (e->failed || !low)
		return;
	for (uint64_t i = 0; i < n; i++) {
		char *v = e->out->data + e->base + w->values + 8 * i;
		uint32_t at = values[2 * i] - (uint32_t)low;

		if (kinds[i] == REDOMA_CELL_TEXT ||
		    kinds[i] == REDOMA_CELL_ERROR)
			memcpy(v, &at, sizeof at);
	}
}

static void put_column(struct encoder *e, const struct redoma_column *c,
		       struct batch_column *w)
{
	static const uint64_t sizes[] = {[REDOMA_COLUMN_FLOAT64] = 8,
					 [REDOMA_COLUMN_INT64] = 8,
					 [REDOMA_COLUMN_DATE32] = 4,
					 [REDOMA_COLUMN_TIME_US] = 8};
	uint64_t from = e->slice->from + c->offset, n = e->slice->rows;

	w->layout = c->layout;
	w->name_len = (uint32_t)strlen(c->name);
	w->name = put(e, c->name, w->name_len);
	align(e);
	if (c->layout == REDOMA_COLUMN_CELLS) {
		put_cells(e, c, from, w);
		return;
	}
	if (c->validity)
		w->kinds = put_bits(e, c->validity, from, n);
	align(e);
	if (c->layout == REDOMA_COLUMN_TEXT)
		put_texts(e, c, from, w);
	else if (c->layout == REDOMA_COLUMN_BOOL)
		w->values = put_bits(e, c->values, from, n);
	else
		w->values = put(
			e, (const char *)c->values + sizes[c->layout] * from,
			sizes[c->layout] * n);
}

/* Words whose place was kept. */
static void fill(struct encoder *e, uint32_t at, const void *p, size_t n)
{
	if (!e->failed)
		memcpy(e->out->data + e->base + at, p, n);
}

static uint32_t keep(struct encoder *e, size_t n)
{
	static const char zero[sizeof(struct batch_column)];
	uint32_t at = here(e);

	for (size_t k; n; n -= k) {
		k = n < sizeof zero ? n : sizeof zero;
		put(e, zero, k);
	}
	return at;
}

static uint32_t count(const struct sheet_slice *s)
{
	uint32_t n = 0;

	for (uint64_t i = 0; i < s->q->n_columns; i++)
		n += s->used[i];
	return n;
}

int sheet_encode(const struct sheet_slice *s, struct buf *out,
		 struct redoma_error *err)
{
	const struct redoma_formula_request *q = s->q;
	struct encoder e = {s, out, out->len, false};
	struct batch_head head = {BATCH_MAGIC,
				  (uint32_t)s->rows,
				  count(s),
				  (uint32_t)q->n_formulas,
				  q->first + s->from,
				  s->now_us,
				  (uint32_t)q->row_us,
				  s->deaf_us};
	uint32_t at;

	put(&e, &head, sizeof head);
	at = keep(&e, sizeof(struct batch_column) * head.columns +
			      sizeof(struct batch_formula) * head.formulas);
	for (uint64_t i = 0; i < q->n_columns; i++) {
		struct batch_column w = {0};

		if (!s->used[i])
			continue;
		put_column(&e, &q->columns[i], &w);
		fill(&e, at, &w, sizeof w);
		at += sizeof w;
	}
	for (uint64_t i = 0; i < q->n_formulas; i++) {
		const struct redoma_formula *f = &q->formulas[i];
		struct batch_formula w = {.name_len = (uint32_t)strlen(f->name),
					  .text_len =
						  (uint32_t)strlen(f->text)};

		w.name = put(&e, f->name, w.name_len);
		w.text = put(&e, f->text, w.text_len);
		fill(&e, at, &w, sizeof w);
		at += sizeof w;
	}
	if (!e.failed)
		return 0;
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "%llu rows and the formulas over them come to more "
		       "than %zu MiB, or a column is not laid out as it says; "
		       "formulas that name `rows` need all rows at once",
		       (unsigned long long)s->rows, FRAME_TEXT_MAX >> 20);
}

/* ---- answers ---- */

int sheet_fail(uint64_t formulas, const char *text, struct buf *out)
{
	uint32_t n = (uint32_t)formulas, len = (uint32_t)strlen(text);
	uint32_t kinds = (uint32_t)(sizeof(struct batch_answer) +
				    sizeof(struct batch_cells) * formulas);
	const struct batch_answer a = {BATCH_ANSWER_MAGIC, 1, n, kinds + 9 * n,
				       0, 0};
	const uint32_t value[2] = {0, len};
	const char kind = REDOMA_CELL_ERROR;
	int r = buf_add(out, &a, sizeof a);

	for (uint32_t i = 0; i < n && !r; i++) {
		struct batch_cells w = {kinds + i, kinds + n + 8 * i};

		r = buf_add(out, &w, sizeof w);
	}
	for (uint32_t i = 0; i < n && !r; i++)
		r = buf_add(out, &kind, 1);
	for (uint32_t i = 0; i < n && !r; i++)
		r = buf_add(out, value, sizeof value);
	return r ? -1 : buf_add(out, text, len);
}

static struct batch_cells cells_of(const struct sheet_part *part, uint64_t f)
{
	struct batch_cells w;

	memcpy(&w, part->p + sizeof(struct batch_answer) + sizeof w * f,
	       sizeof w);
	return w;
}

/* Who reads a date counts with it. */
static bool is_within(const char *value, int64_t most)
{
	int64_t n;

	memcpy(&n, value, sizeof n);
	return n >= -most && n <= most;
}

static bool is_cell(uint8_t kind, const char *value, uint64_t room)
{
	uint32_t text[2];
	double number;

	switch (kind) {
	case REDOMA_CELL_NUMBER:
		memcpy(&number, value, sizeof number);
		return isfinite(number);
	case REDOMA_CELL_DATE:
		return is_within(value, DAYS_MAX);
	case REDOMA_CELL_TIME:
		return is_within(value, TIME_US_MAX);
	case REDOMA_CELL_TEXT:
	case REDOMA_CELL_ERROR:
		memcpy(text, value, sizeof text);
		return text[0] <= room && text[1] <= room - text[0];
	default:
		return kind <= REDOMA_CELL_ERROR;
	}
}

static bool are_cells(const struct sheet_part *part, uint32_t heap,
		      struct batch_cells w)
{
	const char *values = part->p + w.values;

	for (uint64_t i = 0; i < part->rows; i++)
		if (!is_cell((uint8_t)part->p[w.kinds + i], values + 8 * i,
			     part->len - heap))
			return false;
	return true;
}

bool sheet_check(const struct sheet_part *part)
{
	struct batch_answer a;
	uint64_t words = sizeof a + sizeof(struct batch_cells) * part->formulas;

	if (part->len < words)
		return false;
	memcpy(&a, part->p, sizeof a);
	if (a.magic != BATCH_ANSWER_MAGIC || a.rows != part->rows ||
	    a.formulas != part->formulas || a.heap > part->len ||
	    a.bits > BATCH_ANSWER_TIME ||
	    a.columnar > part->rows * part->formulas)
		return false;
	for (uint64_t i = 0; i < part->formulas; i++) {
		struct batch_cells w = cells_of(part, i);

		if (w.kinds > part->len || part->rows > part->len - w.kinds ||
		    w.values > part->len ||
		    part->rows > (part->len - w.values) / 8 ||
		    !are_cells(part, a.heap, w))
			return false;
	}
	return true;
}

bool sheet_has_time(const struct sheet_part *part)
{
	struct batch_answer a;

	memcpy(&a, part->p, sizeof a);
	return a.bits & BATCH_ANSWER_TIME;
}

uint64_t sheet_columnar(const struct sheet_part *part)
{
	struct batch_answer a;

	memcpy(&a, part->p, sizeof a);
	return a.columnar;
}

static const char *find_error(const char *from, const char *end)
{
	return memchr(from, REDOMA_CELL_ERROR, (size_t)(end - from));
}

bool sheet_has_late(const struct sheet_part *part)
{
	for (uint64_t f = 0; f < part->formulas; f++) {
		const char *kinds = part->p + cells_of(part, f).kinds;
		const char *end = kinds + part->rows, *at = kinds;

		while ((at = find_error(at, end))) {
			struct redoma_cell c = sheet_cell(
				part, f, (uint64_t)(at++ - kinds));

			if (str_starts((struct str){c.text, c.len},
				       STR("#TIME!")))
				return true;
		}
	}
	return false;
}

struct redoma_cell sheet_cell(const struct sheet_part *part, uint64_t formula,
			      uint64_t row)
{
	struct batch_cells w = cells_of(part, formula);
	const char *v = part->p + w.values + 8 * row;
	struct redoma_cell c = {REDOMA_CELL_BLANK, 0, 0, NULL, 0};
	struct batch_answer a;
	uint32_t text[2];

	c.kind = (enum redoma_cell_kind)(uint8_t)part->p[w.kinds + row];
	switch (c.kind) {
	case REDOMA_CELL_NUMBER:
		memcpy(&c.number, v, sizeof c.number);
		break;
	case REDOMA_CELL_TEXT:
	case REDOMA_CELL_ERROR:
		memcpy(&a, part->p, sizeof a);
		memcpy(text, v, sizeof text);
		c.text = part->p + a.heap + text[0];
		c.len = text[1];
		break;
	default:
		memcpy(&c.integer, v, sizeof c.integer);
	}
	return c;
}
