#include <stdio.h>
#include <string.h>

#include "policy/decimal.h"
#include "policy/where_rule.h"

#define WHERE "policy"

struct str where_digits(const struct json_value *v)
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

bool where_type_fits(const struct rule *r, const struct json_value *v)
{
	enum json_kind kind = json_kind(v);

	if (!r->types || r->types & 1u << kind)
		return true;
	return r->types & 1u << TYPE_INTEGER && kind == JSON_NUMBER &&
	       decimal_is_whole(where_digits(v));
}

static bool choice_fits(const struct choice *c, const struct json_value *v)
{
	enum json_kind kind = json_kind(v);

	if (c->kind != kind)
		return false;
	switch (kind) {
	case JSON_NUMBER:
		return !decimal_compare(str_of(c->text), where_digits(v));
	case JSON_STRING:
		return str_equal((struct str){c->text, c->len}, string_of(v));
	case JSON_BOOL:
		return json_is_true(v) == !strcmp(c->text, "true");
	default:
		return true;
	}
}

bool where_choice_fits(const struct rule *r, const struct json_value *v)
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

struct str where_measure(size_t i, const struct json_value *v, char room[24])
{
	enum json_kind kind = where_bounds[i].kind;

	if (kind == JSON_NUMBER)
		return where_digits(v);
	snprintf(room, 24, "%zu",
		 kind == JSON_STRING ? code_points(string_of(v))
				     : json_count(v));
	return str_of(room);
}

bool where_bound_fits(const struct rule *r, size_t i,
		      const struct json_value *v)
{
	const struct bound_row *row = &where_bounds[i];
	char room[24];
	int order;

	if (json_kind(v) != row->kind)
		return false;
	order = row->sign * decimal_compare(where_measure(i, v, room),
					    str_of(r->bound[i]));
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

	if (!where_type_fits(r, v))
		return refuse(name, "the type", "", err);
	if (!where_choice_fits(r, v))
		return refuse(name, r->n_choices > 1 ? "the enum" : "the const",
			      "", err);
	for (size_t i = 0; i < BOUNDS; i++)
		if (r->bound[i] && !where_bound_fits(r, i, v))
			return refuse(name, where_bounds[i].name, r->bound[i],
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
