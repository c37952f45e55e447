#include "base/nearest.h"

#define LONGEST 32

static unsigned char lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Optimal string alignment distance; both at most LONGEST. */
static unsigned distance(struct str a, struct str b)
{
	unsigned rows[3][LONGEST + 1];

	for (unsigned k = 0; k <= b.len; k++)
		rows[0][k] = k;
	for (unsigned i = 1; i <= a.len; i++) {
		unsigned *now = rows[i % 3], *up = rows[(i + 2) % 3];
		const unsigned *two_up = rows[(i + 1) % 3];

		now[0] = i;
		for (unsigned k = 1; k <= b.len; k++) {
			bool same = lower(a.p[i - 1]) == lower(b.p[k - 1]);

			now[k] = least(least(up[k], now[k - 1]) + 1,
				       up[k - 1] + !same);
			if (i > 1 && k > 1 &&
			    lower(a.p[i - 1]) == lower(b.p[k - 2]) &&
			    lower(a.p[i - 2]) == lower(b.p[k - 1]))
				now[k] = least(now[k], two_up[k - 2] + 1);
		}
	}
	return rows[a.len % 3][b.len];
}

const char *nearest_name(struct str word, const char *const *names)
{
	unsigned limit = word.len < 6 ? 1 : (unsigned)(word.len / 3);
	const char *best = NULL;

	if (!word.len || word.len > LONGEST)
		return NULL;
	for (; *names; names++) {
		struct str name = str_of(*names);
		unsigned d;

		if (name.len > LONGEST)
			continue;
		d = distance(word, name);
		if (d <= limit) {
			limit = d ? d - 1 : 0;
			best = *names;
			if (!d)
				break;
		}
	}
	return best;
}
