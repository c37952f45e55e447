/* What runs after the script: ticks, promise jobs, timers, immediates, in
 * Node's order.
 *
 * Time is virtual until a timer has to be waited for: a program that only
 * yields with setTimeout(f, 0) never asks for the clock. */
#include <math.h>
#include <string.h>
#include "guest.h"
#include "quick.h"

struct call {
	struct call *next;
	uint32_t id;
	bool repeat, ref, dead;
	double due_ms, delay_ms;
	JSValue fn;
	int argc;
	JSValue argv[];
};

struct queue {
	struct call *first, *last;
};

static struct {
	struct queue ticks, immediates, timers; /* timers sorted by due_ms */
	struct call *running;
	uint32_t next_id, n_ref;
	double now_ms;
	uint64_t base_ns;
	bool clocked;
	bool in_job; /* and no tick is queued */
} loop = { .next_id = 1 };

static struct call *call_new(JSContext *ctx, JSValueConst fn, int argc,
			     JSValueConst *argv)
{
	struct call *c;

	c = js_malloc(ctx, sizeof(*c) + (size_t)argc * sizeof(JSValue));
	if (!c)
		return NULL;
	memset(c, 0, sizeof(*c));
	c->fn = JS_DupValue(ctx, fn);
	c->argc = argc;
	for (int i = 0; i < argc; i++)
		c->argv[i] = JS_DupValue(ctx, argv[i]);
	return c;
}

static void call_free(JSContext *ctx, struct call *c)
{
	JS_FreeValue(ctx, c->fn);
	for (int i = 0; i < c->argc; i++)
		JS_FreeValue(ctx, c->argv[i]);
	js_free(ctx, c);
}

static void append(struct queue *q, struct call *c)
{
	c->next = NULL;
	if (q->last)
		q->last->next = c;
	else
		q->first = c;
	q->last = c;
}

static struct call *take_first(struct queue *q)
{
	struct call *c = q->first;

	if (c) {
		q->first = c->next;
		if (!q->first)
			q->last = NULL;
	}
	return c;
}

static void insert_timer(struct call *c)
{
	struct queue *q = &loop.timers;
	struct call **at = &q->first;

	if (!q->last || q->last->due_ms <= c->due_ms) {
		append(q, c);
		return;
	}
	while (*at && (*at)->due_ms <= c->due_ms)
		at = &(*at)->next;
	c->next = *at;
	*at = c;
}

bool loop_ending(void)
{
	return guest.interrupt || guest.exiting;
}

static int invoke(JSContext *ctx, struct call *c)
{
	JSValue r = JS_Call(ctx, c->fn, JS_UNDEFINED, c->argc,
			    (JSValueConst *)c->argv);

	if (JS_IsException(r))
		return -1;
	JS_FreeValue(ctx, r);
	return 0;
}

static int run_ticks(JSContext *ctx)
{
	struct call *c;
	int r = 0;

	while (r == 0 && (c = take_first(&loop.ticks))) {
		r = invoke(ctx, c);
		call_free(ctx, c);
		r = r ? r : quick_poll(ctx);
	}
	return r;
}

/* The first rejection that nobody took up becomes the run's error. */
static int check_rejections(JSContext *ctx)
{
	JSValue reason;

	if (!guest.n_rejected)
		return 0;
	reason = JS_GetPropertyUint32(ctx, guest.rejected, 1);
	guest.n_rejected = 0;
	return JS_IsException(JS_Throw(ctx, reason)) ? -1 : 0;
}

int loop_drain(JSContext *ctx)
{
	JSContext *job;
	int r;

	for (;;) {
		if (run_ticks(ctx))
			return -1;
		do {
			loop.in_job = !loop.ticks.first;
			r = JS_ExecutePendingJob(guest.rt, &job);
			loop.in_job = false;
		} while (r > 0 && !loop_ending());
		if (r < 0)
			return -1;
		if (loop_ending())
			return JS_IsException(JS_ThrowInternalError(
				       ctx, "interrupted")) ? -1 : 0;
		if (r == 0 && !loop.ticks.first)
			return check_rejections(ctx);
	}
}

static void forget(uint32_t at)
{
	JSContext *ctx = guest.ctx;
	uint32_t last = guest.n_rejected - 1;

	for (uint32_t i = 0; i < 2; i++) {
		JSValue v = JS_GetPropertyUint32(ctx, guest.rejected,
						 2 * last + i);
		JS_SetPropertyUint32(ctx, guest.rejected, 2 * at + i, v);
		JS_SetPropertyUint32(ctx, guest.rejected, 2 * last + i,
				     JS_UNDEFINED);
	}
	guest.n_rejected--;
}

void loop_track(JSContext *ctx, JSValueConst promise, JSValueConst reason,
		bool is_handled, void *opaque)
{
	(void)opaque;
	if (JS_IsUndefined(guest.rejected))
		guest.rejected = JS_NewArray(ctx);
	if (JS_IsException(guest.rejected))
		return;
	if (!is_handled) {
		uint32_t n = guest.n_rejected++;

		JS_SetPropertyUint32(ctx, guest.rejected, 2 * n,
				     JS_DupValue(ctx, promise));
		JS_SetPropertyUint32(ctx, guest.rejected, 2 * n + 1,
				     JS_DupValue(ctx, reason));
		return;
	}
	for (uint32_t i = 0; i < guest.n_rejected; i++) {
		JSValue v = JS_GetPropertyUint32(ctx, guest.rejected, 2 * i);
		bool same = JS_IsStrictEqual(ctx, v, promise);

		JS_FreeValue(ctx, v);
		if (same) {
			forget(i);
			return;
		}
	}
}

static void note_time(void)
{
	uint64_t t = clock_now_ns();

	if (!loop.clocked) {
		loop.clocked = true;
		loop.base_ns = t - (uint64_t)(loop.now_ms * 1e6);
	}
	if ((double)(t - loop.base_ns) / 1e6 > loop.now_ms)
		loop.now_ms = (double)(t - loop.base_ns) / 1e6;
}

/* Sleeps until the first timer is due. */
static int wait_for(JSContext *ctx, double due_ms)
{
	if (due_ms - loop.now_ms <= 1) {
		loop.now_ms = due_ms;
		return 0;
	}
	out_flush();
	note_time();
	while (due_ms > loop.now_ms) {
		clock_sleep_ns((uint64_t)((due_ms - loop.now_ms) * 1e6) + 1);
		if (loop_ending()) {
			JS_ThrowInternalError(ctx, "interrupted");
			return -1;
		}
		note_time();
	}
	return 0;
}

static int run_timer(JSContext *ctx, struct call *c)
{
	int r;

	if (!c->repeat && c->ref)
		loop.n_ref--;
	loop.running = c;
	r = invoke(ctx, c);
	loop.running = NULL;
	if (c->repeat && !c->dead) {
		c->due_ms = loop.now_ms + c->delay_ms;
		insert_timer(c);
	} else {
		call_free(ctx, c);
	}
	return r ? r : loop_drain(ctx);
}

static int run_immediates(JSContext *ctx)
{
	struct call *last = loop.immediates.last, *c;
	int r = 0;

	while (r == 0 && last && (c = take_first(&loop.immediates))) {
		bool stop = c == last;

		if (!c->dead) {
			loop.n_ref -= c->ref;
			loop.running = c;
			r = invoke(ctx, c);
			loop.running = NULL;
		}
		call_free(ctx, c);
		r = r ? r : loop_drain(ctx);
		if (stop)
			break;
	}
	return r;
}

static int run_due(JSContext *ctx)
{
	double limit = loop.now_ms;

	while (loop.timers.first && loop.timers.first->due_ms <= limit)
		if (run_timer(ctx, take_first(&loop.timers)))
			return -1;
	return 0;
}

/* Sleeps until the first timer is due or a call of a tool is answered.  The
 * host's wait is a clock of its own: a policy without one has it too. */
static int wait_for_both(JSContext *ctx, double due_ms)
{
	double left;
	int n;

	note_time();
	left = due_ms - loop.now_ms;
	n = tools_hear(ctx, left > 0 ? (uint64_t)(left * 1e3) + 1 : 0);
	if (n < 0)
		return -1;
	note_time();
	if (n == 0 && loop.now_ms < due_ms)
		loop.now_ms = due_ms;
	return loop_drain(ctx);
}

/* Nothing is due.  1: only answers can bring it further. */
static int wait_more(JSContext *ctx)
{
	const struct call *first = loop.timers.first;
	int n;

	if (!tools_waiting())
		return first ? wait_for(ctx, first->due_ms) : 0;
	n = tools_hear(ctx, 0);
	if (n)
		return n < 0 ? -1 : loop_drain(ctx);
	return first ? wait_for_both(ctx, first->due_ms) : 1;
}

int loop_run(JSContext *ctx)
{
	if (loop_drain(ctx))
		return -1;
	while (loop.n_ref > 0 || tools_waiting()) {
		int r;

		if (run_due(ctx) || run_immediates(ctx))
			return -1;
		if (loop.immediates.first ||
		    !(loop.n_ref || tools_waiting()))
			continue;
		r = wait_more(ctx);
		if (r)
			return r;
	}
	return 0;
}

/* ---- for the prelude ---- */

static JSValue js_tick(JSContext *ctx, JSValueConst this_val, int argc,
		       JSValueConst *argv)
{
	struct call *c = call_new(ctx, argv[0], argc - 1, argv + 1);

	(void)this_val;
	if (!c)
		return JS_EXCEPTION;
	append(&loop.ticks, c);
	loop.in_job = false;
	return JS_UNDEFINED;
}

/* timer(fn, delay, repeat, ...args) -> id */
static JSValue js_timer(JSContext *ctx, JSValueConst this_val, int argc,
			JSValueConst *argv)
{
	struct call *c;
	double ms;

	(void)this_val;
	if (JS_ToFloat64(ctx, &ms, argv[1]))
		return JS_EXCEPTION;
	c = call_new(ctx, argv[0], argc - 3, argv + 3);
	if (!c)
		return JS_EXCEPTION;
	c->delay_ms = ms >= 1 && ms <= INT32_MAX ? floor(ms) : 1;
	c->repeat = JS_ToBool(ctx, argv[2]);
	c->ref = true;
	c->id = loop.next_id++;
	if (loop.clocked)
		note_time();
	c->due_ms = loop.now_ms + c->delay_ms;
	insert_timer(c);
	loop.n_ref++;
	return JS_NewUint32(ctx, c->id);
}

static JSValue js_immediate(JSContext *ctx, JSValueConst this_val, int argc,
			    JSValueConst *argv)
{
	struct call *c = call_new(ctx, argv[0], argc - 1, argv + 1);

	(void)this_val;
	if (!c)
		return JS_EXCEPTION;
	c->ref = true;
	c->id = loop.next_id++;
	append(&loop.immediates, c);
	loop.n_ref++;
	return JS_NewUint32(ctx, c->id);
}

static struct call *find(struct queue *q, uint32_t id, bool unlink)
{
	struct call *before = NULL;

	for (struct call *c = q->first; c; before = c, c = c->next) {
		if (c->id != id)
			continue;
		if (unlink) {
			if (before)
				before->next = c->next;
			else
				q->first = c->next;
			if (q->last == c)
				q->last = before;
		}
		return c;
	}
	return NULL;
}

static JSValue js_clear(JSContext *ctx, JSValueConst this_val, int argc,
			JSValueConst *argv)
{
	struct call *c;
	uint32_t id;

	(void)this_val;
	(void)argc;
	if (JS_ToUint32(ctx, &id, argv[0]))
		return JS_EXCEPTION;
	c = loop.running;
	if (c && c->id == id) {
		if (c->repeat && !c->dead && c->ref)
			loop.n_ref--;
		c->dead = true;
		return JS_UNDEFINED;
	}
	c = find(&loop.timers, id, true);
	if (c) {
		loop.n_ref -= c->ref;
		call_free(ctx, c);
		return JS_UNDEFINED;
	}
	c = find(&loop.immediates, id, false);
	if (c && !c->dead) {
		loop.n_ref -= c->ref;
		c->dead = true;
	}
	return JS_UNDEFINED;
}

/* ref(id, on) */
static JSValue js_ref(JSContext *ctx, JSValueConst this_val, int argc,
		      JSValueConst *argv)
{
	bool on = JS_ToBool(ctx, argv[1]);
	struct call *c;
	uint32_t id;

	(void)this_val;
	(void)argc;
	if (JS_ToUint32(ctx, &id, argv[0]))
		return JS_EXCEPTION;
	c = loop.running && loop.running->id == id ? loop.running : NULL;
	if (c && !c->repeat)
		return JS_UNDEFINED;
	c = c ? c : find(&loop.timers, id, false);
	c = c ? c : find(&loop.immediates, id, false);
	if (c && !c->dead && c->ref != on) {
		c->ref = on;
		loop.n_ref += on ? 1 : -1;
	}
	return JS_UNDEFINED;
}

int loop_add(JSContext *ctx, JSValueConst native)
{
	static const JSCFunctionListEntry list[] = {
		JS_CFUNC_DEF("tick", 1, js_tick),
		JS_CFUNC_DEF("timer", 3, js_timer),
		JS_CFUNC_DEF("immediate", 1, js_immediate),
		JS_CFUNC_DEF("clearTimer", 1, js_clear),
		JS_CFUNC_DEF("refTimer", 2, js_ref),
	};

	quick_await_in_place(&loop.in_job);
	return JS_SetPropertyFunctionList(ctx, native, list, 5);
}
