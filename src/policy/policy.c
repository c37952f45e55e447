#include "policy/policy.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "policy/choices.h"
#include "policy/env.h"
#include "policy/grants.h"
#include "policy/later.h"
#include "policy/limits.h"
#include "policy/native.h"
#include "policy/read.h"
#include "policy/sources.h"
#include "policy/tools.h"
#include "policy/tree.h"
#include "policy/walls.h"

#define WHERE "policy"

static void policy_cleanup(struct policy **p)
{
	policy_free(*p);
}

void policy_free(struct policy *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_grants; i++)
		grant_done(&p->grants[i]);
	free(p->grants);
	env_free(p->env);
	tools_done(p);
	later_done(p);
	native_done(p);
	free(p->base_dir);
	free(p);
}

/* Deny by default. */
static int make(const char *base_dir, struct policy **ret,
		struct redoma_error *err)
{
	CLEANUP(policy_cleanup) struct policy *p = calloc(1, sizeof *p);
	int e;

	if (!p)
		return err_nomem(err, WHERE);
	limits_default(p);
	native_default(p);
	p->clock = SOURCE_REAL;
	p->random = SOURCE_REAL;
	e = read_copy(str_of(base_dir ? base_dir : "."), &p->base_dir, err);
	if (!e)
		e = env_copy(NULL, &p->env, err);
	if (e)
		return e;
	*ret = TAKE_PTR(p);
	return 0;
}

static int read_version(void *into, const struct tree *v,
			struct redoma_error *err)
{
	struct str s;
	int e = read_scalar(v, "redoma", &s, err);

	(void)into;
	if (!e && !str_equal(s, STR("1")))
		return tree_refuse(v, err, "redoma: %s is not a format this "
				   "version reads; write redoma: 1", SHOW(s));
	return e;
}

static int read_limits(void *into, const struct tree *v,
		       struct redoma_error *err)
{
	return limits_read(into, v, err);
}

static const struct field fields[] = {
	{"redoma", read_version}, {"limits", read_limits},
	{"read", grants_read}, {"write", grants_write}, {"env", env_read},
	{"clock", source_read_clock}, {"random", source_read_random},
	{"net", later_read_net}, {"tools", tools_read},
	{"native", native_read}, {"on_denied", choice_read_on_denied},
	{"walls", walls_read}, {"reuse", choice_read_reuse}, {NULL, NULL},
};

int policy_parse(const char *text, size_t len, const char *base_dir,
		 struct policy **ret, struct redoma_error *err)
{
	CLEANUP(policy_cleanup) struct policy *p = NULL;
	CLEANUP(tree_cleanup) struct tree *t = NULL;
	int e = make(base_dir, &p, err);

	if (!e && len)
		e = tree_parse(text, len, &t, err);
	if (!e && t)
		e = read_map(t, "the policy", fields, p, err);
	if (!e && len && !tree_get(t, "redoma"))
		e = err_set(err, REDOMA_E_INVALID, WHERE, "the policy does not "
			    "say its format; begin it with the line: "
			    "redoma: 1");
	if (e)
		return e;
	*ret = TAKE_PTR(p);
	return 0;
}

static int copy_grants(const struct policy *p, struct policy *to,
		       struct redoma_error *err)
{
	if (!p->n_grants)
		return 0;
	to->grants = calloc(p->n_grants, sizeof *to->grants);
	if (!to->grants)
		return err_nomem(err, WHERE);
	for (; to->n_grants < p->n_grants; to->n_grants++) {
		int e = grant_copy(&p->grants[to->n_grants],
				   &to->grants[to->n_grants], err);

		if (e)
			return e;
	}
	return 0;
}

int policy_copy(const struct policy *p, struct policy **ret,
		struct redoma_error *err)
{
	CLEANUP(policy_cleanup) struct policy *c = malloc(sizeof *c);
	int e;

	if (!c)
		return err_nomem(err, WHERE);
	*c = *p;
	c->base_dir = NULL;
	c->grants = NULL;
	c->env = NULL;
	c->tools = NULL;
	c->later = NULL;
	c->native.roots = NULL;
	c->n_grants = c->n_tools = c->n_later = 0;
	e = read_copy(str_of(p->base_dir), &c->base_dir, err);
	if (!e)
		e = env_copy(p->env, &c->env, err);
	if (!e)
		e = copy_grants(p, c, err);
	if (!e)
		e = tools_copy(p, c, err);
	if (!e)
		e = later_copy(p, c, err);
	if (!e)
		e = native_copy(p, c, err);
	if (e)
		return e;
	*ret = TAKE_PTR(c);
	return 0;
}
