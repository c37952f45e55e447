/* policy/where.h - what the arguments of a tool must be: a part of JSON Schema
 * for each, checked by the core.
 *
 * Keywords: type enum const minimum maximum exclusiveMinimum exclusiveMaximum
 * minLength maxLength minItems maxItems items.  Stricter than JSON Schema where
 * it would leave a door open: an argument that is named must be there, a bound
 * of numbers is met by numbers alone ("5000" is not at most 1000), one of
 * lengths by strings, one of items by arrays.  Other keywords are refused, so
 * that none is taken for a check that is not made.  Numbers are compared by
 * their digits, lengths counted in code points. */
#ifndef POLICY_WHERE_H
#define POLICY_WHERE_H

#include "base/err.h"
#include "base/json.h"
#include "policy/tree.h"

struct where; /* immutable; shared by the copies of a policy */

/* {ARGUMENT: {KEYWORD: VALUE}} */
MUST_CHECK int where_read(const struct tree *map, struct where **ret,
			  struct redoma_error *err);
struct where *where_share(struct where *w); /* NULL: NULL */
void where_free(struct where *w);	    /* one share; NULL is fine */
/* As YAML flow text that is read back as the same; borrowed. */
const char *where_text(const struct where *w);
/* Does inner allow nothing that outer does not?  NULL allows everything. */
bool where_within(const struct where *outer, const struct where *inner);
/* args: an object.  REDOMA_E_DENIED: a sentence that names the argument. */
MUST_CHECK int where_check(const struct where *w, const struct json_value *args,
			   struct redoma_error *err);
/* The narrowest such rules that allow all that w allows, and args: what args do
 * not meet gives way, as far as it must, and all else stays.  A value that is
 * too long for a person to judge is not taken over: that keyword goes. */
MUST_CHECK int where_widen(const struct where *w, const struct json_value *args,
			   struct where **ret, struct redoma_error *err);
bool where_is_empty(const struct where *w); /* NULL too: it asks for nothing */

#endif
