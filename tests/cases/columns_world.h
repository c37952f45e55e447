/* columns_world.h - tables and formulas made at random, of a seed. */
#ifndef COLUMNS_WORLD_H
#define COLUMNS_WORLD_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <redoma.h>

#define ROWS_MAX 2048
#define OFFSET_MAX 16
#define ROOM (ROWS_MAX + OFFSET_MAX)
#define COLUMNS 9

static uint64_t seed = 7;

static uint32_t below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

static bool chance(uint32_t percent)
{
	return below(100) < percent;
}

union cell {
	double f;
	int64_t i;
	uint64_t u;
	uint32_t text[2];
};

static union cell number(void)
{
	static const double pool[] = {
		0,	 -0.0,	 1,	 -1,	 2,	   3,	    7,
		-7,	 0.1,	 1.5,	 -2.5,	 0x1p53,   -0x1p53, 0x1p53 - 1,
		0x1p53 + 2, 1e308, -1e308, 5e-324, -5e-324, 0x1p-1022, 1e-310,
		INFINITY, -INFINITY, NAN, 1e16, 0x1p31, 0x1p32, 0x1p63};
	union cell c = {.f = pool[below(sizeof pool / sizeof *pool)]};

	if (chance(40))
		c.f = ((int)below(2000) - 1000) / 8.0;
	else if (chance(50))
		c.u = (uint64_t)below(UINT32_MAX) << 32 | below(UINT32_MAX);
	/* All digits, and not far from 1. */
	if (chance(20))
		c.f = (1 + below(UINT32_MAX) * 0x1p-32 + below(1 << 20) * 0x1p-52) *
		      (double)(1u << below(31));
	return c;
}

static union cell integer(void)
{
	static const int64_t pool[] = {
		0, 1, -1, 2, 3, 7, -7, INT64_MIN, INT64_MAX, INT64_MIN + 1,
		INT64_MAX - 1, INT64_C(1) << 53, -(INT64_C(1) << 53),
		(INT64_C(1) << 53) + 1, -(INT64_C(1) << 53) - 1,
		(INT64_C(1) << 53) - 1, INT64_C(1) << 31, INT64_C(1) << 32,
		3037000500, -3037000500, INT64_C(1) << 62};
	union cell c = {.i = pool[below(sizeof pool / sizeof *pool)]};

	if (chance(50))
		c.i = (int64_t)below(200) - 100;
	return c;
}

static const char heap[] = "x12#DIV/0! that is bad";

static union cell of_kind(uint8_t kind)
{
	switch (kind) {
	case REDOMA_CELL_NUMBER:
		return number();
	case REDOMA_CELL_TRUTH:
		return (union cell){.i = chance(90) ? below(2) : 5};
	case REDOMA_CELL_TEXT:
		return (union cell){.text = {below(2), below(3)}};
	case REDOMA_CELL_ERROR:
		return (union cell){.text = {3, sizeof heap - 4}};
	case REDOMA_CELL_INTEGER:
		return integer();
	default:
		return (union cell){.i = below(20000)};
	}
}

struct cells {
	uint8_t kinds[ROOM], bits[ROOM / 8 + 1], valid[ROOM / 8 + 1];
	union cell values[ROOM];
};

struct table {
	struct cells cells[COLUMNS];
	struct redoma_column columns[COLUMNS];
	uint32_t rows;
};

/* In runs, of one kind or of all. */
static void fill_cells(struct cells *c, bool plain)
{
	static const uint8_t likely[] = {REDOMA_CELL_NUMBER,
					 REDOMA_CELL_INTEGER,
					 REDOMA_CELL_TRUTH};
	uint32_t left = 0;
	uint8_t kind = 0;
	bool mixed = false;

	for (uint32_t i = 0; i < ROOM; i++) {
		if (!left--) {
			left = 1 + below(900);
			mixed = !plain && chance(30);
			kind = likely[below(3)];
		}
		c->kinds[i] = kind;
		if (mixed)
			c->kinds[i] = chance(60) ? likely[below(3)]
						 : (uint8_t)below(8);
		c->values[i] = of_kind(c->kinds[i]);
	}
}

static void fill_bits(struct cells *c)
{
	bool rare = chance(50);

	for (uint32_t i = 0; i < sizeof c->bits; i++) {
		c->bits[i] = (uint8_t)below(256);
		c->valid[i] = rare && chance(95) ? 0xff : (uint8_t)below(256);
	}
}

/* f, g float64; n, m int64; t, u truths: the second of each with blanks; c, d,
 * e with a kind for each cell. */
static void table_fill(struct table *t)
{
	static const char *const names[] = {"f", "g", "n", "m", "t",
					    "u", "c", "d", "e"};
	static const uint8_t layouts[] = {
		REDOMA_COLUMN_FLOAT64, REDOMA_COLUMN_INT64, REDOMA_COLUMN_BOOL,
		REDOMA_COLUMN_CELLS, REDOMA_COLUMN_CELLS};

	t->rows = 64 + below(chance(20) ? ROWS_MAX - 64 : 700);
	for (int k = 0; k < COLUMNS; k++) {
		struct cells *c = &t->cells[k];
		uint8_t layout = layouts[k / 2];

		fill_bits(c);
		if (layout == REDOMA_COLUMN_CELLS)
			fill_cells(c, k == 7);
		for (uint32_t i = 0; i < ROOM && k < 4; i++)
			c->values[i] = k < 2 ? number() : integer();
		t->columns[k] = (struct redoma_column){
			names[k], layout,
			layout == REDOMA_COLUMN_CELLS ? c->kinds
			: k % 2			      ? c->valid
						      : NULL,
			layout == REDOMA_COLUMN_BOOL ? (void *)c->bits
						     : (void *)c->values,
			heap, sizeof heap, below(OFFSET_MAX)};
	}
}

/* Numbers that no operation leaves to the interpreter. */
static void table_tame(struct table *t)
{
	table_fill(t);
	for (uint32_t i = 0; i < ROOM; i++) {
		t->cells[0].values[i].f = 1 + i / 4.0;
		t->cells[2].values[i].i = 1 + i % 7;
	}
}

struct words {
	char p[4096];
	size_t n;
	bool python;
	int depth;
	int others; /* formulas p0, p1, ... that it may name */
};

static void say(struct words *w, const char *text)
{
	size_t n = strlen(text);

	if (n < sizeof w->p - w->n) {
		memcpy(w->p + w->n, text, n + 1);
		w->n += n;
	}
}

#define ONE_OF(list) list[below(sizeof list / sizeof *(list))]

static void say_operand(struct words *w)
{
	static const char *const any[] = {
		"f", "f", "g", "n", "n", "m", "t", "u", "c", "d", "e",
		"f", "g", "n", "m", "index", "col[\"f\"]", "row.n", "0", "1",
		"2", "3", "7", "0.0", "1.5", "0.1", "1e300", ".5", "2.",
		"9007199254740992", "9007199254740993", "123456789012345678"};
	static const char *const python[] = {"True", "False", "None", "true"};
	static const char *const js[] = {"true", "false", "null"};
	char name[8];

	if (w->others && chance(6)) {
		snprintf(name, sizeof name, "p%d", (int)below(w->others));
		say(w, name);
	} else if (chance(8)) {
		say(w, w->python ? ONE_OF(python) : ONE_OF(js));
	} else {
		say(w, ONE_OF(any));
	}
}

static void say_any(struct words *w);

static void say_call(struct words *w)
{
	static const struct {
		const char *name;
		int n;
	} calls[] = {{"IF", 3}, {"IF", 3}, {"IF", 2}, {"IFS", 4}, {"AND", 2},
		     {"OR", 2}, {"AND", 1}, {"NOT", 1}, {"ABS", 1},
		     {"IFERROR", 2}, {"IFERROR", 1}};
	uint32_t k = below(sizeof calls / sizeof *calls);

	say(w, calls[k].name);
	for (int i = 0; i < calls[k].n; i++) {
		say(w, i ? ", " : "(");
		say_any(w);
	}
	say(w, ")");
}

static void say_binary(struct words *w)
{
	static const char *const both[] = {
		" + ", " - ", " * ", " / ", " % ", " + ", " - ", " * ", " / ",
		" < ", " > ", " <= ", " >= ", " == ", " != "};
	static const char *const python[] = {" // ", " % ", " and ", " or "};
	static const char *const js[] = {" && ", " || ", " === ", " !== "};

	say_any(w);
	if (chance(30))
		say(w, w->python ? ONE_OF(python) : ONE_OF(js));
	else
		say(w, ONE_OF(both));
	say_any(w);
}

static void say_choice(struct words *w)
{
	say_any(w);
	say(w, w->python ? " if " : " ? ");
	say_any(w);
	say(w, w->python ? " else " : " : ");
	say_any(w);
}

static void say_any(struct words *w)
{
	static const char *const python[] = {"-", "+", "not ", "- -"};
	static const char *const js[] = {"-", "+", "!", "- -"};
	uint32_t what = below(10);

	if (!w->depth) {
		say_operand(w);
		return;
	}
	w->depth--;
	say(w, what == 9 ? "" : "(");
	if (what < 5)
		say_binary(w);
	else if (what < 7)
		say_choice(w);
	else if (what == 7)
		say(w, w->python ? ONE_OF(python) : ONE_OF(js)), say_any(w);
	else
		say_call(w);
	say(w, what == 9 ? "" : ")");
	w->depth++;
}

/* Without all parentheses, so that what binds more tightly matters. */
static void say_flat(struct words *w)
{
	static const char *const both[] = {" + ", " - ", " * ", " / ", " % ",
					   " < ", " == "};

	say_operand(w);
	for (uint32_t i = below(4) + 1; i; i--) {
		say(w, ONE_OF(both));
		say_operand(w);
	}
}

/* What chance would not often say. */
static void say_corner(struct words *w)
{
	static const char *const python[] = {
		"-(None if t else f)", "ABS(IF(t, None, n))", "f // g",
		"f // (n + 0.5)", "(f // g) * g", "f % g", "-n - 1", "n * m",
		"n // m", "n % m", "1 < n < f < 9", "not n == m",
		"IF(n > m, n, IF(t, None, u))", "(n or f) + (t and g)"};
	static const char *const js[] = {
		"-(t ? null : f)", "ABS(IF(t, null, n))", "f % g", "1 / (0 * f)",
		"1 / -(f % n) > 0", "t === f", "t == n", "n < m < f",
		"IF(n > m, n, IF(t, null, u))", "(n || f) + (t && g)",
		"t ? n : f ? m : u", "!f === !g"};

	say(w, w->python ? ONE_OF(python) : ONE_OF(js));
}

static void say_formula(struct words *w)
{
	w->depth = (int)below(5);
	if (chance(10))
		say_corner(w);
	else if (chance(20))
		say_flat(w);
	else
		say_any(w);
}

#endif
