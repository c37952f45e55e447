#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "policy/decimal.h"
#include "policy/flow.h"
#include "policy/where_rule.h"

#define WHERE "policy"
/* Of a value that a guest chose: what a person still reads. */
#define TEXT_MAX 64
#define CHOICES_MAX 64

/* ---- a copy ---- */

static char *copy_text(const char *p, size_t len)
{
	char *c = malloc(len + 1);

	if (!c)
		return NULL;
	if (len)
		memcpy(c, p, len);
	c[len] = '\0';
	return c;
}

static int add_choice(struct rule *r, enum json_kind kind, struct str text)
{
	struct choice *grown =
		realloc(r->choices, (r->n_choices + 1) * sizeof *grown);

	if (!grown)
		return -1;
	r->choices = grown;
	grown[r->n_choices] = (struct choice){
		kind, copy_text(text.p, text.len), text.len};
	if (!grown[r->n_choices].text)
		return -1;
	r->n_choices++;
	return 0;
}

static int set_bound(struct rule *r, size_t i, struct str digits)
{
	char *c = copy_text(digits.p, digits.len);

	if (!c)
		return -1;
	free(r->bound[i]);
	r->bound[i] = c;
	return 0;
}

static int copy_rule(const struct rule *from, struct rule *to)
{
	int e = 0;

	*to = (struct rule){.types = from->types,
			    .has_choices = from->has_choices};
	if (from->name) {
		to->name = strdup(from->name);
		e = to->name ? 0 : -1;
	}
	for (size_t i = 0; i < BOUNDS && !e; i++)
		if (from->bound[i])
			e = set_bound(to, i, str_of(from->bound[i]));
	for (size_t i = 0; i < from->n_choices && !e; i++) {
		const struct choice *c = &from->choices[i];

		e = add_choice(to, c->kind, (struct str){c->text, c->len});
	}
	if (e || !from->items)
		return e;
	to->items = calloc(1, sizeof *to->items);
	return to->items ? copy_rule(from->items, to->items) : -1;
}

/* ---- what it has to let through ---- */

static void drop_choices(struct rule *r)
{
	for (size_t i = 0; i < r->n_choices; i++)
		free(r->choices[i].text);
	free(r->choices);
	r->choices = NULL;
	r->n_choices = 0;
	r->has_choices = false;
}

static void drop_items(struct rule *r)
{
	if (r->items)
		where_rule_done(r->items);
	free(r->items);
	r->items = NULL;
}

static int widen_choices(struct rule *r, const struct json_value *v)
{
	enum json_kind kind = json_kind(v);
	struct str s = {"", 0};

	if (kind == JSON_NUMBER)
		s = where_digits(v);
	else if (kind == JSON_STRING)
		s.p = json_string(v, &s.len);
	else if (kind == JSON_BOOL)
		s = json_is_true(v) ? STR("true") : STR("false");
	if (kind != JSON_ARRAY && kind != JSON_OBJECT && s.len <= TEXT_MAX &&
	    r->n_choices < CHOICES_MAX && str_is_plain(s))
		return add_choice(r, kind, s);
	drop_choices(r);
	return 0;
}

/* A strict bound gives way to its twin, which lets the value itself through. */
static int widen_bound(struct rule *r, size_t i, const struct json_value *v)
{
	size_t to = where_bounds[i].strict ? i - (EXCLUSIVE_MINIMUM - MINIMUM)
					   : i;
	char room[24];
	struct str s;
	int e = 0;

	if (json_kind(v) == where_bounds[i].kind) {
		s = where_measure(i, v, room);
		if (s.len <= TEXT_MAX)
			e = set_bound(r, to, s);
		else
			to = BOUNDS;
	} else {
		to = BOUNDS;
	}
	if (to == i)
		return e;
	free(r->bound[i]);
	r->bound[i] = NULL;
	return e;
}

static bool is_empty(const struct rule *r)
{
	for (size_t i = 0; i < BOUNDS; i++)
		if (r->bound[i])
			return false;
	return !r->types && !r->has_choices && !r->items;
}

static int widen_rule(struct rule *r, const struct json_value *v)
{
	struct json_iter it = json_iter(v);
	int e = 0;

	if (!where_type_fits(r, v))
		r->types |= 1u << json_kind(v);
	if (!where_choice_fits(r, v))
		e = widen_choices(r, v);
	for (size_t i = 0; i < BOUNDS && !e; i++)
		if (r->bound[i] && !where_bound_fits(r, i, v))
			e = widen_bound(r, i, v);
	if (e || !r->items)
		return e;
	if (json_kind(v) != JSON_ARRAY) {
		drop_items(r);
		return 0;
	}
	while (!e && json_next(&it))
		e = widen_rule(r->items, it.value);
	if (!e && is_empty(r->items))
		drop_items(r);
	return e;
}

/* ---- as text ---- */

static int put_types(const struct rule *r, struct buf *out)
{
	const char *sep = "";

	if (buf_addf(out, "type: ["))
		return -1;
	for (unsigned i = 0; i < TYPES; i++) {
		if (!(r->types & 1u << i))
			continue;
		if (buf_addf(out, "%s%s", sep, where_types[i]))
			return -1;
		sep = ", ";
	}
	return buf_add(out, "]", 1);
}

static int put_choice(const struct choice *c, struct buf *out)
{
	if (c->kind == JSON_NULL)
		return buf_addf(out, "null");
	if (c->kind == JSON_STRING)
		return json_put_string(out, c->text, c->len);
	return buf_add(out, c->text, c->len);
}

static int put_choices(const struct rule *r, struct buf *out)
{
	if (buf_addf(out, "enum: ["))
		return -1;
	for (size_t i = 0; i < r->n_choices; i++)
		if ((i && buf_add(out, ", ", 2)) ||
		    put_choice(&r->choices[i], out))
			return -1;
	return buf_add(out, "]", 1);
}

static int put_rule(const struct rule *r, struct buf *out)
{
	const char *sep = "";

	if (buf_add(out, "{", 1))
		return -1;
	if (r->types) {
		if (put_types(r, out))
			return -1;
		sep = ", ";
	}
	if (r->has_choices) {
		if (buf_addf(out, "%s", sep) || put_choices(r, out))
			return -1;
		sep = ", ";
	}
	for (size_t i = 0; i < BOUNDS; i++) {
		if (!r->bound[i])
			continue;
		if (buf_addf(out, "%s%s: %s", sep, where_bounds[i].name,
			     r->bound[i]))
			return -1;
		sep = ", ";
	}
	if (r->items &&
	    (buf_addf(out, "%sitems: ", sep) || put_rule(r->items, out)))
		return -1;
	return buf_add(out, "}", 1);
}

static int put_all(const struct where *w, struct buf *out)
{
	if (buf_add(out, "{", 1))
		return -1;
	for (size_t i = 0; i < w->n_rules; i++)
		if ((i && buf_add(out, ", ", 2)) ||
		    flow_print_text(str_of(w->rules[i].name), out) ||
		    buf_add(out, ": ", 2) || put_rule(&w->rules[i], out))
			return -1;
	return buf_add(out, "}", 1);
}

/* ---- all of it ---- */

/* A rule that is met is copied as it is; one whose argument is not there, or
 * that would say nothing any more, is left out. */
static int widen_all(const struct where *from, const struct json_value *args,
		     struct where *to)
{
	for (size_t i = 0; i < from->n_rules; i++) {
		const struct json_value *v =
			json_member(args, from->rules[i].name);
		struct rule *r = &to->rules[to->n_rules];

		if (!v)
			continue;
		to->n_rules++;
		if (copy_rule(&from->rules[i], r) || widen_rule(r, v))
			return -1;
		if (is_empty(r)) {
			where_rule_done(r);
			to->n_rules--;
		}
	}
	return 0;
}

int where_widen(const struct where *w, const struct json_value *args,
		struct where **ret, struct redoma_error *err)
{
	CLEANUP(where_cleanup) struct where *to = calloc(1, sizeof *to);
	CLEANUP(buf_done) struct buf text = {0};

	if (!to)
		return err_nomem(err, WHERE);
	to->shares = 1;
	if (widen_all(w, args, to) || put_all(to, &text))
		return err_nomem(err, WHERE);
	to->text = buf_take(&text);
	if (!to->text)
		return err_nomem(err, WHERE);
	*ret = TAKE_PTR(to);
	return 0;
}

bool where_is_empty(const struct where *w)
{
	return !w || !w->n_rules;
}
