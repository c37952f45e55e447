/* Encodings for TextDecoder, Buffer, atob: bytes to strings and back. */
#include <stdlib.h>
#include <string.h>
#include "guest.h"
#include "quick.h"
#include "files.h"
#include "text.h"

#define ARGS JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv
#define UNUSED ((void)this_val, (void)argc)

/* How many bytes at p form one malformed piece: the longest start of a
 * sequence that could have been whole. */
static size_t malformed(const uint8_t *p, size_t n)
{
	uint8_t c = p[0], low = 0x80, high = 0xbf;
	size_t need, k;

	if (c < 0xc2 || c > 0xf4)
		return 1;
	need = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
	low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : low;
	high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : high;
	for (k = 1; k <= need && k < n; k++) {
		if (p[k] < low || p[k] > high)
			break;
		low = 0x80;
		high = 0xbf;
	}
	return k;
}

static size_t sequence(const uint8_t *p, size_t n)
{
	size_t k = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	return k <= n && text_is_utf8(p, k) ? k : 0;
}

JSValue files_text(JSContext *ctx, const uint8_t *p, size_t n)
{
	uint8_t *b;
	size_t k = 0, i = 0;
	JSValue v;

	if (text_is_utf8(p, n))
		return JS_NewStringLen(ctx, (const char *)p, n);
	if (n > UINT32_MAX / 3)
		return JS_ThrowRangeError(ctx, "Invalid string length");
	b = js_malloc(ctx, n * 3);
	if (!b)
		return JS_EXCEPTION;
	while (i < n) {
		size_t good = sequence(p + i, n - i);

		if (good) {
			memcpy(b + k, p + i, good);
			k += good;
			i += good;
		} else {
			memcpy(b + k, "\xef\xbf\xbd", 3);
			k += 3;
			i += malformed(p + i, n - i);
		}
	}
	v = JS_NewStringLen(ctx, (const char *)b, k);
	js_free(ctx, b);
	return v;
}

/* isUtf8(bytes) */
static JSValue js_is_utf8(ARGS)
{
	size_t n;
	uint8_t *p = quick_bytes(ctx, argv[0], &n);

	UNUSED;
	return JS_NewBool(ctx, text_is_utf8(p, p ? n : 0));
}

/* Length of the unfinished sequence at the end of bytes, 0 to 3. */
static JSValue js_utf8_tail(ARGS)
{
	size_t n;
	uint8_t *p = quick_bytes(ctx, argv[0], &n);

	UNUSED;
	for (size_t k = 1; p && k <= 3 && k <= n; k++) {
		uint8_t c = p[n - k];

		if (c < 0x80 || (c >= 0x80 && c < 0xc0 && k == 3))
			break;
		if (c < 0xc0)
			continue;
		if (k < (c < 0xe0 ? 2u : c < 0xf0 ? 3u : 4u) &&
		    malformed(p + n - k, k) == k && c >= 0xc2 && c <= 0xf4)
			return JS_NewUint32(ctx, (uint32_t)k);
		break;
	}
	return JS_NewInt32(ctx, 0);
}

static JSValue hex_text(JSContext *ctx, const uint8_t *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	char *b = js_malloc(ctx, 2 * n + 1);
	JSValue v;

	if (!b)
		return JS_EXCEPTION;
	for (size_t i = 0; i < n; i++) {
		b[2 * i] = digits[p[i] >> 4];
		b[2 * i + 1] = digits[p[i] & 15];
	}
	v = quick_latin1(ctx, (uint8_t *)b, 2 * n);
	js_free(ctx, b);
	return v;
}

static JSValue base64_text(JSContext *ctx, const uint8_t *p, size_t n,
			   bool url)
{
	char *b = js_malloc(ctx, (n + 2) / 3 * 4 + 1);
	size_t k;
	JSValue v;

	if (!b)
		return JS_EXCEPTION;
	k = text_base64(b, p, n);
	for (size_t i = 0; url && i < k; i++)
		b[i] = b[i] == '+' ? '-' : b[i] == '/' ? '_' : b[i];
	while (url && k && b[k - 1] == '=')
		k--;
	v = quick_latin1(ctx, (uint8_t *)b, k);
	js_free(ctx, b);
	return v;
}

static JSValue utf16_text(JSContext *ctx, const uint8_t *p, size_t n)
{
	uint16_t *w = js_malloc(ctx, n + 2);
	JSValue v;

	if (!w)
		return JS_EXCEPTION;
	memcpy(w, p, n & ~(size_t)1);
	v = JS_NewStringUTF16(ctx, w, n / 2);
	js_free(ctx, w);
	return v;
}

enum encoding { /* as share.encodings in text.js */
	ENCODING_UTF8,
	ENCODING_LATIN1,
	ENCODING_ASCII,
	ENCODING_HEX,
	ENCODING_BASE64,
	ENCODING_BASE64URL,
	ENCODING_UTF16,
};

static JSValue ascii_text(JSContext *ctx, const uint8_t *p, size_t n)
{
	uint8_t *b = js_malloc(ctx, n + 1);
	JSValue v;

	if (!b)
		return JS_EXCEPTION;
	for (size_t i = 0; i < n; i++)
		b[i] = p[i] & 127;
	v = quick_latin1(ctx, b, n);
	js_free(ctx, b);
	return v;
}

/* decode(bytes, encoding) -> string */
static JSValue js_decode(ARGS)
{
	int32_t encoding;
	size_t n;
	const uint8_t *p = quick_bytes(ctx, argv[0], &n);

	UNUSED;
	if (JS_ToInt32(ctx, &encoding, argv[1]))
		return JS_EXCEPTION;
	if (!p || !n)
		return JS_NewString(ctx, "");
	switch (encoding) {
	case ENCODING_LATIN1:
		return quick_latin1(ctx, p, n);
	case ENCODING_ASCII:
		return ascii_text(ctx, p, n);
	case ENCODING_HEX:
		return hex_text(ctx, p, n);
	case ENCODING_BASE64:
	case ENCODING_BASE64URL:
		return base64_text(ctx, p, n, encoding == ENCODING_BASE64URL);
	case ENCODING_UTF16:
		return utf16_text(ctx, p, n);
	default:
		return files_text(ctx, p, n);
	}
}

static int digit(uint32_t c)
{
	if (c >= '0' && c <= '9')
		return (int)(c - '0');
	c |= 32;
	return c >= 'a' && c <= 'f' ? (int)(c - 'a' + 10) : -1;
}

static uint32_t unit(const struct quick_chars *c, uint32_t i)
{
	return c->narrow ? c->narrow[i] : c->wide[i];
}

static size_t put_hex(uint8_t *b, const struct quick_chars *c)
{
	size_t k = 0;

	for (uint32_t i = 0; i + 1 < c->len; i += 2) {
		int hi = digit(unit(c, i)), lo = digit(unit(c, i + 1));

		if (hi < 0 || lo < 0)
			break;
		b[k++] = (uint8_t)(hi << 4 | lo);
	}
	return k;
}

/* UTF-8 with U+FFFD for half pairs; b holds 3 bytes for each unit. */
static size_t put_utf8(uint8_t *b, const struct quick_chars *c)
{
	size_t k = 0;

	for (uint32_t i = 0; i < c->len; i++) {
		uint32_t u = unit(c, i);

		if (u >= 0xd800 && u < 0xdc00 && i + 1 < c->len &&
		    unit(c, i + 1) >= 0xdc00 && unit(c, i + 1) < 0xe000)
			u = 0x10000 + ((u - 0xd800) << 10) +
			    (unit(c, ++i) - 0xdc00);
		else if (u >= 0xd800 && u < 0xe000)
			u = 0xfffd;
		k += text_utf8((char *)b + k, u);
	}
	return k;
}

static size_t put_units(uint8_t *b, const struct quick_chars *c, bool wide)
{
	size_t k = 0;

	for (uint32_t i = 0; i < c->len; i++) {
		uint32_t u = unit(c, i);

		b[k++] = (uint8_t)u;
		if (wide)
			b[k++] = (uint8_t)(u >> 8);
	}
	return k;
}

static size_t put_base64(uint8_t *b, const struct quick_chars *c)
{
	char part[256];
	size_t k = 0, n = 0;

	/* Groups of four digits stand alone. */
	for (uint32_t i = 0; i < c->len; i++) {
		uint32_t u = unit(c, i);

		if (u == '=')
			break;
		if (u > 127 || (!strchr("+/-_", (int)u) &&
				!((u >= '0' && u <= '9') ||
				  ((u | 32) >= 'a' && (u | 32) <= 'z'))))
			continue;
		part[n++] = (char)u;
		if (n == sizeof(part)) {
			k += text_unbase64(b + k, part, n);
			n = 0;
		}
	}
	return k + text_unbase64(b + k, part, n);
}

/* encode(string, encoding) -> ArrayBuffer */
static JSValue js_encode(ARGS)
{
	JSValue text = JS_ToString(ctx, argv[0]), v;
	struct quick_chars c;
	int32_t encoding;
	uint8_t *b;
	size_t n;

	UNUSED;
	if (JS_IsException(text) || JS_ToInt32(ctx, &encoding, argv[1]) ||
	    !quick_chars(ctx, text, &c))
		return JS_EXCEPTION;
	b = js_malloc(ctx, (size_t)c.len * 3 + 4);
	if (!b) {
		quick_chars_done(ctx, &c);
		JS_FreeValue(ctx, text);
		return JS_EXCEPTION;
	}
	if (encoding == ENCODING_HEX)
		n = put_hex(b, &c);
	else if (encoding == ENCODING_BASE64 || encoding == ENCODING_BASE64URL)
		n = put_base64(b, &c);
	else if (encoding == ENCODING_UTF8)
		n = put_utf8(b, &c);
	else
		n = put_units(b, &c, encoding == ENCODING_UTF16);
	quick_chars_done(ctx, &c);
	JS_FreeValue(ctx, text);
	v = JS_NewArrayBufferCopy(ctx, b, n);
	js_free(ctx, b);
	return v;
}

static JSValue js_random(ARGS)
{
	size_t n;
	uint8_t *p = quick_bytes(ctx, argv[0], &n);

	UNUSED;
	if (p && n && !clock_fill(p, n))
		return quick_no_random(ctx);
	return JS_DupValue(ctx, argv[0]);
}

int text_add(JSContext *ctx, JSValueConst native)
{
	static const JSCFunctionListEntry list[] = {
		JS_CFUNC_DEF("isUtf8", 1, js_is_utf8),
		JS_CFUNC_DEF("utf8Tail", 1, js_utf8_tail),
		JS_CFUNC_DEF("decode", 2, js_decode),
		JS_CFUNC_DEF("encode", 2, js_encode),
		JS_CFUNC_DEF("random", 1, js_random),
	};

	return JS_SetPropertyFunctionList(ctx, native, list, 5);
}
