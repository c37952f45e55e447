#include "policy/limits.h"

#include <stdio.h>

#include "base/units.h"
#include "policy/read.h"

#define MS ((uint64_t)1000)
#define SEC ((uint64_t)1000000)
#define DAY (24 * 3600 * SEC)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)
#define AT(member) offsetof(struct limits, member)

const struct limit_row limit_rows[] = {
	{"wall", "limits.wall", LIMIT_TIME, AT(wall_us), MS, DAY, 10 * SEC,
	 false},
	{"cpu", "limits.cpu", LIMIT_TIME, AT(cpu_us), MS, DAY, 10 * SEC,
	 false},
	{"fuel", "limits.fuel", LIMIT_COUNT, AT(fuel), 1, INT64_MAX, 0,
	 false},
	{"memory", "limits.memory", LIMIT_SIZE, AT(memory_bytes), MIB,
	 4 * GIB, 128 * MIB, false},
	{"output", "limits.output", LIMIT_SIZE, AT(output_bytes), 1,
	 256 * MIB, MIB, false},
	{"calls", "limits.calls", LIMIT_COUNT, AT(calls), 1, 1000000000, 256,
	 true},
	{"in_flight", "limits.in_flight", LIMIT_COUNT, AT(in_flight), 1, 4096,
	 32, true},
	{"files", "limits.files", LIMIT_COUNT, AT(files), 1, 65536, 64, false},
	{0},
};

static uint64_t *slot(struct limits *l, const struct limit_row *row)
{
	return (uint64_t *)(void *)((char *)l + row->offset);
}

uint64_t limit_get(const struct limits *l, const struct limit_row *row)
{
	return *(const uint64_t *)(const void *)((const char *)l + row->offset);
}

void limit_set(struct limits *l, const struct limit_row *row, uint64_t n)
{
	*slot(l, row) = n;
}

const char *limit_print(const struct limit_row *row, uint64_t n, char *dst)
{
	if (row->unit == LIMIT_TIME)
		return units_print_time(n, dst);
	if (row->unit == LIMIT_SIZE)
		return units_print_size(n, dst);
	snprintf(dst, UNITS_TEXT_MAX, "%llu", (unsigned long long)n);
	return dst;
}

void limits_default(struct policy *p)
{
	for (const struct limit_row *r = limit_rows; r->name; r++)
		*slot(&p->limits, r) = r->fallback;
	p->cpu_set = false;
}

static int check_range(const struct limit_row *r, uint64_t n,
		       const struct tree *v, struct redoma_error *err)
{
	char least[UNITS_TEXT_MAX], most[UNITS_TEXT_MAX];

	if (n >= r->least && n <= r->most)
		return 0;
	return tree_refuse(v, err, "%s %s: out of range; write %s to %s",
			   r->full, SHOW(v->text),
			   limit_print(r, r->least, least),
			   limit_print(r, r->most, most));
}

static int read_one(void *into, const struct tree *v, struct redoma_error *err)
{
	static const char *(*const parse[])(struct str, uint64_t *) = {
		[LIMIT_TIME] = units_time,
		[LIMIT_SIZE] = units_size,
		[LIMIT_COUNT] = units_count,
	};
	const struct limit_row *r = limit_rows;
	struct policy *p = into;
	uint64_t n = 0;
	int e;

	while (!str_equal(v->key, str_of(r->name)))
		r++;
	e = read_units(v, r->full, parse[r->unit], &n, err);
	if (!e)
		e = check_range(r, n, v, err);
	if (e)
		return e;
	*slot(&p->limits, r) = n;
	if (r->offset == AT(cpu_us))
		p->cpu_set = true;
	return 0;
}

int limits_read(struct policy *p, const struct tree *map,
		struct redoma_error *err)
{
	static const struct field fields[] = {
		{"wall", read_one}, {"cpu", read_one}, {"fuel", read_one},
		{"memory", read_one}, {"output", read_one},
		{"calls", read_one}, {"in_flight", read_one},
		{"files", read_one}, {NULL, NULL},
	};
	int e = read_map(map, "limits", fields, p, err);

	if (e)
		return e;
	if (!p->cpu_set)
		p->limits.cpu_us = p->limits.wall_us;
	return 0;
}
