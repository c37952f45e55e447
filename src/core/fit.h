/* core/fit.h - structs of the public header carry their size, so that a program
 * and a library of different age understand each other. */
#ifndef CORE_FIT_H
#define CORE_FIT_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/* Copies a caller's struct of `size` bytes into ours: a shorter, older one gets
 * zeros at its end; a longer, newer one is fine while what we do not know of is
 * zero.  REDOMA_E_INVALID otherwise, and for a size that is none. */
MUST_CHECK int fit_struct(void *to, size_t ours, const void *from,
			  uint64_t size, struct redoma_error *err);

#endif
