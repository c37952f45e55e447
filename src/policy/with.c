#include "base/cleanup.h"
#include "base/nearest.h"
#include "policy/choices.h"
#include "policy/env.h"
#include "policy/grants.h"
#include "policy/later.h"
#include "policy/limits.h"
#include "policy/native.h"
#include "policy/policy.h"
#include "policy/sources.h"
#include "policy/tools.h"
#include "policy/walls.h"

#define WHERE "policy"

static void policy_cleanup(struct policy **p)
{
	policy_free(*p);
}

struct option {
	const char *name;
	/* `dir` as in grants_option. */
	int (*apply)(struct policy *p, struct str value, const char *dir,
		     struct redoma_error *err);
	/* Or: the value as it stands in a file. */
	int (*read)(void *policy, const struct tree *v,
		    struct redoma_error *err);
};

static int apply_read(struct policy *p, struct str value, const char *dir,
		      struct redoma_error *err)
{
	return grants_option(p, false, value, dir, err);
}

static int apply_write(struct policy *p, struct str value, const char *dir,
		       struct redoma_error *err)
{
	return grants_option(p, true, value, dir, err);
}

static int apply_env(struct policy *p, struct str value, const char *dir,
		     struct redoma_error *err)
{
	(void)dir;
	return env_option(p, value, err);
}

static int apply_limit(struct policy *p, struct str value, const char *dir,
		       struct redoma_error *err)
{
	struct tree leaf = {.kind = TREE_SCALAR, .quoted = true};
	struct tree map = {.kind = TREE_MAP, .count = 1, .first = &leaf};

	(void)dir;
	if (!str_split(value, '=', &leaf.key, &leaf.text))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "limit %s: no value; write NAME=VALUE, for "
			       "example memory=64MiB", SHOW(value));
	return limits_read(p, &map, err);
}

static int apply_allow(struct policy *p, struct str value, const char *dir,
		       struct redoma_error *err)
{
	(void)dir;
	return later_option(p, "net", value, err);
}

static int apply_tool(struct policy *p, struct str value, const char *dir,
		      struct redoma_error *err)
{
	(void)dir;
	return tools_option(p, value, err);
}

static int apply_walls(struct policy *p, struct str value, const char *dir,
		       struct redoma_error *err)
{
	(void)dir;
	return walls_option(p, value, err);
}

static int apply_native(struct policy *p, struct str value, const char *dir,
			struct redoma_error *err)
{
	return native_option(p, value, dir, err);
}

static const struct option options[] = {
	{"read", apply_read, NULL},
	{"write", apply_write, NULL},
	{"env", apply_env, NULL},
	{"limit", apply_limit, NULL},
	{"allow", apply_allow, NULL},
	{"tool", apply_tool, NULL},
	{"native", apply_native, NULL},
	{"walls", apply_walls, NULL},
	{"clock", NULL, source_read_clock},
	{"random", NULL, source_read_random},
	{"on_denied", NULL, choice_read_on_denied},
	{"reuse", NULL, choice_read_reuse},
	{NULL, NULL, NULL},
};
#define N_OPTIONS (sizeof options / sizeof *options)

static int refuse_key(const char *key, struct redoma_error *err)
{
	const char *names[N_OPTIONS], *near;

	for (size_t i = 0; i < N_OPTIONS; i++)
		names[i] = options[i].name;
	near = nearest_name(str_of(key), names);
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "unknown setting %s%s%s%s", SHOW(str_of(key)),
		       near ? "; did you mean \"" : "; known are: read, write, "
		       "env, limit, allow, tool, native, walls, clock, random, "
		       "on_denied, reuse", near ? near : "",
		       near ? "\"?" : "");
}

/* A relative host name must not change its meaning when it moves from the
 * caller's directory to the policy's. */
static int find_dir(const struct policy *p, const char *base_dir,
		    const char *value, const char **ret,
		    struct redoma_error *err)
{
	const char *dir = base_dir ? base_dir : ".";

	*ret = NULL;
	if (value[0] == '/' || str_equal(str_of(dir), str_of(p->base_dir)))
		return 0;
	if (dir[0] != '/' && !str_equal(str_of(p->base_dir), STR(".")))
		return err_set(err, REDOMA_E_INVALID, WHERE, "%s: the policy's "
			       "relative names start elsewhere; give an "
			       "absolute base_dir, or an absolute path",
			       SHOW(str_of(value)));
	*ret = dir;
	return 0;
}

int policy_with(const struct policy *p, const char *key, const char *value,
		const char *base_dir, struct policy **ret,
		struct redoma_error *err)
{
	CLEANUP(policy_cleanup) struct policy *c = NULL;
	struct tree leaf = {.kind = TREE_SCALAR, .quoted = true};
	const struct option *o = options;
	const char *dir = NULL;
	int e;

	while (o->name && !str_equal(str_of(key), str_of(o->name)))
		o++;
	if (!o->name)
		return refuse_key(key, err);
	if (o->apply == apply_read || o->apply == apply_write) {
		e = find_dir(p, base_dir, value, &dir, err);
		if (e)
			return e;
	}
	e = policy_copy(p, &c, err);
	if (e)
		return e;
	leaf.text = str_of(value);
	e = o->apply ? o->apply(c, leaf.text, dir, err)
		     : o->read(c, &leaf, err);
	if (e)
		return e;
	*ret = TAKE_PTR(c);
	return 0;
}
