#include "table/arrow_fit.h"

#include <math.h>
#include <string.h>

#define DAY_US (INT64_C(86400) * 1000000)
#define EXACT ((int64_t)1 << 53)

static bool as_integer(const struct cell *c, int64_t *ret)
{
	if (c->kind == CELL_INTEGER) {
		*ret = c->integer;
		return true;
	}
	if (c->kind != CELL_NUMBER || !(fabs(c->number) <= (double)EXACT) ||
	    c->number != (double)(int64_t)c->number)
		return false;
	*ret = (int64_t)c->number;
	return true;
}

static bool as_number(const struct cell *c, int64_t *ret)
{
	double number = c->number;

	if (c->kind == CELL_INTEGER) {
		number = (double)c->integer;
		if (c->integer > EXACT || c->integer < -EXACT)
			return false;
	} else if (c->kind != CELL_NUMBER) {
		return false;
	}
	memcpy(ret, &number, sizeof number);
	return true;
}

static bool as_date(const struct cell *c, int64_t *ret)
{
	*ret = c->kind == CELL_TIME ? c->integer / DAY_US : c->integer;
	if (c->kind == CELL_TIME)
		return !(c->integer % DAY_US);
	return c->kind == CELL_DATE && c->integer >= INT32_MIN &&
	       c->integer <= INT32_MAX;
}

bool arrow_fit(const struct arrow_type *t, const struct cell *c, int64_t *ret)
{
	switch (t->kind) {
	case ARROW_INT:
		return as_integer(c, ret);
	case ARROW_FLOAT:
		return as_number(c, ret);
	case ARROW_BOOL:
		*ret = c->integer;
		return c->kind == CELL_TRUTH;
	case ARROW_DATE:
		return as_date(c, ret);
	case ARROW_TIME:
		*ret = c->integer;
		if (c->kind == CELL_DATE)
			return !__builtin_mul_overflow(c->integer, DAY_US, ret);
		return c->kind == CELL_TIME;
	default:
		return false;
	}
}

/* How many bytes at the start are UTF-8. */
static size_t valid(struct str s)
{
	size_t at = 0, n;

	while (at < s.len) {
		n = (unsigned char)s.p[at] < 0x80
			    ? 1
			    : str_utf8(s.p + at, s.len - at);
		if (!n)
			break;
		at += n;
	}
	return at;
}

int arrow_fit_text(struct buf *b, const struct cell *c)
{
	struct str s = c->text;

	if (c->kind != CELL_TEXT)
		return cell_print(b, c);
	while (s.len) {
		size_t n = valid(s);

		if (buf_add(b, s.p, n))
			return -1;
		s = str_after(s, n);
		if (s.len && buf_add(b, "\xef\xbf\xbd", 3))
			return -1;
		s = str_after(s, 1);
	}
	return 0;
}
