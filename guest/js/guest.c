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
struct guest_result *redoma_result(void);

struct guest guest;

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
	guest.rt = quick_runtime_new(&guest.memory_limit, &guest.oom);
	if (!guest.rt)
		__builtin_trap();
	JS_SetMaxStackSize(guest.rt, STACK_BYTES);
	JS_SetInterruptHandler(guest.rt, on_poll, NULL);
	JS_SetHostPromiseRejectionTracker(guest.rt, loop_track, NULL);
	ctx = guest.ctx = JS_NewContext(guest.rt);
	if (!ctx || quick_patch(ctx) || fill_native(ctx) || prelude_load(ctx))
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

/* The host builds requests, but a wrong one must not become a wild read. */
static bool take_request(const char *p, uint32_t len)
{
	const struct guest_request *q = (const struct guest_request *)p;
	uint32_t words = (len - (len & 3)) / 4, at = sizeof(*q) / 4;
	const uint32_t *w = (const uint32_t *)p;
	uint32_t argc, envc;

	if (len < sizeof(*q) + 4 || q->magic != GUEST_REQUEST_MAGIC ||
	    !in_request(&q->source, len) || !in_request(&q->input, len) ||
	    !in_request(&q->name, len))
		return false;
	argc = w[at++];
	if (argc > (words - at) / 2)
		return false;
	at += 2 * argc;
	if (at >= words)
		return false;
	envc = w[at++];
	if (envc > (words - at) / 2)
		return false;
	guest.base = p;
	guest.request = q;
	guest.argc = argc;
	guest.args = (const struct guest_span *)(w + sizeof(*q) / 4 + 1);
	guest.envc = envc;
	guest.env = (const struct guest_span *)(w + at);
	for (uint32_t i = 0; i < argc; i++)
		if (!in_request(&guest.args[i], len))
			return false;
	for (uint32_t i = 0; i < envc; i++)
		if (!in_request(&guest.env[i], len))
			return false;
	return true;
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

/* The value of a settled promise, or -1 with its reason thrown. */
static int settle(JSContext *ctx, JSValue p, JSValue *ret)
{
	if (loop_run(ctx))
		return -1;
	switch (JS_PromiseState(ctx, p)) {
	case JS_PROMISE_FULFILLED:
		*ret = JS_PromiseResult(ctx, p);
		return 0;
	case JS_PROMISE_REJECTED:
		JS_Throw(ctx, JS_PromiseResult(ctx, p));
		return -1;
	default:
		guest.exit_code = 13;
		JS_ThrowPlainError(ctx, "the script waits for a promise that "
				   "nothing is going to settle");
		return -1;
	}
}

static int run(JSContext *ctx, bool *ret_syntax)
{
	const struct guest_request *q = guest.request;
	JSValue p, v;

	if (set_input(ctx))
		return -1;
	p = source_start(ctx, guest.base + q->source.off, q->source.len,
			 guest.base + q->name.off, ret_syntax);
	if (JS_IsException(p))
		return -1;
	if (guest.shape == GUEST_PLAIN)
		v = loop_run(ctx) ? JS_EXCEPTION : p;
	else
		v = settle(ctx, p, &v) ? JS_EXCEPTION : source_value(ctx, v);
	while (JS_IsPromise(v))
		if (settle(ctx, v, &v))
			return -1;
	if (JS_IsException(v) || loop_run(ctx))
		return -1;
	return outcome_value(ctx, v) ? 1 : 0;
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
	if (r < 0)
		outcome_error(guest.ctx, syntax);
	else if (r == 0)
		guest.result.exit_code = guest.exit_code;
	out_flush();
	return guest.result.kind == GUEST_OK ? 0 : 1;
}
