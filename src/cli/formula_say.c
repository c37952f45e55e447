/* What a person is told about a table, beside its rows. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/formula.h"
#include "cli/print.h"

static bool is_used(const struct formula_job *j, const char *column)
{
	for (size_t i = 0; i < j->n_formulas; i++)
		if (strstr(j->formulas[i].text, column))
			return true;
	return false;
}

/* What most cells are, and what a formula makes of the others. */
static void say_odd(const struct table_column *c)
{
	const struct table_odd *o = &c->odd;
	bool all = c->kind == CELL_TEXT;
	const char *kind = cell_kind_name(o->among);

	print_line("column %s: row %llu has %s, which is no %s%s; %s. By "
		   "--type '%s=%s' such a cell alone is an error",
		   SHOW(str_of(c->name)), (unsigned long long)o->row,
		   SHOW(str_of(o->text)), kind,
		   o->count > 1 ? ", nor are others" : "",
		   all ? "so the whole column is text, its other cells too"
		       : "it is a text there",
		   c->name, kind);
}

void formula_say_columns(const struct formula_job *j)
{
	const struct table *t = &j->table;

	for (size_t i = 0; i < t->n_columns; i++) {
		const struct table_column *c = &t->columns[i];

		if (c->renamed)
			print_line("column %zu has a name that another column "
				   "has: in formulas it is %s",
				   i + 1, SHOW(str_of(c->name)));
		if (c->odd.row && is_used(j, c->name))
			say_odd(c);
	}
}

static void say_lost(const struct formula_job *j)
{
	CLEANUP(buf_done) struct buf names = {0};

	for (size_t i = 0; i < j->n_formulas; i++)
		if (formula_is_lost(j, i) &&
		    buf_addf(&names, "%s%s", names.len ? ", " : "",
			     SHOW(str_of(j->formulas[i].name))))
			return;
	if (names.len)
		print_line("every cell of %s is an error", names.data);
	for (size_t i = 0; i < j->n_formulas; i++)
		if (formula_is_lost(j, i))
			formula_point_at_name(j, i);
}

void formula_say_errors(const struct formula_job *j)
{
	const struct formula_errors *e = &j->errors;
	char text[200] = "";
	size_t len = 0;

	for (size_t i = 0; i < FORMULA_CODES && e->codes[i][0]; i++) {
		int n = snprintf(text + len, sizeof text - len, "%s%llu %s",
				 i ? ", " : "", (unsigned long long)e->n[i],
				 e->codes[i]);

		len += n > 0 && len + (size_t)n < sizeof text ? (size_t)n : 0;
	}
	if (e->all)
		print_line("%llu cell%s an error: %s; %s",
			   (unsigned long long)e->all,
			   e->all == 1 ? " is" : "s are", text, e->first);
	say_lost(j);
}

bool formula_is_lost(const struct formula_job *j, size_t formula)
{
	return j->rows && j->failed[formula] == j->rows;
}
