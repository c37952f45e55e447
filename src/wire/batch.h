/* wire/batch.h - formulas and the columns that they are evaluated over, as an
 * image gets them, and its answer.  docs/design/formula.md has the layout.
 *
 * All little-endian.  The core builds batches; an answer is a guest's word. */
#ifndef WIRE_BATCH_H
#define WIRE_BATCH_H

#include <stdint.h>

#define BATCH_MAGIC 0x31424452u        /* "RDB1" */
#define BATCH_ANSWER_MAGIC 0x31434452u /* "RDC1" */
/* What FRAME_INVOKE asks an image for. */
#define BATCH_INVOKE "redoma_batch"

/* Offsets count from the start of the batch. */
struct batch_head {
	uint32_t magic, rows, columns, formulas;
	uint64_t first;  /* index of the first row in the whole table */
	int64_t now_us;  /* what NOW and TODAY say, since 1970, or none */
	uint32_t row_us;  /* what one row may take */
	uint32_t deaf_us; /* and then, told to end, compute on */
};

/* In now_us: the policy has no clock, and whoever asks is to hear that. */
#define BATCH_NO_TIME INT64_MIN

/* Behind the head, one for each column.  kinds: a byte a row for
 * REDOMA_COLUMN_CELLS, else the validity bitmap (0: every row has a value). */
struct batch_column {
	uint32_t name, name_len, layout, kinds, values, heap, heap_len;
};

/* Behind the columns. */
struct batch_formula {
	uint32_t name, name_len, text, text_len;
};

/* Then kinds and values of each formula as offsets from the answer's start;
 * texts are offset and length from `heap`, which ends with the answer. */
struct batch_answer {
	uint32_t magic, rows, formulas, heap;
	uint32_t bits; /* BATCH_ANSWER_TIME, or 0 */
	uint32_t columnar; /* cells that were computed many rows at once */
};
/* A formula asked for the time: under another one it may come to something
 * else. */
#define BATCH_ANSWER_TIME 1u

struct batch_cells {
	uint32_t kinds, values;
};

#endif
