/* policy/limits.h - the limits: names, units, ranges, defaults in one table. */
#ifndef POLICY_LIMITS_H
#define POLICY_LIMITS_H

#include "base/buf.h"
#include "base/err.h"
#include "policy/policy.h"
#include "policy/tree.h"

enum limit_unit { LIMIT_TIME, LIMIT_SIZE, LIMIT_COUNT };

struct limit_row {
	const char *name; /* "wall"; NULL ends the table */
	const char *full; /* "limits.wall" */
	enum limit_unit unit;
	size_t offset; /* of a uint64_t in struct limits */
	uint64_t least, most, fallback;
	bool of_tools; /* what no tool is granted for never reaches it */
};
extern const struct limit_row limit_rows[];

uint64_t limit_get(const struct limits *l, const struct limit_row *row);
void limit_set(struct limits *l, const struct limit_row *row, uint64_t n);
/* Exact text that is read back the same; dst holds UNITS_TEXT_MAX. */
const char *limit_print(const struct limit_row *row, uint64_t n, char *dst);

void limits_default(struct policy *p);
/* The map under "limits:". */
MUST_CHECK int limits_read(struct policy *p, const struct tree *map,
			   struct redoma_error *err);

#endif
