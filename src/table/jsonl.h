/* table/jsonl.h - JSON Lines: an object a line.
 *
 * The members of the first lines (1,000 at most, or 256 KiB) are the columns;
 * a member that appears later stays in its row, and no formula sees it.  Texts
 * are texts: "12" is no number here. */
#ifndef TABLE_JSONL_H
#define TABLE_JSONL_H

#include "table/table.h"

MUST_CHECK int jsonl_open(struct table *t, struct redoma_error *err);
MUST_CHECK int jsonl_fill(struct table *t, uint64_t most,
			  struct redoma_error *err);
/* As table_cell_text. */
MUST_CHECK int jsonl_cell_text(const struct table *t, size_t column,
			       uint64_t row, struct buf *out);

#endif
