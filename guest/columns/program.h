/* program.h - a plan that knows where its registers are: in the columns
 * themselves, in the answer, or in slots, blocks of lanes that a formula's
 * programs share. */
#ifndef COLUMNS_PROGRAM_H
#define COLUMNS_PROGRAM_H

#include "columns/plan.h"

#define PROGRAM_PLACES_MAX 64
#define PROGRAM_NO_SLOT 0xffu

/* What is looked up, or made, anew for each block; a constant (of `bits`) when
 * another program had the slots. */
struct program_input {
	uint8_t source, which, place;
	int64_t bits;
};

struct program {
	uint8_t slots[PROGRAM_PLACES_MAX]; /* of places */
	uint8_t n_places, n_slots, n_inputs;
	uint8_t values, kinds; /* places */
	bool is_made;	       /* `values` is a step's */
	uint16_t n_steps;
	unsigned cost; /* of a row */
	struct program_input inputs[PROGRAM_PLACES_MAX];
	struct plan_step steps[]; /* on places, not registers */
};

/* Owned by the caller, for free(3).  NULL: it needs too many places, or there
 * is no memory. */
struct program *program_new(const struct plan *plan,
			    const struct plan_column *columns);

#endif
