/* Simple formulas over blocks of rows: what a column program is given here. */
#include <string.h>
#include "columns/columns.h"
#include "table.h"

#define ROWS_FEW 64u /* these are evaluated sooner than a program is made */

static enum columns_name find(void *data, const char *p, size_t n, bool quoted,
			      uint32_t *ret)
{
	if (!quoted && formula_is_reserved(p, n))
		return COLUMNS_NO_NAME;
	switch (formula_find_name(data, p, n, quoted, ret)) {
	case FORMULA_CELL:
		return COLUMNS_COLUMN;
	case FORMULA_INDEX:
		return COLUMNS_INDEX;
	default:
		return COLUMNS_NO_NAME;
	}
}

static bool has_column(const uint32_t *names, size_t n, uint32_t at)
{
	for (size_t i = 0; i < n; i++)
		if (names[i] == at)
			return true;
	return false;
}

static bool has_param(const struct formula_text *x, uint32_t at)
{
	for (uint32_t i = 0; i < x->n_params; i++)
		if (x->params[i].what == FORMULA_CELL && x->params[i].at == at)
			return true;
	return false;
}

/* Both have read the same names in it, each in its own way. */
static bool is_same(const struct formula_text *x,
		    const struct columns_formula *p)
{
	const uint32_t *names;
	size_t n = columns_names(p, &names);

	for (size_t i = 0; i < n; i++)
		if (!has_param(x, names[i]))
			return false;
	for (uint32_t i = 0; i < x->n_params; i++)
		if (x->params[i].what != FORMULA_INDEX &&
		    (x->params[i].what != FORMULA_CELL ||
		     !has_column(names, n, x->params[i].at)))
			return false;
	return true;
}

/* The answer of another formula moves. */
static void take_cells(const struct columns_formula *p,
		       struct columns_cells *cells)
{
	const uint32_t *names;
	size_t n = columns_names(p, &names);

	for (size_t i = 0; i < n; i++) {
		const struct formula_column *c = &table.columns[names[i]];

		cells[i] = (struct columns_cells){c->layout, c->kinds,
						  c->values};
	}
}

/* What is for no row alone has numbers that no row has: the host, which takes
 * them modulo the rows, finds one of these or behind them, not the last. */
static uint32_t leave_rows(void)
{
	uint32_t row = formula_count.row;

	formula_count.row = row + 1 + table.head.rows * table.head.formulas;
	return row;
}

/* What was told to end meanwhile was none of them. */
static void return_to(uint32_t row)
{
	formula_count.row = row;
	formula_count.stop = 0;
}

static struct columns_formula *compile(uint32_t which)
{
	const struct formula *f = &table.formulas[which];
	const struct columns_scope scope = {find, NULL};
	struct columns_cells cells[COLUMNS_CELLS_MAX];
	struct columns_formula *p;

	/* Without a time for a row it is fuel that is counted, of each row. */
	if (table.head.rows < ROWS_FEW || !table.head.row_us)
		return NULL;
	table.reading = which;
	p = columns_new(table.base + f->words.text, f->words.text_len,
			COLUMNS_JS, &scope);
	if (!p)
		return NULL;
	take_cells(p, cells);
	if (is_same(&f->text, p) && columns_bind(p, cells))
		return p;
	columns_free(p);
	return NULL;
}

struct columns_formula *block_new(uint32_t which)
{
	uint32_t row = leave_rows();
	struct columns_formula *p = compile(which);

	return_to(row);
	return p;
}

void block_run(struct columns_formula *p, const struct formula_column *to,
	       uint32_t from, uint32_t n)
{
	struct columns_cells cells[COLUMNS_CELLS_MAX];
	const struct columns_block b = {
		.cells = cells,
		.index = table.head.first,
		.from = from,
		.rows = n,
		.kinds = (uint8_t *)to->kinds + from,
		.values = (char *)to->values + (size_t)8 * from,
		.count = &formula_count.row,
	};
	uint32_t row = leave_rows();

	take_cells(p, cells);
	columns_run(p, &b);
	return_to(row);
}
