/* wire/pack.h - little-endian numbers and byte strings in messages.
 *
 * Both sides are sticky: after the first failure nothing more is written or
 * read (reads then give 0), and `bad` says so at the end.  A reader never
 * looks past its last byte. */
#ifndef WIRE_PACK_H
#define WIRE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/str.h"

struct packer {
	struct buf *out; /* borrowed */
	bool bad;	 /* memory or the buffer's cap ran out */
};

static inline void pack_bytes(struct packer *w, const void *p, size_t n)
{
	if (!w->bad && buf_add(w->out, p, n))
		w->bad = true;
}

/* The lowest n bytes (at most 8) of v. */
static inline void pack_uint(struct packer *w, uint64_t v, size_t n)
{
	unsigned char b[8];
	size_t i;

	for (i = 0; i < n; i++)
		b[i] = (unsigned char)(v >> (8 * i));
	pack_bytes(w, b, n);
}

static inline void pack_str(struct packer *w, struct str s)
{
	pack_uint(w, s.len, 4);
	pack_bytes(w, s.p, s.len);
}

struct unpacker {
	const unsigned char *p; /* borrowed */
	size_t left;
	bool bad; /* the message ended early or broke a cap */
};

static inline const unsigned char *unpack_bytes(struct unpacker *r, size_t n)
{
	const unsigned char *p = r->p;

	if (r->bad || n > r->left) {
		r->bad = true;
		return NULL;
	}
	r->p += n;
	r->left -= n;
	return p;
}

static inline uint64_t unpack_uint(struct unpacker *r, size_t n)
{
	const unsigned char *p = unpack_bytes(r, n);
	uint64_t v = 0;
	size_t i;

	for (i = 0; p && i < n; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

/* A string of at most cap bytes, borrowed from the message. */
static inline struct str unpack_str(struct unpacker *r, size_t cap)
{
	size_t n = (size_t)unpack_uint(r, 4);
	const unsigned char *p;

	if (n > cap)
		r->bad = true;
	p = unpack_bytes(r, n);
	return p ? (struct str){(const char *)p, n} : (struct str){0};
}

/* True if every byte was read and none was missing. */
static inline bool unpack_done(const struct unpacker *r)
{
	return !r->bad && !r->left;
}

#endif
