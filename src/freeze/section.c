#include "freeze/section.h"

#include <string.h>

#define WHERE "image"
#define HEADER 8

struct code_reader section_first(struct str wasm)
{
	const uint8_t *p = (const uint8_t *)wasm.p;

	return (struct code_reader){p + HEADER, p + wasm.len, NULL};
}

bool section_next(struct code_reader *r, uint8_t *ret_id,
		  struct code_reader *ret_body)
{
	uint32_t len;

	if (r->p == r->end)
		return false;
	*ret_id = code_byte(r);
	len = code_u32(r);
	*ret_body = (struct code_reader){.p = code_skip(r, len)};
	ret_body->end = r->p;
	return !r->wrong;
}

int section_check(struct str wasm, struct redoma_error *err)
{
	struct code_reader r, body;
	uint8_t id = 0;

	if (wasm.len < HEADER || memcmp(wasm.p, "\0asm\1\0\0\0", HEADER))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the input is not a core WebAssembly module");
	r = section_first(wasm);
	while (section_next(&r, &id, &body))
		if (id >= SECTION_IDS)
			break;
	if (id >= SECTION_IDS)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the module has an unknown section");
	if (r.wrong)
		return err_set(err, REDOMA_E_INVALID, WHERE, "%s", r.wrong);
	return 0;
}

int put_u32(struct buf *b, uint64_t v)
{
	uint8_t room[10];
	size_t n = 0;

	do {
		room[n] = v & 127;
		v >>= 7;
		room[n++] |= v ? 128 : 0;
	} while (v);
	return buf_add(b, room, n);
}

int put_s32(struct buf *b, int32_t v)
{
	uint8_t room[6];
	size_t n = 0;
	bool last = false;

	while (!last) {
		uint8_t c = v & 127;

		v >>= 7;
		last = (v == 0 && !(c & 64)) || (v == -1 && (c & 64));
		room[n++] = last ? c : c | 128;
	}
	return buf_add(b, room, n);
}

int put_section(struct buf *b, uint8_t id, const struct buf *body)
{
	return buf_add(b, &id, 1) || put_u32(b, body->len) ||
			       (body->len &&
				buf_add(b, body->data, body->len))
		       ? -1
		       : 0;
}
