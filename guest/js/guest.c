/* The image's entry points; see docs/design/javascript.md. */
#include <stdlib.h>
#include <string.h>
#include "guest.h"
#include "quick.h"

#define EXPORT(name) __attribute__((export_name(#name)))
#define STACK_BYTES (960 * 1024) /* of the 1 MiB shadow stack */
#define GC_SLACK (4u << 20)

void redoma_init(void);
volatile int32_t *redoma_interrupt_ptr(void);
void *redoma_alloc(uint32_t n);
void redoma_free(void *p);
int32_t redoma_run(const char *request, uint32_t len);
int32_t redoma_resume(void);
struct guest_result *redoma_result(void);

/* What each run writes lies behind it: at the start of a page, that and the
 * interpreter's own first structures are two pages however long the prelude's
 * texts are. */
struct guest guest __attribute__((aligned(4096)));

static int on_poll(JSContext *ctx, void *opaque)
{
	(void)ctx;
	(void)opaque;
	return loop_ending();
}

static int fill_native(JSContext *ctx)
{
	static int (*const parts[])(JSContext *, JSValueConst) = {
		out_add,
		inspect_add,
		clock_add,
		loop_add,
		process_add,
		text_add,
		files_add,
		lines_add,
		module_add,
		tools_add,
	};

	guest.native = JS_NewObject(ctx);
	guest.hooks = JS_NewObject(ctx);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i](ctx, guest.native))
			return -1;
	return 0;
}

/* A run of nothing, so that what the first run would set up is set up. */
static void warm_up(JSContext *ctx, const char *source)
{
	bool syntax;
	JSValue p = source_start(ctx, source, strlen(source), "warm.js",
				 &syntax);
	JSValue v = p;
	char *text;
	size_t n;
	bool carry;

	if (JS_IsException(p) || loop_run(ctx))
		__builtin_trap();
	if (guest.shape != GUEST_PLAIN)
		v = source_value(ctx, JS_PromiseResult(ctx, p));
	if (serial_print(ctx, v, &text, &n, &carry))
		__builtin_trap();
	js_free(ctx, text);
	JS_FreeValue(ctx, p);
}

EXPORT(redoma_init) void redoma_init(void)
{
	JSContext *ctx;

	guest.rejected = JS_UNDEFINED;
	guest.held = JS_UNDEFINED;
	guest.rt = quick_runtime_new(&guest.memory_limit, &guest.oom);
	if (!guest.rt)
		__builtin_trap();
	JS_SetMaxStackSize(guest.rt, STACK_BYTES);
	JS_SetInterruptHandler(guest.rt, on_poll, NULL);
	JS_SetHostPromiseRejectionTracker(guest.rt, loop_track, NULL);
	ctx = guest.ctx = JS_NewContext(guest.rt);
	if (!ctx || quick_patch(ctx) || serial_start(ctx) ||
	    fill_native(ctx) || prelude_load(ctx))
		__builtin_trap();
	warm_up(ctx, "await 1");
	warm_up(ctx, "1+1");
	quick_unseed(ctx, clock_fill);
	JS_RunGC(guest.rt);
	quick_gc_slack(guest.rt, GC_SLACK);
	clock_start();
	quick_settle(guest.rt);
	guest.oom = false;
}

EXPORT(redoma_interrupt_ptr) volatile int32_t *redoma_interrupt_ptr(void)
{
	return &guest.interrupt;
}

EXPORT(redoma_alloc) void *redoma_alloc(uint32_t n)
{
	return malloc(n);
}

EXPORT(redoma_free) void redoma_free(void *p)
{
	free(p);
}

EXPORT(redoma_result) struct guest_result *redoma_result(void)
{
	return &guest.result;
}

static bool in_request(const struct guest_span *s, uint32_t len)
{
	return s->off <= len && s->len <= len - s->off;
}

/* Where the next list of a request begins. */
struct lists {
	const uint32_t *words;
	uint32_t len, at; /* bytes of the request; a word of it */
};

static bool take_list(struct lists *l, uint32_t *ret_n,
		      const struct guest_span **ret)
{
	uint32_t words = l->len / 4, n;

	if (l->at >= words)
		return false;
	n = l->words[l->at++];
	if (n > (words - l->at) / 2)
		return false;
	*ret_n = n;
	*ret = (const struct guest_span *)(l->words + l->at);
	l->at += 2 * n;
	for (uint32_t i = 0; i < n; i++)
		if (!in_request(&(*ret)[i], l->len))
			return false;
	return true;
}

/* The host builds requests, but a wrong one must not become a wild read. */
static bool take_request(const char *p, uint32_t len)
{
	const struct guest_request *q = (const struct guest_request *)p;
	struct lists l = { (const uint32_t *)p, len, sizeof(*q) / 4 };

	if (len < sizeof(*q) + 4 || q->magic != GUEST_REQUEST_MAGIC ||
	    !in_request(&q->source, len) || !in_request(&q->input, len) ||
	    !in_request(&q->name, len))
		return false;
	guest.base = p;
	guest.request = q;
	return take_list(&l, &guest.argc, &guest.args) &&
	       take_list(&l, &guest.envc, &guest.env) &&
	       take_list(&l, &guest.toolc, &guest.tools);
}

static int set_input(JSContext *ctx)
{
	const struct guest_request *q = guest.request;
	JSValue v, g;
	int r;

	if (!q->input.len)
		return 0;
	v = serial_parse(ctx, guest.base + q->input.off, q->input.len);
	if (JS_IsException(v))
		return -1;
	g = JS_GetGlobalObject(ctx);
	r = JS_SetPropertyStr(ctx, g, "input", v);
	JS_FreeValue(ctx, g);
	return r < 0 ? -1 : 0;
}

/* The value of a promise, as far as it can be known. */
static JSValue settled(JSContext *ctx, JSValueConst p)
{
	switch (JS_PromiseState(ctx, p)) {
	case JS_PROMISE_FULFILLED:
		return JS_PromiseResult(ctx, p);
	case JS_PROMISE_REJECTED:
		return JS_Throw(ctx, JS_PromiseResult(ctx, p));
	default:
		guest.exit_code = 13;
		return JS_ThrowPlainError(ctx, "the script waits for a promise "
					  "that nothing is going to settle");
	}
}

/* To the run's value, or to where it has to wait.  0; 1: there is an error in
 * the result; 2: it waits; -1: an exception is pending. */
static int advance(JSContext *ctx)
{
	JSValue v;
	int r;

	for (;;) {
		r = loop_run(ctx);
		if (r)
			return r < 0 ? -1 : 2;
		v = guest.held;
		if (!guest.raw && !JS_IsPromise(v))
			return outcome_value(ctx, v) ? 1 : 0;
		v = settled(ctx, v);
		if (!JS_IsException(v) && guest.raw)
			v = source_value(ctx, v);
		guest.raw = false;
		if (JS_IsException(v))
			return -1;
		guest.held = v;
	}
}

static int run(JSContext *ctx, bool *ret_syntax)
{
	const struct guest_request *q = guest.request;

	if ((guest.toolc && tools_start(ctx)) || set_input(ctx))
		return -1;
	guest.held = source_start(ctx, guest.base + q->source.off,
				  q->source.len, guest.base + q->name.off,
				  ret_syntax);
	if (JS_IsException(guest.held))
		return -1;
	guest.raw = guest.shape != GUEST_PLAIN;
	return advance(ctx);
}

/* Ends a step; what it returns is what the host is told. */
static int32_t step_end(int r, bool syntax)
{
	if (r == 2) {
		out_flush();
		return 2;
	}
	if (r < 0)
		outcome_error(guest.ctx, syntax);
	else if (r == 0)
		guest.result.exit_code = guest.exit_code;
	out_flush();
	return guest.result.kind == GUEST_OK ? 0 : 1;
}

EXPORT(redoma_run) int32_t redoma_run(const char *request, uint32_t len)
{
	bool syntax = false;
	int r;

	memset(&guest.result, 0, sizeof(guest.result));
	guest.result.magic = GUEST_RESULT_MAGIC;
	JS_UpdateStackTop(guest.rt);
	if (!take_request(request, len))
		__builtin_trap();
	guest.memory_limit = guest.request->memory_limit;
	r = run(guest.ctx, &syntax);
	return step_end(r, syntax);
}

EXPORT(redoma_resume) int32_t redoma_resume(void)
{
	JS_UpdateStackTop(guest.rt);
	if (loop_ending()) {
		JS_ThrowInternalError(guest.ctx, "interrupted");
		return step_end(-1, false);
	}
	return step_end(advance(guest.ctx), false);
}
