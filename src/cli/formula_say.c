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

/* What most cells are, if a text among them may not be meant to be one: it is
 * not one of many, or it has digits alone. */
static const char *odd_among(const struct table_column *c)
{
	const struct table_mix *m = &c->mix;
	uint64_t of[] = {m->n[CELL_NUMBER] + m->n[CELL_INTEGER],
			 m->n[CELL_DATE] + m->n[CELL_TIME], m->n[CELL_TRUTH]};
	static const enum cell_kind kinds[] = {CELL_NUMBER, CELL_DATE,
					       CELL_TRUTH};
	bool coded = of[0] && m->digits;

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		if (!m->row || (of[i] <= m->n[CELL_TEXT] && (i || !coded)))
			continue;
		/* As a time a date is midnight, and as a date no time is. */
		return cell_kind_name(kinds[i] == CELL_DATE && m->n[CELL_TIME]
					      ? CELL_TIME
					      : kinds[i]);
	}
	return NULL;
}

static void say_odd(const struct table_column *c, const char *among)
{
	const struct table_mix *m = &c->mix;
	uint64_t more = m->n[CELL_TEXT] - 1;

	print_line("column %s: row %llu has %s, a text among %ss%s. By --type "
		   "'%s=%s' such a cell is an error, by --type '%s=text' each "
		   "cell is a text",
		   SHOW(str_of(c->name)), (unsigned long long)m->row,
		   SHOW(str_of(m->text)), among,
		   more ? ", and so have others" : "", c->name, among, c->name);
}

static void say_few(const struct table *t)
{
	if (t->few)
		print_line("%llu row%s fewer fields than the header has names, "
			   "line %llu for one: the missing cells are blank",
			   (unsigned long long)t->few,
			   t->few == 1 ? " has" : "s have",
			   (unsigned long long)t->few_line);
}

static void say_many(const struct table *t)
{
	if (t->many)
		print_line("%llu row%s more fields than the header has names, "
			   "line %llu for one: what is too much is written as "
			   "one field with the last, and no formula can use "
			   "the row. Quote a field that has the delimiter in "
			   "it",
			   (unsigned long long)t->many,
			   t->many == 1 ? " has" : "s have",
			   (unsigned long long)t->many_line);
}

static void say_foreign(const struct table *t)
{
	if (t->foreign_line)
		print_line("line %llu is not UTF-8: in formulas U+FFFD stands "
			   "for what cannot be read, and the cells themselves "
			   "are written as they were. Write the table as "
			   "UTF-8, if it is Latin-1 by iconv -f latin1 -t "
			   "utf-8",
			   (unsigned long long)t->foreign_line);
}

static void say_late(const struct formula_job *j)
{
	const struct table *t = &j->table;

	for (size_t i = 0; i < t->n_late; i++) {
		const struct table_late *late = &t->late[i];
		bool used = is_used(j, late->name);

		if (!used && j->out_format == TABLE_JSONL)
			continue;
		print_line("%s is no column%s: line %llu is the first that has "
			   "it, and the members of the first 1,000 lines are "
			   "the columns. Give the first line that member, if "
			   "only as null",
			   SHOW(str_of(late->name)),
			   j->out_format == TABLE_JSONL ? ""
							: ", and not written",
			   (unsigned long long)late->line);
	}
}

void formula_say_columns(const struct formula_job *j)
{
	const struct table *t = &j->table;

	for (size_t i = 0; i < t->n_columns; i++) {
		const struct table_column *c = &t->columns[i];
		const char *among = odd_among(c);

		if (c->renamed)
			print_line("column %zu has a name that another column "
				   "has: in formulas it is %s",
				   i + 1, SHOW(str_of(c->name)));
		if (among && is_used(j, c->name))
			say_odd(c, among);
	}
	formula_point_at_doubts(j);
	say_few(t);
	say_many(t);
	say_foreign(t);
	say_late(j);
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

static bool is_cut(enum redoma_status s)
{
	return s != REDOMA_STATUS_OK && s != REDOMA_STATUS_INVALID &&
	       s != REDOMA_STATUS_CANCELLED;
}

/* Under limits.fuel a row has no time of its own. */
static bool has_row_time(struct redoma_result *res)
{
	const char *json = redoma_result_json(res, NULL);

	return json && !strstr(json, "\"fuel\":");
}

void formula_say_end(const struct formula_job *j, struct redoma_result *res,
		     bool staged)
{
	enum redoma_status status = redoma_result_status(res);
	uint64_t last = j->table.before + j->table.rows;

	if (!is_cut(status) || j->rows >= last)
		return;
	print_line("the table ended in a batch of the rows %llu to %llu; %llu "
		   "row%s before it %s%s",
		   (unsigned long long)j->rows + 1, (unsigned long long)last,
		   (unsigned long long)j->rows, j->rows == 1 ? "" : "s",
		   staged ? "came to something, and nothing is written to "
			  : "are written",
		   staged ? SHOW(str_of(j->out_name)) : "");
	if (status == REDOMA_STATUS_WALL_LIMIT && has_row_time(res))
		print_line("a row that never ends takes its whole row time "
			   "(100ms, unless --row-time says so): --row-time 1ms "
			   "--limit wall=60m gives each such row its #TIME! "
			   "soon, and all others their value");
}

bool formula_is_lost(const struct formula_job *j, size_t formula)
{
	return j->rows && j->failed[formula] == j->rows;
}
