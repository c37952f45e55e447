/* Time and randomness: asked of the host at the moment a program wants them,
 * so that a run that wants neither asks for neither. */
#include <sys/time.h>
#include <time.h>
#include <wasi/api.h>
#include "guest.h"

static bool clock_live; /* false until the image is made */

static uint64_t now(__wasi_clockid_t id)
{
	__wasi_timestamp_t t = 0;

	if (!clock_live)
		return 0;
	if (__wasi_clock_time_get(id, 1, &t))
		return 0;
	return t;
}

/* Stands in for libc's: QuickJS asks it for Date and to make a context. */
int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	uint64_t t = now(__WASI_CLOCKID_REALTIME);

	(void)tz;
	tv->tv_sec = (time_t)(t / 1000000000);
	tv->tv_usec = (suseconds_t)(t / 1000 % 1000000);
	return 0;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	uint64_t t = now(__WASI_CLOCKID_MONOTONIC);

	ts->tv_sec = (time_t)(t / 1000000000);
	ts->tv_nsec = (long)(t % 1000000000);
	return 0;
}

uint64_t clock_now_ns(void)
{
	return now(__WASI_CLOCKID_MONOTONIC);
}

void clock_start(void)
{
	clock_live = true;
}

bool clock_fill(void *p, size_t n)
{
	uint8_t *b = p;

	while (n > 0) {
		size_t some = n < 65536 ? n : 65536;

		if (__wasi_random_get(b, some))
			return false;
		b += some;
		n -= some;
	}
	return true;
}

void clock_sleep_ns(uint64_t ns)
{
	__wasi_subscription_t s = { 0 };
	__wasi_event_t e;
	__wasi_size_t n;

	s.u.tag = __WASI_EVENTTYPE_CLOCK;
	s.u.u.clock.id = __WASI_CLOCKID_MONOTONIC;
	s.u.u.clock.timeout = ns;
	s.u.u.clock.precision = 1000;
	/* A wait that fails or ends early is noticed by the caller's clock. */
	if (__wasi_poll_oneoff(&s, &e, 1, &n))
		return;
}

static JSValue js_monotonic(JSContext *ctx, JSValueConst this_val, int argc,
			    JSValueConst *argv)
{
	(void)this_val;
	(void)argc;
	(void)argv;
	return JS_NewBigUint64(ctx, clock_now_ns());
}

static JSValue js_milliseconds(JSContext *ctx, JSValueConst this_val, int argc,
			       JSValueConst *argv)
{
	(void)this_val;
	(void)argc;
	(void)argv;
	return JS_NewFloat64(ctx, (double)clock_now_ns() / 1e6);
}

int clock_add(JSContext *ctx, JSValueConst native)
{
	static const JSCFunctionListEntry list[] = {
		JS_CFUNC_DEF("monotonic", 0, js_monotonic),
		JS_CFUNC_DEF("milliseconds", 0, js_milliseconds),
	};

	return JS_SetPropertyFunctionList(ctx, native, list, 2);
}
