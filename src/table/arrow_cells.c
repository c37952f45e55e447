#include "table/arrow.h"

#include <stdio.h>
#include <string.h>
#include "base/err.h"

#define WHERE "table"
#define DAY_US (INT64_C(86400) * 1000000)
/* The first of January of the year 1, the last of December of 9999. */
#define DAYS_LEAST (-INT64_C(719162))
#define DAYS_MOST INT64_C(2932896)

bool arrow_has_texts(const struct arrow_column *c)
{
	return c->type.kind == ARROW_UTF8 || c->type.kind == ARROW_VIEWS;
}

/* So many bytes of that buffer of the batch; `room` may come to hold them. */
static int look(struct arrow *a, const struct arrow_span *s, uint64_t from,
		size_t n, const char **ret, struct redoma_error *err)
{
	if (from > s->len || n > s->len - from)
		return arrow_bad(a, "a buffer is shorter than its rows", err);
	return pieces_look(&a->pieces, s->at + from, n, &a->room, ret, err);
}

int arrow_there(struct arrow *a, const struct arrow_column *c, size_t n,
		struct redoma_error *err)
{
	unsigned shift = a->row % 8;
	const char *bits;
	int r;

	buf_clear(&a->there);
	if (buf_reserve(&a->there, n))
		return err_nomem(err, WHERE);
	a->there.len = n;
	if (n)
		memset(a->there.data, c->type.kind != ARROW_NULL, n);
	if (!n || !c->valid.len)
		return 0;
	r = look(a, &c->valid, a->row / 8, (shift + n + 7) / 8, &bits, err);
	for (size_t i = 0; i < n && !r; i++)
		a->there.data[i] =
			(char)(bits[(shift + i) / 8] >> (shift + i) % 8 & 1);
	return r;
}

static int64_t integer_at(const char *p, unsigned width, bool sign, size_t i)
{
	int64_t wide;
	int32_t word;
	int16_t half;

	switch (width) {
	case 1:
		return sign ? (int8_t)p[i] : (int64_t)(uint8_t)p[i];
	case 2:
		memcpy(&half, p + 2 * i, sizeof half);
		return sign ? half : (int64_t)(uint16_t)half;
	case 4:
		memcpy(&word, p + 4 * i, sizeof word);
		return sign ? word : (int64_t)(uint32_t)word;
	default:
		memcpy(&wide, p + 8 * i, sizeof wide);
		return wide;
	}
}

/* ---- where texts are ---- */

static struct arrow_text *texts_of(const struct arrow *a)
{
	return (struct arrow_text *)(void *)a->texts.data;
}

static int too_long(struct redoma_error *err)
{
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "a text of the Arrow table has more than %zu MiB",
		       RECORD_MAX >> 20);
}

static int plain_texts(struct arrow *a, const struct arrow_column *c, size_t n,
		       struct redoma_error *err)
{
	struct arrow_text *texts = texts_of(a);
	unsigned width = c->type.width;
	const char *p;
	int64_t from, to;
	int r = look(a, &c->values, a->row * width, (n + 1) * width, &p, err);

	if (r)
		return r;
	from = integer_at(p, width, true, 0);
	for (size_t i = 0; i < n; i++, from = to) {
		to = integer_at(p, width, true, i + 1);
		if (from < 0 || to < from || (uint64_t)to > c->texts.len)
			return arrow_bad(a, "a text lies outside of its buffer",
					 err);
		if ((uint64_t)to - (uint64_t)from > RECORD_MAX)
			return too_long(err);
		texts[i] = (struct arrow_text){(uint64_t)from,
					       (uint32_t)(to - from), 0};
	}
	return 0;
}

static int dictionary_texts(struct arrow *a, const struct arrow_column *c,
			    size_t n, struct redoma_error *err)
{
	const struct arrow_dictionary *d = &a->dictionaries[c->dictionary];
	const struct arrow_text *entries =
		(const struct arrow_text *)(const void *)d->entries.data;
	size_t n_entries = d->entries.len / sizeof *entries;
	unsigned width = c->type.index_width;
	const char *p;
	int r = look(a, &c->values, a->row * width, n * width, &p, err);

	for (size_t i = 0; i < n && !r; i++) {
		int64_t k = integer_at(p, width, c->type.index_signed, i);
		struct arrow_text *t = &texts_of(a)[i];

		*t = (struct arrow_text){0};
		if (!a->there.data[i])
			continue;
		if (k < 0 || (uint64_t)k >= n_entries)
			return arrow_bad(a,
					 d->there ? "an index lies outside of "
						    "its dictionary"
						  : "rows come before their "
						    "dictionary",
					 err);
		*t = entries[k];
		if (t->at == ARROW_TEXT_NULL) {
			*t = (struct arrow_text){0};
			a->there.data[i] = 0;
		}
	}
	return r;
}

/* A further buffer of a view. */
static bool view_span(const struct arrow *a, const struct arrow_column *c,
		      int32_t view, struct arrow_span *ret)
{
	int64_t at, len;

	if (view < 0 || (uint32_t)view >= c->n_views)
		return false;
	at = flat_word(&a->buffers, c->first_view + (uint32_t)view, 16, 0);
	len = flat_word(&a->buffers, c->first_view + (uint32_t)view, 16, 8);
	*ret = (struct arrow_span){(uint64_t)at, (uint64_t)len};
	return at >= 0 && len >= 0 && ret->at <= a->pieces.body_len &&
	       ret->len <= a->pieces.body_len - ret->at;
}

static int view_texts(struct arrow *a, const struct arrow_column *c, size_t n,
		      struct redoma_error *err)
{
	const char *p;
	int r = look(a, &c->values, a->row * 16, n * 16, &p, err);

	buf_clear(&a->views);
	if (!r && buf_add(&a->views, p, n * 16))
		return err_nomem(err, WHERE);
	for (size_t i = 0; i < n && !r; i++) {
		struct arrow_text *t = &texts_of(a)[i];
		struct arrow_span s = {0};
		int32_t v[4]; /* length, prefix, buffer, offset */

		*t = (struct arrow_text){.view = -1};
		if (!a->there.data[i])
			continue;
		memcpy(v, a->views.data + 16 * i, sizeof v);
		if (v[0] > (int32_t)RECORD_MAX)
			return too_long(err);
		t->len = (uint32_t)v[0];
		if (v[0] >= 0 && v[0] <= 12) {
			t->at = i * 16 + 4;
			continue;
		}
		t->at = (uint32_t)v[3];
		t->view = v[2];
		if (v[0] < 0 || v[3] < 0 || !view_span(a, c, v[2], &s) ||
		    t->at > s.len || t->len > s.len - t->at)
			return arrow_bad(a, "a text lies outside of its buffer",
					 err);
	}
	return r;
}

int arrow_texts(struct arrow *a, const struct arrow_column *c, size_t n,
		struct redoma_error *err)
{
	buf_clear(&a->texts);
	if (buf_reserve(&a->texts, n * sizeof(struct arrow_text)))
		return err_nomem(err, WHERE);
	a->texts.len = n * sizeof(struct arrow_text);
	if (!n)
		return 0;
	if (c->type.index_width)
		return dictionary_texts(a, c, n, err);
	return c->type.kind == ARROW_VIEWS ? view_texts(a, c, n, err)
					   : plain_texts(a, c, n, err);
}

/* ---- cells ---- */

/* The cells that a step appends. */
struct cells {
	uint8_t *kinds;
	char *values;
	const char *there;
	size_t n;
};

static void set(struct cells *s, size_t i, enum cell_kind kind, int64_t value)
{
	bool there = s->there[i];

	s->kinds[i] = (uint8_t)(there ? kind : CELL_BLANK);
	value = there ? value : 0;
	memcpy(s->values + 8 * i, &value, sizeof value);
}

static int set_text(struct cells *s, size_t i, struct table_column *c,
		    struct cell text)
{
	uint32_t v[2] = {(uint32_t)c->heap.len, (uint32_t)text.text.len};
	int64_t both;

	memcpy(&both, v, sizeof both);
	set(s, i, text.kind, both);
	return s->there[i] ? buf_add(&c->heap, text.text.p, text.text.len) : 0;
}

static int set_outside(struct cells *s, size_t i, struct table_column *c)
{
	return set_text(s, i, c,
			(struct cell){.kind = CELL_ERROR,
				      .text = STR("#VALUE! the date lies "
						  "outside of the years 1 to "
						  "9999")});
}

static int set_unsigned(struct cells *s, size_t i, struct table_column *c,
			uint64_t n)
{
	char digits[24];
	int len;

	if (n <= INT64_MAX) {
		set(s, i, CELL_INTEGER, (int64_t)n);
		return 0;
	}
	/* No number that a cell has: its digits, as of CSV. */
	len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
	return set_text(s, i, c,
			(struct cell){.kind = CELL_TEXT,
				      .text = {digits, (size_t)len}});
}

static void set_float(struct cells *s, size_t i, const char *p, unsigned width)
{
	int64_t bits;
	double number;
	float small;

	memcpy(&number, p, width == 8 ? 8 : 0);
	if (width == 4) {
		memcpy(&small, p, sizeof small);
		number = small;
	}
	memcpy(&bits, &number, sizeof bits);
	set(s, i, CELL_NUMBER, bits);
}

static int set_date(struct cells *s, size_t i, struct table_column *c,
		    int64_t days)
{
	if (days < DAYS_LEAST || days > DAYS_MOST)
		return set_outside(s, i, c);
	set(s, i, CELL_DATE, days);
	return 0;
}

static int64_t floor_to(int64_t n, int64_t by)
{
	return n / by - (n % by < 0);
}

/* A fraction of a microsecond is no part of the cell. */
static int set_time(struct cells *s, size_t i, struct table_column *c,
		    int64_t n)
{
	static const int64_t units[] = {1000000, 1000, 1};
	unsigned unit = c->arrow->unit;
	int64_t us;

	if (unit == 3)
		us = floor_to(n, 1000);
	else if (__builtin_mul_overflow(n, units[unit], &us))
		return set_outside(s, i, c);
	if (us < DAYS_LEAST * DAY_US || us >= (DAYS_MOST + 1) * DAY_US)
		return set_outside(s, i, c);
	set(s, i, CELL_TIME, us);
	return 0;
}

static int set_fixed(struct cells *s, size_t i, struct table_column *c,
		     const char *p)
{
	const struct arrow_type *t = c->arrow;
	int64_t n = integer_at(p, t->width, t->kind != ARROW_UINT, 0);

	switch (t->kind) {
	case ARROW_INT:
		set(s, i, CELL_INTEGER, n);
		return 0;
	case ARROW_UINT:
		return set_unsigned(s, i, c, (uint64_t)n);
	case ARROW_FLOAT:
		set_float(s, i, p, t->width);
		return 0;
	case ARROW_DATE:
		return set_date(s, i, c,
				t->width == 8 ? floor_to(n, 86400000) : n);
	default:
		return set_time(s, i, c, n);
	}
}

static int fixed_cells(struct arrow *a, const struct arrow_column *c,
		       struct cells *s, struct table_column *ret,
		       struct redoma_error *err)
{
	unsigned width = c->type.width;
	const char *p;
	int r = look(a, &c->values, a->row * width, s->n * width, &p, err);

	if (r)
		return r;
	r = buf_add(&ret->fixed, p, s->n * width);
	for (size_t i = 0; i < s->n && !r; i++)
		r = set_fixed(s, i, ret, p + i * width);
	return r ? err_nomem(err, WHERE) : 0;
}

static int bool_cells(struct arrow *a, const struct arrow_column *c,
		      struct cells *s, struct redoma_error *err)
{
	unsigned shift = a->row % 8;
	const char *p;
	int r = look(a, &c->values, a->row / 8, (shift + s->n + 7) / 8, &p,
		     err);

	for (size_t i = 0; i < s->n && !r; i++)
		set(s, i, CELL_TRUTH,
		    p[(shift + i) / 8] >> (shift + i) % 8 & 1);
	return r;
}

/* The bytes of one text of a dictionary or a view. */
static int look_text(struct arrow *a, const struct arrow_column *c,
		     const struct arrow_text *t, const char **ret,
		     struct redoma_error *err)
{
	struct arrow_span s = {0};

	*ret = "";
	if (!t->len)
		return 0;
	if (c->type.index_width) {
		*ret = a->dictionaries[c->dictionary].heap.data + t->at;
		return 0;
	}
	if (t->view < 0) {
		*ret = a->views.data + t->at;
		return 0;
	}
	if (!view_span(a, c, t->view, &s))
		return arrow_bad(a, "a text lies outside of its buffer", err);
	return look(a, &s, t->at, t->len, ret, err);
}

static int single_texts(struct arrow *a, const struct arrow_column *c,
			struct cells *s, struct table_column *ret,
			struct redoma_error *err)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct arrow_text *t = &texts_of(a)[i];
		struct cell cell = {.kind = CELL_TEXT};
		int r = look_text(a, c, t, &cell.text.p, err);

		if (r)
			return r;
		cell.text.len = t->len;
		if (set_text(s, i, ret, cell))
			return err_nomem(err, WHERE);
	}
	return 0;
}

/* They stand one behind another: one look is enough. */
static int joined_texts(struct arrow *a, const struct arrow_column *c,
			struct cells *s, struct table_column *ret,
			struct redoma_error *err)
{
	const struct arrow_text *texts = texts_of(a), *last = &texts[s->n - 1];
	uint64_t from = texts[0].at, base = ret->heap.len;
	size_t n = (size_t)(last->at + last->len - from);
	const char *p;
	int r = look(a, &c->texts, from, n, &p, err);

	if (r)
		return r;
	if (buf_add(&ret->heap, p, n))
		return err_nomem(err, WHERE);
	for (size_t i = 0; i < s->n; i++) {
		uint32_t v[2] = {(uint32_t)(base + texts[i].at - from),
				 texts[i].len};
		int64_t both;

		memcpy(&both, v, sizeof both);
		set(s, i, CELL_TEXT, both);
	}
	return 0;
}

static int text_cells(struct arrow *a, const struct arrow_column *c,
		      struct cells *s, struct table_column *ret,
		      struct redoma_error *err)
{
	int r = arrow_texts(a, c, s->n, err);

	if (r)
		return r;
	/* A dictionary may have found nulls of its own. */
	s->there = a->there.data;
	return c->type.kind == ARROW_UTF8 && !c->type.index_width
		       ? joined_texts(a, c, s, ret, err)
		       : single_texts(a, c, s, ret, err);
}

int arrow_cells(struct arrow *a, const struct arrow_column *c, size_t n,
		struct table_column *ret, struct redoma_error *err)
{
	struct cells s = {.n = n};
	int r = arrow_there(a, c, n, err);

	if (r || !n)
		return r;
	if (buf_reserve(&ret->kinds, n) || buf_reserve(&ret->values, 8 * n))
		return err_nomem(err, WHERE);
	s.there = a->there.data;
	s.kinds = (uint8_t *)ret->kinds.data + ret->kinds.len;
	s.values = ret->values.data + ret->values.len;
	if (arrow_has_texts(c))
		r = text_cells(a, c, &s, ret, err);
	else if (c->type.kind == ARROW_BOOL)
		r = bool_cells(a, c, &s, err);
	else if (c->type.kind == ARROW_NULL)
		for (size_t i = 0; i < n; i++)
			set(&s, i, CELL_BLANK, 0);
	else
		r = fixed_cells(a, c, &s, ret, err);
	if (r)
		return r;
	ret->kinds.len += n;
	ret->values.len += 8 * n;
	return 0;
}
