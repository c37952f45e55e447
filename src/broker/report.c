#include "broker/report.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "broker/sealed.h"
#include "wire/pack.h"

#define WHERE "broker"

static int malformed(struct redoma_error *err)
{
	return err_set(err, REDOMA_E_WORKER, WHERE,
		       "a report of the usher that is malformed");
}

static char *unpack_copy(struct unpacker *r, size_t cap)
{
	struct str s = unpack_str(r, cap);
	char *p = r->bad ? NULL : malloc(s.len + 1);

	if (!p) {
		r->bad = true;
		return NULL;
	}
	if (s.len)
		memcpy(p, s.p, s.len);
	p[s.len] = '\0';
	return p;
}

static void unpack_raw(struct unpacker *r, void *to, size_t n)
{
	const unsigned char *p = unpack_bytes(r, n);

	if (p)
		memcpy(to, p, n);
}

int report_sealed_encode(const struct sealed *s, struct buf *out,
			 struct redoma_error *err)
{
	struct packer w = {.out = out};

	pack_uint(&w, seal_file_bytes(s), 8);
	pack_uint(&w, seal_is_watched(s), 1);
	for (uint32_t i = 0; i < s->plan.n_grants; i++) {
		const struct plan_grant *g = &s->plan.grants[i];

		pack_uint(&w, g->via_core, 1);
		pack_uint(&w, g->pinned, 1);
		pack_uint(&w, g->max_files, 8);
	}
	return w.bad ? err_nomem(err, WHERE) : 0;
}

int report_sealed_decode(const void *p, size_t len, struct plan_grant *grants,
			 size_t n, struct report_sealed *ret,
			 struct redoma_error *err)
{
	struct unpacker r = {.p = p, .left = len};

	ret->file_bytes = unpack_uint(&r, 8);
	ret->watched = unpack_uint(&r, 1);
	for (size_t i = 0; i < n; i++) {
		grants[i].via_core = unpack_uint(&r, 1);
		grants[i].pinned = unpack_uint(&r, 1);
		grants[i].max_files = unpack_uint(&r, 8);
	}
	return unpack_done(&r) ? 0 : malformed(err);
}

int report_finished_encode(const struct sealed *s, struct buf *out,
			   struct redoma_error *err)
{
	struct packer w = {.out = out};
	struct redoma_error verify = {0};
	const struct seal_denial *d;
	size_t n = seal_denials(s, &d);

	verify.code = seal_verify(s, &verify);
	pack_bytes(&w, &verify, sizeof verify);
	pack_uint(&w, n, 4);
	for (size_t i = 0; i < n; i++) {
		pack_uint(&w, d[i].count, 8);
		pack_uint(&w, d[i].write, 1);
		pack_str(&w, str_of(d[i].op));
		pack_str(&w, str_of(d[i].guest));
		pack_str(&w, d[i].path);
	}
	return w.bad ? err_nomem(err, WHERE) : 0;
}

void report_finished_done(struct report_finished *r)
{
	for (size_t i = 0; r->denials && i < r->n_denials; i++) {
		free((void *)r->denials[i].op);
		free((void *)r->denials[i].guest);
		free((void *)r->denials[i].path.p);
	}
	free(r->denials);
	*r = (struct report_finished){0};
}

static void unpack_denial(struct unpacker *r, struct seal_denial *d)
{
	d->count = unpack_uint(r, 8);
	d->write = unpack_uint(r, 1);
	d->op = unpack_copy(r, PLAN_TEXT_MAX);
	d->guest = unpack_copy(r, PLAN_TEXT_MAX);
	d->path.p = unpack_copy(r, PLAN_TEXT_MAX);
	d->path.len = d->path.p ? strlen(d->path.p) : 0;
}

int report_finished_decode(const void *p, size_t len,
			   struct report_finished *ret,
			   struct redoma_error *err)
{
	CLEANUP(report_finished_done) struct report_finished f = {0};
	struct unpacker r = {.p = p, .left = len};
	size_t n;

	unpack_raw(&r, &f.verify, sizeof f.verify);
	n = (size_t)unpack_uint(&r, 4);
	if (r.bad || n > SEAL_DENIALS_MAX)
		return malformed(err);
	f.denials = calloc(n + 1, sizeof *f.denials);
	if (!f.denials)
		return err_nomem(err, WHERE);
	f.n_denials = n;
	for (size_t i = 0; i < n; i++)
		unpack_denial(&r, &f.denials[i]);
	if (!unpack_done(&r))
		return malformed(err);
	*ret = f;
	f = (struct report_finished){0};
	return 0;
}

int report_published_encode(const struct published_list *l, struct buf *out,
			    struct redoma_error *err)
{
	struct packer w = {.out = out};

	pack_uint(&w, l->n, 4);
	for (size_t i = 0; i < l->n; i++) {
		const struct published *p = &l->files[i];

		pack_uint(&w, p->bytes, 8);
		pack_uint(&w, p->published, 1);
		if (p->published)
			pack_bytes(&w, p->sha256, sizeof p->sha256);
		else
			pack_bytes(&w, &p->why, sizeof p->why);
	}
	return w.bad ? err_nomem(err, WHERE) : 0;
}

static void unpack_published(struct unpacker *r, struct published *p)
{
	p->bytes = unpack_uint(r, 8);
	p->published = unpack_uint(r, 1);
	if (p->published)
		unpack_raw(r, p->sha256, sizeof p->sha256);
	else
		unpack_raw(r, &p->why, sizeof p->why);
}

size_t report_published_bytes(size_t n)
{
	return 4 + n * (8 + 1 + HASH_BYTES + sizeof(struct redoma_error));
}

int report_published_decode(const void *p, size_t len,
			    struct published_list *l, struct redoma_error *err)
{
	struct unpacker r = {.p = p, .left = len};

	if (unpack_uint(&r, 4) != l->n)
		r.bad = true;
	for (size_t i = 0; i < l->n && !r.bad; i++)
		unpack_published(&r, &l->files[i]);
	return unpack_done(&r) ? 0 : malformed(err);
}
