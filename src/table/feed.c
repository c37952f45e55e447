#include "table/feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WHERE "table"
#define STEP ((size_t)256 << 10)

int feed_too_long(struct redoma_error *err)
{
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "a row has more than %zu MiB, which is the most that it "
		       "may have: is this a table?",
		       RECORD_MAX >> 20);
}

static int make_room(struct feed *f, struct redoma_error *err)
{
	size_t left = f->have - f->at, want;
	char *p;

	if (left > RECORD_MAX)
		return feed_too_long(err);
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

/* What is no text, by its first bytes. */
static const struct sign {
	const char *bytes;
	size_t len;
	const char *what;
} signs[] = {
	{"\xff\xfe", 2, "UTF-16; write it as UTF-8: iconv -f utf-16 -t utf-8"},
	{"\xfe\xff", 2, "UTF-16; write it as UTF-8: iconv -f utf-16 -t utf-8"},
	{"ARROW1", 6, "an Arrow file: say so by --format arrow"},
	{"\xff\xff\xff\xff", 4, "an Arrow stream: say so by --format arrows"},
	{"PAR1", 4, "Parquet: write it as Arrow or CSV"},
	{"PK\x03\x04", 4, "a ZIP archive, as .xlsx is: save the sheet as CSV"},
	{"\x1f\x8b", 2, "compressed: gunzip -c"},
	{"\x28\xb5\x2f\xfd", 4, "compressed: zstd -dc"},
};

static int check_text(const struct feed *f, struct redoma_error *err)
{
	const char *p = f->p ? f->p : "";

	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (f->have >= signs[i].len &&
		    !memcmp(p, signs[i].bytes, signs[i].len))
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "the table is %s", signs[i].what);
	if (f->have >= 4 && (!p[0] ^ !p[1]) && !p[0] == !p[2] &&
	    !p[1] == !p[3])
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the table has a NUL in every other byte, as "
			       "UTF-16 does; write it as UTF-8: iconv -f %s -t "
			       "utf-8",
			       p[0] ? "utf-16le" : "utf-16be");
	return 0;
}

int feed_begin(struct feed *f, size_t least, struct redoma_error *err)
{
	int r = 0;

	while (!r && !f->end && f->have < least)
		r = feed_more(f, err);
	if (!r)
		r = check_text(f, err);
	if (!r && f->have >= 3 && !memcmp(f->p, "\xef\xbb\xbf", 3))
		f->at = 3;
	return r;
}

void feed_done(struct feed *f)
{
	free(f->p);
	f->p = NULL;
	f->at = f->have = f->room = 0;
}
