#include "wasi/clock.h"

#include <time.h>

#include "wasi/calls.h"

#define NS_PER_S 1000000000LL

static int64_t host_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static uint32_t check_clock(struct wasi *w, uint32_t id)
{
	if (id != CLOCK_ID_REALTIME && id != CLOCK_ID_MONOTONIC)
		return W_INVAL;
	if (w->plan->clock != SOURCE_NONE)
		return W_SUCCESS;
	denial_add(w, "clock", (struct str){0}, false);
	return W_NOTCAPABLE;
}

uint32_t clock_now(struct wasi *w, uint32_t id, int64_t *ret_ns)
{
	uint32_t e = check_clock(w, id);
	int64_t now;

	if (e)
		return e;
	if (w->plan->clock == SOURCE_FIXED) {
		*ret_ns = w->plan->clock_fixed_ns;
		return W_SUCCESS;
	}
	w->report.used_clock = true;
	if (id == CLOCK_ID_REALTIME) {
		*ret_ns = host_ns(CLOCK_REALTIME);
		return W_SUCCESS;
	}
	now = host_ns(CLOCK_MONOTONIC);
	if (!w->has_monotonic) {
		w->has_monotonic = true;
		w->monotonic_ns = now - NS_PER_S;
	}
	*ret_ns = now - w->monotonic_ns;
	return W_SUCCESS;
}

uint32_t call_clock_res_get(struct wasi *w, const struct guest *g,
			    const wasmtime_val_raw_t *a)
{
	uint32_t ret = arg_u32(a, 1);
	uint32_t e;

	if (!guest_has(g, ret, 8))
		return W_FAULT;
	e = check_clock(w, arg_u32(a, 0));
	if (e)
		return e;
	guest_put_u64(g, ret, 1);
	return W_SUCCESS;
}

uint32_t call_clock_time_get(struct wasi *w, const struct guest *g,
			     const wasmtime_val_raw_t *a)
{
	uint32_t ret = arg_u32(a, 2);
	int64_t now;
	uint32_t e;

	if (!guest_has(g, ret, 8))
		return W_FAULT;
	e = clock_now(w, arg_u32(a, 0), &now);
	if (e)
		return e;
	guest_put_u64(g, ret, (uint64_t)now);
	return W_SUCCESS;
}
