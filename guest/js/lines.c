/* Lines of a file, one at a time in constant memory: what readline over a
 * file stream runs on. */
#include <stdlib.h>
#include <string.h>
#include <wasi/api.h>
#include "guest.h"
#include "quick.h"
#include "files.h"

#define ARGS JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv
#define CHUNK 65536
#define READERS_MAX 256

struct lines {
	uint32_t id;	 /* index in readers + READERS_MAX * a serial number */
	__wasi_fd_t fd;
	bool ended;	 /* the file has no more bytes */
	uint8_t *p;
	size_t at, len, cap;
};

static struct lines *readers[READERS_MAX];
static uint32_t serial;

static struct lines *find(uint32_t id)
{
	struct lines *s = readers[id % READERS_MAX];

	return s && s->id == id ? s : NULL;
}

static struct lines *get(JSContext *ctx, JSValueConst v)
{
	uint32_t id;

	struct lines *s;

	if (JS_ToUint32(ctx, &id, v))
		return NULL;
	s = find(id);
	if (!s)
		JS_ThrowTypeError(ctx, "readline was closed");
	return s;
}

static JSValue js_open(ARGS)
{
	uint32_t id = 0, fd;

	(void)this_val;
	(void)argc;
	if (JS_ToUint32(ctx, &fd, argv[0]))
		return JS_EXCEPTION;
	while (id < READERS_MAX && readers[id])
		id++;
	if (id == READERS_MAX)
		return JS_ThrowRangeError(ctx, "more than %d files are read "
					  "line by line at once", READERS_MAX);
	readers[id] = js_mallocz(ctx, sizeof(*readers[id]));
	if (!readers[id])
		return JS_EXCEPTION;
	readers[id]->fd = fd;
	readers[id]->id = id + READERS_MAX * (serial++ % 65536);
	return JS_NewUint32(ctx, readers[id]->id);
}

static JSValue js_close(ARGS)
{
	struct lines *s = get(ctx, argv[0]);

	(void)this_val;
	(void)argc;
	if (!s)
		return JS_EXCEPTION;
	readers[s->id % READERS_MAX] = NULL;
	js_free(ctx, s->p);
	js_free(ctx, s);
	return JS_UNDEFINED;
}

/* Reads on, keeping what is not consumed.  0, an error number, -1. */
static int refill(JSContext *ctx, struct lines *s)
{
	__wasi_iovec_t v;
	__wasi_size_t done = 0;
	__wasi_errno_t e;

	if (s->at) {
		memmove(s->p, s->p + s->at, s->len - s->at);
		s->len -= s->at;
		s->at = 0;
	}
	if (s->cap - s->len < CHUNK) {
		size_t cap = s->cap < CHUNK ? 2 * CHUNK : s->cap * 2;
		uint8_t *p = js_realloc(ctx, s->p, cap);

		if (!p)
			return -1;
		s->p = p;
		s->cap = cap;
	}
	if (quick_poll(ctx))
		return -1;
	v.buf = s->p + s->len;
	v.buf_len = CHUNK;
	e = __wasi_fd_read(s->fd, &v, 1, &done);
	if (e)
		return e;
	s->len += done;
	s->ended = done == 0;
	return 0;
}

static JSValue make_line(JSContext *ctx, const uint8_t *p, size_t n,
			 uint8_t bits)
{
	return bits & 0x80 ? files_text(ctx, p, n) : quick_latin1(ctx, p, n);
}

/* The next line if the buffer holds one; JS_UNINITIALIZED if not.  Lines end
 * with \n, \r\n or \r.  *scan is where the search goes on after a refill,
 * relative to at; *bits gathers the bytes seen. */
static JSValue take_line(JSContext *ctx, struct lines *s, size_t *scan,
			 uint8_t *bits)
{
	const uint8_t *base = s->p + s->at, *end = s->p + s->len;
	const uint8_t *p = base + *scan;
	uint8_t all = *bits;

	while (p < end && *p != '\n' && *p != '\r')
		all |= *p++;
	*scan = (size_t)(p - base);
	*bits = all;
	/* A return may be half of an ending. */
	if (p == end || (*p == '\r' && p + 1 == end && !s->ended))
		return JS_UNINITIALIZED;
	s->at += *scan + 1;
	if (*p == '\r' && p + 1 < end && p[1] == '\n')
		s->at++;
	return make_line(ctx, base, *scan, all);
}

/* A line, undefined at the end, a negative error number, or an exception. */
static JSValue next_line(JSContext *ctx, struct lines *s)
{
	size_t scan = 0;
	uint8_t bits = 0;

	for (;;) {
		JSValue v = take_line(ctx, s, &scan, &bits);
		int e;

		if (!JS_IsUninitialized(v))
			return v;
		if (s->ended) {
			size_t from = s->at;

			s->at = s->len;
			if (from == s->len)
				return JS_UNDEFINED;
			return make_line(ctx, s->p + from, s->len - from,
					 bits);
		}
		e = refill(ctx, s);
		if (e)
			return e < 0 ? JS_EXCEPTION : JS_NewInt32(ctx, -e);
	}
}

static JSValue js_next(ARGS)
{
	struct lines *s = get(ctx, argv[0]);

	(void)this_val;
	(void)argc;
	return s ? next_line(ctx, s) : JS_EXCEPTION;
}

static JSValue step_value(JSContext *ctx, struct lines *s,
			  JSValueConst finish)
{
	JSValue line = next_line(ctx, s), r, error;

	if (JS_IsException(line))
		return line;
	if (JS_IsString(line))
		return quick_iteration(ctx, line, false);
	r = JS_Call(ctx, finish, JS_UNDEFINED, 0, NULL);
	if (JS_IsException(r))
		return r;
	JS_FreeValue(ctx, r);
	if (JS_IsUndefined(line))
		return quick_iteration(ctx, JS_UNDEFINED, true);
	r = JS_GetPropertyStr(ctx, guest.hooks, "readError");
	error = JS_Call(ctx, r, JS_UNDEFINED, 1, (JSValueConst *)&line);
	JS_FreeValue(ctx, r);
	return JS_Throw(ctx, error);
}

static JSValue js_step(JSContext *ctx, JSValueConst this_val, int argc,
		       JSValueConst *argv, int magic, JSValueConst *data)
{
	struct lines *s = find((uint32_t)JS_VALUE_GET_INT(data[0]));
	JSValue v, promise;
	bool failed;

	(void)this_val;
	(void)argc;
	(void)argv;
	(void)magic;
	v = s ? step_value(ctx, s, data[1]) :
		quick_iteration(ctx, JS_UNDEFINED, true);
	failed = JS_IsException(v);
	if (failed && loop_ending())
		return v;
	v = failed ? JS_GetException(ctx) : v;
	promise = JS_NewSettledPromise(ctx, failed, v);
	JS_FreeValue(ctx, v);
	return promise;
}

/* linesIterate(reader, finish) -> next(): the settled promise of an iterator's
 * step; finish is called at the end. */
static JSValue js_next_of(ARGS)
{
	(void)this_val;
	(void)argc;
	return JS_NewCFunctionData(ctx, js_step, 0, 0, 2, argv);
}

int lines_add(JSContext *ctx, JSValueConst native)
{
	static const JSCFunctionListEntry list[] = {
		JS_CFUNC_DEF("linesOpen", 1, js_open),
		JS_CFUNC_DEF("linesNext", 1, js_next),
		JS_CFUNC_DEF("linesIterate", 2, js_next_of),
		JS_CFUNC_DEF("linesClose", 1, js_close),
	};

	return JS_SetPropertyFunctionList(ctx, native, list, 4);
}
