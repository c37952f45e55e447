#include "policy/env.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "policy/read.h"

#define WHERE "policy"

size_t env_count(char *const *env)
{
	size_t n = 0;

	while (env && env[n])
		n++;
	return n;
}

void env_free(char **env)
{
	for (size_t i = 0; env && env[i]; i++)
		free(env[i]);
	free(env);
}

static void env_cleanup(char ***env)
{
	env_free(*env);
}

int env_copy(char *const *env, char ***ret, struct redoma_error *err)
{
	size_t n = env_count(env);
	CLEANUP(env_cleanup) char **copy = calloc(n + 1, sizeof *copy);

	if (!copy)
		return err_nomem(err, WHERE);
	for (size_t i = 0; i < n; i++) {
		int e = read_copy(str_of(env[i]), &copy[i], err);

		if (e)
			return e;
	}
	*ret = TAKE_PTR(copy);
	return 0;
}

static size_t find(char *const *env, struct str name)
{
	size_t n = env_count(env);

	for (size_t i = 0; i < n; i++) {
		if (str_starts(str_of(env[i]), name) && env[i][name.len] == '=')
			return i;
	}
	return n;
}

const char *env_find(char *const *env, struct str name)
{
	return env ? env[find(env, name)] : NULL;
}

static bool is_name(struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];
		bool letter = (c >= 'A' && c <= 'Z') ||
			      (c >= 'a' && c <= 'z') || c == '_';

		if (!letter && !(i && c >= '0' && c <= '9'))
			return false;
	}
	return s.len > 0;
}

static bool is_utf8(struct str s)
{
	for (size_t i = 0, n; i < s.len; i += n) {
		n = str_utf8(s.p + i, s.len - i);
		if (!n)
			return false;
	}
	return true;
}

static const char *flaw(struct str name, struct str value)
{
	if (!is_name(name))
		return "not a name; use letters, digits and _, the first not "
		       "a digit";
	if (value.len && memchr(value.p, '\0', value.len))
		return "the value holds a NUL byte; remove it";
	if (!is_utf8(value))
		return "the value is not UTF-8; encode it, for example in "
		       "base64";
	if (name.len + value.len + 1 > PLAN_TEXT_MAX)
		return "the value is longer than 64 KiB; pass it in a file";
	return NULL;
}

static int put(struct policy *p, struct str name, struct str value,
	       struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	size_t n = env_count(p->env), at;
	char **grown, *text;

	if (buf_add(&b, name.p, name.len) || buf_add(&b, "=", 1) ||
	    buf_add(&b, value.p, value.len))
		return err_nomem(err, WHERE);
	grown = realloc(p->env, (n + 2) * sizeof *grown);
	if (!grown)
		return err_nomem(err, WHERE);
	if (!p->env)
		grown[0] = NULL;
	p->env = grown;
	at = find(grown, name);
	text = buf_take(&b);
	free(grown[at]);
	grown[at] = text;
	if (at == n)
		grown[n + 1] = NULL;
	return 0;
}

static int set(struct policy *p, const struct tree *at, struct str value,
	       struct redoma_error *err)
{
	const char *bad = flaw(at->key, value);

	if (!bad && env_count(p->env) >= PLAN_NAMES_MAX)
		bad = "more than 1024 variables; pass them in a file";
	if (bad)
		return tree_refuse_key(at, err, "env %s: %s", SHOW(at->key),
				       bad);
	return put(p, at->key, value, err);
}

int env_read(void *policy, const struct tree *map, struct redoma_error *err)
{
	struct policy *p = policy;

	if (map->kind != TREE_MAP)
		return tree_refuse(map, err, "env is not a map; write names "
				   "and values: env: {TZ: UTC}");
	for (const struct tree *v = map->first; v; v = v->next) {
		struct str value;
		int e;

		if (tree_get(v, "secret"))
			return tree_refuse(v, err, "env %s: a guest never sees "
					   "a secret; give it to the net or "
					   "tools entry that needs it",
					   SHOW(v->key));
		if (v->kind != TREE_SCALAR || tree_is_null(v))
			return tree_refuse(v, err, "env %s: write one value, "
					   "\"\" for an empty one",
					   SHOW(v->key));
		value = v->text;
		e = set(p, v, value, err);
		if (e)
			return e;
	}
	return 0;
}

int env_option(struct policy *p, struct str value, struct redoma_error *err)
{
	struct tree at = {.kind = TREE_SCALAR, .quoted = true};
	struct str text;

	if (!str_split(value, '=', &at.key, &text))
		return tree_refuse(&at, err, "env %s: no value; write "
				   "NAME=VALUE", SHOW(value));
	return set(p, &at, text, err);
}
