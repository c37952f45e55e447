/* step.h - what a program is made of: operations on registers, of which each
 * has 8 bytes for every row of a block. */
#ifndef COLUMNS_STEP_H
#define COLUMNS_STEP_H

#include <stddef.h>
#include <stdint.h>

/* A truth is a mask: all bits, or none. */
union lane {
	double f;
	int64_t i;
	uint64_t u;
};

enum step_op {
	STEP_FLOAT_ADD,
	STEP_FLOAT_SUBTRACT,
	STEP_FLOAT_MULTIPLY,
	STEP_FLOAT_DIVIDE,
	/* These three: anything where STEP_FLOAT_FAR. */
	STEP_FLOAT_REMAINDER,	 /* its sign is that of a (JavaScript) */
	STEP_FLOAT_MODULO,	 /* that of b (Python) */
	STEP_FLOAT_FLOOR_DIVIDE, /* Python */
	STEP_FLOAT_NEGATE,
	STEP_FLOAT_ABS,
	STEP_FLOAT_NO_MINUS_ZERO,
	STEP_INT_ADD, /* these three wrap */
	STEP_INT_SUBTRACT,
	STEP_INT_MULTIPLY,
	STEP_INT_FLOOR_DIVIDE, /* anything where STEP_INDIVISIBLE */
	STEP_INT_MODULO,
	STEP_INT_NEGATE,
	STEP_INT_ABS,
	STEP_INT_TO_FLOAT,
	STEP_MASK_TO_INT,
	STEP_MASK_TO_FLOAT,
	/* Masks of numbers. */
	STEP_FLOAT_EQUAL,
	STEP_FLOAT_UNEQUAL,
	STEP_FLOAT_LESS,
	STEP_FLOAT_LESS_EQUAL,
	STEP_FLOAT_NONZERO, /* and a number */
	STEP_FLOAT_UNUSUAL, /* infinite, or none */
	STEP_FLOAT_FAR,	    /* b is 0, or so small that a % b takes long */
	STEP_INT_EQUAL,
	STEP_INT_UNEQUAL,
	STEP_INT_LESS,
	STEP_INT_LESS_EQUAL,
	STEP_ADD_WRAPS,
	STEP_SUBTRACT_WRAPS,
	STEP_MULTIPLY_WRAPS,
	STEP_INDIVISIBLE, /* b is 0, or the quotient wraps */
	STEP_INT_WIDE,	  /* beyond 2^53, either way */
	/* Masks of masks. */
	STEP_AND,
	STEP_AND_NOT, /* a, but not b */
	STEP_OR,
	STEP_NOT,
	STEP_SELECT, /* a: b, else c; of anything */
};

/* At most what it takes a row, in half nanoseconds or so. */
unsigned step_cost(enum step_op op);

/* `to` is none of the others. */
void step_run(enum step_op op, size_t n, union lane *to,
	      const union lane *const from[3]);

#endif
