/* stack.h - stacks as text. */
#ifndef STACK_H
#define STACK_H

#include <stdbool.h>
#include "quickjs.h"

/* Frames as the interpreter wrote them; one that was already cleaned, or set
 * by a prepareStackTrace, begins otherwise. */
bool stack_is_raw(JSContext *ctx, JSValueConst v);
/* Takes raw; the header of the error and the caller's frames.  A getter for
 * the error's name runs only if `getters`. */
JSValue stack_clean(JSContext *ctx, JSValueConst error, JSValue raw,
		    bool getters);

#endif
