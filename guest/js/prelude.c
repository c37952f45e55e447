/* The built-in JavaScript, compiled into the image.
 *
 * Each file is one function expression called with (native, hooks, share).
 * Its text is dropped after compiling, so a program sees native code only,
 * and zeroed, so the image does not carry it. */
#include <string.h>
#include "guest.h"
#include "quick.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static char inspect_js[] = {
#embed "prelude/inspect.js"
	,
#embed "prelude/inspect_value.js"
	,
#embed "prelude/inspect_print.js"
	,
#embed "prelude/inspect_format.js"
	, 0
};
static char console_js[] = {
#embed "prelude/console.js"
	, 0
};

static const struct {
	const char *name;
	char *text;
	size_t size;
} files[] = {
	{ "node:util/inspect", inspect_js, sizeof(inspect_js) },
	{ "node:console", console_js, sizeof(console_js) },
};

/* Without its source text. */
static JSValue stripped(JSContext *ctx, JSValue fn)
{
	size_t n;
	uint8_t *b = JS_WriteObject(ctx, &n, fn,
				    JS_WRITE_OBJ_BYTECODE |
					    JS_WRITE_OBJ_STRIP_SOURCE);

	JS_FreeValue(ctx, fn);
	if (!b)
		return JS_EXCEPTION;
	fn = JS_ReadObject(ctx, b, n, JS_READ_OBJ_BYTECODE);
	js_free(ctx, b);
	return fn;
}

static int load(JSContext *ctx, size_t i, JSValueConst share)
{
	JSValueConst args[3] = { guest.native, guest.hooks, share };
	JSValue fn, r;

	fn = quick_compile(ctx, files[i].text, files[i].size - 1,
			   files[i].name, 1,
			   JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_STRICT);
	memset(files[i].text, 0, files[i].size);
	if (JS_IsException(fn))
		return -1;
	fn = stripped(ctx, fn);
	if (JS_IsException(fn))
		return -1;
	fn = JS_EvalFunction(ctx, fn);
	r = JS_Call(ctx, fn, JS_UNDEFINED, 3, args);
	JS_FreeValue(ctx, fn);
	if (JS_IsException(r))
		return -1;
	JS_FreeValue(ctx, r);
	return 0;
}

/* Tells the builder what is wrong before the trap. */
static void complain(JSContext *ctx)
{
	JSValue e = JS_GetException(ctx);
	JSValue raw = quick_raw_stack(ctx, e);
	const char *s = JS_ToCString(ctx, e), *t = JS_ToCString(ctx, raw);

	out_write(2, s ? s : "?", s ? strlen(s) : 1);
	out_write(2, "\n", 1);
	out_write(2, t ? t : "", t ? strlen(t) : 0);
	out_flush();
}

int prelude_load(JSContext *ctx)
{
	JSValue share = JS_NewObject(ctx);

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (load(ctx, i, share)) {
			complain(ctx);
			return -1;
		}
	}
	JS_FreeValue(ctx, share);
	return 0;
}
