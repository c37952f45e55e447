#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit times[] = {
	{"ms", 1000}, {"s", 1000000}, {"m", 60000000}, {NULL, 0}};
static const struct unit sizes[] = {
	{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
	{NULL, 0}};

/* The sentences that differ between times and sizes. */
struct words {
	const char *no_unit, *bad_unit, *zero, *fraction, *shape;
};

static const struct words time_words = {
	"a time needs a unit; write for example 500ms, 2s or 1m",
	"unknown unit of time; use ms, s or m, for example 500ms",
	"a time of zero allows nothing; write 1ms or more",
	"times are whole numbers; write 1500ms instead of 1.5s",
	"this is not a time; write a number and a unit, for example 2s",
};
static const struct words size_words = {
	"a size needs a unit; write for example 512B, 64KiB, 64MiB or 2GiB",
	"unknown unit of size; use B, KiB, MiB or GiB (powers of 1024), "
	"for example 64MiB",
	"a size of zero allows nothing; write 1B or more",
	"sizes are whole numbers; write 1536KiB instead of 1.5MiB",
	"this is not a size; write a number and a unit, for example 64MiB",
};
static const struct words count_words = {
	NULL, "a count has no unit; write a number alone, for example 64",
	"a count of zero allows nothing; write 1 or more",
	"counts are whole numbers; write for example 64",
	"this is not a number; write for example 64 or 5_000_000_000",
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* What stands where a number should begin. */
static const char *flaw_of_start(struct str s, const struct words *w)
{
	if (s.len && s.p[0] == '-')
		return "the number is negative; write a positive one";
	if (!s.len || !is_digit(s.p[0]))
		return w->shape;
	if (s.len > 1 && s.p[0] == '0' && (is_digit(s.p[1]) || s.p[1] == '_'))
		return "a number does not begin with 0; leave the 0 out";
	return NULL;
}

static bool add_digit(uint64_t *n, char c)
{
	unsigned digit = (unsigned)(c - '0');

	if (*n > UINT64_MAX / 10 || *n * 10 > UINT64_MAX - digit)
		return false;
	*n = *n * 10 + digit;
	return true;
}

/* Reads digits off the front; *s is what follows them. */
static const char *read_digits(struct str *s, const struct words *w,
			       uint64_t *ret)
{
	const char *bad = flaw_of_start(*s, w);
	uint64_t n = 0;
	size_t i = 0;

	if (bad)
		return bad;
	for (; i < s->len && (is_digit(s->p[i]) || s->p[i] == '_'); i++) {
		if (s->p[i] != '_') {
			if (!add_digit(&n, s->p[i]))
				return "the number is too large for 64 bits";
		} else if (i + 1 == s->len || !is_digit(s->p[i + 1])) {
			return "an underscore stands between two digits, as in "
			       "5_000_000";
		}
	}
	*s = str_after(*s, i);
	if (s->len && s->p[0] == '.')
		return w->fraction;
	*ret = n;
	return NULL;
}

static const char *read_unit(struct str s, const struct unit *u,
			     const struct words *w, uint64_t *ret)
{
	uint64_t n = 0;
	const char *bad = read_digits(&s, w, &n);

	if (bad)
		return bad;
	if (!s.len)
		return n ? w->no_unit : w->zero;
	while (u->name && !str_equal(s, str_of(u->name)))
		u++;
	if (!u->name)
		return w->bad_unit;
	if (!n)
		return w->zero;
	if (n > UINT64_MAX / u->factor)
		return "the number is too large for 64 bits";
	*ret = n * u->factor;
	return NULL;
}

const char *units_time(struct str s, uint64_t *ret_us)
{
	return read_unit(s, times, &time_words, ret_us);
}

const char *units_size(struct str s, uint64_t *ret_bytes)
{
	return read_unit(s, sizes, &size_words, ret_bytes);
}

const char *units_number(struct str s, uint64_t *ret)
{
	uint64_t n = 0;
	const char *bad = read_digits(&s, &count_words, &n);

	if (bad)
		return bad;
	if (s.len)
		return count_words.bad_unit;
	*ret = n;
	return NULL;
}

const char *units_count(struct str s, uint64_t *ret)
{
	uint64_t n = 0;
	const char *bad = units_number(s, &n);

	if (bad)
		return bad;
	if (!n)
		return count_words.zero;
	*ret = n;
	return NULL;
}

static const char *print_exact(uint64_t n, const struct unit *u, char *dst)
{
	const struct unit *best = u;

	for (; u->name; u++) {
		if (n >= u->factor && n % u->factor == 0)
			best = u;
	}
	snprintf(dst, UNITS_TEXT_MAX, "%" PRIu64 "%s", n / best->factor,
		 best->name);
	return dst;
}

const char *units_print_time(uint64_t us, char dst[UNITS_TEXT_MAX])
{
	uint64_t ms = us / 1000 + (us % 1000 != 0);

	return print_exact(ms * 1000, times, dst);
}

const char *units_print_size(uint64_t bytes, char dst[UNITS_TEXT_MAX])
{
	return print_exact(bytes, sizes, dst);
}

/* n / factor with up to three decimals, cut, without trailing zeros: no
 * floating point, whose printed form depends on the locale. */
static const char *show(uint64_t n, uint64_t factor, const char *unit,
			char *dst)
{
	unsigned part = (unsigned)((n % factor) * 1000 / factor);
	int digits = 3;

	while (digits && part % 10 == 0) {
		part /= 10;
		digits--;
	}
	if (digits)
		snprintf(dst, UNITS_TEXT_MAX, "%" PRIu64 ".%0*u%s", n / factor,
			 digits, part, unit);
	else
		snprintf(dst, UNITS_TEXT_MAX, "%" PRIu64 "%s", n / factor,
			 unit);
	return dst;
}

const char *units_show_time(uint64_t us, char dst[UNITS_TEXT_MAX])
{
	if (us < 1000)
		return show(us, 1, "us", dst);
	if (us < 1000000)
		return show(us, 1000, "ms", dst);
	return show(us, 1000000, "s", dst);
}

const char *units_show_size(uint64_t bytes, char dst[UNITS_TEXT_MAX])
{
	const struct unit *u = sizes;

	while (u[1].name && bytes >= u[1].factor)
		u++;
	return show(bytes, u->factor, u->name, dst);
}
