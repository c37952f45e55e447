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

/* The code of the character of len bytes at p. */
static unsigned decode(const char *p, size_t len)
{
	static const unsigned char head[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	unsigned code = (unsigned char)p[0] & head[len];

	for (size_t i = 1; i < len; i++)
		code = code << 6 | ((unsigned char)p[i] & 0x3f);
	return code;
}

static bool is_escaped(unsigned code)
{
	static const struct {
		unsigned first, last;
	} ranges[] = {
		{0, 0x1f}, {'"', '"'}, {'\\', '\\'}, {0x7f, 0x9f},
		{0x2028, 0x2029}, {0xfeff, 0xfeff}, {0xfffe, 0xffff},
	};

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	}
	return false;
}

static bool is_ordinary(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* One character, or one broken part, at p; *ret is its length. */
static int put_one(struct buf *b, const char *p, size_t len, size_t *ret)
{
	size_t n = str_utf8(p, len);

	*ret = n ? n : broken(p, len);
	if (!n)
		return buf_add(b, "\xef\xbf\xbd", 3);
	if (is_escaped(decode(p, n)))
		return put_escape(b, decode(p, n));
	return buf_add(b, p, n);
}

static int put_bytes(struct buf *b, const char *p, size_t len)
{
	size_t i = 0, n;

	while (i < len) {
		size_t run = i;

		while (run < len && is_ordinary((unsigned char)p[run]))
			run++;
		if (run > i && buf_add(b, p + i, run - i))
			return -1;
		i = run;
		if (i == len)
			break;
		if (put_one(b, p + i, len - i, &n))
			return -1;
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

static void write_all(struct json_writer *w, const struct json_value *v)
{
	struct json_iter it = json_iter(v);
	bool object = json_kind(v) == JSON_OBJECT;
	size_t len;

	json_write_begin(w, object ? '{' : '[');
	while (json_next(&it)) {
		if (it.key) {
			const char *key = json_string(it.key, &len);

			json_write_key_n(w, key, len);
		}
		json_write_value(w, it.value);
	}
	json_write_end(w, object ? '}' : ']');
}

void json_write_value(struct json_writer *w, const struct json_value *v)
{
	const char *p;
	size_t len;

	switch (json_kind(v)) {
	case JSON_NULL:
		json_write_null(w);
		return;
	case JSON_BOOL:
		json_write_bool(w, json_is_true(v));
		return;
	case JSON_NUMBER:
		p = json_digits(v, &len);
		json_write_raw(w, p, len);
		return;
	case JSON_STRING:
		p = json_string(v, &len);
		json_write_string(w, p, len);
		return;
	default:
		write_all(w, v);
	}
}

int json_write_done(const struct json_writer *w)
{
	return w->failed || w->depth ? -1 : 0;
}
