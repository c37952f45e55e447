/* value.h - what a node of a tree comes to, row by row: while a plan is made.
 *
 * A value may be of several types, of one in each row, as in
 * `qty > 3 ? price : false`.  Then there is a register for each type, and
 * a mask of the rows that it holds. */
#ifndef COLUMNS_VALUE_H
#define COLUMNS_VALUE_H

#include "columns/plan.h"

/* A mask is a register, or one of these; a truth's data, too. */
#define MASK_NONE PLAN_NONE
#define MASK_ALL 0xfffeu

struct value {
	struct {
		uint16_t data;
		uint16_t mask; /* MASK_NONE: it is never of this type */
	} as[PLAN_TYPES];
	uint16_t bad; /* rows that are the interpreter's */
};

struct maker {
	struct plan *plan;
	enum columns_language language;
	bool failed; /* there was no room, or it takes too long */
};

/* ---- registers and masks ---- */

uint16_t value_register(struct maker *m, enum plan_source source,
			uint16_t which, int64_t bits);
uint16_t value_number(struct maker *m, double number);
uint16_t value_step(struct maker *m, enum step_op op, uint16_t a, uint16_t b);

uint16_t mask_and(struct maker *m, uint16_t a, uint16_t b);
uint16_t mask_or(struct maker *m, uint16_t a, uint16_t b);
/* t: a, else b. */
uint16_t mask_pick(struct maker *m, uint16_t t, uint16_t a, uint16_t b);
/* The same of what is in registers. */
uint16_t value_pick(struct maker *m, uint16_t t, uint16_t a, uint16_t b);

/* ---- values ---- */

extern const struct value value_nothing; /* of no type, in no row bad */

void value_put(struct maker *m, struct value *v, enum plan_type type,
	       uint16_t data, uint16_t mask);
/* The data as another type's. */
uint16_t value_float(struct maker *m, enum plan_type type, uint16_t data);
uint16_t value_int(struct maker *m, enum plan_type type, uint16_t data);
/* Rows that the language takes for true; rows where that is not known become
 * *bad ones. */
uint16_t value_truth(struct maker *m, const struct value *v, uint16_t *bad);
struct value value_choose(struct maker *m, uint16_t t, const struct value *a,
			  const struct value *b);
struct value value_arithmetic(struct maker *m, enum node_kind kind,
			      const struct value *a, const struct value *b);
struct value value_compare(struct maker *m, enum node_kind kind,
			   const struct value *a, const struct value *b);

#endif
