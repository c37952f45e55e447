/* The realm of formulas, made before the snapshot and frozen. */
#include <string.h>
#include "formula.h"
#include "guest.h"
#include "quick.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static char core_js[] = {
#embed "prelude/core.js"
	, 0};
static char logic_js[] = {
#embed "prelude/logic.js"
	, 0};
static char number_js[] = {
#embed "prelude/number.js"
	, 0};
static char list_js[] = {
#embed "prelude/list.js"
	, 0};
static char text_js[] = {
#embed "prelude/text.js"
	, 0};
static char mask_js[] = {
#embed "prelude/mask.js"
	, 0};
static char format_js[] = {
#embed "prelude/format.js"
	, 0};
static char date_js[] = {
#embed "prelude/date.js"
	, 0};
static char look_js[] = {
#embed "prelude/look.js"
	, 0};
static char freeze_js[] = {
#embed "prelude/freeze.js"
	, 0};

static const struct {
	const char *name;
	char *text; /* zeroed after use */
	size_t size;
} files[] = {
	{"node:formula/core", core_js, sizeof(core_js)},
	{"node:formula/logic", logic_js, sizeof(logic_js)},
	{"node:formula/number", number_js, sizeof(number_js)},
	{"node:formula/list", list_js, sizeof(list_js)},
	{"node:formula/text", text_js, sizeof(text_js)},
	{"node:formula/mask", mask_js, sizeof(mask_js)},
	{"node:formula/format", format_js, sizeof(format_js)},
	{"node:formula/date", date_js, sizeof(date_js)},
	{"node:formula/look", look_js, sizeof(look_js)},
	{"node:formula/freeze", freeze_js, sizeof(freeze_js)},
};

struct formula_realm formula_realm;

/* ---- whole columns: read-only lists ---- */

static bool index_of(JSContext *ctx, JSAtom a, uint32_t *ret)
{
	JSValue v;
	bool ok;

	if (!quick_is_index(ctx, a))
		return false;
	v = JS_AtomToValue(ctx, a);
	ok = !JS_ToUint32(ctx, ret, v) && *ret < formula_rows();
	JS_FreeValue(ctx, v);
	return ok;
}

static bool is_length(JSContext *ctx, JSAtom a)
{
	JSAtom length = JS_NewAtom(ctx, "length");

	JS_FreeAtom(ctx, length);
	return a == length;
}

static int column_own(JSContext *ctx, JSPropertyDescriptor *d, JSValueConst o,
		      JSAtom prop)
{
	JSValue v;
	uint32_t i;

	if (index_of(ctx, prop, &i))
		v = formula_cell(ctx, formula_column_of(o), i);
	else if (is_length(ctx, prop))
		v = JS_NewUint32(ctx, formula_rows());
	else
		return false;
	if (JS_IsException(v))
		return -1;
	if (!d) {
		JS_FreeValue(ctx, v);
		return true;
	}
	*d = (JSPropertyDescriptor){.flags = JS_PROP_ENUMERABLE,
				    .value = v,
				    .getter = JS_UNDEFINED,
				    .setter = JS_UNDEFINED};
	return true;
}

static int column_names(JSContext *ctx, JSPropertyEnum **ret, uint32_t *ret_n,
			JSValueConst o)
{
	uint32_t n = formula_rows();
	JSPropertyEnum *list = js_malloc(ctx, (n + 1) * sizeof(*list));

	(void)o;
	if (!list)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		list[i] = (JSPropertyEnum){.atom = JS_NewAtomUInt32(ctx, i),
					   .is_enumerable = true};
	*ret = list;
	*ret_n = n;
	return 0;
}

static int refuse(JSContext *ctx)
{
	JS_ThrowTypeError(ctx, "a column is read-only");
	return -1;
}

static int column_delete(JSContext *ctx, JSValueConst o, JSAtom prop)
{
	(void)o;
	(void)prop;
	return refuse(ctx);
}

static int column_define(JSContext *ctx, JSValueConst o, JSAtom prop,
			 JSValueConst val, JSValueConst getter,
			 JSValueConst setter, int flags)
{
	(void)o;
	(void)prop;
	(void)val;
	(void)getter;
	(void)setter;
	(void)flags;
	return refuse(ctx);
}

static const JSClassExoticMethods column_exotic = {
	.get_own_property = column_own,
	.get_own_property_names = column_names,
	.delete_property = column_delete,
	.define_own_property = column_define,
};

static const JSClassDef column_class = {
	.class_name = "Column",
	.exotic = (JSClassExoticMethods *)&column_exotic,
};

/* ---- rows, and all of a table: objects that have columns ---- */

/* What the language and the helpers ask of any object. */
static bool is_asked_of_all(const char *name)
{
	static const char *const names[] = {"length", "then", "toJSON",
					    "toString", "valueOf",
					    "constructor"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* For names that it does not have. */
static JSValue row_missing(JSContext *ctx, JSValueConst o, JSAtom prop,
			   JSValueConst receiver)
{
	JSValue v = JS_AtomToValue(ctx, prop);
	const char *name;

	(void)o;
	(void)receiver;
	if (JS_IsSymbol(v) || JS_IsException(v)) {
		JS_FreeValue(ctx, v);
		return JS_IsException(v) ? v : JS_UNDEFINED;
	}
	name = JS_ToCString(ctx, v);
	JS_FreeValue(ctx, v);
	if (!name)
		return JS_EXCEPTION;
	v = is_asked_of_all(name)
		    ? JS_UNDEFINED
		    : JS_ThrowReferenceError(ctx, "there is no column %.100s",
					     name);
	JS_FreeCString(ctx, name);
	return v;
}

static const JSClassExoticMethods row_exotic = {
	.get_property = row_missing,
};

static const JSClassDef row_class = {
	.class_name = "Row",
	.exotic = (JSClassExoticMethods *)&row_exotic,
};

/* ---- what the helpers see of C ---- */

/* An array of a column's cells, or undefined. */
static JSValue js_cells(JSContext *ctx, JSValueConst this_val, int argc,
			JSValueConst *argv)
{
	uint32_t column = formula_column_of(argv[0]), n = formula_rows();
	JSValue list;

	(void)this_val;
	(void)argc;
	if (column == UINT32_MAX)
		return JS_UNDEFINED;
	list = JS_NewArray(ctx);
	for (uint32_t i = 0; i < n; i++) {
		JSValue v = formula_cell(ctx, column, i);

		if (JS_IsException(v) ||
		    JS_SetPropertyUint32(ctx, list, i, v) < 0 ||
		    (i % 1024 == 0 && quick_poll(ctx))) {
			JS_FreeValue(ctx, list);
			return JS_EXCEPTION;
		}
	}
	return list;
}

/* Which column it is, or undefined. */
static JSValue js_column(JSContext *ctx, JSValueConst this_val, int argc,
			 JSValueConst *argv)
{
	uint32_t column = formula_column_of(argv[0]);

	(void)this_val;
	(void)argc;
	return column == UINT32_MAX ? JS_UNDEFINED
				    : JS_NewUint32(ctx, column);
}

/* aside(true): what follows is for all rows; gives what was. */
static JSValue js_aside(JSContext *ctx, JSValueConst this_val, int argc,
			JSValueConst *argv)
{
	bool was = formula_aside;

	(void)this_val;
	(void)argc;
	formula_aside = JS_ToBool(ctx, argv[0]) > 0;
	return JS_NewBool(ctx, was);
}

/* chars(s): how many characters a text has. */
static JSValue js_chars(JSContext *ctx, JSValueConst this_val, int argc,
			JSValueConst *argv)
{
	uint32_t chars, units;

	(void)this_val;
	(void)argc;
	return formula_unit_of(ctx, argv[0], UINT32_MAX, &chars, &units)
		       ? JS_EXCEPTION
		       : JS_NewUint32(ctx, chars);
}

/* unit(s, n): where its n-th character begins, or its end. */
static JSValue js_unit(JSContext *ctx, JSValueConst this_val, int argc,
		       JSValueConst *argv)
{
	uint32_t chars, units;
	double n;

	(void)this_val;
	(void)argc;
	if (JS_ToFloat64(ctx, &n, argv[1]) ||
	    formula_unit_of(ctx, argv[0],
			    n < 0		? 0
			    : n < UINT32_MAX ? (uint32_t)n
					     : UINT32_MAX,
			    &chars, &units))
		return JS_EXCEPTION;
	return JS_NewUint32(ctx, units);
}

static JSValue js_now(JSContext *ctx, JSValueConst this_val, int argc,
		      JSValueConst *argv)
{
	double ms;

	(void)this_val;
	(void)argc;
	(void)argv;
	return formula_now_ms(&ms) ? JS_NewFloat64(ctx, ms) : JS_NULL;
}

static int add_native(JSContext *ctx, JSValueConst native)
{
	static const JSCFunctionListEntry list[] = {
		JS_CFUNC_DEF("cells", 1, js_cells),
		JS_CFUNC_DEF("column", 1, js_column),
		JS_CFUNC_DEF("aside", 1, js_aside),
		JS_CFUNC_DEF("now", 0, js_now),
		JS_CFUNC_DEF("chars", 1, js_chars),
		JS_CFUNC_DEF("unit", 2, js_unit),
	};

	return JS_SetPropertyFunctionList(ctx, native, list,
					  sizeof(list) / sizeof(list[0]));
}

/* Without its source text. */
static JSValue stripped(JSContext *ctx, JSValue fn)
{
	size_t n;
	uint8_t *b = JS_WriteObject(
		ctx, &n, fn, JS_WRITE_OBJ_BYTECODE | JS_WRITE_OBJ_STRIP_SOURCE);

	JS_FreeValue(ctx, fn);
	if (!b)
		return JS_EXCEPTION;
	fn = JS_ReadObject(ctx, b, n, JS_READ_OBJ_BYTECODE);
	js_free(ctx, b);
	return fn;
}

static int load(JSContext *ctx, size_t i, JSValueConst *args)
{
	JSValue fn = formula_compile(ctx, files[i].text, files[i].size - 1,
				     files[i].name, 1);
	JSValue r;

	memset(files[i].text, 0, files[i].size);
	if (!JS_IsException(fn))
		fn = stripped(ctx, fn);
	if (JS_IsException(fn))
		return -1;
	fn = JS_EvalFunction(ctx, fn);
	r = JS_Call(ctx, fn, JS_UNDEFINED, 2, args);
	JS_FreeValue(ctx, fn);
	if (JS_IsException(r))
		return -1;
	JS_FreeValue(ctx, r);
	return 0;
}

/* Tells the builder what is wrong before the trap. */
static int complain(JSContext *ctx, const char *name)
{
	JSValue e = JS_GetException(ctx);
	const char *s = JS_ToCString(ctx, e);

	out_write(2, name, strlen(name));
	out_write(2, ": ", 2);
	out_write(2, s ? s : "?", s ? strlen(s) : 1);
	out_write(2, "\n", 1);
	out_flush();
	return -1;
}

static int column_class_new(JSRuntime *rt, JSContext *ctx)
{
	JSValue array, proto;

	JS_NewClassID(rt, &formula_realm.column);
	if (JS_NewClass(rt, formula_realm.column, &column_class))
		return -1;
	JS_NewClassID(rt, &formula_realm.row);
	if (JS_NewClass(rt, formula_realm.row, &row_class))
		return -1;
	array = JS_NewArray(ctx);
	proto = JS_GetPrototype(ctx, array);
	JS_FreeValue(ctx, array);
	JS_SetClassProto(ctx, formula_realm.column, proto);
	return 0;
}

int formula_realm_new(JSRuntime *rt)
{
	JSContext *ctx = formula_realm.ctx = formula_context_new(rt);
	JSValueConst args[2];

	if (!ctx || column_class_new(rt, ctx))
		return -1;
	args[0] = JS_NewObject(ctx);
	args[1] = JS_NewObject(ctx);
	if (add_native(ctx, args[0]))
		return -1;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (load(ctx, i, args))
			return complain(ctx, files[i].name);
	formula_realm.helpers = JS_GetPropertyStr(ctx, args[1], "helpers");
	formula_realm.failure = JS_GetPropertyStr(ctx, args[1], "failure");
	return 0;
}
