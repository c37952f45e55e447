/* The place in a formula that is wrong, with a caret under it. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/nearest.h"
#include "cli/formula.h"
#include "cli/formula_hint.h"
#include "cli/print.h"

#define BEFORE 60u /* bytes of a long line, before the place and behind it */
#define BEHIND 30u

static bool goes_on(const char *p)
{
	return ((unsigned char)*p & 0xc0) == 0x80;
}

/* The line around `at`, or of a long one what is near. */
static struct str line_at(const char *text, size_t at)
{
	const char *end = text + at, *from = end;

	while (from > text && from[-1] != '\n' &&
	       (size_t)(text + at - from) < BEFORE)
		from--;
	while (goes_on(from))
		from++;
	while (*end && *end != '\n' && (size_t)(end - text - at) < BEHIND)
		end++;
	while (goes_on(end))
		end++;
	return (struct str){from, (size_t)(end - from)};
}

/* What is right of the caret may be NULL. */
static void point(const char *text, size_t at, const char *what)
{
	CLEANUP(buf_done) struct buf line = {0};
	struct str near = line_at(text, at);
	size_t pad = 0;

	if (buf_add(&line, near.p, near.len) || buf_add(&line, "", 1))
		return;
	for (char *p = line.data; *p; p++)
		*p = *p == '\t' ? ' ' : *p;
	for (const char *p = near.p; p < text + at; p++)
		pad += !goes_on(p);
	print_line("    %s", line.data);
	print_line("    %*s^%s%s", (int)pad, "", what ? " " : "",
		   what ? what : "");
}

static const char *text_of(const struct formula_job *j, size_t i)
{
	return j->formulas[i].text;
}

static bool hint(const struct formula_job *j, size_t i,
		 struct formula_hint *ret)
{
	return formula_hint(str_of(text_of(j, i)), !strcmp(j->language, "js"),
			    ret);
}

/* Line and column, both from 1 and the guest's word, as bytes into text. */
static bool place_of(const char *text, uint64_t line, uint64_t column,
		     size_t *ret)
{
	const char *p = text;

	if (!line || !column)
		return false;
	while (line > 1 && (p = strchr(p, '\n'))) {
		p++;
		line--;
	}
	if (!p)
		return false;
	while (column > 1 && *p && *p != '\n') {
		for (p++; goes_on(p); p++)
			;
		column--;
	}
	*ret = (size_t)(p - text);
	return true;
}

/* "formula NAME: ..." */
static bool is_about(const char *message, const char *name)
{
	struct str rest = str_of(message), head = STR("formula ");

	if (!str_starts(rest, head))
		return false;
	rest = str_after(rest, head.len);
	return str_starts(rest, str_of(name)) &&
	       str_starts(str_after(rest, strlen(name)), STR(": "));
}

static bool is_name(const char *s)
{
	return *s && str_name(str_of(s)) == strlen(s) &&
	       !isdigit((unsigned char)*s);
}

/* A column whose name the language cannot take for one, as it stands there. */
static bool point_at_column(const struct formula_job *j, const char *text)
{
	const struct table *t = &j->table;
	char what[160];

	for (size_t i = 0; i < t->n_columns; i++) {
		const char *name = t->columns[i].name;
		const char *p = strstr(text, name);

		if (!p || is_name(name) || strchr(name, '"') ||
		    !isalpha((unsigned char)*name) ||
		    (p > text && strchr("\"'", p[-1])))
			continue;
		snprintf(what, sizeof what, "write col[\"%.100s\"]", name);
		point(text, (size_t)(p - text), what);
		return true;
	}
	return false;
}

void formula_point_at_error(const struct formula_job *j,
			    struct redoma_result *res)
{
	CLEANUP(json_cleanup) struct json_doc *doc = NULL;
	const struct json_value *error;
	uint64_t len, line = 0, column = 0;
	const char *json = redoma_result_json(res, &len), *message;
	struct formula_hint h;
	size_t at, n;

	if (redoma_result_status(res) != REDOMA_STATUS_INVALID || !json ||
	    json_parse(json, len, &doc, NULL))
		return;
	error = json_member(json_root(doc), "error");
	message = json_string(json_member(error, "message"), &n);
	json_u64(json_member(error, "line"), &line);
	json_u64(json_member(error, "column"), &column);
	for (size_t i = 0; message && i < j->n_formulas; i++) {
		if (!is_about(message, j->formulas[i].name))
			continue;
		if (hint(j, i, &h))
			point(text_of(j, i), h.at, h.what);
		else if (point_at_column(j, text_of(j, i)))
			return;
		else if (place_of(text_of(j, i), line, column, &at))
			point(text_of(j, i), at, NULL);
		return;
	}
}

/* The places that a helper of that name may have, in capitals. */
static bool is_call(const char *text, const char *name)
{
	size_t end;

	if (!str_has_word(str_of(text), str_of(name), &end))
		return false;
	while (text[end] == ' ')
		end++;
	return text[end] == '(';
}

/* A1, AB12 */
static bool is_address(const char *name)
{
	size_t letters = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	size_t digits = strspn(name + letters, "0123456789");

	return letters && letters < 4 && digits && !name[letters + digits];
}

static void say_nearest(const struct formula_job *j, const char *name)
{
	const struct table *t = &j->table;
	CLEANUP_FREE const char **names =
		calloc(t->n_columns + j->n_formulas + 1, sizeof *names);
	const char *near;
	size_t n = 0;

	if (!names)
		return;
	for (size_t i = 0; i < t->n_columns; i++)
		names[n++] = t->columns[i].name;
	for (size_t i = 0; i < j->n_formulas; i++)
		names[n++] = j->formulas[i].name;
	near = nearest_name(str_of(name), names);
	/* Of one letter, any other is near. */
	if (!near || strlen(name) < 3)
		return;
	print_line(is_name(near) ? "there is no %s: did you mean %s?"
				 : "there is no %s: did you mean col[%s]?",
		   SHOW(str_of(name)), SHOW(str_of(near)));
}

void formula_point_at_name(const struct formula_job *j, size_t formula)
{
	const char *name = j->errors.name, *text = text_of(j, formula);
	struct formula_hint h;
	size_t end;

	if (hint(j, formula, &h)) {
		point(text, h.at, h.what);
		return;
	}
	if (!*name || !str_has_word(str_of(text), str_of(name), &end))
		return;
	if (is_address(name))
		print_line("there is no %s: a cell is named by its column, as "
			   "in price, and a whole one is rows.price",
			   SHOW(str_of(name)));
	else if (is_call(text, name))
		print_line("there is no %s: helpers are written in capitals, "
			   "as SUM, and listed in docs/guide/formula.md",
			   SHOW(str_of(name)));
	else
		say_nearest(j, name);
}

void formula_point_at_doubts(const struct formula_job *j)
{
	struct formula_hint h;

	for (size_t i = 0; i < j->n_formulas; i++) {
		const char *text = text_of(j, i);

		if (formula_is_lost(j, i) ||
		    !formula_doubt(str_of(text), !strcmp(j->language, "js"),
				   &h))
			continue;
		print_line("formula %s is computed as it stands:",
			   SHOW(str_of(j->formulas[i].name)));
		point(text, h.at, h.what);
	}
}
