#include "wire/outcome.h"

#include <stdlib.h>
#include <string.h>

#define WHERE "wire"

struct cursor {
	const char *p;
	size_t left;
	bool bad;
};

static void put(struct buf *b, const void *p, size_t n, bool *bad)
{
	if (buf_add(b, p, n))
		*bad = true;
}

static void put_text(struct buf *b, struct outcome_text t, bool *bad)
{
	if (t.len > OUTCOME_TEXT_MAX)
		t.len = OUTCOME_TEXT_MAX;
	put(b, &t.len, sizeof t.len, bad);
	put(b, t.p, t.len, bad);
}

/* The numbers, in one array so that both directions keep one order. */
enum { N_STATUS, N_EXIT, N_FLAGS, N_CPU, N_RESET, N_FUEL, N_MEMORY, N_READ,
       N_WRITTEN, N_FAULTS, N_WRONG, N_LINE, N_COLUMN, N_DENIALS, N_FILES,
       N_SIGNAL, N_ROW, N_COUNT };

enum { FLAG_CLOCK = 1, FLAG_RANDOM = 2, FLAG_UNPINNED = 4 };

int outcome_encode(const struct outcome *o, struct buf *out,
		   struct redoma_error *err)
{
	uint64_t n[N_COUNT] = {
		[N_STATUS] = o->status,
		[N_EXIT] = (uint32_t)o->exit_code,
		[N_FLAGS] = (o->used_clock ? FLAG_CLOCK : 0) |
			    (o->used_random ? FLAG_RANDOM : 0) |
			    (o->used_unpinned ? FLAG_UNPINNED : 0),
		[N_CPU] = o->cpu_us,
		[N_RESET] = o->reset_us,
		[N_FUEL] = o->fuel,
		[N_MEMORY] = o->memory_bytes,
		[N_READ] = o->read_bytes,
		[N_WRITTEN] = o->written_bytes,
		[N_FAULTS] = o->page_faults,
		[N_WRONG] = o->resets_wrong,
		[N_LINE] = o->line,
		[N_COLUMN] = o->column,
		[N_DENIALS] = o->n_denials,
		[N_FILES] = o->n_written,
		[N_SIGNAL] = o->signal,
		[N_ROW] = o->row,
	};
	bool bad = false;
	uint32_t i;

	put(out, n, sizeof n, &bad);
	put_text(out, o->name, &bad);
	put_text(out, o->message, &bad);
	put_text(out, o->stack, &bad);
	for (i = 0; i < o->n_denials; i++) {
		const struct outcome_denial *d = &o->denials[i];
		uint64_t k[3] = {d->count, d->write, d->needed};

		put(out, k, sizeof k, &bad);
		put_text(out, o->denials[i].op, &bad);
		put_text(out, o->denials[i].path, &bad);
	}
	for (i = 0; i < o->n_written; i++) {
		uint64_t k[2] = {o->written[i].grant, o->written[i].handle};

		put(out, k, sizeof k, &bad);
		put_text(out, o->written[i].path, &bad);
	}
	return bad ? err_nomem(err, WHERE) : 0;
}

static void get(struct cursor *c, void *p, size_t n)
{
	if (c->bad || n > c->left) {
		c->bad = true;
		memset(p, 0, n);
		return;
	}
	memcpy(p, c->p, n);
	c->p += n;
	c->left -= n;
}

static struct outcome_text get_text(struct cursor *c)
{
	struct outcome_text t = {"", 0};
	uint32_t len;

	get(c, &len, sizeof len);
	if (c->bad || len > OUTCOME_TEXT_MAX || len > c->left) {
		c->bad = true;
		return t;
	}
	t = (struct outcome_text){c->p, len};
	c->p += len;
	c->left -= len;
	return t;
}

static void get_numbers(struct cursor *c, struct outcome *o)
{
	uint64_t n[N_COUNT];

	get(c, n, sizeof n);
	if (n[N_STATUS] > REDOMA_STATUS_BREACH ||
	    n[N_DENIALS] > OUTCOME_DENIALS_MAX ||
	    n[N_FILES] > OUTCOME_WRITTEN_MAX || n[N_FLAGS] > 7 ||
	    n[N_SIGNAL] > OUTCOME_SIGNAL_MAX)
		c->bad = true;
	if (c->bad)
		return;
	o->status = (uint32_t)n[N_STATUS];
	o->exit_code = (int32_t)(uint32_t)n[N_EXIT];
	o->used_clock = n[N_FLAGS] & FLAG_CLOCK;
	o->used_random = n[N_FLAGS] & FLAG_RANDOM;
	o->used_unpinned = n[N_FLAGS] & FLAG_UNPINNED;
	o->cpu_us = n[N_CPU];
	o->reset_us = n[N_RESET];
	o->fuel = n[N_FUEL];
	o->memory_bytes = n[N_MEMORY];
	o->read_bytes = n[N_READ];
	o->written_bytes = n[N_WRITTEN];
	o->page_faults = n[N_FAULTS];
	o->resets_wrong = n[N_WRONG];
	o->line = (uint32_t)n[N_LINE];
	o->column = (uint32_t)n[N_COLUMN];
	o->n_denials = (uint32_t)n[N_DENIALS];
	o->n_written = (uint32_t)n[N_FILES];
	o->signal = (uint32_t)n[N_SIGNAL];
	o->row = (uint32_t)n[N_ROW];
}

static void get_lists(struct cursor *c, struct outcome *o)
{
	uint64_t k[3];
	uint32_t i;

	for (i = 0; i < o->n_denials && !c->bad; i++) {
		get(c, k, sizeof k);
		o->denials[i].needed = k[2];
		o->denials[i].count = k[0];
		o->denials[i].write = k[1];
		o->denials[i].op = get_text(c);
		o->denials[i].path = get_text(c);
	}
	for (i = 0; i < o->n_written && !c->bad; i++) {
		get(c, k, 2 * sizeof *k);
		o->written[i].grant = (uint32_t)k[0];
		o->written[i].handle = k[1];
		o->written[i].path = get_text(c);
	}
}

int outcome_decode(const void *p, size_t len, struct outcome *o,
		   struct redoma_error *err)
{
	struct cursor c = {p, len, false};

	memset(o, 0, sizeof *o);
	get_numbers(&c, o);
	o->name = get_text(&c);
	o->message = get_text(&c);
	o->stack = get_text(&c);
	if (!c.bad && o->n_written) {
		o->written = calloc(o->n_written, sizeof *o->written);
		if (!o->written)
			return err_nomem(err, WHERE);
	}
	get_lists(&c, o);
	if (!c.bad && !c.left)
		return 0;
	outcome_done(o);
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "an outcome that breaks the protocol");
}

void outcome_done(struct outcome *o)
{
	free(o->written);
	o->written = NULL;
	o->n_written = 0;
}
