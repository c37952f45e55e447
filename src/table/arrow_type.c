#include "table/arrow_type.h"

#include <stdio.h>
#include "base/err.h"

#define WHERE "table"
#define ZONE_MAX 255 /* a name of a zone; it is written again */

/* The union Type. */
enum {
	TYPE_NULL = 1,
	TYPE_INT,
	TYPE_FLOAT,
	TYPE_UTF8 = 5,
	TYPE_BOOL,
	TYPE_DATE = 8,
	TYPE_TIMESTAMP = 10,
	TYPE_LARGE_UTF8 = 20,
	TYPE_UTF8_VIEW = 24,
	TYPE_COUNT = 27
};

static const char *const names[TYPE_COUNT] = {
	[1] = "null",
	[2] = "int",
	[3] = "halffloat",
	[4] = "binary",
	[5] = "utf8",
	[6] = "bool",
	[7] = "decimal",
	[8] = "date",
	[9] = "time",
	[10] = "timestamp",
	[11] = "interval",
	[12] = "list",
	[13] = "struct",
	[14] = "union",
	[15] = "fixed-size binary",
	[16] = "fixed-size list",
	[17] = "map",
	[18] = "duration",
	[19] = "large_binary",
	[20] = "large_utf8",
	[21] = "large_list",
	[22] = "run-end encoded",
	[23] = "binary_view",
	[24] = "utf8_view",
	[25] = "list_view",
	[26] = "large_list_view",
};

static bool read_int(const struct flat_table *t, unsigned *ret_width,
		     bool *ret_signed)
{
	int64_t bits = flat_number(t, 0, 4, 0);

	*ret_signed = flat_number(t, 1, 1, 0) != 0;
	if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
		return false;
	*ret_width = (unsigned)bits / 8;
	return true;
}

static bool read_float(const struct flat_table *t, struct arrow_type *ret)
{
	int64_t precision = flat_number(t, 0, 2, 0);

	*ret = (struct arrow_type){.kind = ARROW_FLOAT,
				   .width = precision == 2 ? 8 : 4};
	return precision == 1 || precision == 2;
}

static bool read_time(const struct flat_table *t, struct arrow_type *ret)
{
	int64_t unit = flat_number(t, 0, 2, 0);

	*ret = (struct arrow_type){.kind = ARROW_TIME,
				   .width = 8,
				   .unit = (unsigned)unit & 3,
				   .zone = flat_text(t, 1)};
	return unit >= 0 && unit <= 3 && ret->zone.len <= ZONE_MAX;
}

static bool read_date(const struct flat_table *t, struct arrow_type *ret)
{
	int64_t unit = flat_number(t, 0, 2, 1);

	*ret = (struct arrow_type){.kind = ARROW_DATE, .width = unit ? 8 : 4};
	return unit == 0 || unit == 1;
}

/* False: there are no cells of that type. */
static bool read_plain(int64_t number, const struct flat_table *t,
		       struct arrow_type *ret)
{
	bool sign;

	*ret = (struct arrow_type){0};
	switch (number) {
	case TYPE_NULL:
		return true;
	case TYPE_INT:
		if (!read_int(t, &ret->width, &sign))
			return false;
		ret->kind = sign ? ARROW_INT : ARROW_UINT;
		return true;
	case TYPE_FLOAT:
		return read_float(t, ret);
	case TYPE_UTF8:
	case TYPE_LARGE_UTF8:
		ret->kind = ARROW_UTF8;
		ret->width = number == TYPE_UTF8 ? 4 : 8;
		return true;
	case TYPE_UTF8_VIEW:
		ret->kind = ARROW_VIEWS;
		ret->width = 16;
		return true;
	case TYPE_BOOL:
		ret->kind = ARROW_BOOL;
		return true;
	case TYPE_DATE:
		return read_date(t, ret);
	case TYPE_TIMESTAMP:
		return read_time(t, ret);
	default:
		return false;
	}
}

/* Only texts have dictionaries here. */
static bool read_index(const struct flat_table *dictionary,
		       struct arrow_type *ret)
{
	struct flat_table index = flat_child(dictionary, 1);

	if (ret->kind != ARROW_UTF8)
		return false;
	ret->index_width = 4;
	ret->index_signed = true;
	return !index.flat ||
	       read_int(&index, &ret->index_width, &ret->index_signed);
}

int arrow_type_read(const struct flat_table *field, struct str name,
		    struct arrow_type *ret, struct redoma_error *err)
{
	int64_t number = flat_number(field, 2, 1, 0);
	struct flat_table t = flat_child(field, 3);
	struct flat_table dictionary = flat_child(field, 4);
	const char *known =
		number > 0 && number < TYPE_COUNT ? names[number] : NULL;
	char other[32];

	snprintf(other, sizeof other, "type %d", (int)number);
	if (read_plain(number, &t, ret) &&
	    (!dictionary.flat || read_index(&dictionary, ret)))
		return 0;
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "column %s has Arrow's type %s%s, which no cell has: "
		       "cast it to an integer, a float, bool, utf8, a date or "
		       "a timestamp, or leave it out",
		       SHOW(name), known ? known : other,
		       dictionary.flat ? " in a dictionary" : "");
}

struct arrow_type arrow_type_of(enum cell_kind kind)
{
	switch (kind) {
	case CELL_INTEGER:
		return (struct arrow_type){.kind = ARROW_INT, .width = 8};
	case CELL_NUMBER:
		return (struct arrow_type){.kind = ARROW_FLOAT, .width = 8};
	case CELL_TRUTH:
		return (struct arrow_type){.kind = ARROW_BOOL};
	case CELL_DATE:
		return (struct arrow_type){.kind = ARROW_DATE, .width = 4};
	case CELL_TIME:
		return (struct arrow_type){.kind = ARROW_TIME,
					   .width = 8,
					   .unit = 2,
					   .zone = STR("UTC")};
	default:
		return (struct arrow_type){.kind = ARROW_UTF8, .width = 4};
	}
}

unsigned arrow_type_bytes(const struct arrow_type *t)
{
	switch (t->kind) {
	case ARROW_INT:
	case ARROW_UINT:
	case ARROW_FLOAT:
	case ARROW_DATE:
	case ARROW_TIME:
		return t->width;
	default:
		return 0;
	}
}

unsigned arrow_type_number(const struct arrow_type *t)
{
	static const unsigned char numbers[] = {
		[ARROW_NULL] = TYPE_NULL,   [ARROW_BOOL] = TYPE_BOOL,
		[ARROW_INT] = TYPE_INT,     [ARROW_UINT] = TYPE_INT,
		[ARROW_FLOAT] = TYPE_FLOAT, [ARROW_VIEWS] = TYPE_UTF8,
		[ARROW_DATE] = TYPE_DATE,   [ARROW_TIME] = TYPE_TIMESTAMP,
		[ARROW_UTF8] = TYPE_UTF8};

	return t->kind == ARROW_UTF8 && t->width == 8 ? TYPE_LARGE_UTF8
						      : numbers[t->kind];
}

uint32_t arrow_type_put(struct flat_out *o, const struct arrow_type *t)
{
	struct flat_slot slots[2] = {0};
	bool zone = t->kind == ARROW_TIME && t->zone.len;
	uint32_t at;

	switch (t->kind) {
	case ARROW_INT:
	case ARROW_UINT:
		slots[0] = (struct flat_slot){4, 8 * (int64_t)t->width, 0};
		slots[1] = (struct flat_slot){1, t->kind == ARROW_INT, 0};
		break;
	case ARROW_FLOAT:
		slots[0] = (struct flat_slot){2, t->width == 8 ? 2 : 1, 0};
		break;
	case ARROW_DATE:
		slots[0] = (struct flat_slot){2, t->width == 8, 0};
		break;
	case ARROW_TIME:
		slots[0] = (struct flat_slot){2, t->unit, 0};
		slots[1].size = zone ? 4 : 0;
		break;
	default:
		break;
	}
	at = flat_put_table(o, slots, 2);
	if (zone)
		flat_link(o, slots[1].at, flat_put_text(o, t->zone));
	return at;
}
