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

int escape_add(struct buf *out, const char *p, size_t len,
	       enum escape_keep keep)
{
	size_t at = 0, plain = 0;
	int rc = 0;

	while (at < len && !rc) {
		size_t n = str_utf8(p + at, len - at);
		uint32_t c = n ? decode((const unsigned char *)p + at, n) : 0;

		if (n && (!acts(c) || (keep == ESCAPE_TEXT &&
				       (c == '\n' || c == '\t')))) {
			at += n;
			continue;
		}
		if (at > plain)
			rc = buf_add(out, p + plain, at - plain);
		if (!rc && n)
			rc = add_escaped(out, c);
		else if (!rc)
			rc = buf_addf(out, "\\x%02x", (unsigned char)p[at]);
		at += n ? n : 1;
		plain = at;
	}
	if (!rc && at > plain)
		rc = buf_add(out, p + plain, at - plain);
	return rc;
}
