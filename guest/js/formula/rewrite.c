/* A formula's text becomes a function's.
 *
 * The text is taken apart into tokens as the language has them; brackets make
 * them a tree.  Only calls of the special forms and names of columns change;
 * the language's own parser judges the rest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "forms.h"

#define DEPTH_MAX 200
#define TEXT_MAX (8u << 20)

void rewrite_put(struct rewriter *w, struct out *o, const char *p, size_t n)
{
	if (w->no_memory || n > TEXT_MAX || o->len > TEXT_MAX - n) {
		w->no_memory = true;
		return;
	}
	if (o->len + n + 1 > o->room) {
		size_t room = 2 * (o->len + n) + 64;
		char *q = realloc(o->p, room);

		if (!q) {
			w->no_memory = true;
			return;
		}
		o->p = q;
		o->room = room;
	}
	memcpy(o->p + o->len, p, n);
	o->len += n;
	o->p[o->len] = '\0';
}

void rewrite_say(struct rewriter *w, struct out *o, const char *s)
{
	rewrite_put(w, o, s, strlen(s));
}

static void wrong(struct rewriter *w, const char *why)
{
	if (!w->ret->wrong)
		w->ret->wrong = why;
	w->at = w->len;
}

static char peek(const struct rewriter *w, size_t k)
{
	return w->at + k < w->len ? w->p[w->at + k] : '\0';
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '\\' ||
	       (unsigned char)c >= 0x80;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(struct rewriter *w)
{
	while (w->at < w->len && is_blank(w->p[w->at]))
		w->at++;
}

static void span(struct rewriter *w, struct out *o, bool list);

/* ---- tokens that are copied ---- */

static void copy_string(struct rewriter *w, struct out *o)
{
	size_t from = w->at;
	char q = w->p[w->at++];

	while (w->at < w->len && w->p[w->at] != q)
		w->at += w->p[w->at] == '\\' ? 2 : 1;
	if (w->at >= w->len) {
		wrong(w, "a quote is not closed");
		return;
	}
	w->at++;
	rewrite_put(w, o, w->p + from, w->at - from);
	w->operand = true;
}

static void copy_template(struct rewriter *w, struct out *o)
{
	size_t from = w->at++;

	while (w->at < w->len && w->p[w->at] != '`') {
		if (w->p[w->at] == '\\') {
			w->at += 2;
			continue;
		}
		if (w->p[w->at++] != '$' || peek(w, 0) != '{')
			continue;
		w->at++;
		rewrite_put(w, o, w->p + from, w->at - from);
		w->operand = false;
		span(w, o, false);
		from = w->at;
		if (peek(w, 0) != '}')
			break;
	}
	if (w->at >= w->len) {
		wrong(w, "a template is not closed");
		return;
	}
	w->at++;
	rewrite_put(w, o, w->p + from, w->at - from);
	w->operand = true;
}

static void copy_pattern(struct rewriter *w, struct out *o)
{
	size_t from = w->at++;
	bool class = false;

	while (w->at < w->len && (class || w->p[w->at] != '/')) {
		char c = w->p[w->at];

		class = (class || c == '[') && c != ']';
		w->at += c == '\\' ? 2 : 1;
	}
	if (w->at >= w->len) {
		wrong(w, "a regular expression is not closed");
		return;
	}
	w->at++;
	while (is_name(peek(w, 0)))
		w->at++;
	rewrite_put(w, o, w->p + from, w->at - from);
	w->operand = true;
}

static void copy_number(struct rewriter *w, struct out *o)
{
	size_t from = w->at;

	while (is_name(peek(w, 0)) || peek(w, 0) == '.')
		w->at++;
	rewrite_put(w, o, w->p + from, w->at - from);
	w->operand = true;
}

static void skip_comment(struct rewriter *w, struct out *o)
{
	const char *end;

	if (w->p[w->at + 1] == '/') {
		while (w->at < w->len && w->p[w->at] != '\n')
			w->at++;
	} else {
		end = memmem(w->p + w->at + 2, w->len - w->at - 2, "*/", 2);
		if (!end)
			wrong(w, "a comment is not closed");
		else
			w->at = (size_t)(end + 2 - w->p);
	}
	rewrite_say(w, o, " ");
}

/* ---- names ---- */

static bool word_in(const char *p, size_t n, const char *const *list)
{
	for (; *list; list++)
		if (strlen(*list) == n && !memcmp(*list, p, n))
			return true;
	return false;
}

static const char *const before_value[] = {
	"typeof", "in",     "of",   "instanceof", "new",  "void",
	"delete", "return", "case", "do",         "else", NULL,
};
static const char *const refused[] = {"await", "async", "import", "export",
				      NULL};
/* What may not name a parameter. */
static const char *const reserved[] = {
	"arguments",  "break",     "case",    "catch",      "class",  "const",
	"continue",   "debugger",  "default", "delete",     "do",     "else",
	"enum",       "eval",      "export",  "extends",    "false",  "finally",
	"for",        "function",  "if",      "implements", "import", "in",
	"instanceof", "interface", "let",     "new",        "null",   "package",
	"private",    "protected", "public",  "return",     "static", "super",
	"switch",     "this",      "throw",   "true",       "try",    "typeof",
	"var",        "void",      "while",   "with",       "yield",  "async",
	"await",      "of",        "get",     "set",        NULL,
};

bool formula_is_reserved(const char *p, size_t n)
{
	return word_in(p, n, reserved);
}

/* The parameter of that meaning, called `name` if it is new. */
static const char *param(struct rewriter *w, enum formula_name what,
			 uint32_t at, const char *name, size_t n)
{
	struct formula_text *t = w->ret;

	for (uint32_t i = 0; i < t->n_params; i++)
		if (t->params[i].what == what && t->params[i].at == at &&
		    (!name || (strlen(w->names[i]) == n &&
			       !memcmp(w->names[i], name, n))))
			return w->names[i];
	if (t->n_params == FORMULA_PARAMS_MAX ||
	    (name && n >= sizeof(w->names[0]))) {
		wrong(w, "it names too many columns, or one of more than 63 "
			 "bytes that is better written col[\"...\"]");
		return "";
	}
	t->params[t->n_params] = (struct formula_param){what, at};
	if (name)
		snprintf(w->names[t->n_params], sizeof(w->names[0]), "%.*s",
			 (int)n, name);
	else
		snprintf(w->names[t->n_params], sizeof(w->names[0]), "$$%u",
			 (unsigned)t->n_params);
	return w->names[t->n_params++];
}

/* Behind row, col or rows: .name or ["name"].  *ret is the name; what it stood
 * in ends at *ret_end. */
static bool named_member(const struct rewriter *w, const char **ret,
			 size_t *ret_n, size_t *ret_end)
{
	size_t at = w->at, from;
	char q;

	if (at < w->len && w->p[at] == '.') {
		for (from = ++at; at < w->len && is_name(w->p[at]);)
			at++;
		*ret_end = at;
	} else if (at + 1 < w->len && w->p[at] == '[' &&
		   (w->p[at + 1] == '"' || w->p[at + 1] == '\'')) {
		q = w->p[at + 1];
		for (from = at += 2; at < w->len && w->p[at] != q; at++)
			if (w->p[at] == '\\' || w->p[at] == '\n')
				return false;
		if (at + 1 >= w->len || w->p[at + 1] != ']')
			return false;
		*ret_end = at + 2;
	} else {
		return false;
	}
	*ret = w->p + from;
	*ret_n = at - from;
	return at > from;
}

static void put_row(struct rewriter *w, struct out *o, const char *p, size_t n)
{
	const char *name;
	size_t len, end;
	uint32_t at = 0;

	if (named_member(w, &name, &len, &end) &&
	    w->scope->find(w->scope->data, name, len, true, &at) ==
		    FORMULA_CELL) {
		rewrite_say(w, o, param(w, FORMULA_CELL, at, NULL, 0));
		w->at = end;
	} else {
		rewrite_say(w, o, param(w, FORMULA_ROW, 0, p, n));
	}
	w->operand = true;
}

/* What follows rows is looked at too: a formula may need another's column. */
static void put_rows(struct rewriter *w, struct out *o, const char *p, size_t n)
{
	const char *name;
	size_t len, end;
	uint32_t at;

	if (named_member(w, &name, &len, &end))
		w->scope->find(w->scope->data, name, len, true, &at);
	rewrite_say(w, o, param(w, FORMULA_ROWS, 0, p, n));
	w->operand = true;
}

static void plain_name(struct rewriter *w, struct out *o, const char *p,
		       size_t n)
{
	uint32_t at = 0;
	enum formula_name what = FORMULA_NONE;

	if (word_in(p, n, refused))
		wrong(w, "a formula does not wait or import: it is one "
			 "expression over its row");
	if (!formula_is_reserved(p, n))
		what = w->scope->find(w->scope->data, p, n, false, &at);
	switch (what) {
	case FORMULA_ROW:
		put_row(w, o, p, n);
		return;
	case FORMULA_ROWS:
		put_rows(w, o, p, n);
		return;
	case FORMULA_NONE:
		rewrite_put(w, o, p, n);
		break;
	default:
		/* Names of that kind are ours: $T, $t, $$0. */
		rewrite_say(w, o, param(w, what, at, *p == '$' ? NULL : p, n));
	}
	w->operand = !word_in(p, n, before_value);
}

/* ---- special forms ---- */

static void args_free(struct args *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->list[i].p);
	free(a);
}

/* From behind the opening parenthesis to behind the closing one. */
static void take_args(struct rewriter *w, struct args *a)
{
	for (;;) {
		struct out *o;

		if (a->n == ARGS_MAX) {
			wrong(w, "a call has more than 256 arguments");
			return;
		}
		skip_blanks(w);
		if (!a->n && peek(w, 0) == ')')
			break;
		o = &a->list[a->n++];
		w->operand = false;
		span(w, o, true);
		if (peek(w, 0) != ',')
			break;
		w->at++;
	}
	if (peek(w, 0) != ')')
		wrong(w, "a parenthesis is not closed");
	else
		w->at++;
	w->operand = true;
}

/* The form that a name is, if a parenthesis follows. */
static const struct form *find_form(const struct rewriter *w, const char *p,
				    size_t n)
{
	size_t at = w->at;

	while (at < w->len && is_blank(w->p[at]))
		at++;
	if (at == w->len || w->p[at] != '(')
		return NULL;
	return form_find(p, n);
}

static void put_form(struct rewriter *w, struct out *o, const struct form *f)
{
	struct args *a = calloc(1, sizeof(*a));
	const char *why;

	if (!a) {
		w->no_memory = true;
		w->at = w->len;
		return;
	}
	skip_blanks(w);
	w->at++;
	take_args(w, a);
	why = w->ret->wrong ? NULL : f->put(w, o, a);
	if (why)
		wrong(w, why);
	args_free(a);
}

static void name(struct rewriter *w, struct out *o)
{
	size_t from = w->at, n;
	const struct form *f;
	bool member = w->member;

	while (is_name(peek(w, 0)))
		w->at++;
	n = w->at - from;
	w->member = false;
	f = member ? NULL : find_form(w, w->p + from, n);
	if (f) {
		put_form(w, o, f);
	} else if (member) {
		rewrite_put(w, o, w->p + from, n);
		w->operand = true;
	} else {
		plain_name(w, o, w->p + from, n);
	}
}

/* ---- the tree ---- */

static bool is_arrow(const struct rewriter *w)
{
	size_t at = w->at;

	while (at < w->len && is_blank(w->p[at]))
		at++;
	return at + 1 < w->len && w->p[at] == '=' && w->p[at + 1] == '>';
}

static void bracket(struct rewriter *w, struct out *o, char c)
{
	char close = c == '(' ? ')' : c == '[' ? ']' : '}';
	bool before = w->assigns;

	rewrite_put(w, o, &c, 1);
	w->at++;
	w->operand = false;
	span(w, o, false);
	if (peek(w, 0) != close) {
		wrong(w, "a bracket is not closed");
		return;
	}
	rewrite_put(w, o, &close, 1);
	w->at++;
	w->operand = true;
	/* Statements may, and what a parameter is without an argument. */
	if (c == '{' || (c == '(' && is_arrow(w)))
		w->assigns = before;
}

/* `=` alone, neither a part of another operator nor an arrow. */
static bool is_assigning(const struct rewriter *w, char c)
{
	return c == '=' && peek(w, 1) != '=' && peek(w, 1) != '>' &&
	       !(w->at && strchr("=!<>+-*/%&|^?", w->p[w->at - 1]));
}

static void punctuation(struct rewriter *w, struct out *o, char c)
{
	w->assigns = w->assigns || is_assigning(w, c);
	/* Two dots before this one: it spreads what follows. */
	w->member = c == '.' && !(w->at >= 2 && w->p[w->at - 1] == '.' &&
				  w->p[w->at - 2] == '.');
	rewrite_put(w, o, &c, 1);
	w->at++;
	w->operand = false;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool copy_literal(struct rewriter *w, struct out *o, char c)
{
	if (c == '"' || c == '\'')
		copy_string(w, o);
	else if (c == '`')
		copy_template(w, o);
	else if (c == '/' && !w->operand)
		copy_pattern(w, o);
	else if (is_digit(c))
		copy_number(w, o);
	else
		return false;
	return true;
}

/* Blanks and comments, which change nothing of what a name behind them is. */
static bool skip_nothing(struct rewriter *w, struct out *o, char c)
{
	if (is_blank(c)) {
		rewrite_put(w, o, &c, 1);
		w->at++;
		return true;
	}
	if (c != '/' || (peek(w, 1) != '/' && peek(w, 1) != '*'))
		return false;
	skip_comment(w, o);
	return true;
}

static void token(struct rewriter *w, struct out *o, char c)
{
	if (skip_nothing(w, o, c))
		return;
	if (is_name(c) && !is_digit(c)) {
		name(w, o);
		return;
	}
	w->member = false;
	if (copy_literal(w, o, c))
		return;
	if (c == '(' || c == '[' || c == '{')
		bracket(w, o, c);
	else if (c == ';' && w->depth == 1)
		wrong(w, "a formula is one expression: leave the semicolon "
			 "out");
	else
		punctuation(w, o, c);
}

/* To the closing bracket, or in a list to the comma, at this depth. */
static void span(struct rewriter *w, struct out *o, bool list)
{
	if (++w->depth > DEPTH_MAX)
		wrong(w, "it is nested more than 200 levels deep");
	while (w->at < w->len && !w->no_memory) {
		char c = w->p[w->at];

		if (c == ')' || c == ']' || c == '}' || (list && c == ','))
			break;
		token(w, o, c);
	}
	w->depth--;
}

static void wrap(struct rewriter *w, const struct out *body, struct out *ret)
{
	rewrite_say(w, ret, "(function(");
	for (uint32_t i = 0; i < w->ret->n_params; i++) {
		if (i)
			rewrite_say(w, ret, ",");
		rewrite_say(w, ret, w->names[i]);
	}
	rewrite_say(w, ret, "){\"use strict\";var $t;return (\n");
	rewrite_put(w, ret, body->p, body->len);
	rewrite_say(w, ret, "\n)})");
}

void formula_rewrite(const char *text, size_t len,
		     const struct formula_scope *scope,
		     struct formula_text *ret)
{
	struct rewriter *w = calloc(1, sizeof(*w));
	struct out body = {0}, all = {0};

	memset(ret, 0, sizeof(*ret));
	if (!w)
		return;
	w->p = text;
	w->len = len;
	w->scope = scope;
	w->ret = ret;
	/* Spreadsheets begin a formula so. */
	skip_blanks(w);
	if (peek(w, 0) == '=' && peek(w, 1) != '=')
		w->at++;
	skip_blanks(w);
	if (w->at == w->len)
		wrong(w, "it is empty");
	span(w, &body, false);
	if (w->at < w->len)
		wrong(w, "a closing bracket has no opening one");
	if (w->assigns)
		wrong(w, "`=` assigns; compare with `===`");
	if (!ret->wrong)
		wrap(w, &body, &all);
	free(body.p);
	if (w->no_memory || ret->wrong)
		free(all.p);
	else
		ret->p = all.p, ret->len = all.len;
	free(w);
}

void formula_text_done(struct formula_text *t)
{
	free(t->p);
	t->p = NULL;
}
