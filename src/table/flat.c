#include "table/flat.h"

#include <string.h>

static bool has(struct flat *f, uint64_t at, uint64_t n)
{
	if (at <= f->len && n <= f->len - at)
		return true;
	f->bad = true;
	return false;
}

static uint32_t word(const struct flat *f, uint64_t at)
{
	uint32_t v;

	memcpy(&v, f->p + at, sizeof v);
	return v;
}

/* Where the offset that stands at `at` leads. */
static uint64_t follow(struct flat *f, uint64_t at)
{
	return has(f, at, 4) ? at + word(f, at) : UINT64_MAX;
}

static struct flat_table table_at(struct flat *f, uint64_t at)
{
	struct flat_table t = {.flat = f};
	int64_t vtable;

	if (!has(f, at, 4))
		return (struct flat_table){0};
	vtable = (int64_t)at - (int32_t)word(f, at);
	if (!has(f, (uint64_t)vtable, 4))
		return (struct flat_table){0};
	t.at = (uint32_t)at;
	t.vtable = (uint32_t)vtable;
	memcpy(&t.vtable_len, f->p + vtable, 2);
	memcpy(&t.len, f->p + vtable + 2, 2);
	if (t.vtable_len < 4 || !has(f, t.vtable, t.vtable_len) ||
	    !has(f, at, t.len)) {
		f->bad = true;
		return (struct flat_table){0};
	}
	return t;
}

struct flat_table flat_root(struct flat *f)
{
	uint64_t at = follow(f, 0);

	return f->bad ? (struct flat_table){0} : table_at(f, at);
}

/* Where the field is; 0: it is absent. */
static uint32_t field(const struct flat_table *t, unsigned slot, unsigned size)
{
	unsigned at = 4 + 2 * slot;
	uint16_t offset;

	if (!t->flat || at + 2 > t->vtable_len)
		return 0;
	memcpy(&offset, t->flat->p + t->vtable + at, 2);
	if (!offset)
		return 0;
	if (offset > t->len || size > (unsigned)t->len - offset) {
		t->flat->bad = true;
		return 0;
	}
	return t->at + offset;
}

int64_t flat_number(const struct flat_table *t, unsigned slot, unsigned size,
		    int64_t otherwise)
{
	uint32_t at = field(t, slot, size);
	int64_t wide;
	int32_t v;
	int16_t small;

	if (!at)
		return otherwise;
	switch (size) {
	case 1:
		return (uint8_t)t->flat->p[at];
	case 2:
		memcpy(&small, t->flat->p + at, 2);
		return small;
	case 4:
		memcpy(&v, t->flat->p + at, 4);
		return v;
	default:
		memcpy(&wide, t->flat->p + at, 8);
		return wide;
	}
}

struct flat_table flat_child(const struct flat_table *t, unsigned slot)
{
	uint32_t at = field(t, slot, 4);

	return at ? table_at(t->flat, follow(t->flat, at))
		  : (struct flat_table){0};
}

struct flat_list flat_list(const struct flat_table *t, unsigned slot,
			   unsigned each)
{
	struct flat_list l = {.flat = t->flat};
	uint32_t at = field(t, slot, 4);
	uint64_t to;

	if (!at)
		return l;
	to = follow(t->flat, at);
	if (!has(t->flat, to, 4) ||
	    !has(t->flat, to + 4, (uint64_t)word(t->flat, to) * each))
		return l;
	l.at = (uint32_t)to + 4;
	l.n = word(t->flat, to);
	return l;
}

struct str flat_text(const struct flat_table *t, unsigned slot)
{
	struct flat_list l = flat_list(t, slot, 1);

	return l.n ? (struct str){l.flat->p + l.at, l.n} : (struct str){"", 0};
}

struct flat_table flat_item(const struct flat_list *l, uint32_t i)
{
	return table_at(l->flat, follow(l->flat, l->at + (uint64_t)4 * i));
}

int64_t flat_word(const struct flat_list *l, uint32_t i, unsigned each,
		  unsigned offset)
{
	int64_t v;

	memcpy(&v, l->flat->p + l->at + (uint64_t)i * each + offset, sizeof v);
	return v;
}
