#include "freeze/code.h"

static void fail(struct code_reader *r, const char *text)
{
	if (!r->wrong)
		r->wrong = text;
	r->p = r->end;
}

uint8_t code_byte(struct code_reader *r)
{
	if (r->p == r->end) {
		fail(r, "the module is truncated");
		return 0;
	}
	return *r->p++;
}

const uint8_t *code_skip(struct code_reader *r, size_t n)
{
	const uint8_t *from = r->p;

	if (n > (size_t)(r->end - r->p)) {
		fail(r, "the module is truncated");
		return NULL;
	}
	r->p += n;
	return from;
}

uint32_t code_u32(struct code_reader *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 35; shift += 7) {
		uint8_t c = code_byte(r);

		v |= (uint64_t)(c & 127) << shift;
		if (!(c & 128)) {
			if (v > UINT32_MAX)
				break;
			return (uint32_t)v;
		}
	}
	fail(r, "the module has a number out of range");
	return 0;
}

/* Any LEB128 number of up to 64 bits. */
static void skip_leb(struct code_reader *r)
{
	for (int i = 0; i < 10; i++)
		if (!(code_byte(r) & 128))
			return;
	fail(r, "the module has a number out of range");
}

/* What follows each opcode of one byte:
 * -  not an instruction that is known here (refused)
 * .  nothing                 u  one number       U  two numbers
 * m  memarg                  b  block type       t  branch table
 * s  typed select            f  4 bytes          d  8 bytes
 * y  try_table               x  changes a table (refused)
 * c  0xfc page               v  0xfd page */
static const char plain[] =
	"..bbb.-"	  /* 00 unreachable nop block loop if else */
	"-u-."		  /* 07; 08 throw; 09; 0a throw_ref */
	".uut."		  /* 0b end br br_if br_table return */
	"uUuU"		  /* 10 call call_indirect return_call(s) */
	"uu"		  /* 14 call_ref return_call_ref */
	"----"		  /* 16 */
	"..s--y"	  /* 1a drop select select_t; 1f try_table */
	"uuuuu"		  /* 20 local.get set tee global.get set */
	"ux-"		  /* 25 table.get; 26 table.set */
	"mmmmmmmmmmmmmm"  /* 28 loads */
	"mmmmmmmmm"	  /* 36 stores */
	"uu"		  /* 3f memory.size memory.grow */
	"uufd";		  /* 41 i32.const i64.const f32.const f64.const */

static void skip_memarg(struct code_reader *r)
{
	uint32_t align = code_u32(r);

	if (align & 64)
		skip_leb(r);
	skip_leb(r);
}

static void skip_table(struct code_reader *r)
{
	uint32_t n = code_u32(r);

	for (uint64_t i = 0; i <= n && !r->wrong; i++)
		code_u32(r);
}

static void skip_catches(struct code_reader *r)
{
	uint32_t n;

	skip_leb(r); /* block type */
	n = code_u32(r);
	while (n-- && !r->wrong) {
		uint8_t kind = code_byte(r);

		if (kind > 3)
			fail(r, "the code has an unknown catch clause");
		if (kind < 2)
			code_u32(r);
		code_u32(r);
	}
}

/* 0xfc: conversions, bulk memory and tables. */
static void step_bulk(struct code_reader *r)
{
	uint32_t op = code_u32(r);

	if (op < 8)
		return;
	switch (op) {
	case 10: /* memory.copy */
		code_u32(r);
		code_u32(r);
		return;
	case 11: /* memory.fill */
	case 16: /* table.size */
		code_u32(r);
		return;
	case 8:
	case 9:
		fail(r, "the code uses memory.init or data.drop; the image "
			"would depend on segments that were replaced");
		return;
	case 12:
	case 13:
	case 14:
	case 15:
	case 17:
		fail(r, "the code can change a table or drop an element "
			"segment; a reset of memory would not reset that");
		return;
	default:
		fail(r, "the code has an unknown instruction (0xfc)");
	}
}

/* 0xfd: vectors. */
static void step_vector(struct code_reader *r)
{
	uint32_t op = code_u32(r);

	if (op <= 11 || op == 92 || op == 93) {
		skip_memarg(r);
	} else if (op == 12 || op == 13) {
		code_skip(r, 16);
	} else if (op >= 21 && op <= 34) {
		code_byte(r);
	} else if (op >= 84 && op <= 91) {
		skip_memarg(r);
		code_byte(r);
	} else if (op > 275) {
		fail(r, "the code has an unknown instruction (0xfd)");
	}
}

static void step_immediate(struct code_reader *r, char kind)
{
	switch (kind) {
	case '.':
		return;
	case 'U':
		skip_leb(r);
		skip_leb(r);
		return;
	case 'u':
	case 'b':
		skip_leb(r);
		return;
	case 'm':
		skip_memarg(r);
		return;
	case 't':
		skip_table(r);
		return;
	case 's':
		for (uint32_t n = code_u32(r); n > 0 && !r->wrong; n--)
			skip_leb(r);
		return;
	case 'f':
		code_skip(r, 4);
		return;
	case 'd':
		code_skip(r, 8);
		return;
	case 'y':
		skip_catches(r);
		return;
	case 'x':
		fail(r, "the code uses table.set; a reset of memory would "
			"not reset the table");
		return;
	default:
		fail(r, "the code has an unknown instruction");
	}
}

/* Steps over one instruction; returns its first byte. */
static uint8_t step(struct code_reader *r)
{
	uint8_t op = code_byte(r);

	if (op < sizeof(plain) - 1)
		step_immediate(r, plain[op]);
	else if (op == 0xd0 || op == 0xd2) /* ref.null, ref.func */
		skip_leb(r);
	else if (op == 0xfc)
		step_bulk(r);
	else if (op == 0xfd)
		step_vector(r);
	else if (op > 0xd1)
		fail(r, "the code has an unknown instruction");
	else if (op > 0xc4 && op != 0xd1) /* 0x45-0xc4: numeric */
		fail(r, "the code has an unknown instruction");
	return op;
}

void code_expression(struct code_reader *r)
{
	while (step(r) != 0x0b && !r->wrong)
		;
}

static const char *check_body(struct code_reader r)
{
	uint32_t n = code_u32(&r);

	while (n-- && !r.wrong) {
		code_u32(&r);
		skip_leb(&r);
	}
	while (r.p < r.end)
		step(&r);
	return r.wrong;
}

const char *code_check(struct code_reader section)
{
	uint32_t n = code_u32(&section);
	const char *wrong = NULL;

	while (n-- && !section.wrong && !wrong) {
		struct code_reader body = {0};
		uint32_t len = code_u32(&section);

		body.p = code_skip(&section, len);
		body.end = section.p;
		if (body.p)
			wrong = check_body(body);
	}
	return wrong ? wrong : section.wrong;
}
