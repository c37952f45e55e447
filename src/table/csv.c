#include "table/csv.h"

#include <stdlib.h>
#include <string.h>

#define WHERE "table"

/* Where one look at a record has come to. */
struct scan {
	const char *p;
	size_t at, len;
	bool final; /* nothing comes behind p[len] */
	bool quoted; /* what was looked at last is between quotes */
	uint64_t lines;
};

enum step { STEP_FIELD, STEP_RECORD, STEP_SHORT, STEP_FAIL };

static bool is_end(char c)
{
	return c == '\n' || c == '\r';
}

/* While a record is read its fields are offsets: the texts may move. */
static int add_field(struct csv *c, struct csv_field f)
{
	if (c->n_fields == c->room) {
		size_t room = c->room ? 2 * c->room : 16;
		struct csv_field *p =
			realloc(c->fields, room * sizeof *c->fields);

		if (!p)
			return -1;
		c->fields = p;
		c->room = room;
	}
	c->fields[c->n_fields++] = f;
	return 0;
}

/* Behind a field: a delimiter, the end of the record, or more is needed. */
static enum step after(const struct csv *c, struct scan *s)
{
	if (s->at == s->len)
		return s->final ? STEP_RECORD : STEP_SHORT;
	if (s->p[s->at] == c->delimiter) {
		s->at++;
		return STEP_FIELD;
	}
	return STEP_RECORD;
}

static size_t plain_end(const struct csv *c, const struct scan *s)
{
	size_t i = s->at;

	while (i < s->len && s->p[i] != c->delimiter && !is_end(s->p[i]))
		i++;
	return i;
}

static enum step take_plain(struct csv *c, struct scan *s)
{
	size_t end = plain_end(c, s);
	struct csv_field f = {{s->p + s->at, end - s->at}, false, end};

	s->at = end;
	if (end == s->len && !s->final)
		return STEP_SHORT;
	return add_field(c, f) ? STEP_FAIL : after(c, s);
}

static uint64_t count_lines(const char *p, size_t n)
{
	uint64_t lines = 0;

	for (const char *q; (q = memchr(p, '\n', n)); lines++) {
		n -= (size_t)(q + 1 - p);
		p = q + 1;
	}
	return lines;
}

/* From behind the opening quote to behind the closing one; what is between goes
 * to c->text.  False: it is not there yet. */
static bool take_quoted_text(struct csv *c, struct scan *s, bool *ret_failed)
{
	for (;;) {
		const char *from = s->p + s->at;
		const char *q = memchr(from, '"', s->len - s->at);
		size_t n = q ? (size_t)(q - from) : 0;

		s->quoted = !q;
		if (!q || (q + 1 == s->p + s->len && !s->final))
			return false;
		*ret_failed = buf_add(&c->text, from, n);
		s->lines += count_lines(from, n);
		s->at += n + 1;
		if (*ret_failed || s->at == s->len || s->p[s->at] != '"')
			return true;
		*ret_failed = buf_add(&c->text, "\"", 1);
		s->at++;
		if (*ret_failed)
			return true;
	}
}

static enum step take_quoted(struct csv *c, struct scan *s)
{
	size_t from = c->text.len, end;
	bool failed = false;

	s->at++;
	if (!take_quoted_text(c, s, &failed))
		return STEP_SHORT;
	end = plain_end(c, s);
	if (end == s->len && !s->final)
		return STEP_SHORT;
	failed = failed || buf_add(&c->text, s->p + s->at, end - s->at);
	s->at = end;
	if (failed || add_field(c, (struct csv_field){{(const char *)from,
						       c->text.len - from},
						      true,
						      end}))
		return STEP_FAIL;
	return after(c, s);
}

static enum step take_record(struct csv *c, struct scan *s)
{
	enum step step = STEP_FIELD;

	c->n_fields = 0;
	buf_clear(&c->text);
	while (step == STEP_FIELD) {
		if (c->n_fields == CSV_FIELDS_MAX)
			return STEP_FAIL;
		step = s->at < s->len && s->p[s->at] == '"' ? take_quoted(c, s)
							    : take_plain(c, s);
	}
	/* One more may tell whether a CR has its LF. */
	if (step == STEP_RECORD && s->at + 1 == s->len && !s->final &&
	    s->p[s->at] == '\r')
		return STEP_SHORT;
	return step;
}

/* Offsets become views. */
static void settle(struct csv *c)
{
	for (size_t i = 0; i < c->n_fields; i++) {
		struct csv_field *f = &c->fields[i];

		if (f->quoted)
			f->text.p = f->text.len
					    ? c->text.data + (size_t)f->text.p
					    : "";
	}
}

static void consume(struct csv *c, const struct scan *s)
{
	struct feed *f = &c->feed;

	c->raw = (struct str){s->p, s->at};
	f->at += s->at;
	if (f->at < f->have) {
		bool cr = f->p[f->at++] == '\r';

		if (cr && f->at < f->have && f->p[f->at] == '\n')
			f->at++;
	}
	c->line = c->next_line;
	c->next_line += s->lines + 1;
	settle(c);
}

/* The one that stands most often in the first line, outside of quotes. */
static char guess(const char *p, size_t n)
{
	static const char list[] = ",;\t|";
	size_t count[sizeof list] = {0}, best = 0;
	bool quoted = false;

	for (size_t i = 0; i < n && (quoted || !is_end(p[i])); i++) {
		const char *at = p[i] ? strchr(list, p[i]) : NULL;

		quoted ^= p[i] == '"';
		if (at && !quoted)
			count[at - list]++;
	}
	for (size_t i = 1; i < sizeof list - 1; i++)
		if (count[i] > count[best])
			best = i;
	return list[best];
}

static int begin(struct csv *c, struct redoma_error *err)
{
	struct feed *f = &c->feed;
	/* Enough for a line that is worth guessing from. */
	int r = feed_begin(f, 4096, err);

	c->begun = true;
	c->next_line = 1;
	if (r)
		return r;
	if (!c->delimiter)
		c->delimiter = guess(f->p + f->at, f->have - f->at);
	return 0;
}

static int fail(const struct csv *c, struct redoma_error *err)
{
	if (c->n_fields < CSV_FIELDS_MAX)
		return err_nomem(err, WHERE);
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "line %llu has more than %u fields: is this a table, "
		       "and is %s its delimiter?",
		       (unsigned long long)c->next_line, CSV_FIELDS_MAX,
		       SHOW(((struct str){&c->delimiter, 1})));
}

static int too_long(const struct csv *c, struct redoma_error *err)
{
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "line %llu has more than 16 MiB, which is the most that "
		       "a row may have: is this a table?",
		       (unsigned long long)c->next_line);
}

static int too_short(struct csv *c, bool quoted, struct redoma_error *err)
{
	struct feed *f = &c->feed;

	if (!f->end && f->have - f->at <= RECORD_MAX)
		return feed_more(f, err);
	if (quoted || f->end)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "line %llu has a quote that nothing closes%s",
			       (unsigned long long)c->next_line,
			       f->end ? "" : " within 16 MiB");
	return too_long(c, err);
}

int csv_next(struct csv *c, bool *ret, struct redoma_error *err)
{
	struct feed *f = &c->feed;
	int r = c->begun ? 0 : begin(c, err);

	while (!r) {
		struct scan s = {f->p ? f->p + f->at : "", 0, f->have - f->at,
				 f->end, false, 0};
		enum step step;

		if (!s.len && f->end) {
			*ret = false;
			return 0;
		}
		step = take_record(c, &s);
		/* Where a read ends does not tell what is too long. */
		if (step == STEP_RECORD && s.at > RECORD_MAX)
			return too_long(c, err);
		if (step == STEP_RECORD) {
			consume(c, &s);
			*ret = true;
			return 0;
		}
		r = step == STEP_SHORT ? too_short(c, s.quoted, err)
				       : fail(c, err);
	}
	return r;
}

void csv_done(struct csv *c)
{
	feed_done(&c->feed);
	free(c->fields);
	buf_done(&c->text);
	c->fields = NULL;
	c->n_fields = c->room = 0;
}

int csv_put(struct buf *b, struct str field, char delimiter)
{
	const char *p = field.p, *end = field.p + field.len, *q;
	char stop[] = {'"', '\n', '\r', delimiter};
	bool plain = true;

	for (size_t i = 0; i < sizeof stop && plain; i++)
		plain = !field.len || !memchr(field.p, stop[i], field.len);
	if (plain)
		return buf_add(b, field.p, field.len);
	if (buf_add(b, "\"", 1))
		return -1;
	while ((q = memchr(p, '"', (size_t)(end - p)))) {
		if (buf_add(b, p, (size_t)(q + 1 - p)) || buf_add(b, "\"", 1))
			return -1;
		p = q + 1;
	}
	return buf_add(b, p, (size_t)(end - p)) || buf_add(b, "\"", 1) ? -1 : 0;
}
