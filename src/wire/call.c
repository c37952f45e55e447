#include "wire/call.h"

#include <string.h>
#include "wire/pack.h"

#define WHERE "wire"

enum { HAS_FD = 1 };

/* Which fields an operation may set, all others must be zero; a path belongs
 * to its grant. */
enum { USES_FLAGS = 1, USES_GRANT = 2, USES_COUNT = 4, USES_HANDLE = 8,
       USES_OFFSET = 16 };

static const uint8_t uses[CALL_OP_MAX] = {
	[CALL_OPEN] = USES_FLAGS | USES_GRANT,
	[CALL_STAT] = USES_FLAGS | USES_GRANT,
	[CALL_LIST] = USES_GRANT | USES_OFFSET,
	[CALL_READLINK] = USES_GRANT,
	[CALL_PREAD] = USES_HANDLE | USES_OFFSET | USES_COUNT,
	[CALL_CLOSE] = USES_HANDLE,
};

/* The fields that are not zero, as a set of USES_*. */
static unsigned fields_set(const struct call *c)
{
	unsigned set = 0;

	set |= c->flags ? USES_FLAGS : 0;
	set |= c->grant ? USES_GRANT : 0;
	set |= c->path.len ? USES_GRANT : 0;
	set |= c->count ? USES_COUNT : 0;
	set |= c->handle ? USES_HANDLE : 0;
	set |= c->offset ? USES_OFFSET : 0;
	return set;
}

static const char *call_fault(const struct call *c)
{
	if (c->op < CALL_OPEN || c->op >= CALL_OP_MAX)
		return "no such operation";
	if (c->flags & ~(unsigned)CALL_FLAGS)
		return "no such flag";
	if (fields_set(c) & ~(unsigned)uses[c->op])
		return "a field that the operation does not have";
	if (c->path.len > CALL_PATH_MAX)
		return "a path over its cap";
	if (c->path.len && memchr(c->path.p, 0, c->path.len))
		return "a NUL in a path";
	return NULL;
}

int call_encode(const struct call *c, struct buf *out,
		struct redoma_error *err)
{
	struct packer w = {.out = out};
	const char *fault = call_fault(c);

	if (fault)
		return err_set(err, REDOMA_E_INVALID, WHERE, "call: %s",
			       fault);
	pack_uint(&w, (uint64_t)c->op, 1);
	pack_uint(&w, c->flags, 1);
	pack_uint(&w, 0, 2);
	pack_uint(&w, c->grant, 4);
	pack_uint(&w, c->count, 4);
	pack_uint(&w, c->handle, 8);
	pack_uint(&w, c->offset, 8);
	pack_str(&w, c->path);
	return w.bad ? err_nomem(err, WHERE) : 0;
}

int call_decode(const void *p, size_t len, struct call *ret,
		struct redoma_error *err)
{
	struct unpacker r = {.p = p, .left = len};
	const char *fault = "not a call";
	uint64_t zero;
	struct call c;

	c.op = (enum call_op)unpack_uint(&r, 1);
	c.flags = (unsigned)unpack_uint(&r, 1);
	zero = unpack_uint(&r, 2);
	c.grant = (uint32_t)unpack_uint(&r, 4);
	c.count = (uint32_t)unpack_uint(&r, 4);
	c.handle = unpack_uint(&r, 8);
	c.offset = unpack_uint(&r, 8);
	c.path = unpack_str(&r, CALL_PATH_MAX);
	if (unpack_done(&r) && !zero)
		fault = call_fault(&c);
	if (fault)
		return err_set(err, REDOMA_E_INVALID, WHERE, "call: %s",
			       fault);
	*ret = c;
	return 0;
}

static void pack_stat(struct packer *w, const struct call_stat *st)
{
	pack_uint(w, (uint64_t)st->type, 1);
	pack_uint(w, st->dev, 8);
	pack_uint(w, st->ino, 8);
	pack_uint(w, st->nlink, 8);
	pack_uint(w, st->size, 8);
	pack_uint(w, (uint64_t)st->atim_ns, 8);
	pack_uint(w, (uint64_t)st->mtim_ns, 8);
	pack_uint(w, (uint64_t)st->ctim_ns, 8);
}

static void unpack_stat(struct unpacker *r, struct call_stat *st)
{
	st->type = (enum call_type)unpack_uint(r, 1);
	if (st->type >= CALL_TYPE_MAX)
		r->bad = true;
	st->dev = unpack_uint(r, 8);
	st->ino = unpack_uint(r, 8);
	st->nlink = unpack_uint(r, 8);
	st->size = unpack_uint(r, 8);
	st->atim_ns = (int64_t)unpack_uint(r, 8);
	st->mtim_ns = (int64_t)unpack_uint(r, 8);
	st->ctim_ns = (int64_t)unpack_uint(r, 8);
}

int answer_encode(const struct answer *a, struct buf *out,
		  struct redoma_error *err)
{
	struct packer w = {.out = out};

	if (a->data.len > CALL_DATA_MAX || a->error < 0)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "an answer of %zu bytes, error %d",
			       a->data.len, (int)a->error);
	pack_uint(&w, (uint32_t)a->error, 4);
	pack_uint(&w, a->has_fd ? HAS_FD : 0, 1);
	pack_uint(&w, a->handle, 8);
	pack_uint(&w, a->next, 8);
	pack_stat(&w, &a->st);
	pack_str(&w, a->data);
	return w.bad ? err_nomem(err, WHERE) : 0;
}

int answer_decode(const void *p, size_t len, struct answer *ret,
		  struct redoma_error *err)
{
	struct unpacker r = {.p = p, .left = len};
	struct answer a;
	uint64_t flags;

	a.error = (int32_t)unpack_uint(&r, 4);
	flags = unpack_uint(&r, 1);
	a.has_fd = flags == HAS_FD;
	a.handle = unpack_uint(&r, 8);
	a.next = unpack_uint(&r, 8);
	unpack_stat(&r, &a.st);
	a.data = unpack_str(&r, CALL_DATA_MAX);
	if (!unpack_done(&r) || flags > HAS_FD || a.error < 0)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the answer to a call is malformed");
	*ret = a;
	return 0;
}
