/* engine/setup.h - the set-up of an image that is made on this machine from a
 * module of freeze/dress.h: runs a program in it, once, before its memory is
 * taken. */
#ifndef ENGINE_SETUP_H
#define ENGINE_SETUP_H

#include "base/str.h"
#include "engine/exec.h"

/* Runs `text` by the module's `turn`, in an instance begun.  Returns with
 * out->end EXEC_DONE and *ret_status what it answered, 0 if it went well.
 * REDOMA_E_INVALID: the module has no `turn`, or its stack pointer is not back
 * where it was, so that its memory alone is not its state. */
MUST_CHECK int setup_run(struct exec *x, struct str text, int32_t *ret_status,
			 struct exec_outcome *out, struct redoma_error *err);

#endif
