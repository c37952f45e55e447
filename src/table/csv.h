/* table/csv.h - comma-separated values, a record at a time (RFC 4180).
 *
 * What files have beside the RFC: a byte order mark, line ends LF, CRLF or CR,
 * another delimiter, quotes in the middle of a field (they stand for
 * themselves) and text behind a closing quote (it is appended). */
#ifndef TABLE_CSV_H
#define TABLE_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/str.h"
#include "table/feed.h"

#define CSV_FIELDS_MAX 16384u

struct csv_field {
	struct str text; /* unescaped; borrowed until the next record */
	bool quoted;
	size_t end; /* where it ends in the record as it stands */
};

struct csv { /* all zero but feed.fd and delimiter is a fresh reader */
	struct feed feed;
	char delimiter; /* 0: told from the first line: one of , ; tab | */
	struct csv_field *fields; /* owned array, n_fields */
	size_t n_fields;
	struct str raw; /* the record as it stands, without its end */
	uint64_t line;  /* where it begins, from 1 */
	/* private */
	size_t room;
	uint64_t next_line;
	struct buf text;
	bool begun;
};

/* The next record is in c; *ret false: there is none.  An empty line is a
 * record with one empty field.  REDOMA_E_INVALID names the line. */
MUST_CHECK int csv_next(struct csv *c, bool *ret, struct redoma_error *err);
void csv_done(struct csv *c);

/* Appends one field, quoted if it has to be.  0, or -1. */
MUST_CHECK int csv_put(struct buf *b, struct str field, char delimiter);

#endif
