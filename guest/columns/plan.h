/* plan.h - a tree and what its columns hold become steps. */
#ifndef COLUMNS_PLAN_H
#define COLUMNS_PLAN_H

#include "columns/step.h"
#include "columns/tree.h"

#define PLAN_STEPS_MAX 512
#define PLAN_REGISTERS_MAX 640
/* So that a block is done within a millisecond or so. */
#define PLAN_COST_MAX 2048
#define PLAN_NONE 0xffffu

enum plan_type {
	PLAN_FLOAT,
	PLAN_INT,
	PLAN_TRUTH,
	PLAN_BLANK, /* null, None */
	PLAN_TYPES,
};

/* What a column holds in the rows in hand, and whether cells may be missing. */
struct plan_column {
	uint8_t type; /* PLAN_FLOAT, PLAN_INT or PLAN_TRUTH */
	bool blanks;
};

enum plan_source { /* of a register's value */
	PLAN_STEP,
	PLAN_CONSTANT, /* `bits` in each row */
	PLAN_CELLS,    /* column `which`; a truth is a mask */
	PLAN_BLANKS,   /* a mask: its cells that are missing */
	PLAN_INDEX,    /* as an integer */
};

struct plan_register {
	uint8_t source, which;
	int64_t bits;
};

struct plan_step {
	uint8_t op;
	uint16_t to, from[3]; /* PLAN_NONE: not needed */
};

struct plan {
	struct plan_step steps[PLAN_STEPS_MAX];
	struct plan_register registers[PLAN_REGISTERS_MAX];
	uint16_t n_steps, n_registers;
	unsigned cost; /* of a row, by step_cost */
	/* Of each row the 8 bytes of the answer, and its kind or
	 * COLUMNS_UNDONE. */
	uint16_t values, kinds;
};

/* False: nothing of it can be computed so, or it is too large. */
bool plan_make(const struct tree *t, enum columns_language language,
	       const struct plan_column *columns, struct plan *ret);

#endif
