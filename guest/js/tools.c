/* Calls of the caller's tools: out as JSON, in as promises that are settled.
 *
 * While they are under way a run needs no stack: what is kept of a call is a
 * record here. */
#include <stdlib.h>
#include <string.h>
#include "guest.h"
#include "quick.h"
#include "text.h"

#define IMPORT(name) __attribute__((import_module("redoma"), import_name(name)))
#define AGAIN (-6) /* errno of WASI, negative */
#define TOO_BIG (-1)

IMPORT("call") int32_t redoma_call(const void *p, uint32_t n);
IMPORT("wait") int32_t redoma_wait(int64_t timeout_us, uint32_t *ret_len);
IMPORT("answer") int32_t redoma_answer(int32_t id, void *dst);

struct pending {
	struct pending *next;
	int32_t id;   /* 0: not sent yet */
	JSValue done; /* function(failed, value or name, message) */
	uint32_t len;
	char text[]; /* while it was not sent: NAME 0 JSON */
};

static struct {
	struct pending *sent;
	struct pending *first, *last; /* to be sent, in order */
	uint32_t n;
} tools;

uint32_t tools_waiting(void)
{
	return tools.n;
}

static void forget(JSContext *ctx, struct pending *p)
{
	JS_FreeValue(ctx, p->done);
	js_free(ctx, p);
	tools.n--;
}

static int finish(JSContext *ctx, struct pending *p, int argc,
		  JSValue *argv)
{
	JSValue r = JS_Call(ctx, p->done, JS_UNDEFINED, argc,
			    (JSValueConst *)argv);

	for (int i = 0; i < argc; i++)
		JS_FreeValue(ctx, argv[i]);
	forget(ctx, p);
	JS_FreeValue(ctx, r);
	return JS_IsException(r) ? -1 : 0;
}

static int fail(JSContext *ctx, struct pending *p, const char *name,
		const char *message, size_t n)
{
	JSValue argv[3] = { JS_TRUE, JS_NewString(ctx, name),
			    JS_NewStringLen(ctx, message, n) };

	return finish(ctx, p, 3, argv);
}

static int refuse(JSContext *ctx, struct pending *p, int32_t e)
{
	const char *why = e == TOO_BIG ?
		"the arguments of one call are over 1 MiB: grant a file, or "
		"call it for a part at a time" :
		"the tool cannot be called here";

	return fail(ctx, p, "ToolError", why, strlen(why));
}

/* As many as may be under way. */
static int send_more(JSContext *ctx)
{
	while (tools.first) {
		struct pending *p = tools.first;

		p->id = redoma_call(p->text, p->len);
		if (p->id == AGAIN)
			return 0;
		tools.first = p->next;
		if (!tools.first)
			tools.last = NULL;
		if (p->id < 0) {
			if (refuse(ctx, p, p->id))
				return -1;
			continue;
		}
		p->next = tools.sent;
		tools.sent = p;
	}
	return 0;
}

static struct pending *take(int32_t id)
{
	for (struct pending **at = &tools.sent; *at; at = &(*at)->next) {
		struct pending *p = *at;

		if (p->id != id)
			continue;
		*at = p->next;
		return p;
	}
	return NULL;
}

/* JSON it is, since the core looked; but not all JSON is a value of ours. */
static int unfit(JSContext *ctx, struct pending *p)
{
	static const char why[] = "the tool's answer cannot be read: it is "
		"nested too deeply, or has a $redoma tag that is unknown";

	if (loop_ending() || guest.oom)
		return -1;
	JS_FreeValue(ctx, JS_GetException(ctx));
	return fail(ctx, p, "ToolError", why, sizeof(why) - 1);
}

/* text has a 0 behind its last byte. */
static int settle(JSContext *ctx, struct pending *p, const char *text,
		  uint32_t len)
{
	const char *message;
	JSValue argv[2];

	if (!len || *text) {
		message = text + 1 + strlen(text + 1) + 1;
		if (len < 2 || message > text + len)
			__builtin_trap();
		return fail(ctx, p, text + 1, message,
			    (size_t)(text + len - message));
	}
	argv[0] = JS_FALSE;
	argv[1] = serial_parse(ctx, text + 1, len - 1);
	if (JS_IsException(argv[1]))
		return unfit(ctx, p);
	return finish(ctx, p, 2, argv);
}

static int take_answer(JSContext *ctx, int32_t id, uint32_t len)
{
	char *text = js_malloc(ctx, (size_t)len + 1);
	struct pending *p;
	int r;

	if (!text)
		return -1;
	p = take(id);
	if (!p || redoma_answer(id, text))
		__builtin_trap();
	text[len] = 0;
	r = settle(ctx, p, text, len);
	js_free(ctx, text);
	return r;
}

int tools_hear(JSContext *ctx, uint64_t timeout_us)
{
	int n = 0;

	if (timeout_us)
		out_flush();
	if (send_more(ctx))
		return -1;
	for (;;) {
		uint32_t len;
		int32_t id = redoma_wait(n ? 0 : (int64_t)timeout_us, &len);

		if (id <= 0)
			break;
		if (take_answer(ctx, id, len))
			return -1;
		n++;
	}
	if (n && send_more(ctx))
		return -1;
	return n;
}

/* toolCall(name, args, done) */
static JSValue js_call(JSContext *ctx, JSValueConst this_val, int argc,
		       JSValueConst *argv)
{
	struct pending *p;
	size_t name_len, n;
	const char *name;
	bool carry;
	char *json;

	(void)this_val;
	(void)argc;
	if (serial_print(ctx, argv[1], &json, &n, &carry))
		return JS_EXCEPTION;
	text_mend(json, n);
	name = JS_ToCStringLen(ctx, &name_len, argv[0]);
	p = name ? js_malloc(ctx, sizeof(*p) + name_len + 1 + n) : NULL;
	if (p) {
		memset(p, 0, sizeof(*p));
		p->done = JS_DupValue(ctx, argv[2]);
		p->len = (uint32_t)(name_len + 1 + n);
		memcpy(p->text, name, name_len + 1);
		memcpy(p->text + name_len + 1, json, n);
		if (tools.last)
			tools.last->next = p;
		else
			tools.first = p;
		tools.last = p;
		tools.n++;
	}
	JS_FreeCString(ctx, name);
	js_free(ctx, json);
	return p && !send_more(ctx) ? JS_UNDEFINED : JS_EXCEPTION;
}

int tools_start(JSContext *ctx)
{
	JSValue names = JS_NewArray(ctx), f, r;

	for (uint32_t i = 0; i < guest.toolc && !JS_IsException(names); i++) {
		const struct guest_span *s = &guest.tools[i];

		JS_SetPropertyUint32(ctx, names, i,
				     JS_NewStringLen(ctx, guest.base + s->off,
						     s->len));
	}
	f = JS_GetPropertyStr(ctx, guest.hooks, "tools");
	r = JS_Call(ctx, f, JS_UNDEFINED, 1, (JSValueConst *)&names);
	JS_FreeValue(ctx, f);
	JS_FreeValue(ctx, names);
	JS_FreeValue(ctx, r);
	return JS_IsException(r) ? -1 : 0;
}

int tools_add(JSContext *ctx, JSValueConst native)
{
	static const JSCFunctionListEntry list[] = {
		JS_CFUNC_DEF("toolCall", 3, js_call),
	};

	return JS_SetPropertyFunctionList(ctx, native, list, 1);
}
