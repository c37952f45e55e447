/* table/arrow_body.h - the columns of a record batch, as its buffers. */
#ifndef TABLE_ARROW_BODY_H
#define TABLE_ARROW_BODY_H

#include "table/arrow_write.h"

struct arrow_body { /* all zero but from, rows and first is empty */
	struct buf bytes;
	struct buf buffers, nodes; /* as a record batch lists them */
	uint64_t from, rows;       /* of the block */
	uint64_t first;            /* rows before this batch */
};

MUST_CHECK int arrow_body_add(struct arrow_body *t, const struct arrow_out *c,
			      struct redoma_error *err);
void arrow_body_done(struct arrow_body *t);

#endif
