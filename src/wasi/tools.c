#include "wasi/tools.h"

#include <errno.h>
#include <string.h>

#include "wire/tool.h"

static call_fn call_tool_call, call_tool_wait, call_tool_answer, call_tool_ask;

const struct call_row tool_rows[WASI_TOOL_CALLS] = {
	{"call", "ii", true, call_tool_call},
	{"wait", "Ii", true, call_tool_wait},
	{"answer", "ii", true, call_tool_answer},
	{"ask", "iiii", true, call_tool_ask},
};

static uint32_t minus(uint32_t e)
{
	return ~e + 1;
}

/* The bytes before the 0, and that it is there. */
static bool name_of(const uint8_t *p, size_t n, struct str *ret)
{
	const uint8_t *end = memchr(p, 0, n < TOOL_WORD_MAX + 1
						  ? n : TOOL_WORD_MAX + 1);

	if (!end)
		return false;
	*ret = (struct str){(const char *)p, (size_t)(end - p)};
	return true;
}

static uint32_t call_tool_call(struct wasi *w, const struct guest *g,
			       const wasmtime_val_raw_t *a)
{
	uint32_t at = arg_u32(a, 0), n = arg_u32(a, 1), id = 0;
	struct str name;
	int e;

	if (!guest_has(g, at, n))
		return minus(W_FAULT);
	if (n > TOOL_TEXT_MAX)
		return minus(W_2BIG);
	if (!name_of(g->base + at, n, &name))
		return minus(W_INVAL);
	if (!w->plan->tools || !w->plan->tools[0])
		return minus(denial_add(w, "tool", name, false));
	if (!w->host->tool_call)
		return minus(W_NOSYS);
	e = w->host->tool_call(w->host->data, g->base + at, n, &id);
	return e ? minus(wasi_errno(w, e)) : id;
}

static uint32_t call_tool_wait(struct wasi *w, const struct guest *g,
			       const wasmtime_val_raw_t *a)
{
	int64_t us = (int64_t)arg_u64(a, 0);
	uint32_t ret = arg_u32(a, 1), id = 0, len = 0;
	int e;

	if (!guest_has(g, ret, 4))
		return minus(W_FAULT);
	if (!w->host->tool_wait)
		return 0;
	e = w->host->tool_wait(w->host->data,
			       us < 0 ? UINT64_MAX : (uint64_t)us, &id, &len);
	if (e)
		return minus(wasi_errno(w, e));
	guest_put_u32(g, ret, len);
	return id;
}

static uint32_t call_tool_answer(struct wasi *w, const struct guest *g,
				 const wasmtime_val_raw_t *a)
{
	uint32_t dst = arg_u32(a, 1), len = 0;
	const void *p;
	int e;

	if (!w->host->tool_take)
		return W_NOENT;
	e = w->host->tool_take(w->host->data, arg_u32(a, 0), &p, &len);
	if (e)
		return wasi_errno(w, e);
	if (!guest_has(g, dst, len))
		return W_FAULT;
	memcpy(g->base + dst, p, len);
	return W_SUCCESS;
}

/* Which of the three, and its arguments. */
struct question {
	uint32_t which, a, b, ret;
	int64_t us;
};

static uint32_t put_question(struct wasi *w, const struct guest *g,
			     const struct question *q)
{
	wasmtime_val_raw_t v[2];

	memset(v, 0, sizeof(v));
	v[0].i32 = (int32_t)q->a;
	v[1].i32 = (int32_t)q->b;
	switch (q->which) {
	case 0:
		return call_tool_call(w, g, v);
	case 1:
		v[0].i64 = q->us;
		return call_tool_wait(w, g, v);
	case 2:
		return call_tool_answer(w, g, v);
	default:
		return minus(W_NOSYS);
	}
}

static uint32_t call_tool_ask(struct wasi *w, const struct guest *g,
			      const wasmtime_val_raw_t *a)
{
	uint32_t at = arg_u32(a, 0), ret = arg_u32(a, 2), len = arg_u32(a, 3);
	struct question q;

	if (arg_u32(a, 1) != sizeof(q) || !guest_has(g, at, sizeof(q)) ||
	    !guest_has(g, ret, 4) || !guest_has(g, len, 4))
		return minus(W_FAULT);
	memcpy(&q, g->base + at, sizeof(q));
	if (!guest_has(g, q.ret, 4))
		return minus(W_FAULT);
	guest_put_u32(g, q.ret, put_question(w, g, &q));
	guest_put_u32(g, ret, 0);
	guest_put_u32(g, len, 0);
	return W_SUCCESS;
}
