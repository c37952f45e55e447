#include "base/cell.h"

#include <stdio.h>
#include <strings.h>
#include "base/number.h"

#define INTEGER_MOST ((int64_t)1 << 53)
#define DAY_US (INT64_C(86400) * 1000000)

static const char *const names[CELL_KINDS] = {
	[CELL_BLANK] = "blank",     [CELL_NUMBER] = "number",
	[CELL_TRUTH] = "truth",     [CELL_TEXT] = "text",
	[CELL_INTEGER] = "integer", [CELL_DATE] = "date",
	[CELL_TIME] = "time",       [CELL_ERROR] = "error",
};

const char *cell_kind_name(enum cell_kind k)
{
	return names[k];
}

enum cell_kind cell_kind_find(struct str name)
{
	for (int k = CELL_NUMBER; k <= CELL_TIME; k++)
		if (str_equal(name, str_of(names[k])))
			return (enum cell_kind)k;
	return CELL_KINDS;
}

enum cell_kind cell_join(enum cell_kind a, enum cell_kind b)
{
	if (a == b || b == CELL_BLANK)
		return a;
	if (a == CELL_BLANK)
		return b;
	if ((a == CELL_NUMBER && b == CELL_INTEGER) ||
	    (a == CELL_INTEGER && b == CELL_NUMBER))
		return CELL_NUMBER;
	if ((a == CELL_DATE && b == CELL_TIME) ||
	    (a == CELL_TIME && b == CELL_DATE))
		return CELL_TIME;
	return CELL_TEXT;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* So many digits; -1 if they are not there. */
static int digits(struct str *s, size_t n)
{
	int value = 0;

	if (s->len < n)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (!is_digit(s->p[i]))
			return -1;
		value = 10 * value + (s->p[i] - '0');
	}
	*s = str_after(*s, n);
	return value;
}

static bool skip(struct str *s, char c)
{
	if (!s->len || *s->p != c)
		return false;
	*s = str_after(*s, 1);
	return true;
}

/* Howard Hinnant, chrono-Compatible Low-Level Date Algorithms. */
static int64_t days_from(int y, int m, int d)
{
	int64_t era, doe;
	int yoe, doy;

	y -= m <= 2;
	era = (y >= 0 ? y : y - 399) / 400;
	yoe = (int)(y - era * 400);
	doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	doe = (int64_t)yoe * 365 + yoe / 4 - yoe / 100 + doy;
	return era * 146097 + doe - 719468;
}

static void days_to(int64_t days, int *ret_y, int *ret_m, int *ret_d)
{
	int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
	int64_t doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t mp = (5 * doy + 2) / 153;

	*ret_d = (int)(doy - (153 * mp + 2) / 5 + 1);
	*ret_m = (int)(mp < 10 ? mp + 3 : mp - 9);
	*ret_y = (int)(yoe + era * 400 + (*ret_m <= 2));
}

static bool take_date(struct str *s, int64_t *ret)
{
	static const int most[] = {31, 29, 31, 30, 31, 30,
				   31, 31, 30, 31, 30, 31};
	int y = digits(s, 4), m, d;
	bool leap = !(y % 4) && (y % 100 || !(y % 400));

	if (y < 0 || !skip(s, '-'))
		return false;
	m = digits(s, 2);
	if (m < 1 || m > 12 || !skip(s, '-'))
		return false;
	d = digits(s, 2);
	if (d < 1 || d > most[m - 1] - (m == 2 && !leap))
		return false;
	*ret = days_from(y, m, d);
	return true;
}

static int64_t take_fraction(struct str *s)
{
	int64_t us = 0, unit = 100000;

	while (s->len && is_digit(*s->p)) {
		us += unit * (*s->p - '0');
		unit /= 10;
		*s = str_after(*s, 1);
	}
	return us;
}

static bool take_zone(struct str *s, int64_t *us)
{
	int sign = s->len && *s->p == '-' ? -1 : 1, h, m;

	if (!s->len || skip(s, 'Z') || skip(s, 'z'))
		return true;
	if (!skip(s, '+') && !skip(s, '-'))
		return false;
	h = digits(s, 2);
	skip(s, ':');
	m = digits(s, 2);
	if (h < 0 || h > 23 || m < 0 || m > 59)
		return false;
	*us -= sign * (INT64_C(3600) * h + 60 * m) * 1000000;
	return true;
}

static bool take_clock(struct str *s, int64_t *us)
{
	int h = digits(s, 2), m, sec = 0;

	if (h < 0 || h > 23 || !skip(s, ':'))
		return false;
	m = digits(s, 2);
	if (m < 0 || m > 59)
		return false;
	if (skip(s, ':'))
		sec = digits(s, 2);
	if (sec < 0 || sec > 59)
		return false;
	*us += (INT64_C(3600) * h + 60 * m + sec) * 1000000;
	if (skip(s, '.')) {
		if (!s->len || !is_digit(*s->p))
			return false;
		*us += take_fraction(s);
	}
	return take_zone(s, us);
}

static bool read_time(struct str s, struct cell *ret)
{
	int64_t days, us;

	if (s.len < 10 || s.p[4] != '-' || !take_date(&s, &days))
		return false;
	if (!s.len) {
		*ret = (struct cell){.kind = CELL_DATE, .integer = days};
		return true;
	}
	us = days * DAY_US;
	if ((!skip(&s, 'T') && !skip(&s, ' ')) || !take_clock(&s, &us) || s.len)
		return false;
	*ret = (struct cell){.kind = CELL_TIME, .integer = us};
	return true;
}

static bool read_number(struct str s, struct cell *ret)
{
	bool sign = *s.p == '-' || *s.p == '+';
	struct str body = str_after(s, sign);

	if (!body.len || !(is_digit(*body.p) || *body.p == '.'))
		return false;
	if (body.len > 1 && *body.p == '0' && is_digit(body.p[1]))
		return false;
	if (integer_read(s, &ret->integer)) {
		ret->kind = CELL_INTEGER;
		return ret->integer <= INTEGER_MOST &&
		       ret->integer >= -INTEGER_MOST;
	}
	/* Too many digits to be told from a neighbour: a name, no amount. */
	if (!memchr(body.p, '.', body.len) && !memchr(body.p, 'e', body.len) &&
	    !memchr(body.p, 'E', body.len))
		return false;
	ret->kind = CELL_NUMBER;
	return number_read(s, &ret->number);
}

static bool is_word(struct str s, const char *word)
{
	return s.len == strlen(word) && !strncasecmp(s.p, word, s.len);
}

struct cell cell_read(struct str text)
{
	struct cell c = {.kind = CELL_BLANK};
	struct str s = str_trim(text);
	bool t;

	if (!s.len)
		return c;
	if (read_time(s, &c) || read_number(s, &c))
		return c;
	t = is_word(s, "true");
	if (t || is_word(s, "false"))
		return (struct cell){.kind = CELL_TRUTH, .integer = t};
	return (struct cell){.kind = CELL_TEXT, .text = text};
}

struct cell cell_read_as(struct str s, enum cell_kind kind)
{
	struct cell c = {.kind = CELL_TEXT, .text = s};

	if (!s.len)
		return (struct cell){.kind = CELL_BLANK};
	if (kind == CELL_TEXT)
		return c;
	c = cell_read(s);
	if (c.kind == kind || c.kind == CELL_BLANK)
		return c;
	if (kind == CELL_NUMBER && c.kind == CELL_INTEGER)
		return (struct cell){.kind = CELL_NUMBER,
				     .number = (double)c.integer};
	if (kind == CELL_TIME && c.kind == CELL_DATE)
		return (struct cell){.kind = CELL_TIME,
				     .integer = c.integer * DAY_US};
	return (struct cell){.kind = CELL_TEXT, .text = s};
}

static int print_date(struct buf *b, int64_t days)
{
	int y, m, d;

	days_to(days, &y, &m, &d);
	return buf_addf(b, "%04d-%02d-%02d", y, m, d);
}

static int print_time(struct buf *b, int64_t us)
{
	int64_t days = us / DAY_US - (us % DAY_US < 0);
	int64_t left = us - days * DAY_US, s = left / 1000000;
	int part = (int)(left % 1000000), width = 6;

	if (print_date(b, days) ||
	    buf_addf(b, "T%02d:%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60),
		     (int)(s % 60)))
		return -1;
	for (; part && !(part % 10); part /= 10)
		width--;
	if (part && buf_addf(b, ".%0*d", width, part))
		return -1;
	return buf_add(b, "Z", 1);
}

int cell_print(struct buf *b, const struct cell *c)
{
	char text[NUMBER_TEXT_MAX];
	const char *blank;

	switch (c->kind) {
	case CELL_NUMBER:
		return buf_add(b, text, number_write(c->number, text));
	case CELL_INTEGER:
		return buf_add(b, text, integer_write(c->integer, text));
	case CELL_TRUTH:
		return c->integer ? buf_add(b, "true", 4)
				  : buf_add(b, "false", 5);
	case CELL_TEXT:
		return buf_add(b, c->text.p, c->text.len);
	case CELL_ERROR:
		blank = memchr(c->text.p, ' ', c->text.len);
		return buf_add(b, c->text.p,
			       blank ? (size_t)(blank - c->text.p)
				     : c->text.len);
	case CELL_DATE:
		return print_date(b, c->integer);
	case CELL_TIME:
		return print_time(b, c->integer);
	default:
		return 0;
	}
}
