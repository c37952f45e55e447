/* The input: JSON by the engine's own parser, then tags to values. */
#include <string.h>
#include "guest.h"
#include "quick.h"
#include "text.h"

struct reader {
	JSContext *ctx;
	JSAtom tag, value;
};

static JSValue revive(struct reader *s, JSValue v);

static JSValue bad(struct reader *s, JSValue v, const char *what)
{
	JS_FreeValue(s->ctx, v);
	return JS_ThrowTypeError(s->ctx, "input: %s", what);
}

/* Each element of an array in place. */
static int revive_array(struct reader *s, JSValueConst v)
{
	int64_t n;

	if (JS_GetLength(s->ctx, v, &n))
		return -1;
	for (int64_t i = 0; i < n; i++) {
		JSValue e = JS_GetPropertyInt64(s->ctx, v, i);

		if (!JS_IsObject(e)) {
			JS_FreeValue(s->ctx, e);
			continue;
		}
		e = revive(s, e);
		if (JS_IsException(e) ||
		    JS_SetPropertyInt64(s->ctx, v, i, e) < 0)
			return -1;
	}
	return 0;
}

static int revive_entries(struct reader *s, JSValueConst v)
{
	JSPropertyEnum *tab;
	uint32_t n;
	int r = 0;

	if (JS_GetOwnPropertyNames(s->ctx, &tab, &n, v, JS_GPN_STRING_MASK))
		return -1;
	for (uint32_t i = 0; i < n && r == 0; i++) {
		JSValue e = JS_GetProperty(s->ctx, v, tab[i].atom);

		if (!JS_IsObject(e)) {
			JS_FreeValue(s->ctx, e);
			continue;
		}
		e = revive(s, e);
		if (JS_IsException(e) ||
		    JS_DefinePropertyValue(s->ctx, v, tab[i].atom, e,
					   JS_PROP_C_W_E) < 0)
			r = -1;
	}
	JS_FreePropertyEnum(s->ctx, tab, n);
	return r;
}

static JSValue construct(struct reader *s, const char *name, JSValue arg)
{
	JSValue g = JS_GetGlobalObject(s->ctx);
	JSValue c = JS_GetPropertyStr(s->ctx, g, name), r;

	r = JS_IsException(c) ? c :
		JS_CallConstructor(s->ctx, c, 1, (JSValueConst *)&arg);
	JS_FreeValue(s->ctx, g);
	JS_FreeValue(s->ctx, c);
	JS_FreeValue(s->ctx, arg);
	return r;
}

static JSValue make_bytes(struct reader *s, JSValue arg)
{
	size_t n;
	const char *t = JS_ToCStringLen(s->ctx, &n, arg);
	uint8_t *b;
	JSValue r;

	JS_FreeValue(s->ctx, arg);
	if (!t)
		return JS_EXCEPTION;
	b = js_malloc(s->ctx, n / 4 * 3 + 3);
	r = b ? JS_NewUint8ArrayCopy(s->ctx, b, text_unbase64(b, t, n)) :
		JS_EXCEPTION;
	js_free(s->ctx, b);
	JS_FreeCString(s->ctx, t);
	return r;
}

static JSValue make_bigint(struct reader *s, JSValue arg)
{
	JSValue g = JS_GetGlobalObject(s->ctx);
	JSValue c = JS_GetPropertyStr(s->ctx, g, "BigInt");
	JSValue r = JS_Call(s->ctx, c, JS_UNDEFINED, 1, (JSValueConst *)&arg);

	JS_FreeValue(s->ctx, g);
	JS_FreeValue(s->ctx, c);
	JS_FreeValue(s->ctx, arg);
	return r;
}

/* Takes arg, which is undefined if the tag has no value. */
static JSValue from_tag(struct reader *s, const char *tag, JSValue arg)
{
	bool text = JS_IsString(arg), array = JS_IsArray(arg);

	if (!strcmp(tag, "object") && JS_IsObject(arg) && !array) {
		if (revive_entries(s, arg))
			return bad(s, arg, "a tagged object is malformed");
		return arg;
	}
	if ((!strcmp(tag, "map") || !strcmp(tag, "set")) && array) {
		if (revive_array(s, arg)) {
			JS_FreeValue(s->ctx, arg);
			return JS_EXCEPTION;
		}
		return construct(s, *tag == 'm' ? "Map" : "Set", arg);
	}
	if (!strcmp(tag, "bigint") && text)
		return make_bigint(s, arg);
	if (!strcmp(tag, "date") && text)
		return construct(s, "Date", arg);
	if (!strcmp(tag, "bytes") && text)
		return make_bytes(s, arg);
	if (JS_IsUndefined(arg)) {
		if (!strcmp(tag, "inf"))
			return JS_NewFloat64(s->ctx, __builtin_inf());
		if (!strcmp(tag, "-inf"))
			return JS_NewFloat64(s->ctx, -__builtin_inf());
		if (!strcmp(tag, "nan"))
			return JS_NewFloat64(s->ctx, __builtin_nan(""));
		if (!strcmp(tag, "-0"))
			return JS_NewFloat64(s->ctx, -0.0);
		if (!strcmp(tag, "undefined"))
			return JS_UNDEFINED;
	}
	return bad(s, arg, "a $redoma tag is unknown or has a wrong value");
}

/* Takes v, an object. */
static JSValue revive(struct reader *s, JSValue v)
{
	JSValue tag, arg;
	const char *name;

	if (quick_stack_low(s->ctx)) {
		JS_FreeValue(s->ctx, v);
		return JS_ThrowRangeError(s->ctx, "input is nested too deeply");
	}
	if (quick_poll(s->ctx)) {
		JS_FreeValue(s->ctx, v);
		return JS_EXCEPTION;
	}
	if (JS_IsArray(v)) {
		if (!revive_array(s, v))
			return v;
		JS_FreeValue(s->ctx, v);
		return JS_EXCEPTION;
	}
	tag = quick_data_property(s->ctx, v, s->tag);
	if (!JS_IsString(tag)) {
		JS_FreeValue(s->ctx, tag);
		if (!revive_entries(s, v))
			return v;
		JS_FreeValue(s->ctx, v);
		return JS_EXCEPTION;
	}
	arg = quick_data_property(s->ctx, v, s->value);
	JS_FreeValue(s->ctx, v);
	name = JS_ToCString(s->ctx, tag);
	JS_FreeValue(s->ctx, tag);
	if (!name) {
		JS_FreeValue(s->ctx, arg);
		return JS_EXCEPTION;
	}
	v = from_tag(s, name, arg);
	JS_FreeCString(s->ctx, name);
	return v;
}

/* A tag may be spelt with escapes, so any escape counts. */
static bool may_have_tags(const char *text, size_t len)
{
	return memmem(text, len, "$redoma", 7) || memmem(text, len, "\\u", 2);
}

JSValue serial_parse(JSContext *ctx, const char *text, size_t len)
{
	struct reader s = { .ctx = ctx };
	JSValue v = JS_ParseJSON(ctx, text, len, "node:input");

	if (!JS_IsObject(v) || !may_have_tags(text, len))
		return v;
	s.tag = JS_NewAtom(ctx, "$redoma");
	s.value = JS_NewAtom(ctx, "value");
	v = revive(&s, v);
	JS_FreeAtom(ctx, s.tag);
	JS_FreeAtom(ctx, s.value);
	return v;
}
