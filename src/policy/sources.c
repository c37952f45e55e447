#include "policy/sources.h"

#include <stdio.h>

#include "base/units.h"
#include "policy/read.h"

#define NS_PER_SEC 1000000000
/* The last whole second that int64_t nanoseconds since 1970 can name. */
#define LAST_SECOND (INT64_MAX / NS_PER_SEC - 1)

#define CLOCK_SHAPE "write a time in UTC, such as fixed:2026-01-01T00:00:00Z"

/* Days since 1970-01-01 of a date in the proleptic Gregorian calendar; the year
 * is taken to begin in March, so that the leap day is its last. */
static int64_t days_of(int year, int month, int day)
{
	int64_t y = month > 2 ? year : year - 1;
	int64_t era = y / 400, yoe = y % 400;
	int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static void date_of(int64_t days, int *year, int *month, int *day)
{
	int64_t z = days + 719468, era = z / 146097, doe = z % 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t mp = (5 * doy + 2) / 153;

	*day = (int)(doy - (153 * mp + 2) / 5 + 1);
	*month = (int)(mp < 10 ? mp + 3 : mp - 9);
	*year = (int)(yoe + era * 400 + (*month <= 2));
}

static int days_in(int year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30,
				   31, 31, 30, 31, 30, 31};
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return month == 2 && leap ? 29 : days[month - 1];
}

/* Takes n digits and what must follow them off the front. */
static bool take(struct str *s, size_t n, const char *then, int *ret)
{
	size_t all = n + strlen(then);
	int value = 0;

	if (s->len < all || memcmp(s->p + n, then, all - n) != 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (s->p[i] < '0' || s->p[i] > '9')
			return false;
		value = value * 10 + (s->p[i] - '0');
	}
	*s = str_after(*s, all);
	*ret = value;
	return true;
}

/* "Z" or ".123Z", up to nine digits. */
static bool take_fraction(struct str s, int64_t *ret_ns)
{
	int64_t ns = 0, unit = NS_PER_SEC;
	size_t i = 1;

	if (s.len < 1 || s.p[s.len - 1] != 'Z')
		return false;
	*ret_ns = 0;
	if (s.len == 1)
		return true;
	if (s.p[0] != '.' || s.len < 3 || s.len > 11)
		return false;
	for (; i < s.len - 1; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		unit /= 10;
		ns += unit * (s.p[i] - '0');
	}
	*ret_ns = ns;
	return true;
}

struct moment {
	int year, month, day, hour, minute, second;
	int64_t ns;
};

static bool take_moment(struct str s, struct moment *ret)
{
	return take(&s, 4, "-", &ret->year) && take(&s, 2, "-", &ret->month) &&
	       take(&s, 2, "T", &ret->day) && take(&s, 2, ":", &ret->hour) &&
	       take(&s, 2, ":", &ret->minute) &&
	       take(&s, 2, "", &ret->second) && take_fraction(s, &ret->ns);
}

static bool is_between(int n, int least, int most)
{
	return n >= least && n <= most;
}

static bool exists(const struct moment *m)
{
	return is_between(m->month, 1, 12) &&
	       is_between(m->day, 1, days_in(m->year, m->month)) &&
	       is_between(m->hour, 0, 23) && is_between(m->minute, 0, 59) &&
	       is_between(m->second, 0, 59);
}

static const char *parse_time(struct str s, int64_t *ret_ns)
{
	struct moment m;
	int64_t sec;

	if (!take_moment(s, &m))
		return "not a time; " CLOCK_SHAPE;
	if (!exists(&m))
		return "no such date or time of day; " CLOCK_SHAPE;
	if (m.year < 1970)
		return "before 1970; write a time from 1970-01-01T00:00:00Z "
		       "on";
	sec = days_of(m.year, m.month, m.day) * 86400 + m.hour * 3600 +
	      m.minute * 60 + m.second;
	if (sec > LAST_SECOND)
		return "too far in the future; write a time before the year "
		       "2262";
	*ret_ns = sec * NS_PER_SEC + m.ns;
	return NULL;
}

int source_read_clock(void *policy, const struct tree *v,
		      struct redoma_error *err)
{
	struct policy *p = policy;
	const char *bad = "unknown; write real, none or "
			  "fixed:2026-01-01T00:00:00Z";
	int64_t ns = 0;
	struct str s;
	int e = read_scalar(v, "clock", &s, err);

	if (e)
		return e;
	if (str_starts(s, STR("fixed:")))
		bad = parse_time(str_after(s, 6), &ns);
	else if (str_equal(s, STR("real")) || str_equal(s, STR("none")))
		bad = NULL;
	if (bad)
		return tree_refuse(v, err, "clock %s: %s", SHOW(s), bad);
	p->clock = s.p[0] == 'f' ? SOURCE_FIXED
		   : s.p[0] == 'r' ? SOURCE_REAL : SOURCE_NONE;
	p->clock_fixed_ns = ns;
	return 0;
}

int source_read_random(void *policy, const struct tree *v,
		       struct redoma_error *err)
{
	struct policy *p = policy;
	const char *bad = "unknown; write real, none or seed:42";
	uint64_t seed = 0;
	struct str s;
	int e = read_scalar(v, "random", &s, err);

	if (e)
		return e;
	if (str_starts(s, STR("seed:")))
		bad = units_number(str_after(s, 5), &seed);
	else if (str_equal(s, STR("real")) || str_equal(s, STR("none")))
		bad = NULL;
	if (bad)
		return tree_refuse(v, err, "random %s: %s", SHOW(s), bad);
	p->random = s.p[0] == 's' ? SOURCE_FIXED
		    : s.p[0] == 'r' ? SOURCE_REAL : SOURCE_NONE;
	p->random_seed = seed;
	return 0;
}

const char *source_print_clock(const struct policy *p,
			       char dst[SOURCE_TEXT_MAX])
{
	int64_t sec = p->clock_fixed_ns / NS_PER_SEC;
	int ns = (int)(p->clock_fixed_ns % NS_PER_SEC);
	int year, month, day, of_day = (int)(sec % 86400), at;

	if (p->clock != SOURCE_FIXED)
		return p->clock == SOURCE_REAL ? "real" : "none";
	date_of(sec / 86400, &year, &month, &day);
	at = snprintf(dst, SOURCE_TEXT_MAX,
		      "fixed:%04d-%02d-%02dT%02d:%02d:%02d", year, month, day,
		      of_day / 3600, of_day / 60 % 60, of_day % 60);
	if (ns)
		at += snprintf(dst + at, SOURCE_TEXT_MAX - (size_t)at, ".%09d",
			       ns);
	snprintf(dst + at, SOURCE_TEXT_MAX - (size_t)at, "Z");
	return dst;
}

const char *source_print_random(const struct policy *p,
				char dst[SOURCE_TEXT_MAX])
{
	if (p->random != SOURCE_FIXED)
		return p->random == SOURCE_REAL ? "real" : "none";
	snprintf(dst, SOURCE_TEXT_MAX, "seed:%llu",
		 (unsigned long long)p->random_seed);
	return dst;
}
