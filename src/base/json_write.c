#include "base/json.h"

#include <stdio.h>
#include <string.h>

#define DEPTH_LIMIT ((size_t)1 << 20)

/* Bytes of the longest part at p that could have begun a character: what one
 * U+FFFD stands for (Unicode, section 3.9, table 3-8). */
static size_t broken(const char *p, size_t n)
{
	char probe[4];
	size_t len = 1;

	/* Only the second byte has ranges of its own, so any tail will do. */
	for (size_t k = 2; k <= 3 && k <= n; k++) {
		memset(probe, 0x80, sizeof probe);
		memcpy(probe, p, k);
		if (str_utf8(probe, sizeof probe) <= k)
			break;
		len = k;
	}
	return len;
}

static int put_escape(struct buf *b, unsigned code)
{
	switch (code) {
	case '"':
		return buf_add(b, "\\\"", 2);
	case '\\':
		return buf_add(b, "\\\\", 2);
	case '\n':
		return buf_add(b, "\\n", 2);
	case '\r':
		return buf_add(b, "\\r", 2);
	case '\t':
		return buf_add(b, "\\t", 2);
	default:
		return buf_addf(b, "\\u%04x", code);
	}
}

/* The code of a character that is escaped, or 0; NUL is told apart by the
 * caller. */
static unsigned escaped(const char *p, size_t len)
{
	const unsigned char *u = (const unsigned char *)p;

	if (len == 1)
		return u[0] < 0x20 || u[0] == '"' || u[0] == '\\' ||
		       u[0] == 0x7f ? u[0] : 0;
	if (len == 2 && u[0] == 0xc2 && u[1] < 0xa0)
		return u[1];
	if (len == 3 && u[0] == 0xe2 && u[1] == 0x80 &&
	    (u[2] == 0xa8 || u[2] == 0xa9))
		return 0x2000u + (u[2] & 0x3f);
	if (len == 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		return 0xfeff;
	if (len == 3 && u[0] == 0xef && u[1] == 0xbf && u[2] >= 0xbe)
		return 0xffc0u + (u[2] & 0x3f);
	return 0;
}

static bool is_ordinary(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static int put_bytes(struct buf *b, const char *p, size_t len)
{
	size_t i = 0;

	while (i < len) {
		size_t run = i, n;
		unsigned code;

		while (run < len && is_ordinary((unsigned char)p[run]))
			run++;
		if (run > i && buf_add(b, p + i, run - i))
			return -1;
		i = run;
		if (i == len)
			break;
		n = str_utf8(p + i, len - i);
		code = n ? escaped(p + i, n) : 0;
		if (!n) {
			n = broken(p + i, len - i);
			if (buf_add(b, "\xef\xbf\xbd", 3))
				return -1;
		} else if (code || !p[i]) {
			if (put_escape(b, code))
				return -1;
		} else if (buf_add(b, p + i, n)) {
			return -1;
		}
		i += n;
	}
	return 0;
}

int json_put_string(struct buf *b, const char *p, size_t len)
{
	size_t before = b->len;

	if (!buf_add(b, "\"", 1) && !put_bytes(b, p, len) &&
	    !buf_add(b, "\"", 1))
		return 0;
	b->len = before;
	if (b->data)
		b->data[before] = '\0';
	return -1;
}

static void put(struct json_writer *w, const char *p, size_t len)
{
	if (!w->failed && buf_add(w->buf, p, len))
		w->failed = true;
}

static void separate(struct json_writer *w)
{
	if (w->comma)
		put(w, ",", 1);
	w->comma = true;
}

void json_write_begin(struct json_writer *w, char open)
{
	separate(w);
	put(w, &open, 1);
	w->comma = false;
	if (++w->depth > DEPTH_LIMIT)
		w->failed = true;
}

void json_write_end(struct json_writer *w, char close)
{
	if (!w->depth) {
		w->failed = true;
		return;
	}
	w->depth--;
	put(w, &close, 1);
	w->comma = true;
}

void json_write_key_n(struct json_writer *w, const char *key, size_t len)
{
	json_write_string(w, key, len);
	put(w, ":", 1);
	w->comma = false;
}

void json_write_key(struct json_writer *w, const char *key)
{
	json_write_key_n(w, key, strlen(key));
}

void json_write_string(struct json_writer *w, const char *p, size_t len)
{
	separate(w);
	if (!w->failed && json_put_string(w->buf, p, len))
		w->failed = true;
}

void json_write_text(struct json_writer *w, const char *s)
{
	if (s)
		json_write_string(w, s, strlen(s));
	else
		json_write_null(w);
}

void json_write_u64(struct json_writer *w, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof digits, "%llu",
			   (unsigned long long)n);

	json_write_raw(w, digits, (size_t)len);
}

void json_write_i64(struct json_writer *w, int64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof digits, "%lld", (long long)n);

	json_write_raw(w, digits, (size_t)len);
}

void json_write_bool(struct json_writer *w, bool b)
{
	json_write_raw(w, b ? "true" : "false", b ? 4 : 5);
}

void json_write_null(struct json_writer *w)
{
	json_write_raw(w, "null", 4);
}

void json_write_raw(struct json_writer *w, const char *json, size_t len)
{
	separate(w);
	put(w, json, len);
}

int json_write_done(const struct json_writer *w)
{
	return w->failed || w->depth ? -1 : 0;
}
