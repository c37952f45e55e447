/* The built-in JavaScript, compiled into the image.
 *
 * Each file is one function expression called with (native, hooks, share).
 * Its text is dropped after compiling, so a program sees native code only,
 * and zeroed, so the image does not carry it. */
#include <string.h>
#include "guest.h"
#include "quick.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static char safe_js[] = {
#embed "prelude/safe.js"
	, 0
};
static char inspect_text_js[] = {
#embed "prelude/inspect_text.js"
	, 0
};
static char inspect_layout_js[] = {
#embed "prelude/inspect_layout.js"
	, 0
};
static char inspect_kinds_js[] = {
#embed "prelude/inspect_kinds.js"
	, 0
};
static char inspect_error_js[] = {
#embed "prelude/inspect_error.js"
	, 0
};
static char inspect_js[] = {
#embed "prelude/inspect.js"
	, 0
};
static char format_js[] = {
#embed "prelude/format.js"
	, 0
};
static char console_js[] = {
#embed "prelude/console.js"
	, 0
};

static char base_js[] = {
#embed "prelude/base.js"
	, 0
};
static char events_js[] = {
#embed "prelude/events.js"
	, 0
};
static char timers_js[] = {
#embed "prelude/timers.js"
	, 0
};
static char network_js[] = {
#embed "prelude/network.js"
	, 0
};
static char text_js[] = {
#embed "prelude/text.js"
	, 0
};
static char buffer_js[] = {
#embed "prelude/buffer.js"
	, 0
};
static char path_js[] = {
#embed "prelude/path.js"
	, 0
};
static char util_js[] = {
#embed "prelude/util.js"
	, 0
};
static char process_js[] = {
#embed "prelude/process.js"
	, 0
};
static char fs_error_js[] = {
#embed "prelude/fs_error.js"
	, 0
};
static char fs_js[] = {
#embed "prelude/fs.js"
	, 0
};
static char fs_async_js[] = {
#embed "prelude/fs_async.js"
	, 0
};
static char readline_js[] = {
#embed "prelude/readline.js"
	, 0
};
static char tools_js[] = {
#embed "prelude/tools.js"
	, 0
};
static char modules_js[] = {
#embed "prelude/modules.js"
	, 0
};

static const struct {
	const char *name;
	char *text; /* zeroed after use */
	size_t size;
} files[] = {
	{ "node:base", base_js, sizeof(base_js) },
	{ "node:safe", safe_js, sizeof(safe_js) },
	{ "node:util/inspect_text", inspect_text_js, sizeof(inspect_text_js) },
	{ "node:util/inspect_layout", inspect_layout_js,
	  sizeof(inspect_layout_js) },
	{ "node:util/inspect_kinds", inspect_kinds_js,
	  sizeof(inspect_kinds_js) },
	{ "node:util/inspect_error", inspect_error_js,
	  sizeof(inspect_error_js) },
	{ "node:util/inspect", inspect_js, sizeof(inspect_js) },
	{ "node:util/format", format_js, sizeof(format_js) },
	{ "node:console", console_js, sizeof(console_js) },
	{ "node:tools", tools_js, sizeof(tools_js) },
	{ "node:events", events_js, sizeof(events_js) },
	{ "node:timers", timers_js, sizeof(timers_js) },
	{ "node:network", network_js, sizeof(network_js) },
	{ "node:text", text_js, sizeof(text_js) },
	{ "node:buffer", buffer_js, sizeof(buffer_js) },
	{ "node:path", path_js, sizeof(path_js) },
	{ "node:util", util_js, sizeof(util_js) },
	{ "node:process", process_js, sizeof(process_js) },
	{ "node:fs_error", fs_error_js, sizeof(fs_error_js) },
	{ "node:fs", fs_js, sizeof(fs_js) },
	{ "node:fs_async", fs_async_js, sizeof(fs_async_js) },
	{ "node:readline", readline_js, sizeof(readline_js) },
	{ "node:modules", modules_js, sizeof(modules_js) },
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
