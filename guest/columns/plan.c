#include "columns/plan.h"

#include <string.h>
#include "columns/value.h"

struct planner {
	struct maker m;
	const struct tree *t;
	const struct plan_column *columns;
	struct value made[TREE_NODES_MAX]; /* of nodes that are done */
	bool done[TREE_NODES_MAX];
};

static struct value make(struct planner *p, uint16_t node);

static struct value of_type(enum plan_type type, uint16_t data)
{
	struct value v = value_nothing;

	v.as[type].data = data;
	v.as[type].mask = MASK_ALL;
	return v;
}

static struct value constant(struct planner *p, const struct node *n)
{
	switch (n->kind) {
	case NODE_NUMBER:
		return of_type(PLAN_FLOAT, value_number(&p->m, n->is.number));
	case NODE_INTEGER:
		return of_type(PLAN_INT,
			       value_register(&p->m, PLAN_CONSTANT, 0,
					      n->is.integer));
	case NODE_TRUTH:
		return of_type(PLAN_TRUTH, n->is.truth ? MASK_ALL : MASK_NONE);
	default: /* NODE_BLANK */
		return of_type(PLAN_BLANK, PLAN_NONE);
	}
}

/* JavaScript's numbers are float64; an integer that is none is not one of its
 * numbers. */
static struct value integers(struct planner *p, uint16_t data)
{
	struct value v;

	if (p->m.language == COLUMNS_PY)
		return of_type(PLAN_INT, data);
	v = of_type(PLAN_FLOAT, value_float(&p->m, PLAN_INT, data));
	v.bad = value_step(&p->m, STEP_INT_WIDE, data, PLAN_NONE);
	return v;
}

static struct value column(struct planner *p, const struct node *n)
{
	const struct plan_column *c = &p->columns[n->a];
	uint16_t data = value_register(&p->m, PLAN_CELLS, n->a, 0);
	struct value v = c->type == PLAN_INT ? integers(p, data)
					     : of_type(c->type, data);

	if (c->blanks)
		v.bad = mask_or(&p->m, v.bad,
				value_register(&p->m, PLAN_BLANKS, n->a, 0));
	return v;
}

/* ---- one operand ---- */

static uint16_t bad_if_least(struct maker *m, uint16_t data)
{
	return value_step(m, STEP_INT_EQUAL, data,
			  value_register(m, PLAN_CONSTANT, 0, INT64_MIN));
}

/* Of a number, or of a truth that is taken for one. */
static void sign(struct maker *m, enum node_kind kind, struct value *v,
		 enum plan_type type, const struct value *of)
{
	bool ints = m->language == COLUMNS_PY && type != PLAN_FLOAT;
	uint16_t mask = of->as[type].mask, data = of->as[type].data;

	if (mask == MASK_NONE)
		return;
	data = ints ? value_int(m, type, data) : value_float(m, type, data);
	if (ints && kind != NODE_PLUS)
		v->bad = mask_or(m, v->bad,
				 mask_and(m, mask, bad_if_least(m, data)));
	if (kind == NODE_NEGATE)
		data = value_step(m,
				  ints ? STEP_INT_NEGATE : STEP_FLOAT_NEGATE,
				  data, PLAN_NONE);
	else if (kind == NODE_ABS)
		data = value_step(m, ints ? STEP_INT_ABS : STEP_FLOAT_ABS,
				  data, PLAN_NONE);
	value_put(m, v, ints ? PLAN_INT : PLAN_FLOAT, data, mask);
}

static struct value signs(struct maker *m, enum node_kind kind,
			  const struct value *a)
{
	struct value v = value_nothing;

	v.bad = mask_or(m, a->bad, a->as[PLAN_BLANK].mask);
	sign(m, kind, &v, PLAN_FLOAT, a);
	sign(m, kind, &v, PLAN_INT, a);
	sign(m, kind, &v, PLAN_TRUTH, a);
	return v;
}

static void bad_if_unusual(struct maker *m, struct value *v)
{
	uint16_t mask = v->as[PLAN_FLOAT].mask;

	if (mask != MASK_NONE)
		v->bad = mask_or(m, v->bad,
				 mask_and(m, mask,
					  value_step(m, STEP_FLOAT_UNUSUAL,
						     v->as[PLAN_FLOAT].data,
						     PLAN_NONE)));
}

static struct value truth(struct maker *m, const struct value *a,
			  bool negated)
{
	uint16_t bad = MASK_NONE, t = value_truth(m, a, &bad);
	struct value v = of_type(PLAN_TRUTH, t);

	if (negated)
		v.as[PLAN_TRUTH].data = mask_pick(m, t, MASK_NONE, MASK_ALL);
	v.bad = bad;
	return v;
}

static struct value unary(struct planner *p, const struct node *n)
{
	struct value a = make(p, n->a);

	switch (n->kind) {
	case NODE_NOT:
	case NODE_IS_TRUE:
		return truth(&p->m, &a, n->kind == NODE_NOT);
	case NODE_CHECKED:
		bad_if_unusual(&p->m, &a);
		return a;
	default:
		return signs(&p->m, n->kind, &a);
	}
}

/* ---- conditions ---- */

/* Both are computed, and of each row one is taken. */
static struct value conditional(struct planner *p, uint16_t on, uint16_t yes,
				uint16_t no)
{
	struct value c = make(p, on), a = make(p, yes), b = make(p, no);
	uint16_t bad = MASK_NONE, t = value_truth(&p->m, &c, &bad);
	struct value v = value_choose(&p->m, t, &a, &b);

	v.bad = mask_or(&p->m, v.bad, bad);
	return v;
}

static struct value binary(struct planner *p, const struct node *n)
{
	struct value a, b;

	if (n->kind == NODE_AND)
		return conditional(p, n->a, n->b, n->a);
	if (n->kind == NODE_OR)
		return conditional(p, n->a, n->a, n->b);
	a = make(p, n->a);
	b = make(p, n->b);
	return n->kind >= NODE_LESS ? value_compare(&p->m, n->kind, &a, &b)
				    : value_arithmetic(&p->m, n->kind, &a, &b);
}

static struct value make_kind(struct planner *p, const struct node *n)
{
	struct value v = value_nothing;

	switch (n->kind) {
	case NODE_COLUMN:
		return column(p, n);
	case NODE_INDEX:
		return integers(p, value_register(&p->m, PLAN_INDEX, 0, 0));
	case NODE_NUMBER:
	case NODE_INTEGER:
	case NODE_TRUTH:
	case NODE_BLANK:
		return constant(p, n);
	case NODE_CHOOSE:
		return conditional(p, n->a, n->b, n->c);
	case NODE_FAIL:
		v.bad = MASK_ALL;
		return v;
	default:
		return n->kind < NODE_ADD ? unary(p, n) : binary(p, n);
	}
}

static struct value make(struct planner *p, uint16_t node)
{
	if (p->m.failed)
		return value_nothing;
	if (!p->done[node]) {
		p->made[node] = make_kind(p, &p->t->nodes[node]);
		p->done[node] = true;
	}
	return p->made[node];
}

/* ---- what goes out ---- */

static uint16_t kind_of(struct maker *m, enum columns_kind kind)
{
	return value_register(m, PLAN_CONSTANT, 0, (int64_t)kind);
}

static uint16_t zero(struct maker *m)
{
	return value_register(m, PLAN_CONSTANT, 0, 0);
}

/* As answers have them: no sheet has a negative zero. */
static uint16_t shown(struct maker *m, enum plan_type type, uint16_t data)
{
	switch (type) {
	case PLAN_FLOAT:
		return value_step(m, STEP_FLOAT_NO_MINUS_ZERO, data,
				  PLAN_NONE);
	case PLAN_BLANK:
		return zero(m);
	default:
		return value_int(m, type, data);
	}
}

static bool finish(struct maker *m, struct value *v)
{
	static const uint8_t kinds[PLAN_TYPES] = {
		COLUMNS_NUMBER, COLUMNS_INTEGER, COLUMNS_TRUTH, COLUMNS_BLANK};
	uint16_t data = PLAN_NONE, kind = PLAN_NONE;

	bad_if_unusual(m, v);
	for (int i = 0; i < PLAN_TYPES; i++) {
		uint16_t mask = v->as[i].mask, its;

		if (mask == MASK_NONE)
			continue;
		its = shown(m, i, v->as[i].data);
		data = data == PLAN_NONE ? its : value_pick(m, mask, its, data);
		its = kind_of(m, kinds[i]);
		kind = kind == PLAN_NONE ? its : value_pick(m, mask, its, kind);
	}
	if (data == PLAN_NONE || v->bad == MASK_ALL)
		return false;
	if (v->bad != MASK_NONE)
		kind = value_pick(m, v->bad, kind_of(m, COLUMNS_UNDONE), kind);
	m->plan->values = data;
	m->plan->kinds = kind;
	return !m->failed;
}

bool plan_make(const struct tree *t, enum columns_language language,
	       const struct plan_column *columns, struct plan *ret)
{
	struct planner p = {.m = {.plan = ret, .language = language},
			    .t = t,
			    .columns = columns};
	struct value v;

	ret->n_steps = ret->n_registers = 0;
	ret->cost = 0;
	v = make(&p, t->root);
	return !p.m.failed && finish(&p.m, &v);
}
