/* wasi/memory.h - checked access to guest memory.
 *
 * A pointer and a length are checked once with guest_has, in 64 bits, so that
 * nothing can wrap; the get and put functions below then do not check again.
 * A call checks all its pointers, those of its results too, before it does
 * anything. */
#ifndef WASI_MEMORY_H
#define WASI_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GUEST_IOVS_MAX 1024

struct guest {
	uint8_t *base; /* borrowed for one host call */
	uint64_t size;
};

struct guest_span {
	uint8_t *p;
	size_t n;
};

static inline bool guest_has(const struct guest *g, uint32_t ptr, uint64_t len)
{
	return len <= g->size && ptr <= g->size - len;
}

/* `count` records of `each` bytes; each is small, so 64 bits hold it. */
static inline bool guest_has_array(const struct guest *g, uint32_t ptr,
				   uint32_t count, uint32_t each)
{
	return guest_has(g, ptr, (uint64_t)count * each);
}

static inline uint16_t guest_u16(const struct guest *g, uint32_t at)
{
	uint16_t v;

	memcpy(&v, g->base + at, sizeof(v));
	return v;
}

static inline uint32_t guest_u32(const struct guest *g, uint32_t at)
{
	uint32_t v;

	memcpy(&v, g->base + at, sizeof(v));
	return v;
}

static inline uint64_t guest_u64(const struct guest *g, uint32_t at)
{
	uint64_t v;

	memcpy(&v, g->base + at, sizeof(v));
	return v;
}

static inline void guest_put_u32(const struct guest *g, uint32_t at, uint32_t v)
{
	memcpy(g->base + at, &v, sizeof(v));
}

static inline void guest_put_u64(const struct guest *g, uint32_t at, uint64_t v)
{
	memcpy(g->base + at, &v, sizeof(v));
}

/* Reads and checks an array of io vectors.  W_INVAL: more than GUEST_IOVS_MAX
 * entries, or together more than 32 bits can count; W_FAULT: outside of
 * memory.  Empty vectors are left out.  *ret_n spans are valid on success. */
uint32_t guest_iovs(const struct guest *g, uint32_t ptr, uint32_t count,
		    struct guest_span ret[GUEST_IOVS_MAX], uint32_t *ret_n);

#endif
