#include "cli/args.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/nearest.h"
#include "base/str.h"

static const struct option *find(const struct option *const *tables,
				 struct str name)
{
	for (; *tables; tables++)
		for (const struct option *o = *tables; o->name; o++)
			if (str_equal(str_of(o->name), name))
				return o;
	return NULL;
}

static const struct option *find_letter(const struct option *const *tables,
					char letter)
{
	for (; *tables; tables++)
		for (const struct option *o = *tables; o->name; o++)
			if (letter && o->letter == letter)
				return o;
	return NULL;
}

#define NAMES_MAX 64

static const char *nearest_option(const struct option *const *tables,
				  struct str name)
{
	const char *names[NAMES_MAX] = {NULL};
	size_t n = 0;

	for (; *tables; tables++)
		for (const struct option *o = *tables; o->name; o++)
			if (n < NAMES_MAX - 1 && !o->later)
				names[n++] = o->name;
	return nearest_name(name, names);
}

static int unknown(const struct option *const *tables, struct str name,
		   struct redoma_error *err)
{
	const char *near = nearest_option(tables, name);

	if (near)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "there is no option --%.*s; did you mean --%s?",
			       (int)(name.len > 40 ? 40 : name.len), name.p,
			       near);
	return err_set(err, REDOMA_E_INVALID, "cli",
		       "there is no option %s; --help lists those there are",
		       SHOW(name));
}

static int keep(struct args *a, const struct option *o, const char *value,
		struct redoma_error *err)
{
	if (o->later)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "--%s is not in this release (" REDOMA_VERSION
			       "); leave it out",
			       o->name);
	if (!o->repeats && args_has(a, o->name))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "--%s is given twice; give it once", o->name);
	a->given[a->n_given].option = o;
	a->given[a->n_given].value = value;
	a->n_given++;
	return 0;
}

/* Takes one option at argv[0]; *ret_used says how many words it took. */
static int take_long(const struct option *const *tables, char **argv,
		     struct args *a, size_t *ret_used,
		     struct redoma_error *err)
{
	struct str name = str_of(argv[0] + 2);
	const char *value = strchr(argv[0] + 2, '=');
	const struct option *o;

	if (value)
		name.len = (size_t)(value++ - name.p);
	o = find(tables, name);
	if (!o)
		return unknown(tables, name, err);
	*ret_used = 1;
	if (!o->value && !o->later && value)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "--%s takes no value; leave \"=%.60s\" out",
			       o->name, value);
	if (o->value && !o->later && !value) {
		value = argv[1];
		*ret_used = 2;
		if (!value)
			return err_set(err, REDOMA_E_INVALID, "cli",
				       "--%s needs a value: --%s %s", o->name,
				       o->name, o->value);
	}
	return keep(a, o, value, err);
}

static int take_short(const struct option *const *tables, char **argv,
		      struct args *a, size_t *ret_used,
		      struct redoma_error *err)
{
	const struct option *o = find_letter(tables, argv[0][1]);

	if (!o || argv[0][2])
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "there is no option %s; a file of that name is "
			       "written ./%.60s",
			       SHOW(str_of(argv[0])), argv[0]);
	if (o->value && !argv[1])
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "-%c needs a value: -%c %s", o->letter,
			       o->letter, o->value);
	*ret_used = o->value ? 2 : 1;
	return keep(a, o, o->value ? argv[1] : NULL, err);
}

static int parse(const struct option *const *tables, char **argv,
		 struct args *a, struct redoma_error *err)
{
	size_t used = 0;
	int rc = 0;

	for (char **w = argv; !rc && *w; w += used) {
		used = 1;
		if (!strcmp(*w, "--")) {
			a->rest = w + 1;
			while (a->rest[a->n_rest])
				a->n_rest++;
			return 0;
		}
		if (!strncmp(*w, "--", 2))
			rc = take_long(tables, w, a, &used, err);
		else if (**w == '-' && (*w)[1])
			rc = take_short(tables, w, a, &used, err);
		else
			a->words[a->n_words++] = *w;
	}
	return rc;
}

int args_parse(const struct option *const *tables, char **argv,
	       struct args *ret, struct redoma_error *err)
{
	CLEANUP(args_done) struct args a = {0};
	size_t n = 0;
	int rc;

	while (argv[n])
		n++;
	a.given = calloc(n + 1, sizeof(*a.given));
	a.words = calloc(n + 1, sizeof(*a.words));
	if (!a.given || !a.words)
		return err_nomem(err, "cli");
	rc = parse(tables, argv, &a, err);
	if (rc)
		return rc;
	*ret = a;
	a = (struct args){0};
	return 0;
}

void args_done(struct args *a)
{
	free(a->given);
	free(a->words);
	*a = (struct args){0};
}

bool args_has(const struct args *a, const char *name)
{
	for (size_t i = 0; i < a->n_given; i++)
		if (!strcmp(a->given[i].option->name, name))
			return true;
	return false;
}

const char *args_value(const struct args *a, const char *name)
{
	for (size_t i = 0; i < a->n_given; i++)
		if (!strcmp(a->given[i].option->name, name))
			return a->given[i].value;
	return NULL;
}
