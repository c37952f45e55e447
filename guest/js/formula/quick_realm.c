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

static bool is_pair(const uint16_t *p, uint32_t i, uint32_t len)
{
	return (p[i] & 0xfc00) == 0xd800 && i + 1 < len &&
	       (p[i + 1] & 0xfc00) == 0xdc00;
}

int formula_unit_of(JSContext *ctx, JSValueConst s, uint32_t most,
		    uint32_t *ret_chars, uint32_t *ret_units)
{
	JSValue flat = JS_ToString(ctx, s);
	uint32_t i = 0, n = 0, len;
	JSString *p;

	if (JS_IsException(flat))
		return -1;
	p = JS_VALUE_GET_STRING(flat);
	len = p->len;
	if (!p->is_wide_char)
		i = n = len < most ? len : most;
	for (; p->is_wide_char && i < len && n < most; n++)
		i += 1 + is_pair(str16(p), i, len);
	JS_FreeValue(ctx, flat);
	*ret_chars = n;
	*ret_units = i;
	return 0;
}
