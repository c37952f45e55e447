/* Arithmetic and comparisons, of each pair of types that two operands have. */
#include "columns/value.h"

struct pair {
	enum node_kind kind;
	enum plan_type a_type, b_type;
	uint16_t a, b;
	uint16_t bad; /* rows that are the interpreter's, of all */
};

static void also_bad(struct maker *m, struct pair *p, uint16_t mask)
{
	p->bad = mask_or(m, p->bad, mask);
}

static void to_floats(struct maker *m, struct pair *p)
{
	p->a = value_float(m, p->a_type, p->a);
	p->b = value_float(m, p->b_type, p->b);
}

static void to_ints(struct maker *m, struct pair *p)
{
	p->a = value_int(m, p->a_type, p->a);
	p->b = value_int(m, p->b_type, p->b);
}

static void bad_if_zero(struct maker *m, struct pair *p)
{
	also_bad(m, p, value_step(m, STEP_FLOAT_EQUAL, p->b,
				  value_number(m, 0)));
}

static void bad_if_far(struct maker *m, struct pair *p)
{
	also_bad(m, p, value_step(m, STEP_FLOAT_FAR, p->a, p->b));
}

static uint16_t floats(struct maker *m, struct pair *p)
{
	bool python = m->language == COLUMNS_PY;

	to_floats(m, p);
	if (p->kind == NODE_FLOOR_DIVIDE || p->kind == NODE_REMAINDER)
		bad_if_far(m, p);
	if (python && p->kind == NODE_DIVIDE)
		bad_if_zero(m, p);
	switch (p->kind) {
	case NODE_ADD:
		return value_step(m, STEP_FLOAT_ADD, p->a, p->b);
	case NODE_SUBTRACT:
		return value_step(m, STEP_FLOAT_SUBTRACT, p->a, p->b);
	case NODE_MULTIPLY:
		return value_step(m, STEP_FLOAT_MULTIPLY, p->a, p->b);
	case NODE_DIVIDE:
		return value_step(m, STEP_FLOAT_DIVIDE, p->a, p->b);
	case NODE_FLOOR_DIVIDE:
		return value_step(m, STEP_FLOAT_FLOOR_DIVIDE, p->a, p->b);
	default: /* NODE_REMAINDER */
		return value_step(m,
				  python ? STEP_FLOAT_MODULO
					 : STEP_FLOAT_REMAINDER,
				  p->a, p->b);
	}
}

static uint16_t checked(struct maker *m, struct pair *p, enum step_op op,
			enum step_op wraps)
{
	also_bad(m, p, value_step(m, wraps, p->a, p->b));
	return value_step(m, op, p->a, p->b);
}

/* Python's integers, while they have 64 bits. */
static uint16_t ints(struct maker *m, struct pair *p)
{
	to_ints(m, p);
	switch (p->kind) {
	case NODE_ADD:
		return checked(m, p, STEP_INT_ADD, STEP_ADD_WRAPS);
	case NODE_SUBTRACT:
		return checked(m, p, STEP_INT_SUBTRACT, STEP_SUBTRACT_WRAPS);
	case NODE_MULTIPLY:
		return checked(m, p, STEP_INT_MULTIPLY, STEP_MULTIPLY_WRAPS);
	case NODE_FLOOR_DIVIDE:
		return checked(m, p, STEP_INT_FLOOR_DIVIDE, STEP_INDIVISIBLE);
	default: /* NODE_REMAINDER */
		return checked(m, p, STEP_INT_MODULO, STEP_INDIVISIBLE);
	}
}

static void bad_if_wide(struct maker *m, struct pair *p, uint16_t ints)
{
	also_bad(m, p, value_step(m, STEP_INT_WIDE, ints, PLAN_NONE));
}

/* True division of two integers is rounded once: so it is, too, of two that a
 * float64 holds. */
static uint16_t true_division(struct maker *m, struct pair *p)
{
	to_ints(m, p);
	p->a_type = p->b_type = PLAN_INT;
	bad_if_wide(m, p, p->a);
	bad_if_wide(m, p, p->b);
	return floats(m, p);
}

static bool are_floats(const struct maker *m, const struct pair *p)
{
	return m->language == COLUMNS_JS || p->a_type == PLAN_FLOAT ||
	       p->b_type == PLAN_FLOAT;
}

/* ---- all pairs ---- */

/* The data of one, and of which type; PLAN_NONE: it is bad. */
struct result {
	enum plan_type type;
	uint16_t data;
};

static struct result arithmetic(struct maker *m, struct pair *p)
{
	if (are_floats(m, p))
		return (struct result){PLAN_FLOAT, floats(m, p)};
	if (p->kind == NODE_DIVIDE)
		return (struct result){PLAN_FLOAT, true_division(m, p)};
	return (struct result){PLAN_INT, ints(m, p)};
}

static struct result comparison(struct maker *m, struct pair *p);

static struct value each_pair(struct maker *m, enum node_kind kind,
			      const struct value *a, const struct value *b)
{
	struct result (*one)(struct maker *, struct pair *) =
		kind >= NODE_LESS ? comparison : arithmetic;
	struct value v = value_nothing;

	v.bad = mask_or(m, a->bad, b->bad);
	for (int i = 0; i < PLAN_TYPES * PLAN_TYPES; i++) {
		enum plan_type x = i / PLAN_TYPES, y = i % PLAN_TYPES;
		uint16_t mask = mask_and(m, a->as[x].mask, b->as[y].mask);
		struct pair p = {kind,	       x, y, a->as[x].data,
				 b->as[y].data, MASK_NONE};
		struct result r;

		if (mask == MASK_NONE)
			continue;
		if (x == PLAN_BLANK || y == PLAN_BLANK) {
			v.bad = mask_or(m, v.bad, mask);
			continue;
		}
		r = one(m, &p);
		v.bad = mask_or(m, v.bad, mask_and(m, mask, p.bad));
		value_put(m, &v, r.type, r.data, mask);
	}
	return v;
}

struct value value_arithmetic(struct maker *m, enum node_kind kind,
			      const struct value *a, const struct value *b)
{
	return each_pair(m, kind, a, b);
}

/* ---- comparisons ---- */

static void swap(struct pair *p)
{
	struct pair was = *p;

	p->a = was.b;
	p->a_type = was.b_type;
	p->b = was.a;
	p->b_type = was.a_type;
	p->kind = p->kind == NODE_GREATER ? NODE_LESS : NODE_LESS_EQUAL;
}

/* Python compares an integer with a float exactly. */
static void exactly(struct maker *m, struct pair *p)
{
	if (m->language != COLUMNS_PY)
		return;
	if (p->a_type == PLAN_INT)
		bad_if_wide(m, p, p->a);
	if (p->b_type == PLAN_INT)
		bad_if_wide(m, p, p->b);
}

static uint16_t compared(struct maker *m, struct pair *p)
{
	bool f = are_floats(m, p);

	if (f)
		exactly(m, p);
	if (f)
		to_floats(m, p);
	else
		to_ints(m, p);
	switch (p->kind) {
	case NODE_LESS:
		return value_step(m, f ? STEP_FLOAT_LESS : STEP_INT_LESS, p->a,
				  p->b);
	case NODE_LESS_EQUAL:
		return value_step(m,
				  f ? STEP_FLOAT_LESS_EQUAL
				    : STEP_INT_LESS_EQUAL,
				  p->a, p->b);
	case NODE_EQUAL:
	case NODE_SAME:
		return value_step(m, f ? STEP_FLOAT_EQUAL : STEP_INT_EQUAL,
				  p->a, p->b);
	default: /* NODE_UNEQUAL, NODE_UNSAME */
		return value_step(m, f ? STEP_FLOAT_UNEQUAL : STEP_INT_UNEQUAL,
				  p->a, p->b);
	}
}

static struct result comparison(struct maker *m, struct pair *p)
{
	struct result r = {.type = PLAN_TRUTH};

	if (p->kind == NODE_GREATER || p->kind == NODE_GREATER_EQUAL)
		swap(p);
	/* A truth and a number are never the same. */
	if (p->a_type != p->b_type && p->kind == NODE_SAME)
		r.data = MASK_NONE;
	else if (p->a_type != p->b_type && p->kind == NODE_UNSAME)
		r.data = MASK_ALL;
	else
		r.data = compared(m, p);
	return r;
}

struct value value_compare(struct maker *m, enum node_kind kind,
			   const struct value *a, const struct value *b)
{
	return each_pair(m, kind, a, b);
}
