/* What process needs of C: arguments, environment, the end of the run. */
#include <string.h>
#include "guest.h"
#include "quick.h"

#define TEXT(x) #x
#define DOTTED(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)
#define VERSION(a, b, c) DOTTED(a, b, c)
#define ENGINE \
	VERSION(QJS_VERSION_MAJOR, QJS_VERSION_MINOR, QJS_VERSION_PATCH)

static JSValue js_exit(JSContext *ctx, JSValueConst this_val, int argc,
		       JSValueConst *argv)
{
	JSValue e;

	(void)this_val;
	(void)argc;
	if (JS_ToInt32(ctx, &guest.exit_code, argv[0]))
		return JS_EXCEPTION;
	guest.exit_code &= 255;
	guest.exiting = true;
	quick_poll_soon(ctx);
	e = JS_NewError(ctx);
	JS_SetUncatchableError(ctx, e);
	return JS_Throw(ctx, e);
}

static JSValue js_exit_code(JSContext *ctx, JSValueConst this_val, int argc,
			    JSValueConst *argv)
{
	(void)this_val;
	(void)argc;
	if (JS_ToInt32(ctx, &guest.exit_code, argv[0]))
		return JS_EXCEPTION;
	guest.exit_code &= 255;
	return JS_UNDEFINED;
}

static JSValue span_value(JSContext *ctx, const struct guest_span *s)
{
	return JS_NewStringLen(ctx, guest.base + s->off, s->len);
}

static JSValue js_args(JSContext *ctx, JSValueConst this_val, int argc,
		       JSValueConst *argv)
{
	JSValue a = JS_NewArray(ctx);

	(void)this_val;
	(void)argc;
	(void)argv;
	for (uint32_t i = 0; i < guest.argc && !JS_IsException(a); i++)
		JS_SetPropertyUint32(ctx, a, i,
				     span_value(ctx, &guest.args[i]));
	return a;
}

static JSValue js_env(JSContext *ctx, JSValueConst this_val, int argc,
		      JSValueConst *argv)
{
	JSValue o = JS_NewObject(ctx);

	(void)this_val;
	(void)argc;
	(void)argv;
	for (uint32_t i = 0; i < guest.envc && !JS_IsException(o); i++) {
		const struct guest_span *s = &guest.env[i];
		const char *p = guest.base + s->off;
		const char *eq = memchr(p, '=', s->len);
		JSAtom key;

		if (!eq || eq == p)
			continue;
		key = JS_NewAtomLen(ctx, p, (size_t)(eq - p));
		JS_DefinePropertyValue(
			ctx, o, key,
			JS_NewStringLen(ctx, eq + 1,
					s->len - (size_t)(eq + 1 - p)),
			JS_PROP_C_W_E);
		JS_FreeAtom(ctx, key);
	}
	return o;
}

static JSValue js_name(JSContext *ctx, JSValueConst this_val, int argc,
		       JSValueConst *argv)
{
	(void)this_val;
	(void)argc;
	(void)argv;
	return guest.request ? span_value(ctx, &guest.request->name) :
			       JS_NewString(ctx, "script.js");
}

static JSValue js_memory(JSContext *ctx, JSValueConst this_val, int argc,
			 JSValueConst *argv)
{
	(void)this_val;
	(void)argc;
	(void)argv;
	return JS_NewInt64(ctx, (int64_t)__builtin_wasm_memory_size(0) << 16);
}

static JSValue run_microtask(JSContext *ctx, int argc, JSValueConst *argv)
{
	(void)argc;
	return JS_Call(ctx, argv[0], JS_UNDEFINED, 0, NULL);
}

static JSValue js_microtask(JSContext *ctx, JSValueConst this_val, int argc,
			    JSValueConst *argv)
{
	(void)this_val;
	(void)argc;
	if (JS_EnqueueJob(ctx, run_microtask, 1, argv) < 0)
		return JS_EXCEPTION;
	return JS_UNDEFINED;
}

int process_add(JSContext *ctx, JSValueConst native)
{
	static const JSCFunctionListEntry list[] = {
		JS_CFUNC_DEF("exit", 1, js_exit),
		JS_CFUNC_DEF("exitCode", 1, js_exit_code),
		JS_CFUNC_DEF("args", 0, js_args),
		JS_CFUNC_DEF("env", 0, js_env),
		JS_CFUNC_DEF("scriptName", 0, js_name),
		JS_CFUNC_DEF("memory", 0, js_memory),
		JS_CFUNC_DEF("microtask", 1, js_microtask),
		JS_PROP_STRING_DEF("engine", ENGINE, 0),
	};

	return JS_SetPropertyFunctionList(ctx, native, list, 8);
}
