#include "columns/columns.h"

#include <stdlib.h>
#include <string.h>
#include "columns/program.h"

#define SHAPES_MAX 8 /* programs of one formula */
#define PASSES_MAX 4 /* over one block */
#define INDEX_MAX ((uint64_t)1 << 62)

/* Which types the columns have in a row: two bits each. */
#define SHAPE_BITS 2
#define NO_SHAPE ((uint64_t)1 << 63)

struct shaped {
	uint64_t shape;
	struct program *program; /* owned; NULL: the interpreter */
};

struct columns_formula {
	struct tree tree;
	enum columns_language language;
	struct {
		bool cells, blanks; /* of several types; may miss some */
	} columns[COLUMNS_CELLS_MAX];
	uint64_t shape; /* of the columns that have one type */
	struct shaped programs[SHAPES_MAX];
	size_t n_programs;
	union lane *room; /* owned: n_slots blocks, of whichever program runs */
	size_t n_slots;
	const struct program *loaded; /* whose constants are there */
	uint64_t shapes[COLUMNS_BLOCK]; /* of the rows in hand */
};

struct columns_formula *columns_new(const char *text, size_t len,
				    enum columns_language language,
				    const struct columns_scope *scope)
{
	const struct tree_text t = {text, len, language, scope};
	struct columns_formula *f = calloc(1, sizeof(*f));

	if (f && tree_read(&t, &f->tree)) {
		f->language = language;
		return f;
	}
	free(f);
	return NULL;
}

void columns_free(struct columns_formula *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n_programs; i++)
		free(f->programs[i].program);
	free(f->room);
	free(f);
}

size_t columns_names(const struct columns_formula *f, const uint32_t **ret)
{
	*ret = f->tree.columns;
	return f->tree.n_columns;
}

/* ---- programs ---- */

static bool has_room(struct columns_formula *f, size_t slots)
{
	void *p;

	if (slots <= f->n_slots)
		return true;
	p = malloc(slots * COLUMNS_BLOCK * sizeof(*f->room));
	if (!p)
		return false;
	free(f->room);
	f->room = p;
	f->n_slots = slots;
	f->loaded = NULL;
	return true;
}

static struct program *make(struct columns_formula *f, uint64_t shape)
{
	struct plan_column columns[COLUMNS_CELLS_MAX];
	struct plan *plan = malloc(sizeof(*plan));
	struct program *p = NULL;

	for (uint16_t i = 0; i < f->tree.n_columns; i++)
		columns[i] = (struct plan_column){
			shape >> (SHAPE_BITS * i) & 3, f->columns[i].blanks};
	if (plan && plan_make(&f->tree, f->language, columns, plan))
		p = program_new(plan, columns);
	free(plan);
	if (p && has_room(f, p->n_slots))
		return p;
	free(p);
	return NULL;
}

static struct program *program_of(struct columns_formula *f, uint64_t shape)
{
	for (size_t i = 0; i < f->n_programs; i++)
		if (f->programs[i].shape == shape)
			return f->programs[i].program;
	if (f->n_programs == SHAPES_MAX)
		return NULL;
	f->programs[f->n_programs] = (struct shaped){shape, make(f, shape)};
	return f->programs[f->n_programs++].program;
}

bool columns_bind(struct columns_formula *f, const struct columns_cells *cells)
{
	static const uint8_t types[] = {0, PLAN_FLOAT, PLAN_INT, PLAN_TRUTH};
	bool all_known = true;

	for (uint16_t i = 0; i < f->tree.n_columns; i++) {
		const struct columns_cells *c = &cells[i];

		if (c->layout > COLUMNS_OF_BOOL || (uintptr_t)c->values % 8)
			return false;
		f->columns[i].cells = c->layout == COLUMNS_OF_CELLS;
		f->columns[i].blanks = !f->columns[i].cells && c->kinds;
		f->shape |= (uint64_t)types[c->layout] << (SHAPE_BITS * i);
		all_known = all_known && !f->columns[i].cells;
	}
	return !all_known || program_of(f, f->shape);
}

/* ---- what a program works on ---- */

/* Where its places are, for one block. */
struct places {
	union lane *to[PROGRAM_PLACES_MAX]; /* NULL: nothing writes there */
	const union lane *from[PROGRAM_PLACES_MAX];
};

static int64_t bit(const void *p, uint32_t i)
{
	return ((const uint8_t *)p)[i / 8] >> (i % 8) & 1;
}

static void fill(union lane *to, int64_t bits)
{
	for (size_t k = 0; k < COLUMNS_BLOCK; k++)
		to[k].i = bits;
}

static const union lane *lanes(const struct columns_block *b, uint8_t which)
{
	return (const union lane *)b->cells[which].values + b->from;
}

static void put_truths(const struct columns_cells *c,
		       const struct columns_block *b, union lane *to)
{
	const union lane *v = (const union lane *)c->values + b->from;

	for (uint32_t i = 0; i < b->rows; i++)
		to[i].i = c->layout == COLUMNS_OF_BOOL
				  ? -bit(c->values, b->from + i)
				  : -(int64_t)(v[i].i != 0);
}

static void put_input(const struct program_input *in,
		      const struct columns_block *b, struct places *l)
{
	union lane *to = l->to[in->place];
	const struct columns_cells *c = &b->cells[in->which];

	switch (in->source) {
	case PLAN_INDEX:
		for (uint32_t i = 0; i < b->rows; i++)
			to[i].u = b->index + b->from + i;
		return;
	case PLAN_BLANKS:
		for (uint32_t i = 0; i < b->rows; i++)
			to[i].i = bit(c->kinds, b->from + i) - 1;
		return;
	case PLAN_CELLS:
		if (to)
			put_truths(c, b, to);
		else
			l->from[in->place] = lanes(b, in->which);
		return;
	default:; /* PLAN_CONSTANT: it is there */
	}
}

static void load(struct columns_formula *f, const struct program *p)
{
	for (uint8_t i = 0; i < p->n_inputs; i++) {
		const struct program_input *in = &p->inputs[i];

		if (in->source == PLAN_CONSTANT)
			fill(f->room + p->slots[in->place] * COLUMNS_BLOCK,
			     in->bits);
	}
	f->loaded = p;
}

static void find_places(struct columns_formula *f, const struct program *p,
			const struct columns_block *b, struct places *l)
{
	for (uint8_t i = 0; i < p->n_places; i++)
		l->from[i] = l->to[i] =
			p->slots[i] == PROGRAM_NO_SLOT
				? NULL
				: f->room + p->slots[i] * COLUMNS_BLOCK;
	if (f->loaded != p)
		load(f, p);
	for (uint8_t i = 0; i < p->n_inputs; i++)
		put_input(&p->inputs[i], b, l);
}

static void run(const struct program *p, const struct columns_block *b,
		const struct places *l)
{
	for (uint16_t i = 0; i < p->n_steps; i++) {
		const struct plan_step *s = &p->steps[i];
		const union lane *const from[3] = {l->from[s->from[0]],
						   l->from[s->from[1]],
						   l->from[s->from[2]]};

		++*b->count;
		step_run(s->op, b->rows, l->to[s->to], from);
	}
}

/* All rows of a block. */
static void run_all(struct columns_formula *f, const struct program *p,
		    const struct columns_block *b)
{
	struct places l;

	find_places(f, p, b, &l);
	/* So that it need not be copied. */
	if (p->is_made)
		l.from[p->values] = l.to[p->values] = (union lane *)b->values;
	run(p, b, &l);
	if (!p->is_made)
		memcpy(b->values, l.from[p->values], 8 * (size_t)b->rows);
	for (uint32_t i = 0; i < b->rows; i++)
		b->kinds[i] = (uint8_t)l.from[p->kinds][i].u;
}

/* Those of one shape. */
static void run_some(struct columns_formula *f, const struct program *p,
		     const struct columns_block *b, uint64_t shape)
{
	struct places l;

	find_places(f, p, b, &l);
	run(p, b, &l);
	for (uint32_t i = 0; i < b->rows; i++) {
		if (f->shapes[i] != shape)
			continue;
		f->shapes[i] = NO_SHAPE;
		b->kinds[i] = (uint8_t)l.from[p->kinds][i].u;
		((union lane *)b->values)[i] = l.from[p->values][i];
	}
}

/* ---- shapes ---- */

static uint64_t type_of(uint8_t kind)
{
	switch (kind) {
	case COLUMNS_NUMBER:
		return PLAN_FLOAT;
	case COLUMNS_INTEGER:
		return PLAN_INT;
	case COLUMNS_TRUTH:
		return PLAN_TRUTH;
	default:
		return NO_SHAPE;
	}
}

static uint64_t shifted(uint8_t kind, unsigned column)
{
	uint64_t type = type_of(kind);

	return type == NO_SHAPE ? type : type << (SHAPE_BITS * column);
}

/* True if all rows of the block have *ret_shape. */
static bool is_uniform(const struct columns_formula *f,
		       const struct columns_block *b, uint64_t *ret_shape)
{
	*ret_shape = f->shape;
	for (uint16_t i = 0; i < f->tree.n_columns; i++) {
		const uint8_t *kinds;

		if (!f->columns[i].cells)
			continue;
		kinds = b->cells[i].kinds + b->from;
		if (memcmp(kinds, kinds + 1, b->rows - 1))
			return false;
		*ret_shape |= shifted(*kinds, i);
	}
	return true;
}

static void find_shapes(struct columns_formula *f,
			const struct columns_block *b)
{
	for (uint32_t k = 0; k < b->rows; k++)
		f->shapes[k] = f->shape;
	for (uint16_t i = 0; i < f->tree.n_columns; i++) {
		uint64_t table[COLUMNS_INTEGER + 2];
		const uint8_t *kinds;

		if (!f->columns[i].cells)
			continue;
		kinds = b->cells[i].kinds + b->from;
		for (uint8_t k = 0; k < COLUMNS_INTEGER + 2; k++)
			table[k] = shifted(k, i);
		for (uint32_t k = 0; k < b->rows; k++)
			f->shapes[k] |= table[kinds[k] > COLUMNS_INTEGER
						      ? COLUMNS_INTEGER + 1
						      : kinds[k]];
	}
}

/* As many shapes as take no longer than one may, most of the time all. */
static void run_mixed(struct columns_formula *f, const struct columns_block *b)
{
	unsigned cost = 0;
	int passes = 0;

	find_shapes(f, b);
	for (uint32_t k = 0; k < b->rows && passes < PASSES_MAX; k++) {
		uint64_t shape = f->shapes[k];
		const struct program *p =
			shape & NO_SHAPE ? NULL : program_of(f, shape);

		if (!p || cost + p->cost > PLAN_COST_MAX)
			continue;
		cost += p->cost;
		run_some(f, p, b, shape);
		passes++;
	}
}

void columns_run(struct columns_formula *f, const struct columns_block *b)
{
	struct program *p;
	uint64_t shape;

	memset(b->kinds, COLUMNS_UNDONE, b->rows);
	if (!b->rows || b->index > INDEX_MAX)
		return;
	if (!is_uniform(f, b, &shape)) {
		run_mixed(f, b);
		return;
	}
	p = shape & NO_SHAPE ? NULL : program_of(f, shape);
	if (p)
		run_all(f, p, b);
}
