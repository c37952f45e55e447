/* table/rows.h - what the readers of a table share. */
#ifndef TABLE_ROWS_H
#define TABLE_ROWS_H

#include "table/table.h"

/* A name that is empty or there already becomes one that is not. */
MUST_CHECK int table_add_column(struct table *t, struct str name,
				struct redoma_error *err);
/* Bytes of rows after which a block ends. */
static inline size_t rows_room(const struct table *t)
{
	return t->block_bytes ? t->block_bytes : (size_t)4 << 20;
}
/* The row as it stands; the caller counts t->rows.  0, or -1. */
MUST_CHECK int rows_add_raw(struct table *t, struct str raw);
MUST_CHECK int rows_add_cell(struct table_column *c, const struct cell *cell);

#endif
