/* policy/read.h - from tree nodes to values: what the readers of all keys
 * share.  `what` is the name a sentence calls the value by: "limits.wall". */
#ifndef POLICY_READ_H
#define POLICY_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"
#include "policy/tree.h"

/* One known key of a map, and what reads its value into `into`. */
struct field {
	const char *name; /* NULL ends a table */
	int (*read)(void *into, const struct tree *v, struct redoma_error *err);
};

/* Reads every entry of a map; unknown keys are refused with the nearest known
 * one. */
MUST_CHECK int read_map(const struct tree *map, const char *what,
			const struct field *fields, void *into,
			struct redoma_error *err);
MUST_CHECK int read_list(const struct tree *list, const char *what,
			 int (*read)(void *into, const struct tree *v,
				     struct redoma_error *err),
			 void *into, struct redoma_error *err);
/* A scalar that is not null; *ret is borrowed from v. */
MUST_CHECK int read_scalar(const struct tree *v, const char *what,
			   struct str *ret, struct redoma_error *err);
/* true or false. */
MUST_CHECK int read_bool(const struct tree *v, const char *what, bool *ret,
			 struct redoma_error *err);
/* One of words (NULL-terminated): its index. */
MUST_CHECK int read_word(const struct tree *v, const char *what,
			 const char *const *words, unsigned *ret,
			 struct redoma_error *err);
/* By one of the parsers of base/units.h. */
MUST_CHECK int read_units(const struct tree *v, const char *what,
			  const char *(*parse)(struct str, uint64_t *),
			  uint64_t *ret, struct redoma_error *err);
/* A copy, NUL-terminated, owned by the caller. */
MUST_CHECK int read_copy(struct str s, char **ret, struct redoma_error *err);

#endif
