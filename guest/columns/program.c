#include "columns/program.h"

#include <stdlib.h>
#include <string.h>

#define FOR_EVER UINT16_MAX

struct linker {
	const struct plan *plan;
	const struct plan_column *columns;
	struct program *p;
	uint16_t last[PLAN_REGISTERS_MAX]; /* the step behind its last use */
	uint8_t place[PLAN_REGISTERS_MAX];
	bool busy[PROGRAM_PLACES_MAX];
};

static void use(struct linker *l, uint16_t r, uint16_t until)
{
	if (r != PLAN_NONE && l->last[r] < until)
		l->last[r] = until;
}

static void find_uses(struct linker *l)
{
	const struct plan *plan = l->plan;

	for (uint16_t i = 0; i < plan->n_steps; i++)
		for (int k = 0; k < 3; k++)
			use(l, plan->steps[i].from[k], i + 1);
	use(l, plan->values, FOR_EVER);
	use(l, plan->kinds, FOR_EVER);
}

/* PROGRAM_PLACES_MAX: there is none left. */
static uint8_t take_place(struct linker *l)
{
	struct program *p = l->p;
	uint8_t i = 0;

	while (i < PROGRAM_PLACES_MAX && l->busy[i])
		i++;
	if (i == PROGRAM_PLACES_MAX)
		return i;
	l->busy[i] = true;
	if (p->n_places <= i)
		p->n_places = i + 1;
	return i;
}

static void give_slot(struct program *p, uint8_t place)
{
	if (p->slots[place] == PROGRAM_NO_SLOT)
		p->slots[place] = p->n_slots++;
}

/* Numbers stand in the column's own buffer. */
static bool stands(const struct linker *l, const struct plan_register *r)
{
	return r->source == PLAN_CELLS &&
	       l->columns[r->which].type != PLAN_TRUTH;
}

static bool place_sources(struct linker *l)
{
	struct program *p = l->p;

	for (uint16_t i = 0; i < l->plan->n_registers; i++) {
		const struct plan_register *r = &l->plan->registers[i];
		uint8_t at;

		if (r->source == PLAN_STEP || !l->last[i])
			continue;
		at = take_place(l);
		if (at == PROGRAM_PLACES_MAX)
			return false;
		l->place[i] = at;
		if (!stands(l, r))
			give_slot(p, at);
		p->inputs[p->n_inputs++] = (struct program_input){
			r->source, r->which, at, r->bits};
	}
	return true;
}

static void release(struct linker *l, const struct plan_step *s, uint16_t now)
{
	for (int k = 0; k < 3; k++) {
		uint16_t r = s->from[k];

		if (r != PLAN_NONE && l->last[r] == now &&
		    l->plan->registers[r].source == PLAN_STEP)
			l->busy[l->place[r]] = false;
	}
}

static bool place_steps(struct linker *l)
{
	struct program *p = l->p;

	for (uint16_t i = 0; i < l->plan->n_steps; i++) {
		const struct plan_step *s = &l->plan->steps[i];
		struct plan_step *to;
		uint8_t at;

		if (!l->last[s->to])
			continue; /* nobody wants it */
		at = take_place(l);
		if (at == PROGRAM_PLACES_MAX)
			return false;
		l->place[s->to] = at;
		give_slot(p, at);
		to = &p->steps[p->n_steps++];
		*to = (struct plan_step){.op = s->op, .to = at};
		for (int k = 0; k < 3; k++)
			to->from[k] = s->from[k] == PLAN_NONE
					      ? 0
					      : l->place[s->from[k]];
		release(l, s, i + 1);
	}
	return true;
}

static bool link_all(struct linker *l)
{
	const struct plan *plan = l->plan;
	struct program *p = l->p;

	memset(p->slots, PROGRAM_NO_SLOT, sizeof(p->slots));
	find_uses(l);
	if (!place_sources(l) || !place_steps(l))
		return false;
	p->values = l->place[plan->values];
	p->kinds = l->place[plan->kinds];
	p->cost = plan->cost;
	p->is_made = plan->registers[plan->values].source == PLAN_STEP;
	return true;
}

struct program *program_new(const struct plan *plan,
			    const struct plan_column *columns)
{
	struct linker *l = calloc(1, sizeof(*l));
	struct program *p =
		calloc(1, sizeof(*p) + plan->n_steps * sizeof(p->steps[0]));
	bool ok = false;

	if (l && p) {
		l->plan = plan;
		l->columns = columns;
		l->p = p;
		ok = link_all(l);
	}
	free(l);
	if (ok)
		return p;
	free(p);
	return NULL;
}
