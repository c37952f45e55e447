/* base/cell.h - what stands in one cell, and how it is written.
 *
 * A text is a number, a truth or a date by fixed rules that know no locale:
 *	integer   [+-]digits without a leading zero, at most 2^53 in size
 *	number    the same with a point or an exponent
 *	truth     true, false (any case)
 *	date      2024-02-29
 *	time      2024-02-29T10:20:30.5Z: T or a blank, seconds, their fraction
 *	          and the zone (Z, +hh:mm; none: UTC) may be missing
 *	blank     nothing
 *	text      anything else: also 007, 1,000 and 19 digits of an account
 * Blanks and tabs around all but a text are skipped; alone they are a blank. */
#ifndef BASE_CELL_H
#define BASE_CELL_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/str.h"

enum cell_kind {
	CELL_BLANK,
	CELL_NUMBER,
	CELL_TRUTH,
	CELL_TEXT,
	CELL_INTEGER,
	CELL_DATE,  /* days since 1970 */
	CELL_TIME,  /* microseconds since 1970, UTC */
	CELL_ERROR, /* text: code, a blank, what is wrong */
	CELL_KINDS
};

struct cell {
	enum cell_kind kind;
	union {
		double number;
		int64_t integer; /* also TRUTH, DATE, TIME */
	};
	struct str text; /* TEXT, ERROR; borrowed */
};

/* A column's kind is that of all its cells: CELL_BLANK before the first. */
enum cell_kind cell_join(enum cell_kind a, enum cell_kind b);
/* What the text says by the rules above. */
struct cell cell_read(struct str text);
/* The same for a cell of a column of that kind; CELL_TEXT if it is none. */
struct cell cell_read_as(struct str text, enum cell_kind kind);
/* Appends a cell as text, nothing for a blank, of an error its code.  0, or
 * -1. */
MUST_CHECK int cell_print(struct buf *b, const struct cell *c);
/* "number", "text" ...; CELL_KINDS for a name that there is not. */
const char *cell_kind_name(enum cell_kind k);
enum cell_kind cell_kind_find(struct str name);

#endif
