/* table/arrow_fit.h - cells as values of a column's type. */
#ifndef TABLE_ARROW_FIT_H
#define TABLE_ARROW_FIT_H

#include "table/arrow_type.h"

/* The cell as a value of the type, in 8 bytes; false: it is none.  Nothing is
 * rounded.  Not for texts, whose type takes every cell as it is printed. */
bool arrow_fit(const struct arrow_type *t, const struct cell *c, int64_t *ret);
/* Appends a text; what is not UTF-8 becomes U+FFFD, byte by byte. */
MUST_CHECK int arrow_fit_text(struct buf *b, const struct cell *c);

#endif
