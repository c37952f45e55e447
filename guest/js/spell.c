#include "spell.h"

#include <stdint.h>
#include <string.h>

struct rest {
	const char *p, *end;
};

static bool one(struct rest *r, const char *of)
{
	if (r->p == r->end || !*r->p || !strchr(of, *r->p))
		return false;
	r->p++;
	return true;
}

static bool word(struct rest *r, const char *w)
{
	size_t n = strlen(w);

	if ((size_t)(r->end - r->p) < n || memcmp(r->p, w, n))
		return false;
	r->p += n;
	return true;
}

static size_t digits(struct rest *r)
{
	const char *from = r->p;

	while (one(r, "0123456789"))
		;
	return (size_t)(r->p - from);
}

/* A number of n digits, from least to most; -1: none is there. */
static int number(struct rest *r, size_t n, int least, int most)
{
	int v = 0;

	for (size_t i = 0; i < n; i++) {
		if (!one(r, "0123456789"))
			return -1;
		v = v * 10 + r->p[-1] - '0';
	}
	return v >= least && v <= most ? v : -1;
}

static bool bigint(struct rest *r)
{
	if (one(r, "0"))
		return true;
	one(r, "-");
	return !(r->p < r->end && *r->p == '0') && digits(r);
}

static bool decimal(struct rest *r)
{
	one(r, "-");
	if (word(r, "Infinity"))
		return true;
	if (word(r, "NaN") || word(r, "sNaN")) {
		digits(r);
		return true;
	}
	if (!digits(r) || (one(r, ".") && !digits(r)))
		return false;
	if (!one(r, "eE"))
		return true;
	one(r, "+-");
	return digits(r);
}

static bool day(struct rest *r)
{
	static const int days[] = {31, 28, 31, 30, 31, 30,
				   31, 31, 30, 31, 30, 31};
	bool wide = one(r, "+-");
	int y = number(r, wide ? 6 : 4, 0, 999999), m, leap;

	m = one(r, "-") ? number(r, 2, 1, 12) : -1;
	if (y < 0 || m < 0 || !one(r, "-"))
		return false;
	leap = m == 2 && y % 4 == 0 && (y % 100 || y % 400 == 0);
	return number(r, 2, 1, days[m - 1] + leap) > 0;
}

static bool clock(struct rest *r)
{
	if (number(r, 2, 0, 23) < 0 || !one(r, ":") ||
	    number(r, 2, 0, 59) < 0 || !one(r, ":") || number(r, 2, 0, 59) < 0)
		return false;
	if (one(r, ".")) {
		size_t n = digits(r);

		return n == 3 || n == 6;
	}
	return true;
}

/* How far a zone is from UTC. */
static bool zone(struct rest *r)
{
	if (number(r, 2, 0, 23) < 0 || !one(r, ":") ||
	    number(r, 2, 0, 59) < 0)
		return false;
	if (!one(r, ":"))
		return true;
	return number(r, 2, 0, 59) >= 0 && (!one(r, ".") || digits(r) == 6);
}

static bool date(struct rest *r)
{
	if (r->p == r->end) /* none */
		return true;
	if (!day(r))
		return false;
	if (!one(r, "T"))
		return true;
	return clock(r) && (one(r, "Z") || !one(r, "+-") || zone(r));
}

static bool time_of_day(struct rest *r)
{
	return clock(r) && (!one(r, "+-") || zone(r));
}

static bool duration(struct rest *r)
{
	size_t n;

	one(r, "-");
	if (!word(r, "PT") || !digits(r))
		return false;
	if (one(r, ".")) {
		n = digits(r);
		if (n < 1 || n > 6)
			return false;
	}
	return one(r, "S");
}

/* Base64 as it is written: whole groups, and no bits behind the last byte. */
static bool bytes(struct rest *r)
{
	static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "abcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t n = (size_t)(r->end - r->p);
	uint32_t last;

	while (one(r, set))
		;
	if (n % 4 || r->end - r->p > 2)
		return false;
	last = n ? (uint32_t)(strchr(set, r->p[-1]) - set) : 0;
	if (r->p == r->end)
		return true;
	if (last & (r->end - r->p == 2 ? 15 : 3))
		return false;
	return one(r, "=") && (r->p == r->end || one(r, "="));
}

static const struct {
	const char *kind;
	bool (*is)(struct rest *r);
} spellings[] = {
	{ "bigint", bigint },	  { "bytes", bytes }, { "date", date },
	{ "decimal", decimal },	  { "duration", duration },
	{ "time", time_of_day },
};

bool spell_is(const char *kind, const char *p, size_t n)
{
	struct rest r = { p, p + n };

	for (size_t i = 0; i < sizeof(spellings) / sizeof(*spellings); i++)
		if (!strcmp(kind, spellings[i].kind))
			return spellings[i].is(&r) && r.p == r.end;
	return false;
}
