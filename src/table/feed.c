#include "table/feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WHERE "table"
#define STEP ((size_t)256 << 10)

static int make_room(struct feed *f, struct redoma_error *err)
{
	size_t left = f->have - f->at, want;
	char *p;

	if (left > RECORD_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "a row has more than %zu MiB: a quote that "
			       "nothing closes, or not a table",
			       RECORD_MAX >> 20);
	if (f->at) {
		memmove(f->p, f->p + f->at, left);
		f->have = left;
		f->at = 0;
	}
	/* As much again, so that a long row is not looked at too often. */
	want = 2 * left + STEP;
	if (want <= f->room)
		return 0;
	p = realloc(f->p, want);
	if (!p)
		return err_nomem(err, WHERE);
	f->p = p;
	f->room = want;
	return 0;
}

int feed_more(struct feed *f, struct redoma_error *err)
{
	ssize_t n;
	int r = make_room(f, err);

	if (r)
		return r;
	do
		n = read(f->fd, f->p + f->have, f->room - f->have);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_sys(err, WHERE, "read the table");
	f->end = n == 0;
	f->have += (size_t)n;
	return 0;
}

void feed_done(struct feed *f)
{
	free(f->p);
	f->p = NULL;
	f->at = f->have = f->room = 0;
}
