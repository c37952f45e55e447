/* table.h - one batch: its columns, its formulas, its answer. */
#ifndef FORMULA_TABLE_H
#define FORMULA_TABLE_H

#include "formula.h"
#include "guest.h"

#define BATCH_MAGIC 0x31424452u  /* "RDB1" */
#define ANSWER_MAGIC 0x31434452u /* "RDC1" */
#define DAY_MS 86400000.0

enum formula_kind { /* kinds of a cell, in this order on the wire */
		    CELL_BLANK,
		    CELL_NUMBER,
		    CELL_TRUTH,
		    CELL_TEXT,
		    CELL_INTEGER,
		    CELL_DATE,
		    CELL_TIME,
		    CELL_ERROR,
};

enum formula_layout {               /* of a column */
		      LAYOUT_CELLS, /* kinds, values, heap */
		      LAYOUT_FLOAT64,
		      LAYOUT_INT64,
		      LAYOUT_BOOL,
		      LAYOUT_TEXT, /* 32-bit offsets */
		      LAYOUT_DATE32,
		      LAYOUT_TIME_US,
		      LAYOUTS,
};

struct formula_head {
	uint32_t magic, rows, columns, formulas;
	uint64_t first; /* index of the first row */
	int64_t now_us;
	uint32_t row_us, deaf_us;
};

#define NO_TIME INT64_MIN /* in now_us: the policy has no clock */

/* Offsets from the batch's start.  values: as the layout has them; kinds: of
 * cells, or the validity bitmap (0: all valid); heap: bytes of texts. */
struct column_words {
	uint32_t name, name_len, layout, kinds, values, heap, heap_len;
};

struct formula_words {
	uint32_t name, name_len, text, text_len;
};

struct answer_head {
	uint32_t magic, rows, formulas, heap, bits, columnar;
};
#define ANSWER_TIME 1u /* a formula asked for the time */

struct answer_words { /* offsets from the answer's start */
	uint32_t kinds, values;
};

struct formula_column {
	const char *name;
	uint32_t name_len;
	enum formula_layout layout;
	const uint8_t *kinds;
	const char *values, *heap;
	uint32_t heap_len;
	bool answer; /* a formula's: heap is that of the answer */
};

struct formula {
	struct formula_words words;
	struct formula_text text;
	JSValue fn;
	uint32_t state; /* 0 not looked at, 1 being ordered, 2 ordered */
	uint32_t *needs, n_needs; /* formulas whose cells it reads */
};

extern struct formula_table {
	const char *base;
	struct formula_head head;
	struct formula_column *columns; /* head.columns, then head.formulas */
	struct formula *formulas;
	uint32_t *order, n_ordered;
	uint32_t reading; /* formula whose names are being found */
	JSValue *wholes;  /* column objects; undefined until asked for */
	char *answer;
	size_t answer_len, answer_room, heap_at;
} table;

/* run.c: evaluates a batch into guest.result.  0, or -1 with an exception
 * pending in guest.ctx. */
int formula_batch(const char *base, const struct guest_span *all);
/* What a name in formula table.reading is. */
enum formula_name formula_find_name(void *data, const char *p, size_t n,
				    bool quoted, uint32_t *ret_at);

/* block.c: a compiled formula as a column program (guest/columns).  NULL: it is
 * for the interpreter alone. */
struct columns_formula *block_new(uint32_t which);
/* Computes the answer's cells of n rows (COLUMNS_BLOCK at most); what kind is
 * COLUMNS_UNDONE then is left. */
void block_run(struct columns_formula *p, const struct formula_column *to,
	       uint32_t from, uint32_t n);

/* table.c: false if the bytes are no batch. */
bool table_take(const char *base, const struct guest_span *all);
JSValue table_cell(JSContext *ctx, const struct formula_column *c, uint32_t i);
bool table_is_text(const struct formula_column *c, uint32_t i);

/* answer.c: where the cell of a row goes. */
struct formula_place {
	const struct formula_column *c;
	uint32_t i;
};
/* All of these: 0, or -1 with an exception pending in guest.ctx. */
int answer_begin(void);
void answer_note(uint32_t bits); /* behind answer_begin: that cannot fail */
void answer_count(uint32_t cells); /* that a column program computed */
int answer_no_room(void);
char *answer_slot(const struct formula_place *at, enum formula_kind kind);
int answer_error(const struct formula_place *at, const char *code,
		 const char *message);
int answer_value(JSContext *ctx, const struct formula_place *at,
		 JSValueConst v);
/* Of an object that is_failure. */
int answer_failure(JSContext *ctx, const struct formula_place *at,
		   JSValueConst e);
bool answer_is_failure(JSContext *ctx, JSValueConst v);
/* Text of a data property, "" if it has none; kept until the run ends. */
const char *answer_text_of(JSContext *ctx, JSValueConst e, const char *key);

#endif
