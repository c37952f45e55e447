/* The one unit that sees inside the interpreter. */
#include "quick.h"

/* js_async_function_resume is replaced without touching its file: where it is
 * defined its first argument begins with JSContext, where it is called with
 * ctx, and pasting tells the two apart.  Its own definition is not used. */
struct JSAsyncFunctionData;
static bool resume_async(JSContext *ctx, struct JSAsyncFunctionData *s);
#define js_async_function_resume(first, second) RESUME_##first, second)
#define RESUME_JSContext __attribute__((unused)) resume_unused(JSContext
#define RESUME_ctx resume_async(ctx
#include "quickjs.c"
#include "stack.h"
#undef js_async_function_resume

struct quick_state {
	const uint32_t *limit;
	bool *oom;
	bool (*fill)(void *p, size_t n);
	bool seeded;
	const bool *in_job;
};

static struct quick_state quick;

#include "quick_heap.h"

/* ---- randomness ---- */

JSValue quick_no_random(JSContext *ctx)
{
	return JS_ThrowPlainError(ctx, "EACCES: permission denied: randomness "
				  "is not granted to this run");
}

static JSValue quick_math_random(JSContext *ctx, JSValueConst this_val,
				 int argc, JSValueConst *argv)
{
	if (!quick.seeded) {
		uint64_t seed = 0;

		if (!quick.fill(&seed, sizeof(seed)))
			return quick_no_random(ctx);
		ctx->random_state = seed ? seed : 1;
		quick.seeded = true;
	}
	return js_math_random(ctx, this_val, argc, argv);
}

void quick_unseed(JSContext *ctx, bool (*fill)(void *p, size_t n))
{
	ctx->random_state = 1;
	quick.fill = fill;
	quick.seeded = false;
}

/* ---- interruption ---- */

void quick_poll_soon(JSContext *ctx)
{
	ctx->interrupt_counter = 0;
}

int quick_poll(JSContext *ctx)
{
	return js_poll_interrupts(ctx);
}

bool quick_stack_low(JSContext *ctx)
{
	return js_check_stack_overflow(ctx->rt, 4096);
}

/* ---- await ---- */

/* True if going on at once cannot be told from going on by a job: nothing
 * else is queued and no frame is below. */
static bool may_go_on(JSContext *ctx, JSValueConst promise)
{
	JSPromiseData *p;

	if (!quick.in_job || !*quick.in_job || ctx->rt->current_stack_frame ||
	    !list_empty(&ctx->rt->job_list))
		return false;
	p = JS_GetOpaque(promise, JS_CLASS_PROMISE);
	return p && p->promise_state == JS_PROMISE_FULFILLED;
}

/* Makes the promise's reactions resume the function. */
static int suspend(JSContext *ctx, JSAsyncFunctionData *s,
		   JSValueConst promise)
{
	JSValueConst none[2] = { JS_UNDEFINED, JS_UNDEFINED };
	JSValue resume[2];
	int r;

	if (js_async_function_resolve_create(ctx, s, resume))
		return -1;
	r = perform_promise_then(ctx, promise, vc(resume), none);
	JS_FreeValue(ctx, resume[0]);
	JS_FreeValue(ctx, resume[1]);
	return r;
}

/* Ends the function by calling its resolving function `which`; takes v. */
static bool finish_async(JSContext *ctx, JSAsyncFunctionData *s, int which,
			 JSValue v)
{
	JSValue r = JS_Call(ctx, s->resolving_funcs[which], JS_UNDEFINED, 1,
			    vc(&v));
	bool ok = !JS_IsException(r);

	JS_FreeValue(ctx, v);
	JS_FreeValue(ctx, r);
	js_async_function_terminate(ctx->rt, s);
	return ok;
}

static bool fail_async(JSContext *ctx, JSAsyncFunctionData *s)
{
	if (!JS_IsUncatchableError(ctx->rt->current_exception))
		return finish_async(ctx, s, 1, JS_GetException(ctx));
	js_async_function_terminate(ctx->rt, s);
	return false;
}

/* As js_async_function_resume, but an await of what is settled already goes
 * on in place where that makes no difference. */
static bool resume_async(JSContext *ctx, JSAsyncFunctionData *s)
{
	for (;;) {
		JSValue r = async_func_resume(ctx, &s->func_state);
		JSValue *top, value, promise;
		int failed;

		if (JS_IsException(r))
			return fail_async(ctx, s);
		top = &s->func_state.frame.cur_sp[-1];
		value = *top;
		*top = JS_UNDEFINED;
		if (JS_IsUndefined(r))
			return finish_async(ctx, s, 0, value);
		JS_FreeValue(ctx, r);
		promise = js_promise_resolve(ctx, ctx->promise_ctor, 1,
					     vc(&value), 0);
		JS_FreeValue(ctx, value);
		if (JS_IsException(promise))
			return fail_async(ctx, s);
		if (may_go_on(ctx, promise)) {
			s->func_state.throw_flag = false;
			s->func_state.frame.cur_sp[-1] =
				JS_PromiseResult(ctx, promise);
			JS_FreeValue(ctx, promise);
			continue;
		}
		failed = suspend(ctx, s, promise);
		JS_FreeValue(ctx, promise);
		return failed ? fail_async(ctx, s) : true;
	}
}

void quick_await_in_place(const bool *in_job)
{
	quick.in_job = in_job;
}

/* ---- compiling ---- */

JSValue quick_compile(JSContext *ctx, const char *source, size_t len,
		      const char *name, int first_line, int flags)
{
	return JS_EvalInternal(ctx, ctx->global_obj, source, len, name,
			       first_line, flags | JS_EVAL_FLAG_COMPILE_ONLY,
			       -1);
}

bool quick_sole_function(JSValueConst fn, size_t len)
{
	JSFunctionBytecode *b, *inner = NULL;

	if (JS_VALUE_GET_TAG(fn) != JS_TAG_FUNCTION_BYTECODE)
		return false;
	b = JS_VALUE_GET_PTR(fn);
	for (int i = 0; i < b->cpool_count; i++) {
		if (JS_VALUE_GET_TAG(b->cpool[i]) != JS_TAG_FUNCTION_BYTECODE)
			continue;
		if (inner)
			return false;
		inner = JS_VALUE_GET_PTR(b->cpool[i]);
	}
	return inner && inner->source_len >= 0 &&
	       (size_t)inner->source_len == len;
}

/* ---- errors ---- */

JSValue quick_raw_stack(JSContext *ctx, JSValueConst error)
{
	JSObject *p;

	(void)ctx;
	if (JS_VALUE_GET_TAG(error) != JS_TAG_OBJECT)
		return JS_UNDEFINED;
	p = JS_VALUE_GET_OBJ(error);
	if (p->class_id == JS_CLASS_ERROR)
		return js_dup(p->u.object_data);
	if (p->class_id == JS_CLASS_DOM_EXCEPTION)
		return quick_data_property(ctx, error, JS_ATOM_stack);
	return JS_UNDEFINED;
}

JSValue quick_data_property(JSContext *ctx, JSValueConst v, JSAtom name)
{
	for (int depth = 0; depth < 100; depth++) {
		JSShapeProperty *prs;
		JSProperty *pr;
		JSObject *p;

		if (JS_VALUE_GET_TAG(v) != JS_TAG_OBJECT)
			return JS_UNDEFINED;
		p = JS_VALUE_GET_OBJ(v);
		if (p->class_id == JS_CLASS_PROXY)
			return JS_UNDEFINED;
		prs = find_own_property(&pr, p, name);
		if (prs && (prs->flags & JS_PROP_TMASK) == JS_PROP_NORMAL)
			return js_dup(pr->u.value);
		if (prs && (prs->flags & JS_PROP_TMASK) == JS_PROP_AUTOINIT)
			return JS_GetProperty(ctx, v, name);
		if (prs || !p->shape->proto)
			return JS_UNDEFINED;
		v = JS_MKPTR(JS_TAG_OBJECT, p->shape->proto);
	}
	return JS_UNDEFINED;
}

static JSValue stack_of(JSContext *ctx, JSValueConst error, bool getters)
{
	JSValue raw = quick_raw_stack(ctx, error);
	JSObject *p;

	if (!stack_is_raw(ctx, raw))
		return raw;
	raw = stack_clean(ctx, error, raw, getters);
	if (JS_IsException(raw))
		return raw;
	/* As in V8 the text is fixed: later changes of the name or the
	 * message do not show. */
	p = JS_VALUE_GET_OBJ(error);
	if (p->class_id == JS_CLASS_ERROR) {
		JS_FreeValue(ctx, p->u.object_data);
		p->u.object_data = js_dup(raw);
	}
	return raw;
}

JSValue quick_stack(JSContext *ctx, JSValueConst error)
{
	return stack_of(ctx, error, false);
}

bool quick_is_native_error(JSContext *ctx, JSValueConst v, const char *name)
{
	static const struct {
		const char *name;
		JSErrorEnum id;
	} rows[] = {
		{ "RangeError", JS_RANGE_ERROR },
		{ "SyntaxError", JS_SYNTAX_ERROR },
		{ "ReferenceError", JS_REFERENCE_ERROR },
		{ "TypeError", JS_TYPE_ERROR },
		{ "InternalError", JS_INTERNAL_ERROR },
	};
	JSObject *p;

	if (JS_VALUE_GET_TAG(v) != JS_TAG_OBJECT)
		return false;
	p = JS_VALUE_GET_OBJ(v);
	if (p->class_id != JS_CLASS_ERROR || !p->shape->proto)
		return false;
	for (size_t i = 0; i < countof(rows); i++) {
		JSValue proto = ctx->native_error_proto[rows[i].id];

		if (!strcmp(rows[i].name, name))
			return p->shape->proto == JS_VALUE_GET_OBJ(proto);
	}
	return false;
}

static JSValue get_stack(JSContext *ctx, JSValueConst this_val)
{
	if (!JS_IsObject(this_val))
		return JS_ThrowTypeErrorNotAnObject(ctx);
	return stack_of(ctx, this_val, true);
}

/* Any value may be stored, as in V8: it becomes an own property. */
static JSValue set_stack(JSContext *ctx, JSValueConst this_val,
			 JSValueConst value)
{
	if (!JS_IsObject(this_val))
		return JS_ThrowTypeErrorNotAnObject(ctx);
	if (JS_DefinePropertyValue(ctx, this_val, JS_ATOM_stack,
				   js_dup(value),
				   JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE |
					   JS_PROP_THROW) < 0)
		return JS_EXCEPTION;
	return JS_UNDEFINED;
}

static JSValue capture_stack(JSContext *ctx, JSValueConst this_val, int argc,
			     JSValueConst *argv)
{
	JSValueConst args[2] = { argc > 0 ? argv[0] : JS_UNDEFINED,
				 argc > 1 ? argv[1] : JS_UNDEFINED };
	JSValue raw, r = js_error_capture_stack_trace(ctx, this_val, 2, args);

	if (JS_IsException(r))
		return r;
	raw = quick_data_property(ctx, args[0], JS_ATOM_stack);
	if (!stack_is_raw(ctx, raw)) {
		JS_FreeValue(ctx, raw);
		return JS_UNDEFINED;
	}
	raw = stack_clean(ctx, args[0], raw, true);
	if (JS_IsException(raw))
		return raw;
	JS_DefinePropertyValue(ctx, args[0], JS_ATOM_stack, raw,
			       JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
	return JS_UNDEFINED;
}

static int replace(JSContext *ctx, JSValueConst o, const char *name,
		   JSCFunction *f, int length)
{
	int r = JS_DefinePropertyValueStr(
		ctx, o, name, JS_NewCFunction(ctx, f, name, length),
		JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);

	return r < 0 ? -1 : 0;
}

int quick_patch(JSContext *ctx)
{
	static const JSCFunctionListEntry stack[] = {
		JS_CGETSET_DEF("stack", get_stack, set_stack),
	};
	JSValue math = JS_GetPropertyStr(ctx, ctx->global_obj, "Math");
	int r = 0;

	r |= replace(ctx, math, "random", quick_math_random, 0);
	JS_FreeValue(ctx, math);
	r |= replace(ctx, ctx->error_ctor, "captureStackTrace", capture_stack,
		     2);
	r |= JS_SetPropertyFunctionList(ctx, ctx->class_proto[JS_CLASS_ERROR],
					stack, 1);
	return r;
}

/* ---- values ---- */

enum quick_kind quick_kind(JSValueConst v)
{
	static const uint8_t kinds[JS_CLASS_INIT_COUNT] = {
		[JS_CLASS_ARRAY] = QUICK_ARRAY,
		[JS_CLASS_ERROR] = QUICK_ERROR,
		[JS_CLASS_DOM_EXCEPTION] = QUICK_ERROR,
		[JS_CLASS_NUMBER] = QUICK_NUMBER,
		[JS_CLASS_STRING] = QUICK_STRING,
		[JS_CLASS_BOOLEAN] = QUICK_BOOLEAN,
		[JS_CLASS_SYMBOL] = QUICK_SYMBOL,
		[JS_CLASS_BIG_INT] = QUICK_BIGINT,
		[JS_CLASS_ARGUMENTS] = QUICK_ARGUMENTS,
		[JS_CLASS_MAPPED_ARGUMENTS] = QUICK_ARGUMENTS,
		[JS_CLASS_DATE] = QUICK_DATE,
		[JS_CLASS_MODULE_NS] = QUICK_MODULE,
		[JS_CLASS_C_FUNCTION] = QUICK_FUNCTION,
		[JS_CLASS_BYTECODE_FUNCTION] = QUICK_FUNCTION,
		[JS_CLASS_BOUND_FUNCTION] = QUICK_FUNCTION,
		[JS_CLASS_C_FUNCTION_DATA] = QUICK_FUNCTION,
		[JS_CLASS_C_CLOSURE] = QUICK_FUNCTION,
		[JS_CLASS_GENERATOR_FUNCTION] = QUICK_FUNCTION,
		[JS_CLASS_ASYNC_FUNCTION] = QUICK_FUNCTION,
		[JS_CLASS_ASYNC_GENERATOR_FUNCTION] = QUICK_FUNCTION,
		[JS_CLASS_PROMISE_RESOLVE_FUNCTION] = QUICK_FUNCTION,
		[JS_CLASS_PROMISE_REJECT_FUNCTION] = QUICK_FUNCTION,
		[JS_CLASS_ASYNC_FUNCTION_RESOLVE] = QUICK_FUNCTION,
		[JS_CLASS_ASYNC_FUNCTION_REJECT] = QUICK_FUNCTION,
		[JS_CLASS_REGEXP] = QUICK_REGEXP,
		[JS_CLASS_ARRAY_BUFFER] = QUICK_BUFFER,
		[JS_CLASS_SHARED_ARRAY_BUFFER] = QUICK_SHARED_BUFFER,
		[JS_CLASS_DATAVIEW] = QUICK_DATAVIEW,
		[JS_CLASS_MAP] = QUICK_MAP,
		[JS_CLASS_SET] = QUICK_SET,
		[JS_CLASS_WEAKMAP] = QUICK_WEAKMAP,
		[JS_CLASS_WEAKSET] = QUICK_WEAKSET,
		[JS_CLASS_MAP_ITERATOR] = QUICK_MAP_ITERATOR,
		[JS_CLASS_SET_ITERATOR] = QUICK_SET_ITERATOR,
		[JS_CLASS_GENERATOR] = QUICK_GENERATOR,
		[JS_CLASS_ASYNC_GENERATOR] = QUICK_GENERATOR,
		[JS_CLASS_PROXY] = QUICK_PROXY,
		[JS_CLASS_PROMISE] = QUICK_PROMISE,
		[JS_CLASS_WEAK_REF] = QUICK_WEAKREF,
	};
	unsigned id;

	if (JS_VALUE_GET_TAG(v) != JS_TAG_OBJECT)
		return QUICK_PLAIN;
	id = JS_VALUE_GET_OBJ(v)->class_id;
	if (id >= JS_CLASS_UINT8C_ARRAY && id <= JS_CLASS_FLOAT64_ARRAY)
		return QUICK_TYPED;
	if (id >= JS_CLASS_INIT_COUNT)
		return QUICK_PLAIN;
	return (enum quick_kind)kinds[id];
}

static JSFunctionBytecode *bytecode_of(JSValueConst fn)
{
	JSObject *p;

	if (JS_VALUE_GET_TAG(fn) != JS_TAG_OBJECT)
		return NULL;
	p = JS_VALUE_GET_OBJ(fn);
	if (!js_class_has_bytecode(p->class_id))
		return NULL;
	return p->u.func.function_bytecode;
}

bool quick_is_class(JSValueConst fn)
{
	JSFunctionBytecode *b = bytecode_of(fn);

	return b && b->source && b->source_len > 5 &&
	       !memcmp(b->source, "class", 5);
}

int quick_function_kind(JSValueConst fn)
{
	JSFunctionBytecode *b = bytecode_of(fn);

	return b ? b->func_kind : 0;
}

JSValueConst quick_primitive(JSValueConst v)
{
	return JS_VALUE_GET_OBJ(v)->u.object_data;
}

static JSMapState *map_state(JSValueConst map)
{
	JSObject *p = JS_VALUE_GET_OBJ(map);

	return p->u.map_state;
}

uint32_t quick_map_size(JSValueConst map)
{
	return map_state(map)->record_count;
}

bool quick_next(JSContext *ctx, JSValueConst map, struct quick_cursor *c,
		JSValue *ret_key, JSValue *ret_value)
{
	JSMapState *s = map_state(map);
	JSMapRecord *old = c->record;
	struct list_head *el = old ? old->link.next : s->records.next;

	for (; el != &s->records; el = el->next) {
		JSMapRecord *mr = list_entry(el, JSMapRecord, link);

		if (mr->empty)
			continue;
		mr->ref_count++;
		*ret_key = js_dup(mr->key);
		*ret_value = js_dup(mr->value);
		if (old)
			map_decref_record(ctx->rt, old);
		c->record = mr;
		return true;
	}
	quick_cursor_done(ctx, c);
	return false;
}

void quick_cursor_done(JSContext *ctx, struct quick_cursor *c)
{
	if (c->record)
		map_decref_record(ctx->rt, c->record);
	c->record = NULL;
}

static int push(JSContext *ctx, JSValueConst array, uint32_t *n, JSValue v)
{
	return JS_DefinePropertyValueUint32(ctx, array, (*n)++, v,
					    JS_PROP_C_W_E);
}

JSValue quick_iterator_rest(JSContext *ctx, JSValueConst iv, bool *ret_pairs)
{
	JSMapIteratorData *it = JS_VALUE_GET_OBJ(iv)->u.map_iterator_data;
	JSValue array = JS_NewArray(ctx);
	struct list_head *el;
	JSMapState *s;
	uint32_t n = 0;

	*ret_pairs = false;
	if (JS_IsException(array) || !it || JS_IsUndefined(it->obj))
		return array;
	*ret_pairs = it->kind == JS_ITERATOR_KIND_KEY_AND_VALUE;
	s = map_state(it->obj);
	el = it->cur_record ? it->cur_record->link.next : s->records.next;
	for (; el != &s->records; el = el->next) {
		JSMapRecord *mr = list_entry(el, JSMapRecord, link);
		bool set = quick_kind(it->obj) == QUICK_SET;

		if (mr->empty)
			continue;
		if (it->kind != JS_ITERATOR_KIND_VALUE || set)
			push(ctx, array, &n, js_dup(mr->key));
		if (*ret_pairs && set)
			push(ctx, array, &n, js_dup(mr->key));
		else if (it->kind != JS_ITERATOR_KIND_KEY && !set)
			push(ctx, array, &n, js_dup(mr->value));
	}
	return array;
}

bool quick_chars(JSContext *ctx, JSValueConst string, struct quick_chars *ret)
{
	JSString *p;

	ret->hold = JS_UNDEFINED;
	if (JS_VALUE_GET_TAG(string) == JS_TAG_STRING_ROPE) {
		ret->hold = js_linearize_string_rope(ctx, string);
		if (JS_IsException(ret->hold))
			return false;
		string = ret->hold;
	}
	if (JS_VALUE_GET_TAG(string) != JS_TAG_STRING)
		return false;
	p = JS_VALUE_GET_STRING(string);
	ret->narrow = p->is_wide_char ? NULL : str8(p);
	ret->wide = p->is_wide_char ? str16(p) : NULL;
	ret->len = p->len;
	return true;
}

void quick_chars_done(JSContext *ctx, struct quick_chars *c)
{
	JS_FreeValue(ctx, c->hold);
	c->hold = JS_UNDEFINED;
}

JSValue quick_latin1(JSContext *ctx, const uint8_t *p, size_t len)
{
	if (len > JS_STRING_LEN_MAX)
		return JS_ThrowRangeError(ctx, "Invalid string length");
	return js_new_string8_len(ctx, (const char *)p, (int)len);
}

JSValue quick_iteration(JSContext *ctx, JSValue value, bool done)
{
	return js_create_iterator_result(ctx, value, done);
}

bool quick_is_index(JSContext *ctx, JSAtom a)
{
	uint32_t index;

	return JS_AtomIsArrayIndex(ctx, &index, a);
}

uint8_t *quick_bytes(JSContext *ctx, JSValueConst v, size_t *ret_len)
{
	enum quick_kind k = quick_kind(v);
	JSArrayBuffer *b;
	JSTypedArray *ta;
	JSObject *p;

	*ret_len = 0;
	if (k == QUICK_BUFFER || k == QUICK_SHARED_BUFFER)
		return JS_GetArrayBuffer(ctx, ret_len, v);
	if (k != QUICK_TYPED && k != QUICK_DATAVIEW)
		return NULL;
	p = JS_VALUE_GET_OBJ(v);
	ta = p->u.typed_array;
	b = ta->buffer->u.array_buffer;
	if (b->detached || (uint32_t)b->byte_length < ta->offset)
		return NULL;
	*ret_len = (uint32_t)b->byte_length - ta->offset;
	if (!ta->track_rab) {
		if (ta->length > *ret_len)
			return NULL;
		*ret_len = ta->length;
	}
	return b->data + ta->offset;
}
