/* table/arrow_type.h - Apache Arrow's types of columns, as far as they are
 * cells, and their flatbuffers (Schema.fbs). */
#ifndef TABLE_ARROW_TYPE_H
#define TABLE_ARROW_TYPE_H

#include "base/cell.h"
#include "table/flat.h"
#include "table/flat_write.h"

enum arrow_kind {
	ARROW_NULL,
	ARROW_BOOL,
	ARROW_INT, /* of `width` bytes */
	ARROW_UINT,
	ARROW_FLOAT, /* of 4 or 8 bytes */
	ARROW_UTF8,  /* offsets of `width` bytes: 4, or 8 if large */
	ARROW_VIEWS, /* utf8_view: read, and written as utf8 */
	ARROW_DATE,  /* 4 bytes: days; 8: milliseconds */
	ARROW_TIME,  /* a timestamp */
};

struct arrow_type {
	enum arrow_kind kind;
	unsigned width;
	/* ARROW_TIME: 0 s, 1 ms, 2 us, 3 ns. */
	unsigned unit;
	struct str zone; /* likewise; borrowed */
	/* Of a dictionary's indices; 0: there is none. */
	unsigned index_width;
	bool index_signed;
};

/* Of a Field.  REDOMA_E_INVALID names the column and its type, which has no
 * cells. */
MUST_CHECK int arrow_type_read(const struct flat_table *field, struct str name,
			       struct arrow_type *ret,
			       struct redoma_error *err);
/* The type of new columns whose cells are of that kind. */
struct arrow_type arrow_type_of(enum cell_kind kind);
/* Its number in the union Type; the table itself, and where it is. */
unsigned arrow_type_number(const struct arrow_type *t);
uint32_t arrow_type_put(struct flat_out *o, const struct arrow_type *t);
/* Bytes of a value; 0: it is not made of bytes that are copied. */
unsigned arrow_type_bytes(const struct arrow_type *t);

#endif
