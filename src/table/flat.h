/* table/flat.h - FlatBuffers as Apache Arrow's messages use them, read from
 * bytes of anybody.
 *
 * Source: https://flatbuffers.dev/internals/
 *
 * Every place is checked before it is looked at, and nothing is followed but
 * what the caller asks for, so that no shape of the bytes can loop.  What is
 * not as it should be sets flat.bad, and is absent to the caller, who looks at
 * that once, at the end. */
#ifndef TABLE_FLAT_H
#define TABLE_FLAT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/str.h"

struct flat {
	const char *p; /* borrowed */
	uint32_t len;
	bool bad;
};

struct flat_table {
	struct flat *flat; /* NULL: absent, and so is all in it */
	uint32_t at, vtable;
	uint16_t vtable_len, len;
};

struct flat_list {
	struct flat *flat;
	uint32_t at, n; /* the first element; how many */
};

struct flat_table flat_root(struct flat *f);
/* A number of 1 (unsigned), 2, 4 or 8 bytes (signed). */
int64_t flat_number(const struct flat_table *t, unsigned slot, unsigned size,
		    int64_t otherwise);
struct flat_table flat_child(const struct flat_table *t, unsigned slot);
struct str flat_text(const struct flat_table *t, unsigned slot);
/* Elements of so many bytes. */
struct flat_list flat_list(const struct flat_table *t, unsigned slot,
			   unsigned each);
/* Of a list of tables (each 4). */
struct flat_table flat_item(const struct flat_list *l, uint32_t i);
/* The 8 bytes at `offset` of element i, which has `each` of them. */
int64_t flat_word(const struct flat_list *l, uint32_t i, unsigned each,
		  unsigned offset);

#endif
