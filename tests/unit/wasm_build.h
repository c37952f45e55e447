/* A small assembler of WebAssembly modules for tests.
 *	struct wasm m = {0};
 *	uint32_t t = wasm_type(&m, "ii", "i");
 *	uint32_t f = wasm_func(&m, t, "", CODE(0x20, 0, 0x20, 1, 0x6a));
 *	wasm_export(&m, "add", 0, f);
 *	struct buf b = {0};
 *	wasm_finish(&m, &b);
 * Types: i I f F v r x e = i32 i64 f32 f64 v128 funcref externref exnref.
 * Imports come before functions.  Code needs no final `end`. */
#ifndef TESTS_WASM_BUILD_H
#define TESTS_WASM_BUILD_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"

#define CODE(...) \
	(const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

enum { WASM_SECTIONS = 14 };

struct wasm {
	struct buf body[WASM_SECTIONS]; /* by section id */
	uint32_t count[WASM_SECTIONS];
	uint32_t n_imported, n_funcs;
	uint32_t start; /* function + 1 */
};

static inline void wasm_put(struct buf *b, const void *p, size_t n)
{
	if (buf_add(b, p, n))
		abort();
}

static inline void wasm_byte(struct buf *b, unsigned v)
{
	uint8_t c = (uint8_t)v;

	wasm_put(b, &c, 1);
}

static inline void wasm_leb(struct buf *b, uint64_t v)
{
	do {
		wasm_byte(b, (v & 0x7f) | (v > 0x7f ? 0x80 : 0));
		v >>= 7;
	} while (v);
}

static inline void wasm_sleb(struct buf *b, int64_t v)
{
	for (;;) {
		unsigned c = v & 0x7f;

		v >>= 7;
		if ((v == 0 && !(c & 0x40)) || (v == -1 && (c & 0x40))) {
			wasm_byte(b, c);
			return;
		}
		wasm_byte(b, c | 0x80);
	}
}

static inline void wasm_name_bytes(struct buf *b, const char *s)
{
	wasm_leb(b, strlen(s));
	wasm_put(b, s, strlen(s));
}

static inline unsigned wasm_code(char c)
{
	static const char names[] = "iIfFvrxe";
	static const uint8_t codes[] = {0x7f, 0x7e, 0x7d, 0x7c,
					0x7b, 0x70, 0x6f, 0x69};
	const char *p = strchr(names, c);

	if (!p || !c)
		abort();
	return codes[p - names];
}

static inline void wasm_types(struct buf *b, const char *s)
{
	wasm_leb(b, strlen(s));
	for (; *s; s++)
		wasm_byte(b, wasm_code(*s));
}

static inline uint32_t wasm_type(struct wasm *m, const char *params,
				 const char *results)
{
	wasm_byte(&m->body[1], 0x60);
	wasm_types(&m->body[1], params);
	wasm_types(&m->body[1], results);
	return m->count[1]++;
}

static inline uint32_t wasm_import(struct wasm *m, const char *module,
				   const char *name, uint32_t type)
{
	wasm_name_bytes(&m->body[2], module);
	wasm_name_bytes(&m->body[2], name);
	wasm_byte(&m->body[2], 0);
	wasm_leb(&m->body[2], type);
	m->count[2]++;
	return m->n_imported++;
}

/* `locals`: types of the locals after the parameters. */
static inline uint32_t wasm_func(struct wasm *m, uint32_t type,
				 const char *locals, const uint8_t *code,
				 size_t len)
{
	struct buf f = {0};

	wasm_leb(&m->body[3], type);
	m->count[3]++;
	wasm_leb(&f, strlen(locals));
	for (; *locals; locals++) {
		wasm_byte(&f, 1);
		wasm_byte(&f, wasm_code(*locals));
	}
	wasm_put(&f, code, len);
	wasm_byte(&f, 0x0b);
	wasm_leb(&m->body[10], f.len);
	wasm_put(&m->body[10], f.data, f.len);
	buf_done(&f);
	m->count[10]++;
	return m->n_imported + m->n_funcs++;
}

static inline void wasm_limits(struct buf *b, uint32_t min, int64_t max)
{
	wasm_byte(b, max >= 0);
	wasm_leb(b, min);
	if (max >= 0)
		wasm_leb(b, (uint64_t)max);
}

static inline void wasm_table(struct wasm *m, uint32_t min, int64_t max)
{
	wasm_byte(&m->body[4], 0x70);
	wasm_limits(&m->body[4], min, max);
	m->count[4]++;
}

static inline void wasm_memory(struct wasm *m, uint32_t min, int64_t max)
{
	wasm_limits(&m->body[5], min, max);
	m->count[5]++;
}

static inline uint32_t wasm_global_i32(struct wasm *m, int32_t v)
{
	wasm_byte(&m->body[6], 0x7f);
	wasm_byte(&m->body[6], 1);
	wasm_byte(&m->body[6], 0x41);
	wasm_sleb(&m->body[6], v);
	wasm_byte(&m->body[6], 0x0b);
	return m->count[6]++;
}

/* kind: 0 function, 1 table, 2 memory, 3 global, 4 tag */
static inline void wasm_export(struct wasm *m, const char *name, unsigned kind,
			       uint32_t index)
{
	wasm_name_bytes(&m->body[7], name);
	wasm_byte(&m->body[7], kind);
	wasm_leb(&m->body[7], index);
	m->count[7]++;
}

static inline void wasm_data(struct wasm *m, int32_t at, const void *p,
			     size_t n)
{
	wasm_byte(&m->body[11], 0);
	wasm_byte(&m->body[11], 0x41);
	wasm_sleb(&m->body[11], at);
	wasm_byte(&m->body[11], 0x0b);
	wasm_leb(&m->body[11], n);
	wasm_put(&m->body[11], p, n);
	m->count[11]++;
}

static inline void wasm_section(struct buf *out, unsigned id, const void *p,
				size_t n)
{
	wasm_byte(out, id);
	wasm_leb(out, n);
	wasm_put(out, p, n);
}

static inline void wasm_header(struct buf *out)
{
	wasm_put(out, "\0asm\1\0\0\0", 8);
}

/* Appends the module and frees m. */
static inline void wasm_finish(struct wasm *m, struct buf *out)
{
	static const uint8_t order[] = {1, 2, 3, 4, 5, 13, 6, 7, 9, 10, 11};

	wasm_header(out);
	for (size_t k = 0; k < sizeof(order); k++) {
		struct buf s = {0};
		unsigned id = order[k];

		if (id == 9 && m->start) {
			wasm_leb(&s, m->start - 1);
			wasm_section(out, 8, s.data, s.len);
			buf_clear(&s);
		}
		if (m->count[id]) {
			wasm_leb(&s, m->count[id]);
			wasm_put(&s, m->body[id].data, m->body[id].len);
			wasm_section(out, id, s.data, s.len);
		}
		buf_done(&s);
		buf_done(&m->body[id]);
	}
	memset(m, 0, sizeof(*m));
}

#endif
