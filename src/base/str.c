#include "base/str.h"

#include <stdint.h>
#include <stdio.h>

/* One more character, two quotes, "..." and the NUL. */
#define SHOWN_ROOM 12

bool str_split(struct str s, char c, struct str *ret_a, struct str *ret_b)
{
	const char *at = s.len ? memchr(s.p, c, s.len) : NULL;

	if (!at)
		return false;
	*ret_b = (struct str){at + 1, s.len - (size_t)(at - s.p) - 1};
	*ret_a = (struct str){s.p, (size_t)(at - s.p)};
	return true;
}

bool str_split_last(struct str s, char c, struct str *ret_a, struct str *ret_b)
{
	const char *at = s.len ? memrchr(s.p, c, s.len) : NULL;

	if (!at)
		return false;
	*ret_b = (struct str){at + 1, s.len - (size_t)(at - s.p) - 1};
	*ret_a = (struct str){s.p, (size_t)(at - s.p)};
	return true;
}

static bool is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* The second byte's range depends on the first: RFC 3629, section 4. */
static bool second_fits(unsigned char a, unsigned char b)
{
	switch (a) {
	case 0xe0:
		return b >= 0xa0 && b <= 0xbf;
	case 0xed:
		return b >= 0x80 && b <= 0x9f;
	case 0xf0:
		return b >= 0x90 && b <= 0xbf;
	case 0xf4:
		return b >= 0x80 && b <= 0x8f;
	default:
		return is_tail(b);
	}
}

size_t str_utf8(const char *p, size_t n)
{
	const unsigned char *u = (const unsigned char *)p;
	size_t len;

	if (!n)
		return 0;
	if (u[0] < 0x80)
		return 1;
	if (u[0] < 0xc2 || u[0] > 0xf4)
		return 0;
	len = u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
	if (n < len || !second_fits(u[0], u[1]))
		return 0;
	for (size_t i = 2; i < len; i++) {
		if (!is_tail(u[i]))
			return 0;
	}
	return len;
}

bool str_is_utf8(struct str s)
{
	size_t i = 0, n;
	uint64_t eight;

	while (i < s.len) {
		/* Most texts are ASCII for the most part. */
		if (s.len - i >= sizeof eight) {
			memcpy(&eight, s.p + i, sizeof eight);
			if (!(eight & 0x8080808080808080u)) {
				i += sizeof eight;
				continue;
			}
		}
		n = str_utf8(s.p + i, s.len - i);
		if (!n)
			return false;
		i += n;
	}
	return true;
}

/* Length of the harmless character at p, or 0. */
static size_t plain(const char *p, size_t n)
{
	const unsigned char *u = (const unsigned char *)p;
	size_t len = str_utf8(p, n);

	if (len == 1)
		return u[0] >= 0x20 && u[0] != 0x7f ? 1 : 0;
	if (len == 2 && u[0] == 0xc2 && u[1] < 0xa0)
		return 0;
	if (len == 3 && !memcmp(p, "\xe2\x80", 2) &&
	    (u[2] == 0xa8 || u[2] == 0xa9))
		return 0;
	return len;
}

bool str_is_plain(struct str s)
{
	for (size_t i = 0, n; i < s.len; i += n) {
		n = plain(s.p + i, s.len - i);
		if (!n)
			return false;
	}
	return true;
}

const char *str_show(struct str s, char dst[STR_SHOWN_MAX])
{
	size_t at = 0, i = 0, n;

	dst[at++] = '"';
	while (i < s.len && at < STR_SHOWN_MAX - SHOWN_ROOM) {
		n = plain(s.p + i, s.len - i);
		if (n == 1 && (s.p[i] == '"' || s.p[i] == '\\'))
			dst[at++] = '\\';
		if (n) {
			memcpy(dst + at, s.p + i, n);
			at += n;
			i += n;
			continue;
		}
		at += (size_t)snprintf(dst + at, 5, "\\x%02x",
				       (unsigned)(unsigned char)s.p[i++]);
	}
	snprintf(dst + at, STR_SHOWN_MAX - at, "\"%s", i < s.len ? "..." : "");
	return dst;
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

struct str str_trim(struct str s)
{
	while (s.len && is_space(*s.p)) {
		s.p++;
		s.len--;
	}
	while (s.len && is_space(s.p[s.len - 1]))
		s.len--;
	return s;
}

bool str_only(struct str s, const char *set)
{
	for (size_t i = 0; i < s.len; i++)
		if (!s.p[i] || !strchr(set, s.p[i]))
			return false;
	return true;
}

size_t str_name(struct str s)
{
	size_t n = 0;

	while (n < s.len && is_name(s.p[n]))
		n++;
	return n;
}

bool str_has_word(struct str s, struct str word, size_t *ret_end)
{
	size_t at = 0;

	while (word.len && at < s.len) {
		const char *p = memmem(s.p + at, s.len - at, word.p, word.len);
		size_t from = p ? (size_t)(p - s.p) : s.len;

		if (!p)
			return false;
		at = from + word.len;
		if ((from && is_name(s.p[from - 1])) ||
		    (at < s.len && is_name(s.p[at])))
			continue;
		*ret_end = at;
		return true;
	}
	return false;
}
