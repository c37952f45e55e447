/* core/verdict.h - from what happened to what is said: status, limit, hint. */
#ifndef CORE_VERDICT_H
#define CORE_VERDICT_H

#include "core/converse.h"

/* Fills res from a conversation that ended.  `dead` is how the worker ended,
 * code 0 if it lives or nobody knows. */
MUST_CHECK int verdict_fill(struct redoma_result *res, const struct talk *t,
			    const struct spawn_dead *dead,
			    const struct granted *g, struct redoma_error *err);
/* Does this end mean that a wall was touched or our program broke? */
bool verdict_is_bad(enum redoma_status s);

#endif
