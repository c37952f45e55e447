#include "policy/read.h"

#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/nearest.h"

#define WHERE "policy"
#define NAMES_MAX 32
#define LIST_ROOM 120

static void list_names(const char *const *names, char dst[LIST_ROOM])
{
	size_t at = 0;

	for (size_t i = 0; names[i]; i++) {
		size_t len = strlen(names[i]);

		if (at + len + 3 > LIST_ROOM)
			break;
		if (at) {
			memcpy(dst + at, ", ", 2);
			at += 2;
		}
		memcpy(dst + at, names[i], len);
		at += len;
	}
	dst[at] = '\0';
}

static int refuse_key(const struct tree *v, const char *what,
		      const struct field *fields, struct redoma_error *err)
{
	const char *names[NAMES_MAX + 1], *near;
	char list[LIST_ROOM];
	size_t n = 0;

	for (; fields[n].name && n < NAMES_MAX; n++)
		names[n] = fields[n].name;
	names[n] = NULL;
	near = nearest_name(v->key, names);
	if (near)
		return tree_refuse_key(v, err, "unknown key %s in %s; did you "
				       "mean \"%s\"?", SHOW(v->key), what,
				       near);
	list_names(names, list);
	return tree_refuse_key(v, err, "unknown key %s in %s; known are: %s",
			       SHOW(v->key), what, list);
}

static const char *kind_name(const struct tree *v)
{
	if (v->kind == TREE_LIST)
		return "a list";
	if (v->kind == TREE_MAP)
		return "a map";
	return tree_is_null(v) ? "nothing" : "a single value";
}

int read_map(const struct tree *map, const char *what,
	     const struct field *fields, void *into, struct redoma_error *err)
{
	if (map->kind != TREE_MAP)
		return tree_refuse(map, err, "%s is %s; write keys and values, "
				   "one a line: \"%s: ...\"", what,
				   kind_name(map), fields[0].name);
	for (const struct tree *v = map->first; v; v = v->next) {
		const struct field *f = fields;
		int e;

		while (f->name && !str_equal(v->key, str_of(f->name)))
			f++;
		if (!f->name)
			return refuse_key(v, what, fields, err);
		e = f->read(into, v, err);
		if (e)
			return e;
	}
	return 0;
}

int read_list(const struct tree *list, const char *what,
	      int (*read)(void *into, const struct tree *v,
			  struct redoma_error *err),
	      void *into, struct redoma_error *err)
{
	if (list->kind != TREE_LIST)
		return tree_refuse(list, err, "%s is %s; write a list: each "
				   "entry on its own line after \"- \"", what,
				   kind_name(list));
	for (const struct tree *v = list->first; v; v = v->next) {
		int e = read(into, v, err);

		if (e)
			return e;
	}
	return 0;
}

int read_scalar(const struct tree *v, const char *what, struct str *ret,
		struct redoma_error *err)
{
	if (v->kind != TREE_SCALAR)
		return tree_refuse(v, err, "%s is %s; write a single value",
				   what, kind_name(v));
	if (tree_is_null(v))
		return tree_refuse(v, err, "%s has no value; write one, or "
				   "remove the key", what);
	*ret = v->text;
	return 0;
}

int read_bool(const struct tree *v, const char *what, bool *ret,
	      struct redoma_error *err)
{
	bool yes = str_equal(v->text, STR("true"));

	if (v->kind != TREE_SCALAR || v->quoted ||
	    (!yes && !str_equal(v->text, STR("false"))))
		return tree_refuse(v, err, "%s must be true or false, without "
				   "quotes", what);
	*ret = yes;
	return 0;
}

int read_word(const struct tree *v, const char *what, const char *const *words,
	      unsigned *ret, struct redoma_error *err)
{
	char list[LIST_ROOM];
	const char *near;
	struct str s;
	int e = read_scalar(v, what, &s, err);

	if (e)
		return e;
	for (unsigned i = 0; words[i]; i++) {
		if (str_equal(s, str_of(words[i]))) {
			*ret = i;
			return 0;
		}
	}
	near = nearest_name(s, words);
	if (near)
		return tree_refuse(v, err, "%s: unknown word %s; did you mean "
				   "\"%s\"?", what, SHOW(s), near);
	list_names(words, list);
	return tree_refuse(v, err, "%s: unknown word %s; write one of: %s",
			   what, SHOW(s), list);
}

int read_units(const struct tree *v, const char *what,
	       const char *(*parse)(struct str, uint64_t *), uint64_t *ret,
	       struct redoma_error *err)
{
	const char *bad;
	struct str s;
	int e = read_scalar(v, what, &s, err);

	if (e)
		return e;
	bad = parse(s, ret);
	if (bad)
		return tree_refuse(v, err, "%s %s: %s", what, SHOW(s), bad);
	return 0;
}

int read_copy(struct str s, char **ret, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	char *p;

	if (buf_add(&b, s.p, s.len))
		return err_nomem(err, WHERE);
	p = buf_take(&b);
	if (!p)
		return err_nomem(err, WHERE);
	*ret = p;
	return 0;
}
