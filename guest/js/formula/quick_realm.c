/* The interpreter of formulas: the JavaScript image's, and what a realm of
 * their own takes of its insides. */
#include "../quick.c"
#include "formula.h"

JSContext *formula_context_new(JSRuntime *rt)
{
	JSContext *ctx = JS_NewContextRaw(rt);

	if (!ctx)
		return NULL;
	if (JS_AddIntrinsicBaseObjects(ctx) || JS_AddIntrinsicDate(ctx) ||
	    JS_AddIntrinsicRegExp(ctx) || JS_AddIntrinsicJSON(ctx) ||
	    JS_AddIntrinsicMapSet(ctx) || JS_AddIntrinsicTypedArrays(ctx) ||
	    JS_AddIntrinsicPromise(ctx) || JS_AddIntrinsicBigInt(ctx) ||
	    quick_patch(ctx)) {
		JS_FreeContext(ctx);
		return NULL;
	}
	return ctx;
}

JSValue formula_compile(JSContext *ctx, const char *source, size_t len,
			const char *name, int first_line)
{
	JSValue fn;

	ctx->eval_internal = __JS_EvalInternal;
	fn = quick_compile(ctx, source, len, name, first_line,
			   JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_STRICT);
	ctx->eval_internal = NULL;
	return fn;
}
