#include "columns/value.h"

#include <string.h>

const struct value value_nothing = {
	.as = {{PLAN_NONE, MASK_NONE},
	       {PLAN_NONE, MASK_NONE},
	       {PLAN_NONE, MASK_NONE},
	       {PLAN_NONE, MASK_NONE}},
	.bad = MASK_NONE,
};

/* ---- registers ---- */

/* The same again, if there is one: constants, columns. */
uint16_t value_register(struct maker *m, enum plan_source source,
			uint16_t which, int64_t bits)
{
	struct plan *p = m->plan;
	struct plan_register n = {(uint8_t)source, (uint8_t)which, bits};

	for (uint16_t i = 0; i < p->n_registers && source != PLAN_STEP; i++)
		if (p->registers[i].source == source &&
		    p->registers[i].which == which &&
		    p->registers[i].bits == bits)
			return i;
	if (p->n_registers == PLAN_REGISTERS_MAX) {
		m->failed = true;
		return 0;
	}
	p->registers[p->n_registers] = n;
	return p->n_registers++;
}

uint16_t value_number(struct maker *m, double number)
{
	return value_register(m, PLAN_CONSTANT, 0,
			      (union lane){.f = number}.i);
}

static uint16_t add_step(struct maker *m, enum step_op op,
			 const uint16_t from[3])
{
	struct plan *p = m->plan;
	uint16_t to = value_register(m, PLAN_STEP, 0, 0);

	p->cost += step_cost(op);
	if (m->failed || p->n_steps == PLAN_STEPS_MAX ||
	    p->cost > PLAN_COST_MAX) {
		m->failed = true;
		return 0;
	}
	p->steps[p->n_steps++] = (struct plan_step){
		(uint8_t)op, to, {from[0], from[1], from[2]}};
	return to;
}

uint16_t value_step(struct maker *m, enum step_op op, uint16_t a, uint16_t b)
{
	return add_step(m, op, (const uint16_t[3]){a, b, PLAN_NONE});
}

/* ---- masks ---- */

static bool is_fixed(uint16_t mask)
{
	return mask == MASK_NONE || mask == MASK_ALL;
}

uint16_t mask_and(struct maker *m, uint16_t a, uint16_t b)
{
	if (a == b || b == MASK_ALL || a == MASK_NONE)
		return a;
	if (a == MASK_ALL || b == MASK_NONE)
		return b;
	return value_step(m, STEP_AND, a, b);
}

uint16_t mask_or(struct maker *m, uint16_t a, uint16_t b)
{
	if (a == b || b == MASK_NONE || a == MASK_ALL)
		return a;
	if (a == MASK_NONE || b == MASK_ALL)
		return b;
	return value_step(m, STEP_OR, a, b);
}

static uint16_t mask_not(struct maker *m, uint16_t a)
{
	if (is_fixed(a))
		return a == MASK_ALL ? MASK_NONE : MASK_ALL;
	return value_step(m, STEP_NOT, a, PLAN_NONE);
}

uint16_t value_pick(struct maker *m, uint16_t t, uint16_t a, uint16_t b)
{
	if (t == MASK_ALL || a == b)
		return a;
	if (t == MASK_NONE)
		return b;
	return add_step(m, STEP_SELECT, (const uint16_t[3]){t, a, b});
}

uint16_t mask_pick(struct maker *m, uint16_t t, uint16_t a, uint16_t b)
{
	if (is_fixed(t) || a == b)
		return t == MASK_NONE ? b : a;
	if (a == MASK_ALL)
		return mask_or(m, t, b);
	if (b == MASK_NONE)
		return mask_and(m, t, a);
	if (a == MASK_NONE && b == MASK_ALL)
		return mask_not(m, t);
	if (a == MASK_NONE)
		return value_step(m, STEP_AND_NOT, b, t);
	if (b == MASK_ALL)
		return mask_or(m, mask_not(m, t), a);
	return value_pick(m, t, a, b);
}

/* ---- types ---- */

static uint16_t from_mask(struct maker *m, enum step_op op, uint16_t data,
			  int64_t one)
{
	if (is_fixed(data))
		return value_register(m, PLAN_CONSTANT, 0,
				      data == MASK_ALL ? one : 0);
	return value_step(m, op, data, PLAN_NONE);
}

uint16_t value_int(struct maker *m, enum plan_type type, uint16_t data)
{
	return type == PLAN_TRUTH ? from_mask(m, STEP_MASK_TO_INT, data, 1)
				  : data;
}

uint16_t value_float(struct maker *m, enum plan_type type, uint16_t data)
{
	const struct plan_register *r;

	if (type == PLAN_TRUTH)
		return from_mask(m, STEP_MASK_TO_FLOAT, data,
				 (union lane){.f = 1}.i);
	if (type != PLAN_INT)
		return data;
	r = &m->plan->registers[data];
	return r->source == PLAN_CONSTANT
		       ? value_number(m, (double)r->bits)
		       : value_step(m, STEP_INT_TO_FLOAT, data, PLAN_NONE);
}

void value_put(struct maker *m, struct value *v, enum plan_type type,
	       uint16_t data, uint16_t mask)
{
	uint16_t *was = &v->as[type].data;

	if (mask == MASK_NONE)
		return;
	if (v->as[type].mask == MASK_NONE)
		*was = data;
	else if (type == PLAN_TRUTH)
		*was = mask_pick(m, mask, data, *was);
	else
		*was = value_pick(m, mask, data, *was);
	v->as[type].mask = mask_or(m, v->as[type].mask, mask);
}

/* ---- conditions ---- */

static uint16_t type_truth(struct maker *m, enum plan_type type, uint16_t data)
{
	switch (type) {
	case PLAN_TRUTH:
		return data;
	case PLAN_INT:
		return value_step(m, STEP_INT_UNEQUAL, data,
				  value_register(m, PLAN_CONSTANT, 0, 0));
	case PLAN_FLOAT:
		/* NaN is true in Python, and false in JavaScript. */
		return m->language == COLUMNS_JS
			       ? value_step(m, STEP_FLOAT_NONZERO, data,
					    PLAN_NONE)
			       : value_step(m, STEP_FLOAT_UNEQUAL, data,
					    value_number(m, 0));
	default:
		return MASK_NONE;
	}
}

uint16_t value_truth(struct maker *m, const struct value *v, uint16_t *bad)
{
	uint16_t all = MASK_NONE;

	for (int i = 0; i < PLAN_TYPES; i++) {
		uint16_t mask = v->as[i].mask;

		if (mask != MASK_NONE)
			all = mask_or(m, all,
				      mask_and(m, mask,
					       type_truth(m, i,
							  v->as[i].data)));
	}
	*bad = mask_or(m, *bad, v->bad);
	return all;
}

struct value value_choose(struct maker *m, uint16_t t, const struct value *a,
			  const struct value *b)
{
	struct value v = value_nothing;

	for (int i = 0; i < PLAN_TYPES; i++) {
		uint16_t ma = a->as[i].mask, mb = b->as[i].mask;
		uint16_t da = a->as[i].data, db = b->as[i].data;

		v.as[i].mask = mask_pick(m, t, ma, mb);
		if (ma == MASK_NONE || mb == MASK_NONE)
			v.as[i].data = ma == MASK_NONE ? db : da;
		else if (i == PLAN_TRUTH)
			v.as[i].data = mask_pick(m, t, da, db);
		else
			v.as[i].data = value_pick(m, t, da, db);
	}
	v.bad = mask_pick(m, t, a->bad, b->bad);
	return v;
}
