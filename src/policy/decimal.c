#include "policy/decimal.h"

#include <stdint.h>

/* Beyond any number of digits that a text can have. */
#define EXPONENT_MAX ((int64_t)1 << 40)

/* 0.DIGITS times ten to the power of `point`, without zeros at either end. */
struct decimal {
	bool negative;
	struct str digits; /* a "." may be among them */
	size_t n;	   /* digits without the "."; 0: it is zero */
	int64_t point;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t count_digits(struct str s, size_t at)
{
	size_t from = at;

	while (at < s.len && is_digit(s.p[at]))
		at++;
	return at - from;
}

bool decimal_is(struct str s)
{
	size_t at = s.len && s.p[0] == '-', n = count_digits(s, at);

	if (!n || (n > 1 && s.p[at] == '0'))
		return false;
	at += n;
	if (at < s.len && s.p[at] == '.') {
		n = count_digits(s, ++at);
		at += n;
		if (!n)
			return false;
	}
	if (at < s.len && (s.p[at] | 32) == 'e') {
		at++;
		at += at < s.len && (s.p[at] == '+' || s.p[at] == '-');
		n = count_digits(s, at);
		at += n;
		if (!n)
			return false;
	}
	return at == s.len;
}

static int64_t read_exponent(struct str s)
{
	bool negative = s.len && s.p[0] == '-';
	int64_t n = 0;

	for (size_t i = 0; i < s.len; i++)
		if (is_digit(s.p[i]) && n < EXPONENT_MAX)
			n = 10 * n + (s.p[i] - '0');
	return negative ? -n : n;
}

static void trim(struct decimal *d)
{
	struct str *s = &d->digits;

	while (s->len && (s->p[0] == '0' || s->p[0] == '.')) {
		if (s->p[0] == '0') {
			d->n--;
			d->point--;
		}
		*s = str_after(*s, 1);
	}
	while (s->len &&
	       (s->p[s->len - 1] == '0' || s->p[s->len - 1] == '.')) {
		d->n -= s->p[s->len - 1] == '0';
		s->len--;
	}
}

static struct decimal parse(struct str s)
{
	struct decimal d = {.negative = s.p[0] == '-'};
	size_t at = d.negative;
	bool fraction = false;

	d.digits = (struct str){s.p + at, 0};
	for (; at < s.len && (s.p[at] | 32) != 'e'; at++) {
		d.digits.len++;
		fraction |= s.p[at] == '.';
		d.n += s.p[at] != '.';
		d.point += s.p[at] != '.' && !fraction;
	}
	trim(&d);
	if (at < s.len)
		d.point += read_exponent(str_after(s, at + 1));
	if (!d.n)
		return (struct decimal){0};
	return d;
}

/* The next digit, 0 behind the last one. */
static char take(struct str *s)
{
	char c;

	if (s->len && s->p[0] == '.')
		*s = str_after(*s, 1);
	if (!s->len)
		return '0';
	c = s->p[0];
	*s = str_after(*s, 1);
	return c;
}

static int compare_size(struct decimal a, struct decimal b)
{
	if (a.point != b.point)
		return a.point < b.point ? -1 : 1;
	while (a.digits.len || b.digits.len) {
		char x = take(&a.digits), y = take(&b.digits);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

int decimal_compare(struct str x, struct str y)
{
	struct decimal a = parse(x), b = parse(y);
	int sign_a = a.n ? (a.negative ? -1 : 1) : 0;
	int sign_b = b.n ? (b.negative ? -1 : 1) : 0;

	if (sign_a != sign_b || !sign_a)
		return sign_a - sign_b;
	return sign_a * compare_size(a, b);
}

bool decimal_is_whole(struct str s)
{
	struct decimal d = parse(s);

	return (int64_t)d.n <= d.point || !d.n;
}
