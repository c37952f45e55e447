#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

#define EXACT 15 /* decimal digits that any double tells apart */
#define TENS 22  /* powers of ten that are doubles */
#define DIGITS_MAX 700

static const double tens[TENS + 1] = {
	1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A number taken apart: digits without leading zeros, and an exponent. */
struct parts {
	bool negative;
	char digits[DIGITS_MAX];
	size_t n;
	uint64_t head; /* the first EXACT digits */
	int exponent;
	bool any, odd; /* a digit was there; it is too long */
};

static void take_digits(struct parts *t, struct str *s, int step)
{
	while (s->len && is_digit(*s->p)) {
		t->any = true;
		t->odd = t->odd || t->n == DIGITS_MAX - 16;
		if ((t->n || *s->p != '0') && !t->odd) {
			uint64_t d = (uint64_t)(*s->p - '0');

			if (t->n < EXACT)
				t->head = 10 * t->head + d;
			t->digits[t->n++] = *s->p;
		}
		t->exponent -= step;
		*s = str_after(*s, 1);
	}
}

static bool take_exponent(struct parts *t, struct str s)
{
	bool negative;
	int n = 0;

	if (!s.len)
		return true;
	if (*s.p != 'e' && *s.p != 'E')
		return false;
	s = str_after(s, 1);
	negative = s.len && *s.p == '-';
	if (s.len && (*s.p == '-' || *s.p == '+'))
		s = str_after(s, 1);
	if (!s.len)
		return false;
	for (; s.len; s = str_after(s, 1)) {
		if (!is_digit(*s.p))
			return false;
		n = n < 100000 ? 10 * n + (*s.p - '0') : n;
	}
	t->exponent += negative ? -n : n;
	return true;
}

static bool take_apart(struct str s, struct parts *t)
{
	t->negative = s.len && *s.p == '-';
	if (s.len && (*s.p == '-' || *s.p == '+'))
		s = str_after(s, 1);
	take_digits(t, &s, 0);
	if (s.len && *s.p == '.') {
		s = str_after(s, 1);
		take_digits(t, &s, 1);
	}
	return t->any && !t->odd && take_exponent(t, s);
}

static bool read_slowly(struct parts *t, double *ret)
{
	yyjson_val v = {0};

	snprintf(t->digits + t->n, 16, "e%d", t->exponent);
	if (!yyjson_read_number(t->digits, &v, 0, NULL, NULL) ||
	    !yyjson_is_num(&v))
		return false;
	*ret = yyjson_get_num(&v);
	return isfinite(*ret);
}

bool number_read(struct str s, double *ret)
{
	struct parts t;
	double n;
	int e;

	t.n = 0;
	t.head = 0;
	t.exponent = 0;
	t.any = t.odd = false;
	if (!take_apart(s, &t))
		return false;
	e = t.exponent;
	if (!t.n)
		n = 0;
	else if (t.n <= EXACT && e >= -TENS && e <= TENS)
		n = e < 0 ? (double)t.head / tens[-e]
			  : (double)t.head * tens[e];
	else if (!read_slowly(&t, &n))
		return false;
	*ret = t.negative ? -n : n;
	return true;
}

bool integer_read(struct str s, int64_t *ret)
{
	bool negative = s.len && *s.p == '-';
	uint64_t n = 0, most = (uint64_t)INT64_MAX + negative;

	if (s.len && (*s.p == '-' || *s.p == '+'))
		s = str_after(s, 1);
	if (!s.len)
		return false;
	for (; s.len; s = str_after(s, 1)) {
		uint64_t d = (uint64_t)(*s.p - '0');

		if (!is_digit(*s.p) || n > (most - d) / 10)
			return false;
		n = 10 * n + d;
	}
	*ret = (int64_t)(negative ? -n : n);
	return true;
}

size_t integer_write(int64_t n, char dst[NUMBER_TEXT_MAX])
{
	uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
	char room[NUMBER_TEXT_MAX], *p = room + sizeof room;
	size_t len;

	do
		*--p = (char)('0' + left % 10);
	while (left /= 10);
	if (n < 0)
		*--p = '-';
	len = (size_t)(room + sizeof room - p);
	memcpy(dst, p, len);
	dst[len] = '\0';
	return len;
}

/* A short decimal: m / 10^k, rightly rounded, that is n itself. */
static size_t write_short(double n, char dst[NUMBER_TEXT_MAX])
{
	for (int k = 1; k <= 6; k++) {
		double m = n * tens[k];
		int64_t whole, part;
		size_t len;

		if (fabs(m) >= 1e15)
			return 0;
		whole = (int64_t)(m < 0 ? m - 0.5 : m + 0.5);
		if ((double)whole / tens[k] != n)
			continue;
		part = whole % (int64_t)tens[k];
		whole /= (int64_t)tens[k];
		len = n < 0 && !whole ? 1 : 0;
		dst[0] = '-';
		len += integer_write(whole, dst + len);
		dst[len] = '.';
		part = part < 0 ? -part : part;
		for (int i = k; i; i--, part /= 10)
			dst[len + (size_t)i] = (char)('0' + part % 10);
		dst[len + (size_t)k + 1] = '\0';
		return len + (size_t)k + 1;
	}
	return 0;
}

static size_t write_slowly(double n, char dst[NUMBER_TEXT_MAX])
{
	yyjson_val v = {0};
	size_t len = 0;
	char *text;

	yyjson_set_real(&v, n);
	text = yyjson_val_write(&v, 0, &len);
	if (!text || len >= NUMBER_TEXT_MAX)
		len = 0;
	if (len)
		memcpy(dst, text, len);
	dst[len] = '\0';
	free(text);
	return len;
}

size_t number_write(double n, char dst[NUMBER_TEXT_MAX])
{
	size_t len = 0;

	if (fabs(n) < 1e18 && n == (double)(int64_t)n &&
	    (n != 0 || !signbit(n)))
		return integer_write((int64_t)n, dst);
	dst[0] = '\0';
	if (isfinite(n) && fabs(n) >= 1e-5)
		len = write_short(n, dst);
	return len || !isfinite(n) ? len : write_slowly(n, dst);
}
