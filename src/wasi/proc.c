#include "wasi/calls.h"

#include <string.h>

struct strings_size {
	uint32_t count;
	uint64_t bytes;
};

static struct strings_size measure(char *const *strings)
{
	struct strings_size s = {0};

	for (; strings && strings[s.count]; s.count++)
		s.bytes += strlen(strings[s.count]) + 1;
	return s;
}

static uint32_t put_sizes(const struct guest *g, char *const *strings,
			  const wasmtime_val_raw_t *a)
{
	struct strings_size s = measure(strings);
	uint32_t count = arg_u32(a, 0), bytes = arg_u32(a, 1);

	if (!guest_has(g, count, 4) || !guest_has(g, bytes, 4))
		return W_FAULT;
	if (s.bytes > UINT32_MAX)
		return W_OVERFLOW;
	guest_put_u32(g, count, s.count);
	guest_put_u32(g, bytes, (uint32_t)s.bytes);
	return W_SUCCESS;
}

static uint32_t put_strings(const struct guest *g, char *const *strings,
			    const wasmtime_val_raw_t *a)
{
	struct strings_size s = measure(strings);
	uint32_t pointers = arg_u32(a, 0), at = arg_u32(a, 1);

	if (!guest_has_array(g, pointers, s.count, 4) ||
	    !guest_has(g, at, s.bytes))
		return W_FAULT;
	for (uint32_t i = 0; i < s.count; i++) {
		size_t len = strlen(strings[i]) + 1;

		guest_put_u32(g, pointers + i * 4, at);
		memcpy(g->base + at, strings[i], len);
		at += (uint32_t)len;
	}
	return W_SUCCESS;
}

uint32_t call_args_sizes_get(struct wasi *w, const struct guest *g,
			     const wasmtime_val_raw_t *a)
{
	return put_sizes(g, w->plan->argv, a);
}

uint32_t call_args_get(struct wasi *w, const struct guest *g,
		       const wasmtime_val_raw_t *a)
{
	return put_strings(g, w->plan->argv, a);
}

uint32_t call_environ_sizes_get(struct wasi *w, const struct guest *g,
				const wasmtime_val_raw_t *a)
{
	return put_sizes(g, w->plan->env, a);
}

uint32_t call_environ_get(struct wasi *w, const struct guest *g,
			  const wasmtime_val_raw_t *a)
{
	return put_strings(g, w->plan->env, a);
}

uint32_t call_proc_exit(struct wasi *w, const struct guest *g,
			const wasmtime_val_raw_t *a)
{
	(void)g;
	w->report.exit_code = arg_u32(a, 0);
	return wasi_end_run(w, WASI_END_EXIT);
}

uint32_t call_sched_yield(struct wasi *w, const struct guest *g,
			  const wasmtime_val_raw_t *a)
{
	(void)w;
	(void)g;
	(void)a;
	return W_SUCCESS;
}

/* There are no sockets: whatever the arguments are, none is granted. */
static uint32_t refuse_socket(struct wasi *w)
{
	denial_add(w, "socket", (struct str){0}, false);
	return W_NOTCAPABLE;
}

uint32_t call_sock_accept(struct wasi *w, const struct guest *g,
			  const wasmtime_val_raw_t *a)
{
	(void)g;
	(void)a;
	return refuse_socket(w);
}

uint32_t call_sock_recv(struct wasi *w, const struct guest *g,
			const wasmtime_val_raw_t *a)
{
	(void)g;
	(void)a;
	return refuse_socket(w);
}

uint32_t call_sock_send(struct wasi *w, const struct guest *g,
			const wasmtime_val_raw_t *a)
{
	(void)g;
	(void)a;
	return refuse_socket(w);
}

uint32_t call_sock_shutdown(struct wasi *w, const struct guest *g,
			    const wasmtime_val_raw_t *a)
{
	(void)g;
	(void)a;
	return refuse_socket(w);
}
