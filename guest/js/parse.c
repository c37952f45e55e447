/* The input: JSON by the engine's own parser, then tags to values. */
#include <string.h>
#include "guest.h"
#include "quick.h"
#include "spell.h"
#include "text.h"

struct reader {
	JSContext *ctx;
	JSAtom tag, value;
};

static JSValue revive(struct reader *s, JSValue v);

/* Takes v, which is no value of that kind. */
static JSValue bad(struct reader *s, const char *kind, JSValue v)
{
	const char *text = JS_IsString(v) ? JS_ToCString(s->ctx, v) : NULL;

	JS_FreeValue(s->ctx, v);
	if (text)
		JS_ThrowTypeError(s->ctx, "input: the $redoma tag '%.40s' "
				  "cannot be read: '%.80s' is no %.40s",
				  kind, text, kind);
	else
		JS_ThrowTypeError(s->ctx, "input: the $redoma tag '%.40s' "
				  "cannot be read: it is unknown, or its value "
				  "is of another type", kind);
	JS_FreeCString(s->ctx, text);
	return JS_EXCEPTION;
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

/* A date that the language's own cannot hold is an error, but for "". */
static JSValue make_date(struct reader *s, JSValue arg)
{
	JSValue r = construct(s, "Date", JS_DupValue(s->ctx, arg));
	double ms = 0;
	int64_t n = 0;

	if (!JS_IsException(r) && !JS_GetLength(s->ctx, arg, &n) && n)
		JS_ToFloat64(s->ctx, &ms, quick_primitive(r));
	if (ms != ms) {
		JS_FreeValue(s->ctx, r);
		return bad(s, "date", arg);
	}
	JS_FreeValue(s->ctx, arg);
	return r;
}

/* What the language has not is held as it is: an object that nobody can change
 * or make, and that goes out as the tag it was. */
static JSValue hold(struct reader *s, const char *kind, JSValue arg)
{
	JSValue o = JS_NewObjectClass(s->ctx, guest.tag_class);

	if (JS_IsObject(arg) && JS_FreezeObject(s->ctx, arg) < 0) {
		JS_FreeValue(s->ctx, arg);
		JS_FreeValue(s->ctx, o);
		return JS_EXCEPTION;
	}
	if (JS_IsException(o) ||
	    JS_DefinePropertyValue(s->ctx, o, s->tag,
				   JS_NewString(s->ctx, kind),
				   JS_PROP_ENUMERABLE) < 0 ||
	    JS_DefinePropertyValue(s->ctx, o, s->value, arg,
				   JS_PROP_ENUMERABLE) < 0 ||
	    JS_PreventExtensions(s->ctx, o) < 0) {
		JS_FreeValue(s->ctx, o);
		return JS_EXCEPTION;
	}
	return o;
}

static JSValue from_text(struct reader *s, const char *kind, JSValue arg)
{
	size_t n;
	const char *text = JS_ToCStringLen(s->ctx, &n, arg);
	bool is = text && spell_is(kind, text, n);

	JS_FreeCString(s->ctx, text);
	if (!is)
		return bad(s, kind, arg);
	if (!strcmp(kind, "bigint"))
		return make_bigint(s, arg);
	if (!strcmp(kind, "date"))
		return make_date(s, arg);
	if (!strcmp(kind, "bytes"))
		return make_bytes(s, arg);
	return hold(s, kind, arg);
}

/* Pairs, before what they hold is looked at. */
static bool are_pairs(struct reader *s, JSValueConst v)
{
	int64_t n = 0, k = 2;

	if (JS_GetLength(s->ctx, v, &n))
		return false;
	for (int64_t i = 0; i < n && k == 2; i++) {
		JSValue pair = JS_GetPropertyInt64(s->ctx, v, i);

		if (!JS_IsArray(pair) || JS_GetLength(s->ctx, pair, &k))
			k = 0;
		JS_FreeValue(s->ctx, pair);
	}
	return k == 2;
}

/* Two numbers. */
static bool is_complex(struct reader *s, JSValueConst v)
{
	int64_t n = 0;
	bool are = !JS_GetLength(s->ctx, v, &n) && n == 2;

	for (int64_t i = 0; i < n && are; i++) {
		JSValue x = JS_GetPropertyInt64(s->ctx, v, i);

		are = JS_IsNumber(x);
		JS_FreeValue(s->ctx, x);
	}
	return are;
}

static JSValue from_array(struct reader *s, const char *kind, JSValue arg)
{
	bool map = !strcmp(kind, "map");

	if (map && !are_pairs(s, arg))
		return bad(s, kind, arg);
	if (revive_array(s, arg)) {
		JS_FreeValue(s->ctx, arg);
		return JS_EXCEPTION;
	}
	if (map || !strcmp(kind, "set"))
		return construct(s, map ? "Map" : "Set", arg);
	if (!strcmp(kind, "tuple"))
		return arg;
	return !strcmp(kind, "complex") && is_complex(s, arg)
		       ? hold(s, kind, arg) : bad(s, kind, arg);
}

static JSValue from_nothing(struct reader *s, const char *kind)
{
	if (!strcmp(kind, "inf"))
		return JS_NewFloat64(s->ctx, __builtin_inf());
	if (!strcmp(kind, "-inf"))
		return JS_NewFloat64(s->ctx, -__builtin_inf());
	if (!strcmp(kind, "nan"))
		return JS_NewFloat64(s->ctx, __builtin_nan(""));
	if (!strcmp(kind, "-0"))
		return JS_NewFloat64(s->ctx, -0.0);
	if (!strcmp(kind, "undefined"))
		return JS_UNDEFINED;
	return bad(s, kind, JS_UNDEFINED);
}

/* Takes arg, which is undefined if the tag has no value. */
static JSValue from_tag(struct reader *s, const char *kind, JSValue arg)
{
	if (JS_IsUndefined(arg))
		return from_nothing(s, kind);
	if (JS_IsString(arg))
		return from_text(s, kind, arg);
	if (JS_IsArray(arg))
		return from_array(s, kind, arg);
	if (strcmp(kind, "object") || !JS_IsObject(arg))
		return bad(s, kind, arg);
	if (!revive_entries(s, arg))
		return arg;
	JS_FreeValue(s->ctx, arg);
	return JS_EXCEPTION;
}

/* A tag has nothing beside its value. */
static bool is_tag(struct reader *s, JSValueConst v, JSValueConst arg)
{
	JSPropertyEnum *tab;
	uint32_t n = 0;

	if (JS_GetOwnPropertyNames(s->ctx, &tab, &n, v, JS_GPN_STRING_MASK))
		return false;
	JS_FreePropertyEnum(s->ctx, tab, n);
	return n == 1 + !JS_IsUndefined(arg);
}

/* Takes v, an object. */
static JSValue revive(struct reader *s, JSValue v)
{
	JSValue tag, arg;
	const char *name;
	bool alone;

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
	alone = is_tag(s, v, arg);
	JS_FreeValue(s->ctx, v);
	name = JS_ToCString(s->ctx, tag);
	JS_FreeValue(s->ctx, tag);
	if (!name) {
		JS_FreeValue(s->ctx, arg);
		return JS_EXCEPTION;
	}
	v = alone ? from_tag(s, name, arg) : bad(s, name, arg);
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

int serial_start(JSContext *ctx)
{
	const JSClassDef def = { .class_name = "Object" };
	JSValue plain = JS_NewObject(ctx);

	JS_NewClassID(guest.rt, &guest.tag_class);
	if (JS_IsException(plain) ||
	    JS_NewClass(guest.rt, guest.tag_class, &def))
		return -1;
	JS_SetClassProto(ctx, guest.tag_class, JS_GetPrototype(ctx, plain));
	JS_FreeValue(ctx, plain);
	return 0;
}
