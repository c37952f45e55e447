#include "policy/where.h"

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
#define RULES_MAX 64
#define DEPTH_MAX 8

enum bound {
	MINIMUM,
	MAXIMUM,
	EXCLUSIVE_MINIMUM,
	EXCLUSIVE_MAXIMUM,
	MIN_LENGTH,
	MAX_LENGTH,
	MIN_ITEMS,
	MAX_ITEMS,
	BOUNDS
};

/* In the order of enum bound.  sign: +1 what is bounded may not be less, -1
 * not more; strict: nor equal. */
static const struct bound_row {
	const char *name;
	int sign;
	bool strict;
	enum json_kind kind;
} bound_rows[BOUNDS] = {
	{"minimum", 1, false, JSON_NUMBER},
	{"maximum", -1, false, JSON_NUMBER},
	{"exclusiveMinimum", 1, true, JSON_NUMBER},
	{"exclusiveMaximum", -1, true, JSON_NUMBER},
	{"minLength", 1, false, JSON_STRING},
	{"maxLength", -1, false, JSON_STRING},
	{"minItems", 1, false, JSON_ARRAY},
	{"maxItems", -1, false, JSON_ARRAY},
};

/* In the order of enum json_kind, and what is a number too. */
static const char *const type_names[] = {
	"null", "boolean", "number", "string", "array", "object", "integer",
	NULL,
};
#define TYPE_INTEGER 6

struct choice {
	enum json_kind kind;
	char *text; /* owned: of a string, a number, "true", "false" */
	size_t len;
};

struct rule {
	char *name;	/* owned: the argument */
	unsigned types; /* bit n: type_names[n]; 0: any */
	char *bound[BOUNDS]; /* owned decimals, or NULL */
	bool has_choices;
	struct choice *choices; /* owned */
	size_t n_choices;
	struct rule *items; /* owned, or NULL */
};

struct where {
	_Atomic int shares;
	char *text; /* owned */
	struct rule rules[RULES_MAX];
	size_t n_rules;
};

static void rule_done(struct rule *r)
{
	for (size_t i = 0; i < BOUNDS; i++)
		free(r->bound[i]);
	for (size_t i = 0; i < r->n_choices; i++)
		free(r->choices[i].text);
	if (r->items)
		rule_done(r->items);
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
		rule_done(&w->rules[i]);
	free(w->text);
	free(w);
}

static void where_cleanup(struct where **w)
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
		int e = read_word(at, "type", type_names, &n, err);

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
	const struct bound_row *row = &bound_rows[i];
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
		if (str_equal(v->key, str_of(bound_rows[i].name)))
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
		    bound_rows[n].sign *
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

/* ---- the check ---- */

static struct str digits_of(const struct json_value *v)
{
	struct str s = {0};

	s.p = json_digits(v, &s.len);
	return s;
}

static struct str string_of(const struct json_value *v)
{
	struct str s = {0};

	s.p = json_string(v, &s.len);
	return s;
}

static bool type_fits(const struct rule *r, const struct json_value *v)
{
	enum json_kind kind = json_kind(v);

	if (!r->types || r->types & 1u << kind)
		return true;
	return r->types & 1u << TYPE_INTEGER && kind == JSON_NUMBER &&
	       decimal_is_whole(digits_of(v));
}

static bool choice_fits(const struct choice *c, const struct json_value *v)
{
	enum json_kind kind = json_kind(v);

	if (c->kind != kind)
		return false;
	switch (kind) {
	case JSON_NUMBER:
		return !decimal_compare(str_of(c->text), digits_of(v));
	case JSON_STRING:
		return str_equal((struct str){c->text, c->len}, string_of(v));
	case JSON_BOOL:
		return json_is_true(v) == !strcmp(c->text, "true");
	default:
		return true;
	}
}

static bool any_choice(const struct rule *r, const struct json_value *v)
{
	for (size_t i = 0; i < r->n_choices; i++)
		if (choice_fits(&r->choices[i], v))
			return true;
	return !r->has_choices;
}

static size_t code_points(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}

static bool bound_fits(const struct rule *r, size_t i,
		       const struct json_value *v)
{
	const struct bound_row *row = &bound_rows[i];
	char room[24];
	struct str s;
	int order;

	if (json_kind(v) != row->kind)
		return false;
	if (row->kind == JSON_NUMBER) {
		s = digits_of(v);
	} else {
		snprintf(room, sizeof room, "%zu",
			 row->kind == JSON_STRING ? code_points(string_of(v))
						  : json_count(v));
		s = str_of(room);
	}
	order = row->sign * decimal_compare(s, str_of(r->bound[i]));
	return row->strict ? order > 0 : order >= 0;
}

static int refuse(const char *name, const char *keyword, const char *value,
		  struct redoma_error *err)
{
	return err_set(err, REDOMA_E_DENIED, WHERE,
		       "argument %s: not within %s%s%.60s of its policy",
		       SHOW(str_of(name)), keyword, *value ? " " : "", value);
}

static int check_rule(const struct rule *r, const char *name,
		      const struct json_value *v, struct redoma_error *err)
{
	struct json_iter it = json_iter(v);

	if (!type_fits(r, v))
		return refuse(name, "the type", "", err);
	if (!any_choice(r, v))
		return refuse(name, r->n_choices > 1 ? "the enum" : "the const",
			      "", err);
	for (size_t i = 0; i < BOUNDS; i++)
		if (r->bound[i] && !bound_fits(r, i, v))
			return refuse(name, bound_rows[i].name, r->bound[i],
				      err);
	if (!r->items)
		return 0;
	if (json_kind(v) != JSON_ARRAY)
		return refuse(name, "the items", "", err);
	while (json_next(&it)) {
		int e = check_rule(r->items, name, it.value, err);

		if (e)
			return e;
	}
	return 0;
}

int where_check(const struct where *w, const struct json_value *args,
		struct redoma_error *err)
{
	for (size_t i = 0; w && i < w->n_rules; i++) {
		const struct rule *r = &w->rules[i];
		const struct json_value *v = json_member(args, r->name);
		int e;

		if (!v)
			return err_set(err, REDOMA_E_DENIED, WHERE, "argument "
				       "%s: its policy names it, and it is not "
				       "there", SHOW(str_of(r->name)));
		e = check_rule(r, r->name, v, err);
		if (e)
			return e;
	}
	return 0;
}
