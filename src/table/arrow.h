/* table/arrow.h - a table in Apache Arrow's IPC format: a file (also called
 * Feather V2), or a stream of the same messages.
 *
 * Source: https://arrow.apache.org/docs/format/Columnar.html
 *
 * A file is read as the stream that it has within it; its footer is not looked
 * at, so that it may come by a pipe.  Buffers of record batches are read where
 * they stand (table/pieces.h), so that a batch may have any size.  Nothing that
 * the bytes say is believed: each place lies in its buffer, each buffer in its
 * body, before it is read. */
#ifndef TABLE_ARROW_H
#define TABLE_ARROW_H

#include "table/arrow_type.h"
#include "table/pieces.h"
#include "table/table.h"

#define ARROW_MESSAGE_MAX ((size_t)16 << 20) /* bytes, without its body */
#define ARROW_ROWS_MAX INT32_MAX             /* of a record batch */
#define ARROW_STEP 65536u /* rows that are looked at at once */

struct arrow_span { /* of a body */
	uint64_t at, len;
};

struct arrow_column {
	struct arrow_type type;
	size_t dictionary; /* its place in arrow.dictionaries */
	/* Of the batch that is being read. */
	struct arrow_span valid, values, texts;
	uint32_t first_view, n_views; /* its further buffers */
};

/* The values that indices mean: utf8, all of them in memory. */
struct arrow_dictionary {
	int64_t id;
	struct arrow_type type; /* of its values */
	bool there;
	struct buf entries; /* struct arrow_text */
	struct buf heap;
};

/* Where a text is: in a buffer of texts, in a dictionary, or of a view in its
 * further buffer `view`, or if that is negative in the view itself. */
struct arrow_text {
	uint64_t at;
	uint32_t len;
	int32_t view;
};
#define ARROW_TEXT_NULL UINT64_MAX /* at: an entry of a dictionary is null */

struct arrow {
	struct pieces pieces;
	bool is_file, over;
	struct arrow_column *columns; /* owned, as many as the table has */
	struct arrow_dictionary *dictionaries; /* owned */
	size_t n_dictionaries;
	struct buf schema;        /* its message: names of zones lie in it */
	struct buf meta;          /* of the message that is being read */
	struct flat flat;         /* the same bytes */
	struct flat_list buffers; /* of the batch */
	uint64_t messages, rows, row, bytes;
	uint64_t empty_rows; /* of a table that has no column but of nulls */
	/* What one step looks at. */
	struct buf there, texts, views, sizes, room;
};

/* The columns of the table, from the schema. */
MUST_CHECK int arrow_open(struct table *t, struct redoma_error *err);
MUST_CHECK int arrow_fill(struct table *t, uint64_t most,
			  struct redoma_error *err);
void arrow_free(struct arrow *a);

/* The message that follows; what there is of its body is looked at by
 * a->pieces.
 * *ret_kind 0: there is none. */
enum { ARROW_SCHEMA = 1, ARROW_DICTIONARY, ARROW_BATCH };
MUST_CHECK int arrow_message(struct arrow *a, struct flat_table *ret_head,
			     int *ret_kind, struct redoma_error *err);
/* The buffers of a record batch, a column each; sets a->rows. */
MUST_CHECK int arrow_batch(struct arrow *a, const struct flat_table *head,
			   struct arrow_column *columns, size_t n,
			   struct redoma_error *err);
/* REDOMA_E_INVALID: what does not hold in this message. */
int arrow_bad(const struct arrow *a, const char *what,
	      struct redoma_error *err);

/* Of n rows, ARROW_STEP at most, of a->row on.  a->there: a byte each;
 * a->texts: a struct arrow_text each. */
MUST_CHECK int arrow_there(struct arrow *a, const struct arrow_column *c,
			   size_t n, struct redoma_error *err);
MUST_CHECK int arrow_texts(struct arrow *a, const struct arrow_column *c,
			   size_t n, struct redoma_error *err);
bool arrow_has_texts(const struct arrow_column *c);
/* Appends their cells. */
MUST_CHECK int arrow_cells(struct arrow *a, const struct arrow_column *c,
			   size_t n, struct table_column *ret,
			   struct redoma_error *err);

#endif
