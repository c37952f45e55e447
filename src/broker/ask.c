#include "broker/ask.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "wire/pack.h"
#include "wire/plan_wire.h"

#define WHERE "broker"
#define HOST_MAX ((size_t)1 << 20) /* a policy's text is not longer */

enum { SEAL_NATIVE = 1, SEAL_OTHER_USER = 2, SEAL_CWD = 4 };
enum { GRANT_FOLLOW = 1, GRANT_SHA256 = 2 };

static int malformed(struct redoma_error *err)
{
	return err_set(err, REDOMA_E_WORKER, WHERE,
		       "a question of the core that is malformed");
}

/* A text goes with its NUL, so that the reader can borrow it. */
static void pack_text(struct packer *w, const char *s)
{
	pack_str(w, (struct str){s, strlen(s) + 1});
}

static char *unpack_text(struct unpacker *r)
{
	struct str s = unpack_str(r, HOST_MAX + 1);

	if (r->bad || !s.len || memchr(s.p, 0, s.len) != s.p + s.len - 1) {
		r->bad = true;
		return NULL;
	}
	return (char *)s.p;
}

static void pack_grant(struct packer *w, const struct grant *g)
{
	pack_uint(w, g->kind, 1);
	pack_uint(w, g->mode, 1);
	pack_uint(w, (g->follow ? GRANT_FOLLOW : 0u) |
			     (g->has_sha256 ? GRANT_SHA256 : 0u), 1);
	pack_bytes(w, g->sha256, sizeof g->sha256);
	pack_uint(w, g->max_bytes, 8);
	pack_uint(w, g->max_files, 8);
	pack_uint(w, g->first, 8);
	pack_uint(w, g->last, 8);
	pack_uint(w, g->opens, 8);
	pack_uint(w, (uint32_t)g->line, 4);
	pack_text(w, g->host);
	pack_text(w, g->guest);
}

static void unpack_grant(struct unpacker *r, struct grant *g)
{
	uint64_t kind = unpack_uint(r, 1);
	uint64_t mode = unpack_uint(r, 1);
	uint64_t flags = unpack_uint(r, 1);
	const unsigned char *sha256 = unpack_bytes(r, sizeof g->sha256);

	if (kind > GRANT_WRITE_DIR || mode > WRITE_CREATE)
		r->bad = true;
	if (sha256)
		memcpy(g->sha256, sha256, sizeof g->sha256);
	g->kind = (enum grant_kind)kind;
	g->mode = (enum write_mode)mode;
	g->follow = flags & GRANT_FOLLOW;
	g->has_sha256 = flags & GRANT_SHA256;
	g->max_bytes = unpack_uint(r, 8);
	g->max_files = unpack_uint(r, 8);
	g->first = unpack_uint(r, 8);
	g->last = unpack_uint(r, 8);
	g->opens = unpack_uint(r, 8);
	g->line = (int)(uint32_t)unpack_uint(r, 4);
	g->host = unpack_text(r);
	g->guest = unpack_text(r);
}

int ask_seal_encode(const struct ask_seal *q, struct buf *out,
		    struct redoma_error *err)
{
	struct packer w = {.out = out};
	int none[FRAME_FDS_MAX];
	size_t n;

	pack_uint(&w, ASK_SEAL, 1);
	pack_uint(&w, (q->native ? SEAL_NATIVE : 0u) |
			      (q->other_user ? SEAL_OTHER_USER : 0u) |
			      (q->has_cwd ? SEAL_CWD : 0u), 1);
	pack_uint(&w, q->cpu, 4);
	pack_text(&w, q->policy->base_dir);
	pack_uint(&w, q->policy->n_grants, 4);
	for (size_t i = 0; i < q->policy->n_grants; i++)
		pack_grant(&w, &q->policy->grants[i]);
	if (w.bad)
		return err_nomem(err, WHERE);
	return plan_encode(q->plan, out, none, &n, err);
}

void ask_sealing_done(struct ask_sealing *q)
{
	free(q->policy.grants);
	q->policy.grants = NULL;
	plan_done(&q->plan);
}

/* What sealing looks at besides the grants. */
static void take_plan(struct ask_sealing *q)
{
	q->policy.limits = q->plan.limits;
	q->policy.cpu_set = true;
	q->policy.env = q->plan.env;
	q->policy.clock = q->plan.clock;
	q->policy.random = q->plan.random;
	q->policy.clock_fixed_ns = q->plan.clock_fixed_ns;
	q->policy.random_seed = q->plan.random_seed;
	q->policy.end_on_denied = q->plan.end_on_denied;
}

int ask_seal_decode(const void *p, size_t len, struct ask_sealing *ret,
		    struct redoma_error *err)
{
	CLEANUP(ask_sealing_done) struct ask_sealing q = {0};
	struct unpacker r = {.p = p, .left = len};
	uint64_t flags = unpack_uint(&r, 1);
	size_t n;
	int e;

	q.native = flags & SEAL_NATIVE;
	q.other_user = flags & SEAL_OTHER_USER;
	q.has_cwd = flags & SEAL_CWD;
	q.cpu = (uint32_t)unpack_uint(&r, 4);
	q.policy.base_dir = unpack_text(&r);
	n = (size_t)unpack_uint(&r, 4);
	if (r.bad || n > r.left)
		return malformed(err);
	q.policy.grants = calloc(n + 1, sizeof *q.policy.grants);
	if (!q.policy.grants)
		return err_nomem(err, WHERE);
	q.policy.n_grants = n;
	for (size_t i = 0; i < n; i++)
		unpack_grant(&r, &q.policy.grants[i]);
	if (r.bad)
		return malformed(err);
	e = plan_decode(r.p, r.left, NULL, 0, &q.plan, err);
	if (e)
		return e;
	take_plan(&q);
	*ret = q;
	q = (struct ask_sealing){0};
	return 0;
}

int ask_deliver_encode(const struct ask_deliver *q, struct buf *out,
		       struct redoma_error *err)
{
	struct packer w = {.out = out};

	pack_uint(&w, ASK_DELIVER, 1);
	pack_bytes(&w, q, sizeof *q);
	return w.bad ? err_nomem(err, WHERE) : 0;
}

int ask_deliver_decode(const void *p, size_t len, struct ask_deliver *ret,
		       struct redoma_error *err)
{
	if (len != sizeof *ret)
		return malformed(err);
	memcpy(ret, p, sizeof *ret);
	return 0;
}

int ask_publish_encode(const struct outcome_written *written, size_t n,
		       struct buf *out, struct redoma_error *err)
{
	struct packer w = {.out = out};

	pack_uint(&w, ASK_PUBLISH, 1);
	pack_uint(&w, n, 4);
	for (size_t i = 0; i < n; i++) {
		pack_uint(&w, written[i].grant, 4);
		pack_uint(&w, written[i].handle, 8);
		pack_str(&w, (struct str){written[i].path.p,
					  written[i].path.len});
	}
	return w.bad ? err_nomem(err, WHERE) : 0;
}

int ask_publish_decode(const void *p, size_t len,
		       struct outcome_written **ret, size_t *ret_n,
		       struct redoma_error *err)
{
	struct unpacker r = {.p = p, .left = len};
	size_t n = (size_t)unpack_uint(&r, 4);
	CLEANUP_FREE struct outcome_written *w = NULL;

	if (r.bad || n > OUTCOME_WRITTEN_MAX)
		return malformed(err);
	w = calloc(n + 1, sizeof *w);
	if (!w)
		return err_nomem(err, WHERE);
	for (size_t i = 0; i < n; i++) {
		struct str path;

		w[i].grant = (uint32_t)unpack_uint(&r, 4);
		w[i].handle = unpack_uint(&r, 8);
		path = unpack_str(&r, OUTCOME_TEXT_MAX);
		w[i].path = (struct outcome_text){path.p ? path.p : "",
						  (uint32_t)path.len};
	}
	if (!unpack_done(&r))
		return malformed(err);
	*ret = TAKE_PTR(w);
	*ret_n = n;
	return 0;
}
