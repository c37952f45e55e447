/* The three shapes of source, told apart by the parser alone.
 *
 * A script is tried first.  Only when the parser says that a `return` stood
 * outside a function is the text tried as the body of one, and it counts as a
 * body only if that one function spans it all: text that closes the wrapper
 * and goes on is a syntax error.  Only when both failed is it tried as a
 * module; of two complaints the one further into the text is reported. */
#include <stdio.h>
#include <string.h>
#include "guest.h"
#include "quick.h"


static bool is_stray_return(JSContext *ctx, JSValueConst e)
{
	JSAtom a = JS_NewAtom(ctx, "message");
	JSValue m = quick_data_property(ctx, e, a);
	const char *s = JS_IsString(m) ? JS_ToCString(ctx, m) : NULL;
	bool yes = s && !strcmp(s, "return not in a function");

	JS_FreeCString(ctx, s);
	JS_FreeValue(ctx, m);
	JS_FreeAtom(ctx, a);
	return yes;
}

static JSValue wrap(JSContext *ctx, const char *head, const char *source,
		    size_t len, const char *name)
{
	static const char tail[] = "\n})";
	size_t k = strlen(head), n = k + len + sizeof(tail) - 1;
	char *text = js_malloc(ctx, n + 1);
	JSValue fn;

	if (!text)
		return JS_EXCEPTION;
	memcpy(text, head, k);
	memcpy(text + k, source, len);
	memcpy(text + k + len, tail, sizeof(tail));
	/* The head is line 0, so the caller's first line is line 1. */
	fn = quick_compile(ctx, text, n, name, 0, JS_EVAL_TYPE_GLOBAL);
	js_free(ctx, text);
	if (JS_IsException(fn))
		return fn;
	/* All but the outer parentheses must be one function. */
	if (!quick_sole_function(fn, n - 2)) {
		JS_FreeValue(ctx, fn);
		return JS_NULL;
	}
	return JS_EvalFunction(ctx, fn);
}

JSValue source_body(JSContext *ctx, const char *source, size_t len,
		    const char *name, const char *params)
{
	char head[256];

	if (!params)
		return wrap(ctx, "(async function(){\n", source, len, name);
	snprintf(head, sizeof(head), "(function(%s){\n", params);
	return wrap(ctx, head, source, len, name);
}

static JSValue start_body(JSContext *ctx, JSValue fn)
{
	JSValue r = JS_Call(ctx, fn, JS_UNDEFINED, 0, NULL);

	JS_FreeValue(ctx, fn);
	return r;
}

/* True if error a lies further into the text than b. */
static bool is_further(JSContext *ctx, JSValueConst a, JSValueConst b)
{
	uint32_t la, ca, lb, cb;

	quick_position(ctx, a, &la, &ca);
	quick_position(ctx, b, &lb, &cb);
	return la > lb || (la == lb && ca > cb);
}

static JSValue start_module(JSContext *ctx, const char *source, size_t len,
			    const char *name, JSValue first, bool *ret_syntax)
{
	JSValue m = quick_compile(ctx, source, len, name, 1,
				  JS_EVAL_TYPE_MODULE);
	JSValue second, r;

	if (JS_IsException(m)) {
		second = JS_GetException(ctx);
		if (!quick_is_native_error(ctx, second, "SyntaxError")) {
			/* It parsed; an import failed. */
			*ret_syntax = false;
			JS_FreeValue(ctx, first);
			return JS_Throw(ctx, second);
		}
		if (is_further(ctx, second, first)) {
			JS_FreeValue(ctx, first);
			return JS_Throw(ctx, second);
		}
		JS_FreeValue(ctx, second);
		return JS_Throw(ctx, first);
	}
	JS_FreeValue(ctx, first);
	*ret_syntax = false;
	guest.module = JS_VALUE_GET_PTR(m);
	r = JS_EvalFunction(ctx, m);
	return r;
}

JSValue source_start(JSContext *ctx, const char *source, size_t len,
		     const char *name, bool *ret_syntax)
{
	/* Where the word does not stand nothing can be awaited, and a run
	 * without promises of ours touches less memory. */
	bool plain = !memmem(source, len, "await", 5);
	JSValue fn = quick_compile(ctx, source, len, name, 1,
				   JS_EVAL_TYPE_GLOBAL |
					   (plain ? 0 : JS_EVAL_FLAG_ASYNC));
	JSValue first;

	guest.shape = plain ? GUEST_PLAIN : GUEST_SCRIPT;
	if (!JS_IsException(fn))
		return JS_EvalFunction(ctx, fn);
	first = JS_GetException(ctx);
	*ret_syntax = quick_is_native_error(ctx, first, "SyntaxError");
	if (!*ret_syntax || loop_ending())
		return JS_Throw(ctx, first);
	if (!is_stray_return(ctx, first)) {
		guest.shape = GUEST_MODULE;
		return start_module(ctx, source, len, name, first, ret_syntax);
	}
	guest.shape = GUEST_BODY;
	fn = source_body(ctx, source, len, name, NULL);
	if (JS_IsNull(fn))
		return JS_Throw(ctx, first);
	JS_FreeValue(ctx, first);
	if (JS_IsException(fn))
		return fn;
	*ret_syntax = false;
	return start_body(ctx, fn);
}

/* The module's default export; a function is called with the input. */
static JSValue module_value(JSContext *ctx)
{
	JSValue ns = JS_GetModuleNamespace(ctx, guest.module);
	JSValue v, g, args[2];

	if (JS_IsException(ns))
		return ns;
	v = JS_GetPropertyStr(ctx, ns, "default");
	JS_FreeValue(ctx, ns);
	if (!JS_IsFunction(ctx, v) || quick_is_class(v))
		return v;
	g = JS_GetGlobalObject(ctx);
	args[0] = JS_GetPropertyStr(ctx, g, "input");
	args[1] = guest.toolc ? JS_GetPropertyStr(ctx, g, "tools") :
				JS_NewObject(ctx);
	JS_FreeValue(ctx, g);
	g = JS_Call(ctx, v, JS_UNDEFINED, 2, args);
	JS_FreeValue(ctx, args[0]);
	JS_FreeValue(ctx, args[1]);
	JS_FreeValue(ctx, v);
	return g;
}

JSValue source_value(JSContext *ctx, JSValueConst settled)
{
	if (guest.shape == GUEST_MODULE)
		return module_value(ctx);
	if (guest.shape != GUEST_SCRIPT)
		return JS_DupValue(ctx, settled);
	return JS_GetPropertyStr(ctx, settled, "value");
}
