#include "policy/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/units.h"
#include "policy/env.h"
#include "policy/grants.h"
#include "policy/later.h"
#include "policy/limits.h"
#include "policy/native.h"
#include "policy/read.h"
#include "policy/tools.h"

#define WHERE "policy"

static void policy_cleanup(struct policy **p)
{
	policy_free(*p);
}

/* A comparison under way.  `mixed` is a, but for the one thing of b that is
 * looked at. */
struct diff {
	const struct policy *a, *b;
	struct policy *mixed;
	struct buf *out;
};

static int mix(struct diff *d, struct redoma_error *err)
{
	struct policy *p;
	char *dir = NULL;
	int e;

	policy_free(d->mixed);
	d->mixed = NULL;
	e = policy_copy(d->a, &d->mixed, err);
	if (!e)
		e = read_copy(str_of(d->b->base_dir), &dir, err);
	if (e)
		return e;
	p = d->mixed;
	free(p->base_dir);
	p->base_dir = dir;
	for (size_t i = 0; i < p->n_grants; i++)
		grant_done(&p->grants[i]);
	p->n_grants = 0;
	for (size_t i = 0; p->env[i]; i++) {
		free(p->env[i]);
		p->env[i] = NULL;
	}
	return 0;
}

/* Lines of a printed policy that belong to one key: its own and the deeper ones
 * behind it. */
static int put_section(const char *text, const char *key, char sign,
		       struct buf *out)
{
	size_t n = strlen(key);
	bool inside = false;

	while (*text) {
		size_t len = strcspn(text, "\n");

		if (*text != ' ')
			inside = !strncmp(text, key, n) && text[n] == ':';
		if (inside &&
		    buf_addf(out, "%c %.*s\n", sign, (int)len, text))
			return -1;
		text += len + (text[len] == '\n');
	}
	return 0;
}

/* A look at what was mixed; told if it is wider.  `old`: what a says there. */
static int look(struct diff *d, const char *key, bool old,
		struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf mine = {0};
	CLEANUP(buf_done) struct buf theirs = {0};
	int e = policy_contains(d->a, d->mixed, NULL);

	if (e != REDOMA_E_DENIED)
		return e ? err_nomem(err, WHERE) : 0;
	if (policy_print(d->a, &mine) || policy_print(d->mixed, &theirs) ||
	    (old && put_section(mine.data, key, '-', d->out)) ||
	    put_section(theirs.data, key, '+', d->out))
		return err_nomem(err, WHERE);
	return 0;
}

static int put_limit(const struct policy *p, const struct limit_row *r,
		     char sign, struct buf *out)
{
	uint64_t n = limit_get(&p->limits, r);
	char room[UNITS_TEXT_MAX];

	/* 0, of fuel alone. */
	return buf_addf(out, "%c %s: %s\n", sign, r->full,
			n ? limit_print(r, n, room) : "not counted");
}

static int diff_limits(struct diff *d, struct redoma_error *err)
{
	for (const struct limit_row *r = limit_rows; r->name; r++) {
		int e = mix(d, err);

		if (e)
			return e;
		limit_set(&d->mixed->limits, r, limit_get(&d->b->limits, r));
		e = policy_contains(d->a, d->mixed, NULL);
		if (e && e != REDOMA_E_DENIED)
			return err_nomem(err, WHERE);
		if (e && (put_limit(d->a, r, '-', d->out) ||
			  put_limit(d->b, r, '+', d->out)))
			return err_nomem(err, WHERE);
	}
	return 0;
}

static int diff_grants(struct diff *d, struct redoma_error *err)
{
	for (size_t i = 0; i < d->b->n_grants; i++) {
		const struct grant *g = &d->b->grants[i];
		struct policy *p;
		int e = mix(d, err);

		if (e)
			return e;
		p = d->mixed;
		free(p->grants);
		p->grants = calloc(1, sizeof *p->grants);
		if (!p->grants)
			return err_nomem(err, WHERE);
		e = grant_copy(g, p->grants, err);
		if (e)
			return e;
		p->n_grants = 1;
		e = look(d, grant_is_write(g) ? "write" : "read", false, err);
		if (e)
			return e;
	}
	return 0;
}

static int diff_env(struct diff *d, struct redoma_error *err)
{
	for (size_t i = 0; d->b->env[i]; i++) {
		char *one[2] = {d->b->env[i], NULL};
		int e = mix(d, err);

		if (e)
			return e;
		env_free(d->mixed->env);
		d->mixed->env = NULL;
		e = env_copy(one, &d->mixed->env, err);
		if (!e)
			e = look(d, "env", false, err);
		if (e)
			return e;
	}
	return 0;
}

static void take_clock(struct policy *p, const struct policy *b)
{
	p->clock = b->clock;
	p->clock_fixed_ns = b->clock_fixed_ns;
}

static void take_random(struct policy *p, const struct policy *b)
{
	p->random = b->random;
	p->random_seed = b->random_seed;
}

static void take_on_denied(struct policy *p, const struct policy *b)
{
	p->end_on_denied = b->end_on_denied;
}

static void take_walls(struct policy *p, const struct policy *b)
{
	p->may_lack = b->may_lack;
}

static void take_reuse(struct policy *p, const struct policy *b)
{
	p->reuse_tenant = b->reuse_tenant;
}

static int diff_words(struct diff *d, struct redoma_error *err)
{
	static const struct {
		const char *key;
		void (*take)(struct policy *p, const struct policy *b);
	} words[] = {
		{"clock", take_clock}, {"random", take_random},
		{"on_denied", take_on_denied}, {"walls", take_walls},
		{"reuse", take_reuse},
	};
	int e = 0;

	for (size_t i = 0; i < sizeof words / sizeof *words && !e; i++) {
		e = mix(d, err);
		if (e)
			return e;
		words[i].take(d->mixed, d->b);
		e = look(d, words[i].key, true, err);
	}
	return e;
}

static int diff_parts(struct diff *d, struct redoma_error *err)
{
	int e = mix(d, err);

	if (!e) {
		native_done(d->mixed);
		e = native_copy(d->b, d->mixed, err);
	}
	if (!e)
		e = look(d, "native", true, err);
	if (!e)
		e = mix(d, err);
	if (!e) {
		tools_done(d->mixed);
		e = tools_copy(d->b, d->mixed, err);
	}
	if (!e)
		e = look(d, "tools", true, err);
	for (size_t i = 0; i < d->b->n_later && !e; i++) {
		e = mix(d, err);
		if (!e)
			later_done(d->mixed);
		if (!e)
			e = later_copy(d->b, d->mixed, err);
		if (!e)
			e = look(d, d->b->later[i].key, true, err);
	}
	return e;
}

/* What no single thing shows: grants that add up. */
static int diff_sum(struct diff *d, size_t told, struct redoma_error *err)
{
	struct redoma_error why;

	if (d->out->len > told ||
	    policy_contains(d->a, d->b, &why) != REDOMA_E_DENIED)
		return 0;
	return buf_addf(d->out, "+ together: %s\n", why.text)
		       ? err_nomem(err, WHERE)
		       : 0;
}

int policy_diff(const struct policy *a, const struct policy *b, struct buf *out,
		struct redoma_error *err)
{
	CLEANUP(policy_cleanup) struct policy *mixed = NULL;
	struct diff d = {a, b, NULL, out};
	size_t told = out->len;
	int e = diff_limits(&d, err);

	if (!e)
		e = diff_grants(&d, err);
	if (!e)
		e = diff_env(&d, err);
	if (!e)
		e = diff_words(&d, err);
	if (!e)
		e = diff_parts(&d, err);
	mixed = d.mixed;
	return e ? e : diff_sum(&d, told, err);
}
