/* table/arrow_write.h - a table as an Arrow IPC file, or as a stream. */
#ifndef TABLE_ARROW_WRITE_H
#define TABLE_ARROW_WRITE_H

#include "base/cell.h"
#include "table/arrow_type.h"

struct arrow_out { /* everything borrowed while rows are written */
	const char *name;
	struct arrow_type type;
	/* The cells of a block; blanks and errors are nulls. */
	struct cell (*cell)(const void *data, uint64_t row);
	const void *data;
	/* If not NULL the values as they came, a kind for each. */
	const char *fixed;
	const uint8_t *kinds;
};

struct arrow_writer { /* all zero but is_file and the columns is fresh */
	bool is_file;
	const struct arrow_out *columns; /* the same ones throughout */
	size_t n_columns;
	/* private */
	uint64_t at;       /* bytes written so far */
	uint64_t rows;     /* likewise rows */
	struct buf blocks; /* of a file: where its record batches are */
};

/* Each appends what is to be written next.  The bodies of what was appended are
 * aligned in the file, not in b. */
MUST_CHECK int arrow_put_head(struct arrow_writer *w, struct buf *b,
			      struct redoma_error *err);
/* A record batch.  REDOMA_E_INVALID names a row and a column whose type does
 * not take the cell. */
MUST_CHECK int arrow_put_rows(struct arrow_writer *w, uint64_t from,
			      uint64_t rows, struct buf *b,
			      struct redoma_error *err);
MUST_CHECK int arrow_put_tail(struct arrow_writer *w, struct buf *b,
			      struct redoma_error *err);
void arrow_writer_done(struct arrow_writer *w);

#endif
