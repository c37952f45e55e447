/* How a run ended, as the host reads it. */
#include <stdio.h>
#include <string.h>
#include "guest.h"
#include "quick.h"
#include "text.h"

static void set_text(uint32_t *ret, uint32_t *ret_len, const char *p, size_t n)
{
	text_mend((char *)p, n);
	*ret = (uint32_t)(uintptr_t)p;
	*ret_len = (uint32_t)n;
}

static void set_message(const char *p)
{
	set_text(&guest.result.message, &guest.result.message_len, p,
		 strlen(p));
}

static void set_name(const char *p)
{
	set_text(&guest.result.name, &guest.result.name_len, p, strlen(p));
}

/* True for an object of the runtime's own that a script ended with. */
static bool is_runtime(JSContext *ctx, JSValueConst v)
{
	JSValue f, r;
	bool yes;

	if ((guest.shape != GUEST_SCRIPT && guest.shape != GUEST_PLAIN) ||
	    !JS_IsObject(v))
		return false;
	f = JS_GetPropertyStr(ctx, guest.hooks, "isRuntime");
	r = JS_Call(ctx, f, JS_UNDEFINED, 1, &v);
	yes = !JS_IsException(r) && JS_ToBool(ctx, r) == 1;
	if (JS_IsException(r))
		JS_FreeValue(ctx, JS_GetException(ctx));
	JS_FreeValue(ctx, f);
	JS_FreeValue(ctx, r);
	return yes;
}

int outcome_value(JSContext *ctx, JSValueConst v)
{
	char *text;
	size_t n;
	bool carry;

	if (is_runtime(ctx, v))
		v = JS_UNDEFINED;
	if (serial_print(ctx, v, &text, &n, &carry)) {
		outcome_error(ctx, false);
		if (carry && guest.result.kind == GUEST_THROWN)
			guest.result.kind = GUEST_UNSERIALISABLE;
		return 1;
	}
	guest.result.kind = GUEST_OK;
	set_text(&guest.result.value, &guest.result.value_len, text, n);
	return 0;
}

/* Text of a data property; "" if it is no string. */
static const char *text_of(JSContext *ctx, JSValueConst e, const char *key,
			   size_t *ret_n)
{
	JSAtom a = JS_NewAtom(ctx, key);
	JSValue v = quick_data_property(ctx, e, a);
	const char *s = NULL;

	*ret_n = 0;
	if (JS_IsString(v))
		s = JS_ToCStringLen(ctx, ret_n, v);
	JS_FreeAtom(ctx, a);
	JS_FreeValue(ctx, v);
	return s ? s : "";
}

static bool is_message(JSContext *ctx, JSValueConst e, const char *name,
		       const char *message)
{
	size_t n;

	return quick_is_native_error(ctx, e, name) &&
	       !strcmp(text_of(ctx, e, "message", &n), message);
}

static enum guest_kind classify(JSContext *ctx, JSValueConst e, bool syntax)
{
	if (guest.interrupt)
		return GUEST_INTERRUPTED;
	if (guest.oom && (!JS_IsObject(e) ||
			  quick_is_native_error(ctx, e, "InternalError") ||
			  is_message(ctx, e, "SyntaxError", "out of memory") ||
			  is_message(ctx, e, "RangeError",
				     "Array buffer allocation failed")))
		return GUEST_NO_MEMORY;
	if (is_message(ctx, e, "RangeError",
		       "Maximum call stack size exceeded") ||
	    is_message(ctx, e, "SyntaxError", "stack overflow")) /* RegExp */
		return GUEST_STACK;
	return syntax ? GUEST_SYNTAX : GUEST_THROWN;
}

/* A thrown value that is no Error, shown as console.log would show it. */
static void describe_plain(JSContext *ctx, JSValueConst e)
{
	JSValue f = JS_GetPropertyStr(ctx, guest.hooks, "describe");
	JSValue t = JS_Call(ctx, f, JS_UNDEFINED, 1, &e);
	const char *s = NULL;
	size_t n = 0;

	if (!JS_IsException(t))
		s = JS_ToCStringLen(ctx, &n, t);
	if (!s) {
		JS_FreeValue(ctx, JS_GetException(ctx));
		s = "a value that cannot be shown";
		n = strlen(s);
	}
	set_text(&guest.result.message, &guest.result.message_len, s, n);
	set_name("Uncaught");
}

static void explain_tools(const char *message)
{
	if (!strcmp(message, "tools is not defined"))
		set_message("tools is not defined: this run was granted no "
			    "tool; a policy grants one by its name, "
			    "tools: [NAME]");
}

/* A browser's names for the network are not defined, so that no program takes
 * this for a browser; one that needs them is told why. */
static void explain(JSContext *ctx, JSValueConst e)
{
	static const char *const names[] = {
		"XMLHttpRequest", "EventSource", "Headers", "Request",
		"Response",
	};
	static char text[256];
	struct guest_result *r = &guest.result;
	const char *message = (const char *)(uintptr_t)r->message;

	if (!quick_is_native_error(ctx, e, "ReferenceError"))
		return;
	explain_tools(message);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(text, sizeof(text), "%s is not defined", names[i]);
		if (strcmp(message, text))
			continue;
		snprintf(text, sizeof(text), "%s is not defined: there is no "
			 "network in a sandbox; pass the data in as input, or "
			 "grant a file that holds it", names[i]);
		set_message(text);
		return;
	}
}

static void describe(JSContext *ctx, JSValueConst e)
{
	struct guest_result *r = &guest.result;
	const char *s;
	JSValue stack;
	size_t n;

	quick_position(ctx, e, &r->line, &r->column);
	stack = quick_stack(ctx, e);
	s = text_of(ctx, e, "name", &n);
	set_text(&r->name, &r->name_len, n ? s : "Error", n ? n : 5);
	s = text_of(ctx, e, "message", &n);
	set_text(&r->message, &r->message_len, s, n);
	explain(ctx, e);
	s = JS_IsString(stack) ? JS_ToCStringLen(ctx, &n, stack) : NULL;
	set_text(&r->stack, &r->stack_len, s ? s : "", s ? n : 0);
}

int outcome_error(JSContext *ctx, bool syntax)
{
	JSValue e = JS_GetException(ctx);
	struct guest_result *r = &guest.result;

	r->exit_code = 1;
	if (guest.exiting && !guest.interrupt) {
		r->kind = GUEST_EXIT;
		r->exit_code = guest.exit_code;
		return 1;
	}
	r->kind = classify(ctx, e, syntax);
	/* Room for describing what happened. */
	guest.memory_limit = 0;
	if (r->kind == GUEST_INTERRUPTED) {
		set_name("interrupt");
		set_message("the run was interrupted");
		quick_position(ctx, e, &r->line, &r->column);
	} else if (r->kind == GUEST_NO_MEMORY) {
		set_name("InternalError");
		set_message("out of memory");
		quick_position(ctx, e, &r->line, &r->column);
	} else if (quick_kind(e) == QUICK_ERROR) {
		describe(ctx, e);
	} else {
		describe_plain(ctx, e);
	}
	return 1;
}
