/* A value to text and back, with tags for what JSON lacks.
 *
 * Nothing here depends on what a program can change: classes are read from
 * the objects themselves, never from constructors or prototypes.  Only toJSON
 * and getters run guest code, inside the run's limits.
 *
 *   {"$redoma":"bigint","value":"12"}     {"$redoma":"nan"}
 *   {"$redoma":"date","value":"2026-…Z"}  {"$redoma":"inf"} or "-inf"
 *   {"$redoma":"bytes","value":"base64"}  {"$redoma":"-0"}
 *   {"$redoma":"map","value":[[k,v],…]}   {"$redoma":"undefined"}
 *   {"$redoma":"set","value":[v,…]}       {"$redoma":"object","value":{…}}
 * and, as they came: decimal, time, duration, complex
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "guest.h"
#include "quick.h"
#include "text.h"

struct step {
	const struct step *up;
	JSValueConst object;
	JSAtom key; /* JS_ATOM_NULL: index */
	uint32_t index;
};

struct printer {
	JSContext *ctx;
	char *p;
	size_t len, cap;
	bool carry;
	bool half; /* of a surrogate pair was met */
	JSAtom to_json, tag, name, message;
};

static int print_value(struct printer *s, JSValue v, const struct step *at);

/* ---- output ---- */

static int reserve(struct printer *s, size_t n)
{
	size_t cap = s->cap ? s->cap : 256;
	char *p;

	if (n <= s->cap - s->len)
		return 0;
	if (n > GUEST_VALUE_MAX - s->len) {
		guest.oom = true;
		JS_ThrowInternalError(s->ctx, "the result is larger than %u "
				      "MiB", GUEST_VALUE_MAX >> 20);
		return -1;
	}
	if (quick_poll(s->ctx))
		return -1;
	while (cap - s->len < n)
		cap *= 2;
	p = js_realloc(s->ctx, s->p, cap);
	if (!p)
		return -1;
	s->p = p;
	s->cap = cap;
	return 0;
}

static int put(struct printer *s, const char *p, size_t n)
{
	if (reserve(s, n))
		return -1;
	memcpy(s->p + s->len, p, n);
	s->len += n;
	return 0;
}

static int puts_(struct printer *s, const char *p)
{
	return put(s, p, strlen(p));
}

static int put_unit(struct printer *s, uint32_t c)
{
	char b[8];

	if (c == '"' || c == '\\') {
		b[0] = '\\';
		b[1] = (char)c;
		return put(s, b, 2);
	}
	if (c < 0x20) {
		static const char names[] = "btn?fr";

		if (c >= 8 && c <= 13 && c != 11)
			snprintf(b, sizeof(b), "\\%c", names[c - 8]);
		else
			snprintf(b, sizeof(b), "\\u%04x", (unsigned)c);
		return puts_(s, b);
	}
	return put(s, b, text_utf8(b, c));
}

static int put_wide(struct printer *s, const uint16_t *w, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = w[i];

		if (c >= 0xd800 && c < 0xdc00 && i + 1 < n &&
		    w[i + 1] >= 0xdc00 && w[i + 1] < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10) + (w[++i] - 0xdc00);
		} else if (c >= 0xd800 && c < 0xe000) {
			s->half = true;
			c = 0xfffd; /* half of a pair is no text */
		}
		if (put_unit(s, c))
			return -1;
	}
	return 0;
}

static int put_narrow(struct printer *s, const uint8_t *p, uint32_t n)
{
	uint32_t from = 0;

	for (uint32_t i = 0; i <= n; i++) {
		if (i < n && p[i] >= 0x20 && p[i] < 0x7f && p[i] != '"' &&
		    p[i] != '\\')
			continue;
		if (put(s, (const char *)p + from, i - from) ||
		    (i < n && put_unit(s, p[i])))
			return -1;
		from = i + 1;
	}
	return 0;
}

static int print_string(struct printer *s, JSValueConst v)
{
	struct quick_chars c;
	int r;

	if (!quick_chars(s->ctx, v, &c))
		return -1;
	r = puts_(s, "\"");
	if (!r && c.narrow)
		r = put_narrow(s, c.narrow, c.len);
	else if (!r)
		r = put_wide(s, c.wide, c.len);
	quick_chars_done(s->ctx, &c);
	return r ? r : puts_(s, "\"");
}

/* ---- where a value lies, for messages ---- */

static bool plain_name(const char *k)
{
	if (!((*k >= 'a' && *k <= 'z') || (*k >= 'A' && *k <= 'Z') ||
	      *k == '_' || *k == '$'))
		return false;
	for (; *k; k++)
		if (!((*k >= 'a' && *k <= 'z') || (*k >= 'A' && *k <= 'Z') ||
		      (*k >= '0' && *k <= '9') || *k == '_' || *k == '$'))
			return false;
	return true;
}

static void path_print(struct printer *s, const struct step *at, char *b,
		       size_t n)
{
	size_t have;
	const char *k;

	if (!at || !at->up) {
		snprintf(b, n, "result");
		return;
	}
	path_print(s, at->up, b, n);
	have = strlen(b);
	if (at->key == JS_ATOM_NULL) {
		snprintf(b + have, n - have, "[%u]", (unsigned)at->index);
		return;
	}
	k = JS_AtomToCString(s->ctx, at->key);
	if (k)
		snprintf(b + have, n - have, plain_name(k) ? ".%s" : "[\"%s\"]",
			 k);
	JS_FreeCString(s->ctx, k);
}

static int cannot_carry(struct printer *s, const struct step *at,
			const char *what)
{
	char path[160];
	int depth = 0;

	for (const struct step *p = at; p; p = p->up)
		depth++;
	if (depth > 200)
		snprintf(path, sizeof(path), "a value %d levels deep in result",
			 depth);
	else
		path_print(s, at, path, sizeof(path));
	s->carry = true;
	JS_ThrowTypeError(s->ctx,
			  "%s is %s, which cannot be carried; return data only",
			  path, what);
	return -1;
}

/* ---- tagged values ---- */

static int open_tag(struct printer *s, const char *tag)
{
	return puts_(s, "{\"$redoma\":\"") || puts_(s, tag) || puts_(s, "\"");
}

static int tag_text(struct printer *s, const char *tag, const char *text)
{
	return open_tag(s, tag) || puts_(s, ",\"value\":\"") ||
	       puts_(s, text) || puts_(s, "\"}");
}

static int print_number(struct printer *s, JSValueConst v)
{
	const char *t;
	double d;
	int r;

	if (JS_VALUE_GET_TAG(v) == JS_TAG_INT) {
		char b[16];

		snprintf(b, sizeof(b), "%d", JS_VALUE_GET_INT(v));
		return puts_(s, b);
	}
	JS_ToFloat64(s->ctx, &d, v);
	if (isnan(d))
		return open_tag(s, "nan") || puts_(s, "}");
	if (isinf(d))
		return open_tag(s, d > 0 ? "inf" : "-inf") || puts_(s, "}");
	if (d == 0 && signbit(d))
		return open_tag(s, "-0") || puts_(s, "}");
	t = JS_ToCString(s->ctx, v);
	if (!t)
		return -1;
	r = puts_(s, t);
	JS_FreeCString(s->ctx, t);
	return r;
}

static int print_bigint(struct printer *s, JSValueConst v)
{
	const char *t = JS_ToCString(s->ctx, v);
	int r;

	if (!t)
		return -1;
	r = tag_text(s, "bigint", t);
	JS_FreeCString(s->ctx, t);
	return r;
}

static int print_date(struct printer *s, JSValueConst v)
{
	double ms = NAN;
	char b[40];

	JS_ToFloat64(s->ctx, &ms, quick_primitive(v));
	if (isnan(ms))
		return tag_text(s, "date", "");
	text_date(b, ms);
	return tag_text(s, "date", b);
}

static int print_bytes(struct printer *s, const uint8_t *p, size_t n)
{
	if (open_tag(s, "bytes") || puts_(s, ",\"value\":\""))
		return -1;
	while (n > 0) {
		size_t some = n < 3072 ? n : 3072;
		char b[4100];

		if (put(s, b, text_base64(b, p, some)))
			return -1;
		p += some;
		n -= some;
	}
	return puts_(s, "\"}");
}

static int print_map(struct printer *s, JSValueConst v, const struct step *at)
{
	bool map = quick_kind(v) == QUICK_MAP;
	struct quick_cursor c = { 0 };
	struct step in = { .up = at, .object = v };
	JSValue key, value;
	int r = open_tag(s, map ? "map" : "set") || puts_(s, ",\"value\":[");

	for (; r == 0 && quick_next(s->ctx, v, &c, &key, &value); in.index++) {
		if (in.index)
			r = puts_(s, ",");
		if (!map) {
			JS_FreeValue(s->ctx, value);
			r = print_value(s, key, &in) || r;
			continue;
		}
		r = puts_(s, "[") || r;
		r = print_value(s, key, &in) || r;
		r = r || puts_(s, ",");
		r = print_value(s, value, &in) || r;
		r = r || puts_(s, "]");
	}
	quick_cursor_done(s->ctx, &c);
	return r ? -1 : puts_(s, "]}");
}

static int print_error(struct printer *s, JSValueConst v)
{
	JSValue part[3] = { JS_GetProperty(s->ctx, v, s->name),
			    JS_GetProperty(s->ctx, v, s->message),
			    quick_stack(s->ctx, v) };
	static const char *const names[3] = { "{\"name\":", ",\"message\":",
					      ",\"stack\":" };
	int r = 0;

	for (int i = 0; i < 3; i++) {
		if (JS_IsException(part[i])) {
			r = -1;
			continue;
		}
		if (r == 0 && JS_IsString(part[i]))
			r = puts_(s, names[i]) || print_string(s, part[i]);
		else if (r == 0 && i < 2)
			r = puts_(s, names[i]) || puts_(s, "\"\"");
		JS_FreeValue(s->ctx, part[i]);
	}
	return r ? -1 : puts_(s, "}");
}

/* ---- plain objects ---- */

/* It came as a tag, and nobody could change it. */
static bool is_tag(JSValueConst v)
{
	return JS_IsObject(v) && JS_GetClassID(v) == guest.tag_class;
}

static int print_array(struct printer *s, JSValueConst v,
		       const struct step *at)
{
	struct step in = { .up = at, .object = v };
	int64_t n;

	if (JS_GetLength(s->ctx, v, &n) || puts_(s, "["))
		return -1;
	for (int64_t i = 0; i < n; i++) {
		in.index = (uint32_t)i;
		if ((i && puts_(s, ",")) ||
		    print_value(s, JS_GetPropertyInt64(s->ctx, v, i), &in) ||
		    quick_poll(s->ctx))
			return -1;
	}
	return puts_(s, "]");
}

static int print_key(struct printer *s, JSAtom atom)
{
	JSValue key = JS_AtomToString(s->ctx, atom);
	int r = JS_IsException(key) ? -1 : print_string(s, key);

	JS_FreeValue(s->ctx, key);
	return r;
}

/* As text it is another key, which may be there already: 1 then. */
static int add_key(struct printer *s, JSValueConst seen, JSAtom atom)
{
	size_t from = s->len;
	JSAtom key;
	int r = print_key(s, atom);

	if (r)
		return -1;
	key = JS_NewAtomLen(s->ctx, s->p + from, s->len - from);
	s->len = from;
	if (key == JS_ATOM_NULL)
		return -1;
	r = JS_HasProperty(s->ctx, seen, key);
	if (!r && JS_DefinePropertyValue(s->ctx, seen, key, JS_TRUE, 0) < 0)
		r = -1;
	JS_FreeAtom(s->ctx, key);
	return r;
}

/* Sets *half if a half of a surrogate pair is in its key. */
static int print_entry(struct printer *s, JSValueConst v, struct step *in,
		       bool *half)
{
	int r;

	s->half = false;
	r = print_key(s, in->key) || puts_(s, ":");
	*half = *half || s->half;
	if (r)
		return -1;
	return print_value(s, JS_GetProperty(s->ctx, v, in->key), in);
}

static int check_keys(struct printer *s, const JSPropertyEnum *tab, uint32_t n,
		      const struct step *at)
{
	JSValue seen = JS_NewObjectProto(s->ctx, JS_NULL);
	int r = JS_IsException(seen) ? -1 : 0;

	for (uint32_t i = 0; i < n && r == 0; i++) {
		r = add_key(s, seen, tab[i].atom);
		if (!r && quick_poll(s->ctx))
			r = -1;
	}
	JS_FreeValue(s->ctx, seen);
	return r > 0 ? cannot_carry(s, at, "an object with two keys that are "
					   "the same in UTF-8")
		     : r;
}

static bool has_key(const JSPropertyEnum *tab, uint32_t n, JSAtom key)
{
	for (uint32_t i = 0; i < n; i++)
		if (tab[i].atom == key)
			return true;
	return false;
}

static int print_entries(struct printer *s, JSValueConst v,
			 const struct step *at)
{
	struct step in = { .up = at, .object = v };
	JSPropertyEnum *tab;
	uint32_t n, i;
	bool wrap, half = false;
	int r;

	if (JS_GetOwnPropertyNames(s->ctx, &tab, &n, v,
				   JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY))
		return -1;
	wrap = !is_tag(v) && has_key(tab, n, s->tag);
	r = (wrap && puts_(s, "{\"$redoma\":\"object\",\"value\":")) ||
	    puts_(s, "{");
	for (i = 0; i < n && r == 0; i++) {
		in.key = tab[i].atom;
		r = (i && puts_(s, ",")) || print_entry(s, v, &in, &half) ||
		    quick_poll(s->ctx);
	}
	if (half && !r)
		r = check_keys(s, tab, n, at);
	JS_FreePropertyEnum(s->ctx, tab, n);
	return r ? -1 : puts_(s, wrap ? "}}" : "}");
}

/* Arrays, also behind proxies, as Array.isArray sees them. */
static bool is_array(JSContext *ctx, JSValueConst v)
{
	JSValue t = JS_DupValue(ctx, v);
	bool yes;

	while (JS_IsProxy(t)) {
		JSValue inner = JS_GetProxyTarget(ctx, t);

		JS_FreeValue(ctx, t);
		t = inner;
	}
	if (JS_IsException(t)) /* revoked: the next access says so */
		JS_FreeValue(ctx, JS_GetException(ctx));
	yes = JS_IsArray(t);
	JS_FreeValue(ctx, t);
	return yes;
}

static int print_object(struct printer *s, JSValueConst v,
			const struct step *at)
{
	enum quick_kind k = quick_kind(v);
	uint8_t *b;
	size_t n;

	switch (k) {
	case QUICK_DATE:
		return print_date(s, v);
	case QUICK_MAP:
	case QUICK_SET:
		return print_map(s, v, at);
	case QUICK_TYPED:
		if (JS_GetTypedArrayType(v) != JS_TYPED_ARRAY_UINT8 &&
		    JS_GetTypedArrayType(v) != JS_TYPED_ARRAY_UINT8C)
			return print_array(s, v, at);
		/* fall through */
	case QUICK_DATAVIEW:
	case QUICK_BUFFER:
	case QUICK_SHARED_BUFFER:
		b = quick_bytes(s->ctx, v, &n);
		return print_bytes(s, b ? b : (const uint8_t *)"", b ? n : 0);
	case QUICK_ERROR:
		return print_error(s, v);
	case QUICK_NUMBER:
	case QUICK_STRING:
	case QUICK_BOOLEAN:
	case QUICK_BIGINT:
		return print_value(
			s, JS_DupValue(s->ctx, quick_primitive(v)), at);
	case QUICK_FUNCTION:
		return cannot_carry(s, at, "a function");
	case QUICK_SYMBOL:
		return cannot_carry(s, at, "a symbol");
	case QUICK_PROMISE:
		return cannot_carry(s, at, "a promise");
	case QUICK_WEAKMAP:
	case QUICK_WEAKSET:
	case QUICK_WEAKREF:
		return cannot_carry(s, at, "a weak collection");
	default:
		break;
	}
	if (JS_IsFunction(s->ctx, v))
		return cannot_carry(s, at, "a function");
	return is_array(s->ctx, v) ? print_array(s, v, at) :
				     print_entries(s, v, at);
}

/* Replaces *v by what its toJSON gives.  1 if it did, 0 if it has none. */
static int apply_to_json(struct printer *s, JSValue *v, const struct step *at)
{
	enum quick_kind k = quick_kind(*v);
	JSValue f, key, r;

	if (k == QUICK_DATE || k == QUICK_TYPED || k == QUICK_BUFFER ||
	    k == QUICK_MAP || k == QUICK_SET || k == QUICK_BIGINT ||
	    is_tag(*v) || is_tag(at->object))
		return 0;
	f = JS_GetProperty(s->ctx, *v, s->to_json);
	if (JS_IsException(f))
		return -1;
	if (!JS_IsFunction(s->ctx, f)) {
		JS_FreeValue(s->ctx, f);
		return 0;
	}
	key = at->key != JS_ATOM_NULL ? JS_AtomToString(s->ctx, at->key) :
					JS_NewString(s->ctx, "");
	r = JS_Call(s->ctx, f, *v, 1, (JSValueConst *)&key);
	JS_FreeValue(s->ctx, key);
	JS_FreeValue(s->ctx, f);
	if (JS_IsException(r))
		return -1;
	JS_FreeValue(s->ctx, *v);
	*v = r;
	return 1;
}

static int print_reference(struct printer *s, JSValue *v,
			   const struct step *at)
{
	if (quick_stack_low(s->ctx)) {
		JS_ThrowRangeError(s->ctx, "the result is nested too deeply");
		return -1;
	}
	if (quick_poll(s->ctx) || apply_to_json(s, v, at) < 0)
		return -1;
	if (!JS_IsObject(*v))
		return print_value(s, JS_DupValue(s->ctx, *v), at);
	for (const struct step *p = at; p; p = p->up)
		if (JS_IsObject(p->object) &&
		    JS_VALUE_GET_PTR(p->object) == JS_VALUE_GET_PTR(*v))
			return cannot_carry(s, at,
					    "a reference back to an object "
					    "around it");
	return print_object(s, *v, at);
}

/* Takes v. */
static int print_value(struct printer *s, JSValue v, const struct step *at)
{
	int r;

	switch (JS_VALUE_GET_NORM_TAG(v)) {
	case JS_TAG_NULL:
		return puts_(s, "null");
	case JS_TAG_BOOL:
		return puts_(s, JS_VALUE_GET_BOOL(v) ? "true" : "false");
	case JS_TAG_INT:
	case JS_TAG_FLOAT64:
		return print_number(s, v);
	case JS_TAG_UNDEFINED:
		return open_tag(s, "undefined") || puts_(s, "}");
	case JS_TAG_EXCEPTION:
		return -1;
	case JS_TAG_STRING:
	case JS_TAG_STRING_ROPE:
		r = print_string(s, v);
		break;
	case JS_TAG_SHORT_BIG_INT:
	case JS_TAG_BIG_INT:
		r = print_bigint(s, v);
		break;
	case JS_TAG_SYMBOL:
		r = cannot_carry(s, at, "a symbol");
		break;
	default:
		r = print_reference(s, &v, at);
		break;
	}
	JS_FreeValue(s->ctx, v);
	return r;
}

int serial_print(JSContext *ctx, JSValueConst v, char **ret, size_t *ret_len,
		 bool *ret_carry)
{
	struct printer s = { .ctx = ctx,
			     .to_json = JS_NewAtom(ctx, "toJSON"),
			     .tag = JS_NewAtom(ctx, "$redoma"),
			     .name = JS_NewAtom(ctx, "name"),
			     .message = JS_NewAtom(ctx, "message") };
	struct step top = { .object = JS_UNDEFINED };
	int r = print_value(&s, JS_DupValue(ctx, v), &top);

	*ret_carry = s.carry;
	if (r) {
		js_free(ctx, s.p);
		return -1;
	}
	*ret = s.p;
	*ret_len = s.len;
	return 0;
}
