#include <stdlib.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "policy/env.h"
#include "policy/grants.h"
#include "policy/later.h"
#include "policy/limits.h"
#include "policy/native.h"
#include "policy/policy.h"
#include "policy/sources.h"
#include "policy/tools.h"

#define WHERE "policy"
#define NARROWS "what is asked for beside a policy can only narrow it"

/* What inner grants have taken of one outer grant so far: two halves of a
 * directory must not add up to more than the directory. */
struct taken {
	uint64_t bytes, files, opens;
};

static int wider(struct redoma_error *err, const char *what,
		 const char *inner, const char *outer)
{
	return err_set(err, REDOMA_E_DENIED, WHERE,
		       "%s: %s is more than the policy's %s; ask for no more "
		       "than that", what, inner, outer);
}

static int check_limits(const struct policy *outer, const struct policy *inner,
			struct redoma_error *err)
{
	char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];

	for (const struct limit_row *r = limit_rows; r->name; r++) {
		uint64_t in = limit_get(&inner->limits, r);
		uint64_t out = limit_get(&outer->limits, r);

		/* 0, of fuel alone, is "not counted": the widest. */
		if (!out || (in && in <= out))
			continue;
		return wider(err, r->full,
			     in ? limit_print(r, in, a) : "\"not counted\"",
			     limit_print(r, out, b));
	}
	return 0;
}

/* A host name as it is opened: dir, then name; without allocating. */
struct path {
	struct str dir, name;
};

static struct path host_path(const struct policy *p, const struct grant *g)
{
	bool absolute = g->host[0] == '/';

	return (struct path){str_of(absolute ? "/" : p->base_dir),
			     str_of(g->host)};
}

/* Takes the next component that is neither "" nor "." off the front. */
static bool next_part(struct path *p, struct str *ret)
{
	while (p->dir.len || p->name.len) {
		struct str *s = p->dir.len ? &p->dir : &p->name;
		struct str rest = {0};

		if (!str_split(*s, '/', ret, &rest))
			*ret = *s;
		*s = rest;
		if (ret->len && !str_equal(*ret, STR(".")))
			return true;
	}
	return false;
}

static bool is_absolute(const struct path *p)
{
	return p->dir.len && p->dir.p[0] == '/';
}

/* Cuts `outer` off the front of *inner; false if it does not begin so. */
static bool cut_prefix(struct path outer, struct path *inner)
{
	struct str a, b;

	if (is_absolute(&outer) != is_absolute(inner))
		return false;
	while (next_part(&outer, &a)) {
		if (!next_part(inner, &b) || !str_equal(a, b))
			return false;
	}
	return true;
}

static bool same_rest(struct path a, struct path b, bool *ret_empty)
{
	struct str x, y;

	*ret_empty = true;
	for (;;) {
		bool more = next_part(&a, &x);

		if (more != next_part(&b, &y) ||
		    (more && !str_equal(x, y)))
			return false;
		if (!more)
			return true;
		*ret_empty = false;
	}
}

/* One grant of each policy. */
struct pair {
	const struct policy *outer, *inner;
	const struct grant *o, *i;
};

/* The same file, or something below the outer directory, under the name inside
 * that it has there.  *ret_same: the very same. */
static bool names_fit(const struct pair *t, bool *ret_same)
{
	struct path rest = host_path(t->inner, t->i);
	struct path guest = {STR("/"), str_of(t->i->guest)};

	if (grant_is_write(t->o) != grant_is_write(t->i) ||
	    !cut_prefix(host_path(t->outer, t->o), &rest) ||
	    !cut_prefix((struct path){STR("/"), str_of(t->o->guest)}, &guest) ||
	    !same_rest(rest, guest, ret_same))
		return false;
	if (*ret_same)
		return grant_is_dir(t->o) == grant_is_dir(t->i);
	/* Below it, since a name inside, and so the rest, has no "..". */
	return grant_is_dir(t->o);
}

static bool exceeds(uint64_t taken, uint64_t more, uint64_t limit)
{
	return limit != POLICY_UNSET &&
	       (more > limit || taken > limit - more);
}

static const char *wider_write_key(const struct grant *o, const struct grant *i,
				   const struct taken *taken)
{
	if (exceeds(taken->files, grant_is_dir(i) ? i->max_files : 1,
		    o->max_files))
		return "max_files";
	if (o->mode != i->mode && o->mode != WRITE_REPLACE)
		return "mode";
	return NULL;
}

static bool digest_fits(const struct grant *o, const struct grant *i)
{
	return !o->has_sha256 ||
	       (i->has_sha256 &&
		!memcmp(o->sha256, i->sha256, sizeof o->sha256));
}

/* NULL, or the key that is wider. */
static const char *wider_key(const struct pair *t, const struct taken *taken,
			     bool same)
{
	const struct grant *o = t->o, *i = t->i;

	if (i->follow && !(same && o->follow))
		return "follow";
	if (!digest_fits(o, i))
		return "sha256";
	if (i->first < o->first || i->last > o->last)
		return "bytes";
	if (exceeds(taken->bytes, i->max_bytes, o->max_bytes))
		return "max_bytes";
	if (exceeds(taken->opens, i->opens, o->opens))
		return "opens";
	return grant_is_write(i) ? wider_write_key(o, i, taken) : NULL;
}

static void sum(uint64_t *total, uint64_t n)
{
	*total = n > UINT64_MAX - *total ? UINT64_MAX : *total + n;
}

static void take(struct taken *taken, const struct grant *g)
{
	sum(&taken->bytes, g->max_bytes);
	sum(&taken->opens, g->opens);
	sum(&taken->files, grant_is_dir(g) ? g->max_files : 1);
}

static int check_grant(const struct policy *outer, const struct policy *inner,
		       const struct grant *i, struct taken *taken,
		       struct redoma_error *err)
{
	const char *word = grant_is_write(i) ? "write" : "read";
	const char *key, *first = NULL;
	bool same;

	for (size_t k = 0; k < outer->n_grants; k++) {
		struct pair t = {outer, inner, &outer->grants[k], i};

		if (!names_fit(&t, &same))
			continue;
		key = wider_key(&t, &taken[k], same);
		if (!key) {
			take(&taken[k], i);
			return 0;
		}
		first = first ? first : key;
	}
	if (first)
		return err_set(err, REDOMA_E_DENIED, WHERE, "%s %s: %s is "
			       "wider than the policy's; ask for no more "
			       "than that", word,
			       SHOW(str_of(i->guest)), first);
	return err_set(err, REDOMA_E_DENIED, WHERE, "%s %s as %s: the policy "
		       "does not grant it, and " NARROWS "; add it to the "
		       "policy's `%s`, or leave it out", word,
		       SHOW(str_of(i->host)), SHOW(str_of(i->guest)), word);
}

static int check_grants(const struct policy *outer, const struct policy *inner,
			struct redoma_error *err)
{
	CLEANUP_FREE struct taken *taken =
		calloc(outer->n_grants + 1, sizeof *taken);

	if (!taken)
		return err_nomem(err, WHERE);
	for (size_t i = 0; i < inner->n_grants; i++) {
		int e = check_grant(outer, inner, &inner->grants[i], taken,
				    err);

		if (e)
			return e;
	}
	return 0;
}

static int check_env(const struct policy *outer, const struct policy *inner,
		     struct redoma_error *err)
{
	for (size_t i = 0; inner->env && inner->env[i]; i++) {
		struct str name, value;
		const char *there;

		if (!str_split(str_of(inner->env[i]), '=', &name, &value))
			continue;
		there = env_find(outer->env, name);
		if (!there)
			return err_set(err, REDOMA_E_DENIED, WHERE, "env %s: "
				       "the policy does not have it, and "
				       NARROWS "; add it to the policy's "
				       "`env`, or leave it out",
				       SHOW(name));
		if (!str_equal(str_of(there), str_of(inner->env[i])))
			return err_set(err, REDOMA_E_DENIED, WHERE, "env %s: "
				       "the policy has another value; leave it "
				       "out",
				       SHOW(name));
	}
	return 0;
}

/* real > fixed > none. */
static int check_sources(const struct policy *outer, const struct policy *inner,
			 struct redoma_error *err)
{
	char a[SOURCE_TEXT_MAX], b[SOURCE_TEXT_MAX];

	if (inner->clock < outer->clock ||
	    (inner->clock == SOURCE_FIXED && outer->clock == SOURCE_FIXED &&
	     inner->clock_fixed_ns != outer->clock_fixed_ns))
		return wider(err, "clock", source_print_clock(inner, a),
			     source_print_clock(outer, b));
	if (inner->random < outer->random ||
	    (inner->random == SOURCE_FIXED && outer->random == SOURCE_FIXED &&
	     inner->random_seed != outer->random_seed))
		return wider(err, "random", source_print_random(inner, a),
			     source_print_random(outer, b));
	return 0;
}

static int check_later(const struct policy *outer, const struct policy *inner,
		       struct redoma_error *err)
{
	for (size_t i = 0; i < inner->n_later; i++) {
		const struct policy_later *in = &inner->later[i];
		const struct policy_later *out = later_find(outer, in->key);

		if (!out || strcmp(in->text, out->text) != 0)
			return err_set(err, REDOMA_E_DENIED, WHERE, "%s: not "
				       "what the policy has; leave it out or "
				       "write it the same", in->key);
	}
	return 0;
}

static int check_rest(const struct policy *outer, const struct policy *inner,
		      struct redoma_error *err)
{
	uint32_t more = inner->may_lack & ~outer->may_lack;

	if (outer->end_on_denied && !inner->end_on_denied)
		return wider(err, "on_denied", "error", "end");
	if (more)
		return err_set(err, REDOMA_E_DENIED, WHERE, "walls: the policy "
			       "requires %s; leave it out",
			       policy_control_names[__builtin_ctz(more)]);
	if (inner->reuse_tenant && !outer->reuse_tenant)
		return wider(err, "reuse", "tenant", "never");
	return 0;
}

int policy_contains(const struct policy *outer, const struct policy *inner,
		    struct redoma_error *err)
{
	int e = check_limits(outer, inner, err);

	if (!e)
		e = check_grants(outer, inner, err);
	if (!e)
		e = check_env(outer, inner, err);
	if (!e)
		e = check_sources(outer, inner, err);
	if (!e)
		e = tools_contain(outer, inner, err);
	if (!e)
		e = check_later(outer, inner, err);
	if (!e)
		e = native_contains(outer, inner, err);
	return e ? e : check_rest(outer, inner, err);
}
