#include "wasi/calls.h"
#include "wasi/file.h"
#include "wasi/handles.h"

/* A handle on a file of a write grant. */
static uint32_t writable(struct wasi *w, uint32_t fd, uint64_t right,
			 struct handle **ret)
{
	struct handle *h = handles_get(w, fd);

	if (!h)
		return W_BADF;
	if (h->kind == HANDLE_IN || h->kind == HANDLE_OUT)
		return W_INVAL;
	if (h->kind == HANDLE_DIR)
		return right == RIGHT_FD_SET_TIMES ? W_NOTCAPABLE : W_ISDIR;
	if (!(h->base & right))
		return W_NOTCAPABLE;
	*ret = h;
	return W_SUCCESS;
}

uint32_t call_fd_allocate(struct wasi *w, const struct guest *g,
			  const wasmtime_val_raw_t *a)
{
	uint64_t offset = arg_u64(a, 1), len = arg_u64(a, 2);
	struct handle *h;
	uint32_t e = writable(w, arg_u32(a, 0), RIGHT_FD_ALLOCATE, &h);

	(void)g;
	if (e)
		return e;
	if (!len || offset > INT64_MAX || len > INT64_MAX)
		return W_INVAL;
	if (offset > INT64_MAX - len)
		return W_FBIG;
	if (offset + len <= w->tree.nodes[h->node].size)
		return W_SUCCESS;
	return file_resize(w, h->node, offset + len);
}

uint32_t call_fd_filestat_set_size(struct wasi *w, const struct guest *g,
				   const wasmtime_val_raw_t *a)
{
	struct handle *h;
	uint32_t e = writable(w, arg_u32(a, 0), RIGHT_FD_SET_SIZE, &h);

	(void)g;
	if (e)
		return e;
	if (arg_u64(a, 1) > INT64_MAX)
		return W_INVAL;
	return file_set_size(w, h->node, arg_u64(a, 1));
}

uint32_t call_fd_filestat_set_times(struct wasi *w, const struct guest *g,
				    const wasmtime_val_raw_t *a)
{
	struct handle *h;
	uint32_t e = writable(w, arg_u32(a, 0), RIGHT_FD_SET_TIMES, &h);

	(void)g;
	if (e)
		return e;
	e = file_check_times(arg_u32(a, 3));
	if (e)
		return e;
	return file_set_times(w, h->node, arg_u32(a, 3), arg_u64(a, 1),
			      arg_u64(a, 2));
}
