/* table/feed.h - the bytes of a file, a record at a time in constant memory. */
#ifndef TABLE_FEED_H
#define TABLE_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"

#define RECORD_MAX ((size_t)16 << 20) /* bytes of one row */

struct feed {                  /* all zero but fd is a fresh one */
	int fd;                /* borrowed */
	char *p;               /* owned */
	size_t at, have, room; /* p[at..have] is not consumed */
	bool end;              /* nothing more comes */
};

/* Reads on behind what is there; pointers into it move.  REDOMA_E_INVALID: one
 * record is over RECORD_MAX. */
MUST_CHECK int feed_more(struct feed *f, struct redoma_error *err);
/* The beginning of a text, `least` bytes if there are as many; a byte order
 * mark is skipped.  REDOMA_E_INVALID: it is something else, by its first
 * bytes. */
MUST_CHECK int feed_begin(struct feed *f, size_t least,
			  struct redoma_error *err);
int feed_too_long(struct redoma_error *err); /* what is said of such a row */
void feed_done(struct feed *f);

#endif
