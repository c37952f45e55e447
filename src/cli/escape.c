#include "cli/escape.h"

#include <stdint.h>

#include "base/str.h"

static uint32_t decode(const unsigned char *p, size_t len)
{
	switch (len) {
	case 1:
		return p[0];
	case 2:
		return (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
	case 3:
		return (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 |
		       (p[2] & 0x3fu);
	}
	return (p[0] & 0x07u) << 18 | (p[1] & 0x3fu) << 12 |
	       (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);
}

/* Unicode: Cc, the bidirectional controls, U+2028 and U+2029. */
static bool acts(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c ||
	       c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

static int add_escaped(struct buf *out, uint32_t c)
{
	switch (c) {
	case '\n':
		return buf_add(out, "\\n", 2);
	case '\r':
		return buf_add(out, "\\r", 2);
	case '\t':
		return buf_add(out, "\\t", 2);
	}
	return c < 0x80 ? buf_addf(out, "\\x%02x", (unsigned)c)
			: buf_addf(out, "\\u{%x}", (unsigned)c);
}

/* How many bytes at p may stay as they are. */
static size_t plain_length(const char *p, size_t len, enum escape_keep keep)
{
	size_t at = 0, n;

	while ((n = str_utf8(p + at, len - at))) {
		uint32_t c = decode((const unsigned char *)p + at, n);
		bool kept = keep == ESCAPE_TEXT && (c == '\n' || c == '\t');

		if (acts(c) && !kept)
			break;
		at += n;
	}
	return at;
}

/* One character, or one byte that begins none; *ret_n says how long it is. */
static int add_one(struct buf *out, const char *p, size_t len, size_t *ret_n)
{
	size_t n = str_utf8(p, len);

	*ret_n = n ? n : 1;
	if (!n)
		return buf_addf(out, "\\x%02x", (unsigned char)*p);
	return add_escaped(out, decode((const unsigned char *)p, n));
}

int escape_add(struct buf *out, const char *p, size_t len,
	       enum escape_keep keep)
{
	size_t at = 0, n;

	while (at < len) {
		n = plain_length(p + at, len - at, keep);
		if (n && buf_add(out, p + at, n))
			return -1;
		at += n;
		if (at == len)
			return 0;
		if (add_one(out, p + at, len - at, &n))
			return -1;
		at += n;
	}
	return 0;
}
