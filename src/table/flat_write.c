#include "table/flat_write.h"

#include <string.h>

static const char zeros[64];

static uint32_t here(const struct flat_out *o)
{
	return (uint32_t)(o->b->len - o->base);
}

static void put(struct flat_out *o, const void *p, size_t n)
{
	if (!o->failed && buf_add(o->b, p, n))
		o->failed = true;
}

static void put_zeros(struct flat_out *o, uint64_t n)
{
	while (n && !o->failed) {
		size_t step = n < sizeof zeros ? (size_t)n : sizeof zeros;

		put(o, zeros, step);
		n -= step;
	}
}

/* So that what comes `ahead` bytes later is a multiple of `to`. */
static void align(struct flat_out *o, uint32_t ahead, uint32_t to)
{
	put_zeros(o, -(here(o) + ahead) % to);
}

void flat_set(struct flat_out *o, uint32_t at, const void *p, size_t n)
{
	if (!o->failed && n)
		memcpy(o->b->data + o->base + at, p, n);
}

void flat_begin(struct flat_out *o)
{
	o->base = o->b->len;
	put_zeros(o, 8);
}

/* Larger fields first, so that each is aligned; returns where they end. */
static uint16_t lay_out(const struct flat_slot *slots, unsigned n,
			uint16_t offsets[FLAT_SLOTS_MAX])
{
	uint16_t end = 4;

	for (unsigned size = 8; size; size /= 2)
		for (unsigned i = 0; i < n; i++) {
			if (slots[i].size != size)
				continue;
			end = (uint16_t)((end + size - 1) & ~(size - 1));
			offsets[i] = end;
			end = (uint16_t)(end + size);
		}
	return end;
}

uint32_t flat_put_table(struct flat_out *o, struct flat_slot *slots, unsigned n)
{
	uint16_t offsets[FLAT_SLOTS_MAX] = {0};
	uint16_t head[2] = {(uint16_t)(4 + 2 * n), lay_out(slots, n, offsets)};
	int32_t vtable = head[0];
	uint32_t at;

	/* The vtable stands in front, where no link has to lead. */
	align(o, head[0], 8);
	put(o, head, sizeof head);
	put(o, offsets, 2 * n);
	at = here(o);
	put_zeros(o, head[1]);
	flat_set(o, at, &vtable, sizeof vtable);
	for (unsigned i = 0; i < n; i++) {
		slots[i].at = at + offsets[i];
		if (slots[i].size)
			flat_set(o, slots[i].at, &slots[i].value,
				 slots[i].size);
	}
	return at;
}

uint32_t flat_put_text(struct flat_out *o, struct str s)
{
	uint32_t n = (uint32_t)s.len, at;

	align(o, 0, 4);
	at = here(o);
	put(o, &n, sizeof n);
	put(o, s.p, s.len);
	put_zeros(o, 1);
	return at;
}

uint32_t flat_put_list(struct flat_out *o, uint32_t n, unsigned each)
{
	uint32_t at;

	align(o, 4, 8);
	at = here(o);
	put(o, &n, sizeof n);
	put_zeros(o, (uint64_t)n * each);
	return at;
}

void flat_link(struct flat_out *o, uint32_t at, uint32_t to)
{
	uint32_t distance = to - at;

	flat_set(o, at, &distance, sizeof distance);
}

void flat_end(struct flat_out *o)
{
	align(o, 0, 8);
}
