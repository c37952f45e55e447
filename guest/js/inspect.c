/* What util.inspect and others must know of a value and a program cannot
 * fake. */
#include "guest.h"
#include "quick.h"

#define ARGS JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv
#define UNUSED ((void)this_val, (void)argc)

static JSValue js_kind(ARGS)
{
	UNUSED;
	return JS_NewInt32(ctx, (int32_t)quick_kind(argv[0]));
}

/* proxy(v, both): the target (through all layers), or [target, handler];
 * null if revoked, undefined if v is no proxy. */
static JSValue js_proxy(ARGS)
{
	JSValue t, pair[2];

	UNUSED;
	if (!JS_IsProxy(argv[0]))
		return JS_UNDEFINED;
	if (JS_ToBool(ctx, argv[1])) {
		pair[0] = JS_GetProxyTarget(ctx, argv[0]);
		pair[1] = JS_GetProxyHandler(ctx, argv[0]);
		if (JS_IsException(pair[0]) || JS_IsException(pair[1])) {
			JS_FreeValue(ctx, JS_GetException(ctx));
			return JS_NULL;
		}
		return JS_NewArrayFrom(ctx, 2, pair);
	}
	t = JS_GetProxyTarget(ctx, argv[0]);
	while (JS_IsProxy(t)) {
		JSValue inner = JS_GetProxyTarget(ctx, t);

		JS_FreeValue(ctx, t);
		t = inner;
	}
	if (JS_IsException(t)) {
		JS_FreeValue(ctx, JS_GetException(ctx));
		return JS_NULL;
	}
	return t;
}

/* promise(v): [state, result]. */
static JSValue js_promise(ARGS)
{
	JSValue pair[2] = { JS_NewInt32(ctx, JS_PromiseState(ctx, argv[0])),
			    JS_PromiseResult(ctx, argv[0]) };

	UNUSED;
	return JS_NewArrayFrom(ctx, 2, pair);
}

static bool is_collection(JSValueConst v)
{
	enum quick_kind k = quick_kind(v);

	return k == QUICK_MAP || k == QUICK_SET;
}

static JSValue js_size(ARGS)
{
	UNUSED;
	if (!is_collection(argv[0]))
		return JS_ThrowTypeError(ctx, "not a Map or Set");
	return JS_NewUint32(ctx, quick_map_size(argv[0]));
}

/* entries(v): [k, v, k, v, ...] of a Map, [v, ...] of a Set. */
static JSValue js_entries(ARGS)
{
	struct quick_cursor c = { 0 };
	JSValue array, key, value;
	uint32_t n = 0;
	bool map;

	UNUSED;
	if (!is_collection(argv[0]))
		return JS_ThrowTypeError(ctx, "not a Map or Set");
	map = quick_kind(argv[0]) == QUICK_MAP;
	array = JS_NewArray(ctx);
	while (!JS_IsException(array) &&
	       quick_next(ctx, argv[0], &c, &key, &value)) {
		JS_SetPropertyUint32(ctx, array, n++, key);
		if (map)
			JS_SetPropertyUint32(ctx, array, n++, value);
		else
			JS_FreeValue(ctx, value);
	}
	return array;
}

/* preview(it): what an iterator has left; preview(it, true) adds whether
 * these are pairs. */
static JSValue js_preview(ARGS)
{
	enum quick_kind k = quick_kind(argv[0]);
	JSValue pair[2], rest;
	bool pairs;

	UNUSED;
	if (k != QUICK_MAP_ITERATOR && k != QUICK_SET_ITERATOR)
		return JS_NewArray(ctx);
	rest = quick_iterator_rest(ctx, argv[0], &pairs);
	if (!JS_ToBool(ctx, argv[1]))
		return rest;
	pair[0] = rest;
	pair[1] = JS_NewBool(ctx, pairs);
	return JS_NewArrayFrom(ctx, 2, pair);
}

static JSValue js_primitive(ARGS)
{
	enum quick_kind k = quick_kind(argv[0]);

	UNUSED;
	if (k < QUICK_NUMBER || (k > QUICK_BIGINT && k != QUICK_DATE))
		return JS_UNDEFINED;
	return JS_DupValue(ctx, quick_primitive(argv[0]));
}

static JSValue js_is_class(ARGS)
{
	UNUSED;
	return JS_NewBool(ctx, quick_is_class(argv[0]));
}

static JSValue js_function_kind(ARGS)
{
	UNUSED;
	return JS_NewInt32(ctx, quick_function_kind(argv[0]));
}

/* namedKeys(v, only_enumerable): own keys that are no array indices. */
static JSValue js_named_keys(ARGS)
{
	int flags = JS_GPN_STRING_MASK | JS_GPN_SYMBOL_MASK;
	JSPropertyEnum *tab;
	JSValue array;
	uint32_t n, k = 0;

	UNUSED;
	if (JS_ToBool(ctx, argv[1]))
		flags |= JS_GPN_ENUM_ONLY;
	if (JS_GetOwnPropertyNames(ctx, &tab, &n, argv[0], flags))
		return JS_EXCEPTION;
	array = JS_NewArray(ctx);
	for (uint32_t i = 0; i < n && !JS_IsException(array); i++)
		if (!quick_is_index(ctx, tab[i].atom))
			JS_SetPropertyUint32(ctx, array, k++,
					     JS_AtomToValue(ctx, tab[i].atom));
	JS_FreePropertyEnum(ctx, tab, n);
	return array;
}

int inspect_add(JSContext *ctx, JSValueConst native)
{
	static const JSCFunctionListEntry list[] = {
		JS_CFUNC_DEF("kind", 1, js_kind),
		JS_CFUNC_DEF("proxy", 2, js_proxy),
		JS_CFUNC_DEF("promise", 1, js_promise),
		JS_CFUNC_DEF("size", 1, js_size),
		JS_CFUNC_DEF("entries", 1, js_entries),
		JS_CFUNC_DEF("preview", 2, js_preview),
		JS_CFUNC_DEF("primitive", 1, js_primitive),
		JS_CFUNC_DEF("isClass", 1, js_is_class),
		JS_CFUNC_DEF("functionKind", 1, js_function_kind),
		JS_CFUNC_DEF("namedKeys", 2, js_named_keys),
	};

	return JS_SetPropertyFunctionList(ctx, native, list, 10);
}
