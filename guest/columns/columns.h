/* columns.h - column programs: a simple formula over a block of rows at once.
 *
 * Arithmetic, comparisons and conditions over numbers and truths, and nothing
 * else.  What a program gives of a row is what the language's interpreter would
 * give, to the bit; a row of which that is not certain (a blank, an integer
 * that does not fit, a division by zero, a result that is none) is left to it.
 * docs/design/formula.md tells why.  A block takes some 0.2 ms at most, all
 * memory of a formula is 200 KiB at most, and 20 as a rule.
 *
 * Part of both images of formulas, inside both walls: what it reads is no
 * attack that it has to stop.  It keeps nothing at file scope. */
#ifndef COLUMNS_COLUMNS_H
#define COLUMNS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLUMNS_BLOCK 256u /* most rows at once */
#define COLUMNS_UNDONE 0xffu
#define COLUMNS_CELLS_MAX 16u /* columns of one formula */

enum columns_language { COLUMNS_JS, COLUMNS_PY };

/* As batches and answers have them (src/wire/batch.h, include/redoma.h). */
enum columns_kind {
	COLUMNS_BLANK,
	COLUMNS_NUMBER,
	COLUMNS_TRUTH,
	COLUMNS_TEXT,
	COLUMNS_INTEGER,
};

enum columns_layout {
	COLUMNS_OF_CELLS,
	COLUMNS_OF_FLOAT64,
	COLUMNS_OF_INT64,
	COLUMNS_OF_BOOL,
};

enum columns_name { COLUMNS_NO_NAME, COLUMNS_COLUMN, COLUMNS_INDEX };

/* What a name in the formula is; `quoted`: it stood behind row or col.
 * COLUMNS_COLUMN: *ret is which.  Borrowed for the call. */
struct columns_scope {
	enum columns_name (*find)(void *data, const char *p, size_t n,
				  bool quoted, uint32_t *ret);
	void *data;
};

/* A column's buffers, aligned to 8 bytes; kinds as in a batch.  Borrowed. */
struct columns_cells {
	uint32_t layout; /* any; those above can be computed with */
	const uint8_t *kinds;
	const char *values;
};

/* NULL: it is not of this kind, or there is no memory. */
struct columns_formula *columns_new(const char *text, size_t len,
				    enum columns_language language,
				    const struct columns_scope *scope);
void columns_free(struct columns_formula *f); /* NULL: nothing */

/* Which columns it names; *ret is borrowed, each is there once. */
size_t columns_names(const struct columns_formula *f, const uint32_t **ret);

/* Before the first block: those columns, in that order, as they are in all
 * blocks but for the places of their buffers.  False: the interpreter has to do
 * all of it. */
bool columns_bind(struct columns_formula *f, const struct columns_cells *cells);

struct columns_block {
	const struct columns_cells *cells; /* as to columns_bind */
	uint64_t index; /* of the table's first row in this batch */
	uint32_t from;
	uint32_t rows;	/* at most COLUMNS_BLOCK */
	uint8_t *kinds; /* what to fill, of these rows; each COLUMNS_UNDONE
			 * is left to the interpreter */
	char *values;	/* 8 bytes a row, aligned */
	/* Counted up as it goes on, by each step, of which none takes long. */
	volatile uint32_t *count;
};

void columns_run(struct columns_formula *f, const struct columns_block *b);

#endif
