#include "wire/plan_wire.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "wire/pack.h"

#define WHERE "wire"
#define VERSION 2u

enum { GRANT_VIA_CORE = 1, GRANT_PINNED = 2, GRANT_HAS_FD = 4,
       GRANT_FLAGS = 7 };

static void pack_limits(struct packer *w, const struct limits *l)
{
	pack_uint(w, l->wall_us, 8);
	pack_uint(w, l->cpu_us, 8);
	pack_uint(w, l->fuel, 8);
	pack_uint(w, l->memory_bytes, 8);
	pack_uint(w, l->output_bytes, 8);
	pack_uint(w, l->calls, 8);
	pack_uint(w, l->in_flight, 8);
	pack_uint(w, l->files, 8);
}

static void unpack_limits(struct unpacker *r, struct limits *l)
{
	l->wall_us = unpack_uint(r, 8);
	l->cpu_us = unpack_uint(r, 8);
	l->fuel = unpack_uint(r, 8);
	l->memory_bytes = unpack_uint(r, 8);
	l->output_bytes = unpack_uint(r, 8);
	l->calls = unpack_uint(r, 8);
	l->in_flight = unpack_uint(r, 8);
	l->files = unpack_uint(r, 8);
}

static void pack_grant(struct packer *w, const struct plan_grant *g)
{
	unsigned flags = (g->via_core ? GRANT_VIA_CORE : 0u) |
			 (g->pinned ? GRANT_PINNED : 0u) |
			 (g->fd >= 0 ? GRANT_HAS_FD : 0u);

	pack_uint(w, (uint64_t)g->kind, 1);
	pack_uint(w, (uint64_t)g->mode, 1);
	pack_uint(w, flags, 1);
	pack_uint(w, g->max_bytes, 8);
	pack_uint(w, g->max_files, 8);
	pack_uint(w, g->first, 8);
	pack_uint(w, g->last, 8);
	pack_uint(w, g->opens, 8);
	pack_str(w, str_of(g->guest));
}

static void pack_names(struct packer *w, char *const *names)
{
	uint32_t i, n = 0;

	while (names && names[n])
		n++;
	pack_uint(w, n, 4);
	for (i = 0; i < n; i++)
		pack_str(w, str_of(names[i]));
}

static const char *names_fault(char *const *names)
{
	size_t i;

	for (i = 0; names && names[i]; i++)
		if (i == PLAN_NAMES_MAX || strlen(names[i]) > PLAN_TEXT_MAX)
			return "arguments or variables are over their caps: "
			       "1024 each, 65536 bytes each";
	return NULL;
}

static const char *plan_fault(const struct plan *p)
{
	const char *fault = names_fault(p->argv);
	size_t fds = 0;
	uint32_t i;

	if (!fault)
		fault = names_fault(p->env);
	if (!fault)
		fault = names_fault(p->tools);
	if (fault)
		return fault;
	if (p->n_grants > PLAN_GRANTS_MAX)
		return "more than 256 grants; grant a directory instead";
	for (i = 0; i < p->n_grants; i++) {
		if (strlen(p->grants[i].guest) > PLAN_TEXT_MAX)
			return "a guest name is over its cap of 65536 bytes";
		fds += p->grants[i].fd >= 0;
	}
	if (fds > FRAME_FDS_MAX)
		return "more than 253 files granted singly; grant a directory "
		       "instead";
	return NULL;
}

int plan_encode(const struct plan *p, struct buf *out, int fds[FRAME_FDS_MAX],
		size_t *ret_n, struct redoma_error *err)
{
	struct packer w = {.out = out};
	const char *fault = plan_fault(p);
	size_t n = 0, start = out->len;
	uint32_t i;

	if (fault)
		return err_set(err, REDOMA_E_INVALID, WHERE, "%s", fault);
	pack_uint(&w, VERSION, 4);
	pack_limits(&w, &p->limits);
	pack_uint(&w, (uint64_t)p->clock, 1);
	pack_uint(&w, (uint64_t)p->random, 1);
	pack_uint(&w, p->end_on_denied, 1);
	pack_uint(&w, (uint64_t)p->clock_fixed_ns, 8);
	pack_uint(&w, p->random_seed, 8);
	pack_uint(&w, p->n_grants, 4);
	for (i = 0; i < p->n_grants; i++) {
		pack_grant(&w, &p->grants[i]);
		if (p->grants[i].fd >= 0)
			fds[n++] = p->grants[i].fd;
	}
	pack_names(&w, p->argv);
	pack_names(&w, p->env);
	pack_names(&w, p->tools);
	if (w.bad)
		return err_nomem(err, WHERE);
	if (out->len - start > PLAN_WIRE_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "arguments, variables and guest names come to "
			       "%zu bytes, over the cap of %u; pass data as "
			       "input instead",
			       out->len - start, PLAN_WIRE_MAX);
	*ret_n = n;
	return 0;
}

/* A copy that ends in NUL; NULL if the message is bad, memory is short or the
 * text has a NUL. */
static char *unpack_text(struct unpacker *r)
{
	struct str s = unpack_str(r, PLAN_TEXT_MAX);
	char *copy;

	if (r->bad || (s.len && memchr(s.p, 0, s.len))) {
		r->bad = true;
		return NULL;
	}
	copy = malloc(s.len + 1);
	if (!copy) {
		r->bad = true;
		return NULL;
	}
	if (s.len)
		memcpy(copy, s.p, s.len);
	copy[s.len] = '\0';
	return copy;
}

/* Always leaves *ret fit for plan_done. */
static void unpack_names(struct unpacker *r, char ***ret)
{
	uint64_t i, n = unpack_uint(r, 4);

	if (r->bad || n > PLAN_NAMES_MAX) {
		r->bad = true;
		return;
	}
	*ret = calloc((size_t)n + 1, sizeof **ret);
	if (!*ret) {
		r->bad = true;
		return;
	}
	for (i = 0; i < n && !r->bad; i++)
		(*ret)[i] = unpack_text(r);
}

struct fd_list {
	const int *fds;
	size_t n, at;
};

static void unpack_grant(struct unpacker *r, struct fd_list *l,
			 struct plan_grant *g)
{
	uint64_t kind = unpack_uint(r, 1);
	uint64_t mode = unpack_uint(r, 1);
	uint64_t flags = unpack_uint(r, 1);

	if (kind > GRANT_WRITE_DIR || mode > WRITE_CREATE ||
	    flags & ~(uint64_t)GRANT_FLAGS)
		r->bad = true;
	g->kind = (enum grant_kind)kind;
	g->mode = (enum write_mode)mode;
	g->via_core = flags & GRANT_VIA_CORE;
	g->pinned = flags & GRANT_PINNED;
	g->max_bytes = unpack_uint(r, 8);
	g->max_files = unpack_uint(r, 8);
	g->first = unpack_uint(r, 8);
	g->last = unpack_uint(r, 8);
	g->opens = unpack_uint(r, 8);
	g->guest = unpack_text(r);
	if (r->bad || g->guest[0] != '/')
		r->bad = true;
	if (!(flags & GRANT_HAS_FD))
		return;
	if (l->at < l->n)
		g->fd = l->fds[l->at++];
	else
		r->bad = true;
}

static void unpack_grants(struct unpacker *r, struct fd_list *l,
			  struct plan *p)
{
	uint64_t i, n = unpack_uint(r, 4);

	if (r->bad || n > PLAN_GRANTS_MAX) {
		r->bad = true;
		return;
	}
	if (!n)
		return;
	p->grants = calloc((size_t)n, sizeof *p->grants);
	if (!p->grants) {
		r->bad = true;
		return;
	}
	for (i = 0; i < n && !r->bad; i++) {
		p->grants[i].fd = -1;
		p->n_grants++;
		unpack_grant(r, l, &p->grants[i]);
	}
}

/* Before plan_done of a plan whose descriptors are not ours to close. */
static void forget_fds(struct plan *p)
{
	uint32_t i;

	for (i = 0; i < p->n_grants; i++)
		p->grants[i].fd = -1;
}

static bool limits_ok(const struct limits *l)
{
	return l->wall_us && l->cpu_us && l->memory_bytes &&
	       l->output_bytes && l->calls && l->in_flight && l->files;
}

static bool read_plan(struct unpacker *r, struct fd_list *l, struct plan *p)
{
	uint64_t clock, random, denied;

	if (unpack_uint(r, 4) != VERSION)
		return false;
	unpack_limits(r, &p->limits);
	clock = unpack_uint(r, 1);
	random = unpack_uint(r, 1);
	denied = unpack_uint(r, 1);
	p->clock = (enum source_kind)clock;
	p->random = (enum source_kind)random;
	p->end_on_denied = denied;
	p->clock_fixed_ns = (int64_t)unpack_uint(r, 8);
	p->random_seed = unpack_uint(r, 8);
	unpack_grants(r, l, p);
	if (!r->bad)
		unpack_names(r, &p->argv);
	if (!r->bad)
		unpack_names(r, &p->env);
	if (!r->bad)
		unpack_names(r, &p->tools);
	return unpack_done(r) && clock <= SOURCE_NONE &&
	       random <= SOURCE_NONE && denied <= 1 &&
	       limits_ok(&p->limits) && l->at == l->n;
}

int plan_decode(const void *p, size_t len, const int *fds, size_t n_fds,
		struct plan *ret, struct redoma_error *err)
{
	struct unpacker r = {.p = p, .left = len};
	struct fd_list l = {.fds = fds, .n = n_fds};
	struct plan plan = {0};

	if (len > PLAN_WIRE_MAX || !read_plan(&r, &l, &plan)) {
		forget_fds(&plan);
		plan_done(&plan);
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the plan of the run is malformed");
	}
	*ret = plan;
	return 0;
}
