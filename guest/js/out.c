/* Standard output and standard error of a run.
 *
 * Lines are gathered in a small buffer: one host call for many lines.  What
 * is in it goes out before a wait, when the other stream is written and at
 * the end of the run, however it ends. */
#include <string.h>
#include <wasi/api.h>
#include "guest.h"
#include "quick.h"

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
		const char *s = JS_ToCStringLen(ctx, &n, argv[1]);

		if (!s)
			return JS_EXCEPTION;
		out_write(stream, s, n);
		JS_FreeCString(ctx, s);
	}
	return JS_UNDEFINED;
}

int out_add(JSContext *ctx, JSValueConst native)
{
	static const JSCFunctionListEntry list[] = {
		JS_CFUNC_DEF("write", 2, js_write),
	};

	return JS_SetPropertyFunctionList(ctx, native, list, 1);
}
