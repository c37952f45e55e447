/* import and require: names are resolved and read by the prelude. */
#include <string.h>
#include "guest.h"
#include "quick.h"

#define ARGS JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv

static JSValue call_hook(JSContext *ctx, const char *name, int argc,
			 JSValueConst *argv)
{
	JSValue f = JS_GetPropertyStr(ctx, guest.hooks, name);
	JSValue r = JS_Call(ctx, f, JS_UNDEFINED, argc, argv);

	JS_FreeValue(ctx, f);
	return r;
}

static char *resolve(JSContext *ctx, const char *base, const char *name,
		     void *opaque)
{
	JSValue args[2] = { JS_NewString(ctx, base), JS_NewString(ctx, name) };
	JSValue v = call_hook(ctx, "resolve", 2, (JSValueConst *)args);
	const char *s = NULL;
	char *copy;

	(void)opaque;
	JS_FreeValue(ctx, args[0]);
	JS_FreeValue(ctx, args[1]);
	if (JS_IsException(v))
		return NULL;
	s = JS_ToCString(ctx, v);
	JS_FreeValue(ctx, v);
	copy = s ? js_strdup(ctx, s) : NULL;
	JS_FreeCString(ctx, s);
	return copy;
}

/* Sets "default" and one export for each enumerable name. */
static int export_all(JSContext *ctx, JSModuleDef *m, JSValueConst v,
		      bool declare)
{
	JSPropertyEnum *tab;
	uint32_t n;
	int r = 0;

	if (JS_GetOwnPropertyNames(ctx, &tab, &n, v,
				   JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY))
		return -1;
	for (uint32_t i = 0; i < n && r == 0; i++) {
		const char *key = JS_AtomToCString(ctx, tab[i].atom);

		if (!key || !strcmp(key, "default"))
			r = key ? 0 : -1;
		else if (declare)
			r = JS_AddModuleExport(ctx, m, key);
		else
			r = JS_SetModuleExport(ctx, m, key,
				JS_GetProperty(ctx, v, tab[i].atom));
		JS_FreeCString(ctx, key);
	}
	JS_FreePropertyEnum(ctx, tab, n);
	return r;
}

static int fill_module(JSContext *ctx, JSModuleDef *m)
{
	JSValue v = JS_GetModulePrivateValue(ctx, m);
	JSValue d = JS_GetPropertyStr(ctx, v, "default");
	int r;

	if (JS_IsUndefined(d))
		d = JS_DupValue(ctx, v);
	r = JS_SetModuleExport(ctx, m, "default", d);
	r = r ? r : export_all(ctx, m, v, false);
	JS_FreeValue(ctx, v);
	return r;
}

static JSModuleDef *make_module(JSContext *ctx, const char *name, JSValue v)
{
	JSModuleDef *m = JS_NewCModule(ctx, name, fill_module);

	if (!m || JS_AddModuleExport(ctx, m, "default") ||
	    export_all(ctx, m, v, true)) {
		JS_FreeValue(ctx, v);
		return NULL;
	}
	JS_SetModulePrivateValue(ctx, m, v);
	return m;
}

static JSModuleDef *load(JSContext *ctx, const char *name, void *opaque)
{
	JSValue arg = JS_NewString(ctx, name), v, fn;
	JSModuleDef *m;
	const char *s;
	size_t n;

	(void)opaque;
	v = call_hook(ctx, "load", 1, (JSValueConst *)&arg);
	JS_FreeValue(ctx, arg);
	if (JS_IsException(v))
		return NULL;
	if (JS_IsObject(v))
		return make_module(ctx, name, v);
	s = JS_ToCStringLen(ctx, &n, v);
	JS_FreeValue(ctx, v);
	if (!s)
		return NULL;
	fn = quick_compile(ctx, s, n, name, 1, JS_EVAL_TYPE_MODULE);
	JS_FreeCString(ctx, s);
	if (JS_IsException(fn))
		return NULL;
	m = JS_VALUE_GET_PTR(fn);
	JS_FreeValue(ctx, fn);
	return m;
}

/* compileBody(source, file name, parameters) */
static JSValue js_compile_body(ARGS)
{
	size_t n, k;
	const char *source = JS_ToCStringLen(ctx, &n, argv[0]);
	const char *name = JS_ToCString(ctx, argv[1]);
	const char *params = JS_ToCStringLen(ctx, &k, argv[2]);
	JSValue v = JS_EXCEPTION;

	(void)this_val;
	(void)argc;
	if (source && name && params)
		v = source_body(ctx, source, n, name, params);
	if (JS_IsNull(v))
		v = JS_ThrowSyntaxError(ctx, "%s: the text closes a brace "
					"that it did not open", name);
	JS_FreeCString(ctx, source);
	JS_FreeCString(ctx, name);
	JS_FreeCString(ctx, params);
	return v;
}

int module_add(JSContext *ctx, JSValueConst native)
{
	static const JSCFunctionListEntry list[] = {
		JS_CFUNC_DEF("compileBody", 3, js_compile_body),
	};

	JS_SetModuleLoaderFunc(guest.rt, resolve, load, NULL);
	return JS_SetPropertyFunctionList(ctx, native, list, 1);
}
