#include "core/recall.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "core/install.h"
#include "core/run.h"
#include "lang/lang.h"

#define WHERE "core"

/* The file as it is now: a new one in its place is another image. */
static bool add_image(struct hash *hash, struct redoma *h, const char *language,
		      bool fuel)
{
	const struct lang *lang = lang_find(language ? language : "py");
	char path[PATH_ROOM];
	struct stat st;

	lang = lang ? lang_formulas(lang) : NULL;
	if (!lang ||
	    install_image(h,
			  lang_image(lang, fuel ? PROFILE_IMAGE_FUEL
						: PROFILE_IMAGE),
			  path, NULL) ||
	    stat(path, &st))
		return false;
	hash_add(hash, path, strlen(path) + 1);
	hash_add(hash, &st.st_dev, sizeof st.st_dev);
	hash_add(hash, &st.st_ino, sizeof st.st_ino);
	hash_add(hash, &st.st_size, sizeof st.st_size);
	hash_add(hash, &st.st_mtim, sizeof st.st_mtim);
	return true;
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

	*r = (struct recall){.h = h,
			     .tenant = q->tenant ? q->tenant : "",
			     .fuel = p->limits.fuel};
	if (!may_keep(h, p) || !make_cache(h))
		return;
	hash_init(&hash);
	hash_add(&hash, r->tenant, strlen(r->tenant) + 1);
	r->on = add_image(&hash, h, q->language, r->fuel != 0) &&
		add_policy(&hash, h, p);
	hash_end(&hash, r->scope);
}

static struct formula_ask ask_of(const struct recall *r,
				 const struct buf *batch)
{
	struct formula_ask ask = {.tenant = r->tenant,
				  .batch = {batch->data, batch->len}};

	memcpy(ask.scope, r->scope, sizeof ask.scope);
	return ask;
}

int recall_find(const struct recall *r, const struct buf *batch,
		struct redoma_result **ret, struct redoma_error *err)
{
	struct formula_ask ask = ask_of(r, batch);
	uint64_t from = clock_monotonic_us();
	struct redoma_result *res;
	struct str answer;
	int rc;

	*ret = NULL;
	if (!r->on || atomic_load(&r->h->cancelled))
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
	const struct formula_ask ask = ask_of(r, batch);

	if (r->on && is_repeatable(res))
		formula_cache_keep(r->h->answers, &ask, batch,
				   (struct str){part->p, part->len},
				   sheet_has_time(part));
}
