#include "wasi/calls.h"

#include <errno.h>
#include <string.h>

#include "wasi/file.h"
#include "wasi/handles.h"

static uint32_t read_input(struct wasi *w, struct guest_span to)
{
	size_t left = w->input_len - w->input_at;
	size_t n = to.n < left ? to.n : left;

	if (n)
		memcpy(to.p, w->input + w->input_at, n);
	w->input_at += n;
	return (uint32_t)n;
}

static uint32_t read_spans(struct wasi *w, struct handle *h, uint64_t offset,
			   const struct guest_span *to, uint32_t n,
			   uint32_t *ret)
{
	*ret = 0;
	for (uint32_t i = 0; i < n; i++) {
		size_t got = 0;
		uint32_t e = W_SUCCESS;

		if (h->kind == HANDLE_IN)
			got = read_input(w, to[i]);
		else
			e = file_read(w, h, to[i], offset + *ret, &got);
		if (e && !*ret)
			return e;
		*ret += (uint32_t)got;
		if (e || got < to[i].n)
			break;
	}
	return W_SUCCESS;
}

static uint32_t write_out(struct wasi *w, const struct handle *h,
			  const struct guest_span *from, uint32_t n,
			  uint32_t *ret)
{
	*ret = 0;
	for (uint32_t i = 0; i < n; i++) {
		int e = w->host->write(w->host->data, h->stream, from[i].p,
				       from[i].n);

		if (e == EFBIG)
			return wasi_end_run(w, WASI_END_OUTPUT);
		if (e == EINTR)
			return wasi_end_run(w, WASI_END_STOP);
		if (e)
			return wasi_end_run(w, WASI_END_HOST);
		*ret += (uint32_t)from[i].n;
	}
	return W_SUCCESS;
}

/* The handle of a call that moves bytes: with the right, else W_BADF, as
 * programs know it from read and write. */
static uint32_t io_handle(struct wasi *w, uint32_t fd, uint64_t right,
			  struct handle **ret)
{
	struct handle *h = handles_get(w, fd);

	if (!h)
		return W_BADF;
	if (h->kind == HANDLE_DIR)
		return right == RIGHT_FD_READ ? W_ISDIR : W_BADF;
	if (!(h->base & right))
		return W_BADF;
	*ret = h;
	return W_SUCCESS;
}

static bool is_stream(const struct handle *h)
{
	return h->kind == HANDLE_IN || h->kind == HANDLE_OUT;
}

uint32_t call_fd_read(struct wasi *w, const struct guest *g,
		      const wasmtime_val_raw_t *a)
{
	struct guest_span to[GUEST_IOVS_MAX];
	uint32_t n, got, ret = arg_u32(a, 3);
	struct handle *h;
	uint32_t e = guest_iovs(g, arg_u32(a, 1), arg_u32(a, 2), to, &n);

	if (!e && !guest_has(g, ret, 4))
		e = W_FAULT;
	if (!e)
		e = io_handle(w, arg_u32(a, 0), RIGHT_FD_READ, &h);
	if (!e)
		e = read_spans(w, h, h->offset, to, n, &got);
	if (e)
		return e;
	h->offset += got;
	guest_put_u32(g, ret, got);
	return W_SUCCESS;
}

uint32_t call_fd_pread(struct wasi *w, const struct guest *g,
		       const wasmtime_val_raw_t *a)
{
	struct guest_span to[GUEST_IOVS_MAX];
	uint32_t n, got, ret = arg_u32(a, 4);
	struct handle *h;
	uint32_t e = guest_iovs(g, arg_u32(a, 1), arg_u32(a, 2), to, &n);

	if (!e && !guest_has(g, ret, 4))
		e = W_FAULT;
	if (!e)
		e = io_handle(w, arg_u32(a, 0), RIGHT_FD_READ, &h);
	if (!e && is_stream(h))
		e = W_SPIPE;
	if (!e && !(h->base & RIGHT_FD_SEEK))
		e = W_NOTCAPABLE;
	if (!e && arg_u64(a, 3) > INT64_MAX)
		e = W_INVAL;
	if (!e)
		e = read_spans(w, h, arg_u64(a, 3), to, n, &got);
	if (e)
		return e;
	guest_put_u32(g, ret, got);
	return W_SUCCESS;
}

uint32_t call_fd_write(struct wasi *w, const struct guest *g,
		       const wasmtime_val_raw_t *a)
{
	struct guest_span from[GUEST_IOVS_MAX];
	uint32_t n, put, ret = arg_u32(a, 3);
	uint64_t at = 0;
	struct handle *h;
	uint32_t e = guest_iovs(g, arg_u32(a, 1), arg_u32(a, 2), from, &n);

	if (!e && !guest_has(g, ret, 4))
		e = W_FAULT;
	if (!e)
		e = io_handle(w, arg_u32(a, 0), RIGHT_FD_WRITE, &h);
	if (e)
		return e;
	if (h->kind == HANDLE_OUT) {
		e = write_out(w, h, from, n, &put);
	} else {
		at = h->flags & FDFLAG_APPEND ? w->tree.nodes[h->node].size
					      : h->offset;
		e = file_write(w, h->node, at, from, n, &put);
	}
	if (e)
		return e;
	if (h->kind == HANDLE_WRITE && put)
		h->offset = at + put;
	guest_put_u32(g, ret, put);
	return W_SUCCESS;
}

uint32_t call_fd_pwrite(struct wasi *w, const struct guest *g,
			const wasmtime_val_raw_t *a)
{
	struct guest_span from[GUEST_IOVS_MAX];
	uint32_t n, put, ret = arg_u32(a, 4);
	struct handle *h;
	uint32_t e = guest_iovs(g, arg_u32(a, 1), arg_u32(a, 2), from, &n);

	if (!e && !guest_has(g, ret, 4))
		e = W_FAULT;
	if (!e)
		e = io_handle(w, arg_u32(a, 0), RIGHT_FD_WRITE, &h);
	if (!e && is_stream(h))
		e = W_SPIPE;
	if (!e && !(h->base & RIGHT_FD_SEEK))
		e = W_NOTCAPABLE;
	if (!e && arg_u64(a, 3) > INT64_MAX)
		e = W_INVAL;
	if (!e)
		e = file_write(w, h->node, arg_u64(a, 3), from, n, &put);
	if (e)
		return e;
	guest_put_u32(g, ret, put);
	return W_SUCCESS;
}

/* from + by, if that is a place in a file. */
static uint32_t move_from(uint64_t from, int64_t by, uint64_t *ret)
{
	int64_t to;

	if (from > INT64_MAX || __builtin_add_overflow((int64_t)from, by, &to))
		return W_OVERFLOW;
	if (to < 0)
		return W_INVAL;
	*ret = (uint64_t)to;
	return W_SUCCESS;
}

static uint32_t seek_handle(struct wasi *w, uint32_t fd, uint64_t right,
			    struct handle **ret)
{
	struct handle *h = handles_get(w, fd);

	if (!h)
		return W_BADF;
	if (is_stream(h))
		return W_SPIPE;
	if (h->kind == HANDLE_DIR)
		return W_ISDIR;
	if (!(h->base & right))
		return W_NOTCAPABLE;
	*ret = h;
	return W_SUCCESS;
}

uint32_t call_fd_seek(struct wasi *w, const struct guest *g,
		      const wasmtime_val_raw_t *a)
{
	int64_t by = (int64_t)arg_u64(a, 1);
	uint32_t whence = arg_u32(a, 2), ret = arg_u32(a, 3);
	bool tell = whence == WHENCE_CUR && !by;
	uint64_t from = 0, to;
	struct handle *h;
	uint32_t e;

	if (!guest_has(g, ret, 8))
		return W_FAULT;
	if (whence > WHENCE_END)
		return W_INVAL;
	e = seek_handle(w, arg_u32(a, 0),
			RIGHT_FD_SEEK | (tell ? RIGHT_FD_TELL : 0), &h);
	if (!e && whence == WHENCE_END)
		e = file_size(w, h, &from);
	if (!e && whence == WHENCE_CUR)
		from = h->offset;
	if (!e)
		e = move_from(from, by, &to);
	if (e)
		return e;
	h->offset = to;
	guest_put_u64(g, ret, to);
	return W_SUCCESS;
}

uint32_t call_fd_tell(struct wasi *w, const struct guest *g,
		      const wasmtime_val_raw_t *a)
{
	uint32_t ret = arg_u32(a, 1);
	struct handle *h;
	uint32_t e;

	if (!guest_has(g, ret, 8))
		return W_FAULT;
	e = seek_handle(w, arg_u32(a, 0), RIGHT_FD_TELL, &h);
	if (e)
		return e;
	guest_put_u64(g, ret, h->offset);
	return W_SUCCESS;
}
