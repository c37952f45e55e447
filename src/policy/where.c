#include "policy/where_rule.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/units.h"
#include "policy/decimal.h"
#include "policy/flow.h"
#include "policy/read.h"

#define WHERE "policy"

const struct bound_row where_bounds[BOUNDS] = {
	{"minimum", 1, false, JSON_NUMBER},
	{"maximum", -1, false, JSON_NUMBER},
	{"exclusiveMinimum", 1, true, JSON_NUMBER},
	{"exclusiveMaximum", -1, true, JSON_NUMBER},
	{"minLength", 1, false, JSON_STRING},
	{"maxLength", -1, false, JSON_STRING},
	{"minItems", 1, false, JSON_ARRAY},
	{"maxItems", -1, false, JSON_ARRAY},
};

const char *const where_types[TYPES + 1] = {
	"null", "boolean", "number", "string", "array", "object", "integer",
	NULL,
};

void where_rule_done(struct rule *r)
{
	for (size_t i = 0; i < BOUNDS; i++)
		free(r->bound[i]);
	for (size_t i = 0; i < r->n_choices; i++)
		free(r->choices[i].text);
	if (r->items)
		where_rule_done(r->items);
	free(r->items);
	free(r->choices);
	free(r->name);
	*r = (struct rule){0};
}

struct where *where_share(struct where *w)
{
	if (w)
		atomic_fetch_add(&w->shares, 1);
	return w;
}

void where_free(struct where *w)
{
	if (!w || atomic_fetch_sub(&w->shares, 1) > 1)
		return;
	for (size_t i = 0; i < w->n_rules; i++)
		where_rule_done(&w->rules[i]);
	free(w->text);
	free(w);
}

void where_cleanup(struct where **w)
{
	where_free(*w);
}

const char *where_text(const struct where *w)
{
	return w->text;
}

static int read_type(struct rule *r, const struct tree *v,
		     struct redoma_error *err)
{
	const struct tree *at = v->kind == TREE_LIST ? v->first : v;

	for (; at; at = v->kind == TREE_LIST ? at->next : NULL) {
		unsigned n = 0;
		int e = read_word(at, "type", where_types, &n, err);

		if (e)
			return e;
		r->types |= 1u << n;
	}
	return r->types ? 0 : tree_refuse(v, err, "type: an empty list; name "
					  "the types that are allowed");
}

static int add_choice(struct rule *r, const struct tree *v,
		      struct redoma_error *err)
{
	struct choice *grown, c = {.kind = JSON_STRING, .len = v->text.len};
	bool word = str_equal(v->text, STR("true")) ||
		    str_equal(v->text, STR("false"));
	int e;

	if (v->kind != TREE_SCALAR)
		return tree_refuse(v, err, "enum: texts, numbers, true, false "
				   "and null can be compared; write those");
	if (!v->quoted && tree_is_null(v))
		c.kind = JSON_NULL;
	else if (!v->quoted && word)
		c.kind = JSON_BOOL;
	else if (!v->quoted && decimal_is(v->text))
		c.kind = JSON_NUMBER;
	grown = realloc(r->choices, (r->n_choices + 1) * sizeof *grown);
	if (!grown)
		return err_nomem(err, WHERE);
	r->choices = grown;
	e = read_copy(v->text, &c.text, err);
	if (e)
		return e;
	r->choices[r->n_choices++] = c;
	r->has_choices = true;
	return 0;
}

static int read_enum(struct rule *r, const struct tree *v,
		     struct redoma_error *err)
{
	int e = 0;

	if (v->kind != TREE_LIST || !v->count)
		return tree_refuse(v, err, "enum: write the list of values "
				   "that are allowed, for example "
				   "enum: [BRL, USD]");
	for (const struct tree *at = v->first; at && !e; at = at->next)
		e = add_choice(r, at, err);
	return e;
}

static int read_bound(struct rule *r, size_t i, const struct tree *v,
		      struct redoma_error *err)
{
	const struct bound_row *row = &where_bounds[i];
	bool counts = row->kind != JSON_NUMBER;
	struct str s;
	int e = read_scalar(v, row->name, &s, err);

	if (e)
		return e;
	if (v->quoted || !decimal_is(s) ||
	    (counts && (s.p[0] == '-' || !decimal_is_whole(s))))
		return tree_refuse(v, err, "%s %s: write a %snumber",
				   row->name, SHOW(s), counts ? "whole " : "");
	return read_copy(s, &r->bound[i], err);
}

static int read_rule(const struct tree *map, int depth, struct rule *r,
		     struct redoma_error *err);

static int read_items(struct rule *r, const struct tree *v, int depth,
		      struct redoma_error *err)
{
	if (depth == DEPTH_MAX)
		return tree_refuse(v, err, "items: nested more than %d deep",
				   DEPTH_MAX);
	r->items = calloc(1, sizeof *r->items);
	return r->items ? read_rule(v, depth + 1, r->items, err)
			: err_nomem(err, WHERE);
}

static int read_keyword(struct rule *r, const struct tree *v, int depth,
			struct redoma_error *err)
{
	for (size_t i = 0; i < BOUNDS; i++)
		if (str_equal(v->key, str_of(where_bounds[i].name)))
			return read_bound(r, i, v, err);
	if (str_equal(v->key, STR("type")))
		return read_type(r, v, err);
	/* Both: what is in either, which would be wider than is meant. */
	if (r->has_choices && (str_equal(v->key, STR("enum")) ||
			       str_equal(v->key, STR("const"))))
		return tree_refuse_key(v, err, "enum and const together; write "
				       "one of them");
	if (str_equal(v->key, STR("enum")))
		return read_enum(r, v, err);
	if (str_equal(v->key, STR("const")))
		return add_choice(r, v, err);
	if (str_equal(v->key, STR("items")))
		return read_items(r, v, depth, err);
	return tree_refuse_key(v, err, "tools.where: %s is not checked here; "
			       "known are type, enum, const, minimum, maximum, "
			       "exclusiveMinimum, exclusiveMaximum, minLength, "
			       "maxLength, minItems, maxItems, items",
			       SHOW(v->key));
}

static int read_rule(const struct tree *map, int depth, struct rule *r,
		     struct redoma_error *err)
{
	int e = 0;

	if (map->kind != TREE_MAP || !map->count)
		return tree_refuse(map, err, "tools.where %s: write a JSON "
				   "Schema, such as {maximum: 1000}",
				   SHOW(map->key));
	for (const struct tree *v = map->first; v && !e; v = v->next)
		e = read_keyword(r, v, depth, err);
	return e;
}

int where_read(const struct tree *map, struct where **ret,
	       struct redoma_error *err)
{
	CLEANUP(where_cleanup) struct where *w = calloc(1, sizeof *w);
	CLEANUP(buf_done) struct buf text = {0};
	int e = 0;

	if (!w)
		return err_nomem(err, WHERE);
	w->shares = 1;
	if (map->kind != TREE_MAP)
		return tree_refuse(map, err, "tools.where is not a map; write "
				   "where: {ARGUMENT: {maximum: 1000}}");
	if (map->count > RULES_MAX)
		return tree_refuse(map, err, "tools.where names more than %d "
				   "arguments", RULES_MAX);
	for (const struct tree *v = map->first; v && !e; v = v->next) {
		struct rule *r = &w->rules[w->n_rules++];

		e = read_copy(v->key, &r->name, err);
		if (!e)
			e = read_rule(v, 0, r, err);
	}
	if (e)
		return e;
	if (flow_print(map, &text))
		return err_nomem(err, WHERE);
	w->text = buf_take(&text);
	*ret = TAKE_PTR(w);
	return 0;
}

/* ---- is one within the other? ---- */

static bool same_choice(const struct choice *a, const struct choice *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == JSON_NUMBER)
		return !decimal_compare(str_of(a->text), str_of(b->text));
	return a->kind == JSON_NULL ||
	       str_equal((struct str){a->text, a->len},
			 (struct str){b->text, b->len});
}

static bool is_offered(const struct rule *r, const struct choice *c)
{
	for (size_t i = 0; i < r->n_choices; i++)
		if (same_choice(&r->choices[i], c))
			return true;
	return false;
}

static bool choices_within(const struct rule *o, const struct rule *i)
{
	if (!o->has_choices)
		return true;
	for (size_t n = 0; n < i->n_choices; n++)
		if (!is_offered(o, &i->choices[n]))
			return false;
	return i->has_choices;
}

static bool bounds_within(const struct rule *o, const struct rule *i)
{
	for (size_t n = 0; n < BOUNDS; n++) {
		if (!o->bound[n])
			continue;
		if (!i->bound[n] ||
		    where_bounds[n].sign *
				    decimal_compare(str_of(i->bound[n]),
						    str_of(o->bound[n])) < 0)
			return false;
	}
	return true;
}

static bool rule_within(const struct rule *o, const struct rule *i)
{
	if (o->types && (!i->types || i->types & ~o->types))
		return false;
	if (o->items && (!i->items || !rule_within(o->items, i->items)))
		return false;
	return choices_within(o, i) && bounds_within(o, i);
}

bool where_within(const struct where *outer, const struct where *inner)
{
	for (size_t n = 0; outer && n < outer->n_rules; n++) {
		const struct rule *o = &outer->rules[n], *at = NULL;

		for (size_t k = 0; inner && k < inner->n_rules; k++)
			if (!strcmp(inner->rules[k].name, o->name))
				at = &inner->rules[k];
		if (!at || !rule_within(o, at))
			return false;
	}
	return true;
}

