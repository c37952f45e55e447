/* cli/formula_hint.h - what of a formula is a spreadsheet's way of writing, and
 * how the language writes it. */
#ifndef CLI_FORMULA_HINT_H
#define CLI_FORMULA_HINT_H

#include <stdbool.h>
#include <stddef.h>
#include "base/str.h"

struct formula_hint {
	size_t at;	  /* bytes into the formula */
	const char *what; /* static: a sentence without its dot */
};

/* The first such place, outside of texts and comments.  False: there is none.
 * Some of these are right in the language: only for a formula that failed. */
bool formula_hint(struct str text, bool js, struct formula_hint *ret);
/* An operator that is right, and means something else in a spreadsheet: `^`,
 * and `&` outside of `&&`. */
bool formula_doubt(struct str text, bool js, struct formula_hint *ret);

#endif
