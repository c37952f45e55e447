#include "core/recall.h"

#include <string.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "core/install.h"
#include "core/run.h"
#include "lang/lang.h"

#define WHERE "core"

static bool find_image(struct recall *r, const char *language)
{
	const struct lang *lang = lang_find(language ? language : "py");

	lang = lang ? lang_formulas(lang) : NULL;
	return lang && !install_image(r->h,
				      lang_image(lang, r->fuel
							? PROFILE_IMAGE_FUEL
							: PROFILE_IMAGE),
				      r->image, NULL);
}

/* As text, which has all of it. */
static bool digest_policy(const struct policy *p, uint8_t ret[HASH_BYTES])
{
	CLEANUP(buf_done) struct buf text = {0};

	if (policy_print(p, &text))
		return false;
	hash_sha256(text.data, text.len, ret);
	return true;
}

static bool add_policy(struct hash *hash, const struct redoma *h,
		       const struct policy *p)
{
	uint8_t other[HASH_BYTES];

	if (p != h->policy && !digest_policy(p, other))
		return false;
	hash_add(hash, p == h->policy ? h->policy_digest : other, sizeof other);
	return true;
}

/* What is granted may say something else the next time.  A policy that a
 * request may not have is never that of an answer: its run was refused. */
static bool may_keep(const struct redoma *h, const struct policy *p)
{
	return h->answers_bytes && !h->verify && !p->n_grants && !p->n_tools;
}

static bool make_cache(struct redoma *h)
{
	return h->answers ||
	       (digest_policy(h->policy, h->policy_digest) &&
		!formula_cache_new(h->answers_bytes, &h->answers, NULL));
}

void recall_begin(struct recall *r, struct redoma *h,
		  const struct redoma_formula_request *q)
{
	const struct policy *p = q->narrow ? (const struct policy *)q->narrow
					   : h->policy;
	struct hash hash;

	r->h = h;
	r->tenant = q->tenant ? q->tenant : "";
	r->fuel = p->limits.fuel;
	r->on = false;
	if (!may_keep(h, p) || !make_cache(h) || !find_image(r, q->language))
		return;
	hash_init(&hash);
	hash_add(&hash, r->tenant, strlen(r->tenant) + 1);
	hash_add(&hash, r->image, strlen(r->image) + 1);
	r->on = add_policy(&hash, h, p);
	hash_end(&hash, r->scope);
}

/* What a run has loaded, not what lies there now: the name may stand for
 * another image since.  False: no run has it loaded. */
static bool ask_of(const struct recall *r, const struct buf *batch,
		   struct formula_ask *ret)
{
	struct pool_image image;
	struct hash hash;

	if (!r->on || !pool_image(r->h->pool, r->tenant, r->image, &image))
		return false;
	ret->tenant = r->tenant;
	ret->batch = (struct str){batch->data, batch->len};
	hash_init(&hash);
	hash_add(&hash, r->scope, sizeof r->scope);
	hash_add(&hash, &image, sizeof image);
	hash_end(&hash, ret->scope);
	return true;
}

int recall_find(const struct recall *r, const struct buf *batch,
		struct redoma_result **ret, struct redoma_error *err)
{
	uint64_t from = clock_monotonic_us();
	struct redoma_result *res;
	struct formula_ask ask;
	struct str answer;
	int rc;

	*ret = NULL;
	if (!ask_of(r, batch, &ask) || atomic_load(&r->h->cancelled))
		return 0;
	answer = formula_cache_find(r->h->answers, &ask);
	if (!answer.len)
		return 0;
	rc = run_none(r->h, &res, err);
	if (rc)
		return rc;
	if (buf_add(&res->value, answer.p, answer.len)) {
		redoma_result_free(res);
		return err_nomem(err, WHERE);
	}
	res->usage.has_fuel = r->fuel != 0;
	res->usage.wall_us = clock_monotonic_us() - from;
	*ret = res;
	return 0;
}

/* A fresh result would be the same to the last byte. */
static bool is_repeatable(const struct redoma_result *res)
{
	return res->status == REDOMA_STATUS_OK && res->pure &&
	       !res->usage.cached && !res->out.len && !res->err.len &&
	       !res->n_denials && !res->n_calls && !res->n_files &&
	       !res->truncated;
}

void recall_keep(const struct recall *r, struct buf *batch,
		 const struct sheet_part *part, const struct redoma_result *res)
{
	struct formula_ask ask;

	if (is_repeatable(res) && ask_of(r, batch, &ask))
		formula_cache_keep(r->h->answers, &ask, batch,
				   (struct str){part->p, part->len},
				   sheet_has_time(part));
}
