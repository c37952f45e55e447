/* engine/reset.h - verify mode: is a fresh instance really fresh?
 *
 * Slow on purpose (it reads all memory).  For tests and for workers that were
 * asked to verify. */
#ifndef ENGINE_RESET_H
#define ENGINE_RESET_H

#include <stdint.h>
#include "engine/exec.h"

struct reset; /* a copy of what a first instance looked like */

/* From an instance begun and not run since.  Keeps its memory, exported mutable
 * globals and exported tables' sizes.  The caller frees *ret. */
MUST_CHECK int reset_remember(struct exec *x, struct reset **ret,
			      struct redoma_error *err);
void reset_free(struct reset *r); /* NULL is fine */

/* Resets x (whatever state it is in), begins a new instance under the limits it
 * had, and compares: memory with the copy, bytes past it, up to the size that
 * any instance reached since, with zero; globals and table sizes.  *ret_wrong
 * is the number of bytes that differ (a global or a table counts as 8).  The
 * instance is left begun at its grown size: exec_reset it.
 * REDOMA_E_WORKER: the new instance did not begin, so nothing is known. */
MUST_CHECK int reset_verify(struct exec *x, struct reset *r,
			    uint64_t *ret_wrong, struct redoma_error *err);

#endif
