/* table/table.h - a CSV, JSON Lines or Arrow file as columns, a block of rows
 * at a time, in constant memory; and what is written back.
 *
 * Each cell has the kind that its own text tells, whatever stands above or
 * below it.  A kind that was stated holds for its column: a cell that does not
 * fit is an error.  The columns of an Arrow file have their types from it. */
#ifndef TABLE_TABLE_H
#define TABLE_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/str.h"
#include "base/cell.h"
#include "table/csv.h"

/* TABLE_ARROW is both of Arrow's forms to a reader, which sees which it is. */
enum table_format { TABLE_CSV, TABLE_JSONL, TABLE_ARROW, TABLE_ARROW_STREAM };

struct arrow;
struct arrow_type;

/* What the cells of a column of CSV were so far, of all blocks. */
struct table_mix {
	uint64_t n[CELL_KINDS];
	uint64_t digits; /* texts of digits and their signs: 007, 1,000 */
	uint64_t row;    /* of the first text, from 1; 0: there is none */
	char text[40];   /* the beginning of that one */
};

/* A block's cells: a byte and 8 bytes a row, texts as offset and length in
 * heap. */
struct table_column {
	char *name; /* owned */
	enum cell_kind kind; /* if it was stated */
	bool stated;
	bool renamed; /* another one had its name */
	uint32_t twins; /* private: the last number behind its name */
	struct table_mix mix;
	struct buf kinds, values, heap;
	/* Of Arrow: its type (borrowed), and numbers and times as they came. */
	const struct arrow_type *arrow;
	struct buf fixed;
};

/* Of JSON Lines: members that no line had from which columns were made. */
#define TABLE_LATE_MAX 8
struct table_late { /* TABLE_LATE_MAX of them are remembered */
	char name[64]; /* the beginning of it */
	uint64_t line; /* the first that has it */
};

struct table { /* all zero but format, csv.feed.fd, csv.delimiter is fresh */
	enum table_format format;
	struct csv csv;               /* of JSON Lines, its feed */
	struct table_column *columns; /* owned array */
	size_t n_columns;
	/* The block's rows, one after another, and where each ends there
	 * (uint64_t); of Arrow there are none. */
	struct buf raw, ends;
	struct buf header; /* of CSV, as it stands */
	uint64_t rows;     /* of the block */
	uint64_t before;   /* rows of the blocks before */
	/* Of CSV: rows with fewer fields than columns so far, line of one. */
	uint64_t few, few_line;
	/* Of CSV: rows with more, of which none can be computed with. */
	uint64_t many, many_line;
	uint64_t foreign_line; /* of CSV: the first that is not UTF-8, or 0 */
	struct table_late late[TABLE_LATE_MAX];
	size_t n_late;
	size_t block_bytes; /* of a block, about; 0: 4 MiB */
	/* private */
	bool over;
	uint64_t line;
	struct arrow *arrow;     /* owned */
	struct buf texts, spans; /* the block's cells before they have kinds */
};

/* The names of the columns, from the header or the first lines. */
MUST_CHECK int table_open(struct table *t, struct redoma_error *err);
/* States a column's kind, after table_open.  REDOMA_E_INVALID: there is no such
 * column. */
MUST_CHECK int table_state(struct table *t, struct str name,
			   enum cell_kind kind, struct redoma_error *err);
/* At most `most` rows; t->rows 0: that was all. */
MUST_CHECK int table_next(struct table *t, uint64_t most,
			  struct redoma_error *err);
/* Appends what stands in a cell of the block, JSON if it is no string there, of
 * Arrow an error's code.
 * -1: out of memory. */
MUST_CHECK int table_cell_text(const struct table *t, size_t column,
			       uint64_t row, struct buf *out);
/* Of the block, about: what block_bytes bounds. */
uint64_t table_bytes(const struct table *t);
/* Of Arrow: the file is a stream. */
bool table_is_stream(const struct table *t);
/* As it stands, but for a row of CSV that has another number of fields than
 * there are columns: missing ones are blank, surplus ones are one with the
 * last. */
struct str table_row(const struct table *t, uint64_t row);
void table_done(struct table *t);

#endif
