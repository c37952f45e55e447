/* table/flat_write.h - FlatBuffers, written from the root on. */
#ifndef TABLE_FLAT_WRITE_H
#define TABLE_FLAT_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/str.h"

struct flat_out {
	struct buf *b;
	size_t base; /* where the flatbuffer begins in b, which is aligned */
	bool failed; /* memory ran out; looked at once, at the end */
};

/* A field of a table.  size 0: it is absent.  What leads elsewhere has size 4
 * and gets its value by flat_link. */
struct flat_slot {
	unsigned size;
	int64_t value;
	uint32_t at; /* set: where it is */
};

/* Begins a flatbuffer at the end of o->b; its root is linked from 0. */
void flat_begin(struct flat_out *o);
/* Each returns where it is, for flat_link. */
#define FLAT_SLOTS_MAX 8u
uint32_t flat_put_table(struct flat_out *o, struct flat_slot *slots,
			unsigned n);
uint32_t flat_put_text(struct flat_out *o, struct str s);
/* Room for n elements, aligned to 8 bytes, all zero; the first is 4 bytes
 * behind what is returned. */
uint32_t flat_put_list(struct flat_out *o, uint32_t n, unsigned each);
/* The offset at `at` leads to `to`, which stands behind it. */
void flat_link(struct flat_out *o, uint32_t at, uint32_t to);
void flat_set(struct flat_out *o, uint32_t at, const void *p, size_t n);
/* To a multiple of 8 bytes. */
void flat_end(struct flat_out *o);

#endif
