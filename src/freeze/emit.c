#include "freeze/emit.h"

#include <string.h>

#include "base/cleanup.h"
#include "freeze/section.h"

#define WHERE "image"
/* A gap that is shorter is written as zeros: a segment has a head, too. */
#define GAP 64
#define RUNS_MAX 100000u

struct memory {
	const uint8_t *p;
	size_t len;
};

/* The next bytes that are not zero, and what lies between them; false: the
 * rest is zero. */
static bool next_run(const struct memory *m, size_t gap, size_t *from,
		     size_t *to)
{
	size_t i = *to, last;

	while (i < m->len && !m->p[i])
		i++;
	if (i == m->len)
		return false;
	last = i;
	for (size_t j = i; j < m->len && j - last <= gap; j++)
		if (m->p[j])
			last = j;
	*from = i;
	*to = last + 1;
	return true;
}

static uint32_t count_runs(const struct memory *m, size_t gap)
{
	size_t from = 0, to = 0;
	uint32_t n = 0;

	while (n <= RUNS_MAX && next_run(m, gap, &from, &to))
		n++;
	return n;
}

static int put_data(struct buf *b, const struct memory *m)
{
	size_t gap = GAP, from = 0, to = 0;
	uint32_t n;

	while ((n = count_runs(m, gap)) > RUNS_MAX)
		gap *= 2;
	if (put_u32(b, n))
		return -1;
	while (next_run(m, gap, &from, &to))
		if (buf_add(b, "\0\x41", 2) || put_s32(b, (int32_t)from) ||
		    buf_add(b, "\x0b", 1) || put_u32(b, to - from) ||
		    buf_add(b, m->p + from, to - from))
			return -1;
	return 0;
}

static int rewrite(struct buf *out, uint8_t id, const struct code_reader *body,
		   const struct memory *m)
{
	CLEANUP(buf_done) struct buf b = {0};
	int r;

	if (id == SECTION_DATA)
		r = put_data(&b, m);
	else if (id == SECTION_MEMORY)
		r = put_u32(&b, 1) || put_u32(&b, 0) ||
		    put_u32(&b, m->len / SECTION_PAGE);
	else
		r = buf_add(&b, body->p, (size_t)(body->end - body->p));
	return r ? -1 : put_section(out, id, &b);
}

int emit_module(struct str wasm, const void *memory, size_t len,
		struct buf *out, struct redoma_error *err)
{
	struct memory m = {memory, len};
	struct code_reader r, body;
	uint8_t id;
	int rc = section_check(wasm, err);

	if (rc)
		return rc;
	rc = buf_add(out, wasm.p, 8);
	for (r = section_first(wasm); !rc && section_next(&r, &id, &body);)
		rc = rewrite(out, id, &body, &m);
	return rc ? err_nomem(err, WHERE) : 0;
}
