/* core/sheet.h - batches out, answers in: the bytes of wire/batch.h. */
#ifndef CORE_SHEET_H
#define CORE_SHEET_H

#include <stdbool.h>
#include <stdint.h>
#include <redoma.h>
#include "base/buf.h"
#include "base/err.h"

/* Rows from..from+rows of a request, with the columns whose bit in `used` is
 * set. */
struct sheet_slice {
	const struct redoma_formula_request *q;
	const bool *used;
	uint64_t from, rows;
	int64_t now_us;
	uint32_t deaf_us; /* of a row that does not listen */
};

/* Appends the batch.  REDOMA_E_INVALID: it is larger than an input may be. */
MUST_CHECK int sheet_encode(const struct sheet_slice *s, struct buf *out,
			    struct redoma_error *err);

/* An answer: hostile bytes until sheet_check said that they are one. */
struct sheet_part {
	const char *p; /* borrowed */
	size_t len;
	uint64_t from, rows;
	uint64_t formulas;
};
/* Appends the answer of one row whose cells are all that error.  0, or -1. */
MUST_CHECK int sheet_fail(uint64_t formulas, const char *text, struct buf *out);
/* Every offset and every text lies inside, every kind is one, numbers are
 * finite and dates can be counted with. */
bool sheet_check(const struct sheet_part *part);
/* Of one that was checked: a formula asked for the time; a row ended for want
 * of its own.  Both are the guest's word. */
bool sheet_has_time(const struct sheet_part *part);
bool sheet_has_late(const struct sheet_part *part);
/* Likewise how many of its cells were computed many rows at once. */
uint64_t sheet_columnar(const struct sheet_part *part);
struct redoma_cell sheet_cell(const struct sheet_part *part, uint64_t formula,
			      uint64_t row);

#endif
