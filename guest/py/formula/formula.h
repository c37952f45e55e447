/* formula.h - formulas in Python: one batch, and what its parts offer each
 * other.  docs/design/formula.md has the layout of batches and answers. */
#ifndef FORMULA_H
#define FORMULA_H

#include "guest.h"

#define BATCH_MAGIC 0x31424452u	 /* "RDB1" */
#define ANSWER_MAGIC 0x31434452u /* "RDC1" */
#define FORMULA_PARAMS_MAX 256
#define DAY_US 86400000000LL

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

enum formula_layout { /* of a column */
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

/* What a parameter of a formula's function stands for. */
enum formula_name {
	FORMULA_NONE,  /* a name that is left to the language */
	FORMULA_CELL,  /* of the row: column `at` */
	FORMULA_ROW,   /* the whole row, by names */
	FORMULA_ROWS,  /* whole columns, by names */
	FORMULA_WHOLE, /* one whole column */
	FORMULA_INDEX,
};

struct formula_param {
	enum formula_name what;
	uint32_t at;
	PyObject *name; /* while it is compiled */
};

struct formula {
	struct formula_words words;
	struct formula_param *params;
	uint32_t n_params;
	bool catches;	/* an error of a cell may be wanted */
	PyObject *fn;
	uint32_t state; /* 0 unknown, 1 being ordered, 2 ordered, 3 done */
	uint32_t *needs, n_needs; /* formulas whose cells it reads */
};

extern struct formula_table {
	const char *base;
	struct formula_head head;
	struct formula_column *columns; /* head.columns, then head.formulas */
	struct formula *formulas;
	uint32_t *order, n_ordered;
	PyObject **wholes; /* column objects; NULL until asked for */
	char *answer;
	size_t answer_len, answer_room, heap_at;
} table;

/* poll.c: each row of each formula counts up; the host stores that number into
 * the next word, and `bits` into the interrupt word, to end that row alone. */
struct formula_count {
	uint32_t row, stop, bits;
};
extern volatile struct formula_count formula_count;
/* The row is to end.  What is computed for all rows (`aside`) takes no row's
 * time, but no more than this of the batch. */
#define POLL_ASIDE_US 2000000
bool poll_row_over(void);
/* The run is over: does not come back then. */
void poll_deadline(void);
extern bool poll_aside;
extern PyObject *poll_ending; /* the exception that ends it; nobody's name */

/* interpreter.c: what the helpers' files define: a dict. */
extern PyObject *formula_scope;
PyObject *formula_hook(const char *name); /* borrowed */
/* library.c: no module can be imported any more. */
void library_drop(void);

/* table.c: false if the bytes are no batch. */
bool table_take(const char *base, const struct guest_span *all);
PyObject *table_cell(const struct formula_column *c, uint32_t i);
/* A column as a read-only sequence; an exception if there is no memory. */
PyObject *table_whole(uint32_t column);
int table_types(void); /* before the snapshot */
extern PyMethodDef table_methods[];

/* iter.c: likewise. */
int iter_types(void);
extern PyMethodDef iter_methods[];

/* times.c: from now on a text times a number is #VALUE!. */
void times_refuse(void);
extern PyMethodDef times_methods[];

/* tree.c: compiles the text of table.formulas[i] and fills it in.  Returns the
 * function, or NULL: *ret_why says what is wrong, or an exception does. */
PyObject *tree_compile(uint32_t i, const char **ret_why);
/* What an ASCII name is in formula i: FORMULA_CELL, FORMULA_INDEX, or none of
 * these; `quoted`: it stands behind row or col. */
struct tree_word {
	const char *p;
	size_t n;
	bool quoted;
};
enum formula_name tree_name(uint32_t i, const struct tree_word *word,
			    uint32_t *ret_at);
/* From what the parser says to the formula as it was given. */
void tree_place(uint32_t i, uint32_t *line, uint32_t *column);

/* answer.c: where the cell of a row goes.  All: 0, or -1 if there is no
 * memory. */
struct formula_place {
	const struct formula_column *c;
	uint32_t i;
};
int answer_begin(void);
void answer_note(uint32_t bits); /* behind answer_begin: that cannot fail */
void answer_count(uint32_t cells); /* that a column program computed */
char *answer_slot(const struct formula_place *at, enum formula_kind kind);
int answer_error(const struct formula_place *at, const char *code,
		 const char *message);
int answer_value(const struct formula_place *at, PyObject *v);
/* Takes the exception that is pending. */
int answer_raised(const struct formula_place *at);

/* block.c: a compiled formula as a column program (guest/columns).  NULL: it is
 * for the interpreter alone. */
struct columns_formula *block_new(uint32_t which);
/* Computes the answer's cells of n rows (COLUMNS_BLOCK at most); what kind is
 * COLUMNS_UNDONE then is left. */
void block_run(struct columns_formula *p, const struct formula_column *to,
	       uint32_t from, uint32_t n);

/* run.c: evaluates a batch into guest.result; which formula is wrong is said
 * there, too. */
void formula_batch(const char *base, const struct guest_span *all);

#endif
