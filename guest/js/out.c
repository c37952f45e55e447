/* Standard output and standard error of a run.
 *
 * The pieces of one call are gathered in a small buffer: one host call for a
 * line of console.log (the host gathers lines).  Nothing stays in it when the
 * call returns, so a run that is killed loses nothing. */
#include <math.h>
#include <string.h>
#include <wasi/api.h>
#include "guest.h"
#include "quick.h"
#include "text.h"

static struct {
	int stream;
	uint32_t len;
	char bytes[4096];
} out;

static void send(int stream, const char *p, size_t n)
{
	while (n > 0) {
		__wasi_ciovec_t v = { (const uint8_t *)p, n };
		__wasi_size_t done = 0;

		if (__wasi_fd_write((__wasi_fd_t)stream, &v, 1, &done) ||
		    done == 0)
			return;
		p += done;
		n -= done;
	}
}

void out_flush(void)
{
	if (out.len)
		send(out.stream, out.bytes, out.len);
	out.len = 0;
}

void out_write(int stream, const char *p, size_t n)
{
	if (out.stream != stream || n > sizeof(out.bytes) - out.len) {
		out_flush();
		out.stream = stream;
	}
	if (n > sizeof(out.bytes) / 2) {
		send(stream, p, n);
		return;
	}
	memcpy(out.bytes + out.len, p, n);
	out.len += (uint32_t)n;
}

/* The text of v, NULL with an exception pending; free with JS_FreeCString. */
static const char *out_text(JSContext *ctx, JSValueConst v, size_t *ret_n)
{
	const char *s = JS_ToCStringLen(ctx, ret_n, v);

	/* What has halves of pairs in it is a copy of its own. */
	if (s)
		text_mend((char *)s, *ret_n);
	return s;
}

/* write(stream, text or bytes) */
static JSValue js_write(JSContext *ctx, JSValueConst this_val, int argc,
			JSValueConst *argv)
{
	int32_t stream;
	uint8_t *b;
	size_t n;

	(void)this_val;
	(void)argc;
	if (JS_ToInt32(ctx, &stream, argv[0]))
		return JS_EXCEPTION;
	b = quick_bytes(ctx, argv[1], &n);
	if (b) {
		out_write(stream, (const char *)b, n);
	} else {
		const char *s = out_text(ctx, argv[1], &n);

		if (!s)
			return JS_EXCEPTION;
		out_write(stream, s, n);
		JS_FreeCString(ctx, s);
	}
	out_flush();
	return JS_UNDEFINED;
}

/* Appends one plain value. */
static int put_plain(JSContext *ctx, int stream, JSValueConst v)
{
	const char *s;
	size_t n;

	s = out_text(ctx, v, &n);
	if (!s)
		return -1;
	out_write(stream, s, n);
	JS_FreeCString(ctx, s);
	return 0;
}

static bool is_plain(JSValueConst v)
{
	return JS_IsString(v) || JS_IsNumber(v) || JS_IsBool(v) ||
	       JS_IsNull(v) || JS_IsUndefined(v);
}

static bool is_minus_zero(JSContext *ctx, JSValueConst v)
{
	double d;

	if (JS_VALUE_GET_NORM_TAG(v) != JS_TAG_FLOAT64 ||
	    JS_ToFloat64(ctx, &d, v))
		return false;
	return d == 0 && signbit(d);
}

static bool has_percent(JSContext *ctx, JSValueConst v)
{
	struct quick_chars c;
	bool found = false;

	if (!quick_chars(ctx, v, &c))
		return true;
	if (c.narrow)
		found = memchr(c.narrow, '%', c.len) != NULL;
	for (uint32_t i = 0; !c.narrow && i < c.len && !found; i++)
		found = c.wide[i] == '%';
	quick_chars_done(ctx, &c);
	return found;
}

/* plainLine(stream, args): writes a line of plain values, or returns false
 * having written nothing if one needs formatting. */
static JSValue js_plain_line(JSContext *ctx, JSValueConst this_val, int argc,
			     JSValueConst *argv)
{
	bool plain = true;
	int32_t stream;
	int64_t n;

	(void)this_val;
	(void)argc;
	if (JS_ToInt32(ctx, &stream, argv[0]) || JS_GetLength(ctx, argv[1], &n))
		return JS_EXCEPTION;
	for (int64_t i = 0; i < n && plain; i++) {
		JSValue v = JS_GetPropertyInt64(ctx, argv[1], i);

		plain = is_plain(v) && !is_minus_zero(ctx, v) &&
			(i || n == 1 || !JS_IsString(v) ||
			 !has_percent(ctx, v));
		JS_FreeValue(ctx, v);
	}
	for (int64_t i = 0; i < n && plain; i++) {
		JSValue v = JS_GetPropertyInt64(ctx, argv[1], i);
		int r;

		if (i)
			out_write(stream, " ", 1);
		r = put_plain(ctx, stream, v);
		JS_FreeValue(ctx, v);
		if (r < 0) {
			out_flush();
			return JS_EXCEPTION;
		}
	}
	if (plain)
		out_write(stream, "\n", 1);
	out_flush();
	return JS_NewBool(ctx, plain);
}

int out_add(JSContext *ctx, JSValueConst native)
{
	static const JSCFunctionListEntry list[] = {
		JS_CFUNC_DEF("write", 2, js_write),
		JS_CFUNC_DEF("plainLine", 2, js_plain_line),
	};

	return JS_SetPropertyFunctionList(ctx, native, list, 2);
}
