/* policy/where_rule.h - what the files of `where` share; nobody else's. */
#ifndef POLICY_WHERE_RULE_H
#define POLICY_WHERE_RULE_H

#include "policy/where.h"

#define RULES_MAX 64
#define DEPTH_MAX 8

enum bound {
	MINIMUM,
	MAXIMUM,
	EXCLUSIVE_MINIMUM,
	EXCLUSIVE_MAXIMUM,
	MIN_LENGTH,
	MAX_LENGTH,
	MIN_ITEMS,
	MAX_ITEMS,
	BOUNDS
};

/* In the order of enum bound.  sign: +1 what is bounded may not be less, -1
 * not more; strict: nor equal. */
struct bound_row {
	const char *name;
	int sign;
	bool strict;
	enum json_kind kind;
};
extern const struct bound_row where_bounds[BOUNDS];

/* In the order of enum json_kind, and what is a number too. */
#define TYPE_INTEGER 6
#define TYPES 7
extern const char *const where_types[TYPES + 1];

struct choice {
	enum json_kind kind;
	char *text; /* owned: of a string, a number, "true", "false" */
	size_t len;
};

struct rule {
	char *name;	/* owned: the argument */
	unsigned types; /* bit n: where_types[n]; 0: any */
	char *bound[BOUNDS]; /* owned decimals, or NULL */
	bool has_choices;
	struct choice *choices; /* owned */
	size_t n_choices;
	struct rule *items; /* owned, or NULL */
};

struct where {
	_Atomic int shares;
	char *text; /* owned */
	struct rule rules[RULES_MAX];
	size_t n_rules;
};

void where_cleanup(struct where **w);
void where_rule_done(struct rule *r);
/* The check, part by part: does what is there fit? */
struct str where_digits(const struct json_value *v);
bool where_type_fits(const struct rule *r, const struct json_value *v);
bool where_choice_fits(const struct rule *r, const struct json_value *v);
/* What bound i compares: of a number its digits, else a length, in room.  The
 * value's kind is that of the bound. */
struct str where_measure(size_t i, const struct json_value *v, char room[24]);
bool where_bound_fits(const struct rule *r, size_t i,
		      const struct json_value *v);

#endif
