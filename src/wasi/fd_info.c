#include "wasi/calls.h"
#include "wasi/file.h"
#include "wasi/handles.h"

static uint8_t filetype_of(const struct handle *h)
{
	switch (h->kind) {
	case HANDLE_DIR:
		return FILETYPE_DIRECTORY;
	case HANDLE_READ:
	case HANDLE_WRITE:
		return FILETYPE_REGULAR;
	default:
		return FILETYPE_UNKNOWN; /* a pipe has no type in WASI */
	}
}

uint32_t call_fd_advise(struct wasi *w, const struct guest *g,
			const wasmtime_val_raw_t *a)
{
	struct handle *h = handles_get(w, arg_u32(a, 0));

	(void)g;
	if (!h)
		return W_BADF;
	if (arg_u32(a, 3) > ADVICE_MAX || arg_u64(a, 1) > INT64_MAX ||
	    arg_u64(a, 2) > INT64_MAX)
		return W_INVAL;
	if (h->kind == HANDLE_IN || h->kind == HANDLE_OUT)
		return W_SPIPE;
	if (h->kind == HANDLE_DIR)
		return W_BADF;
	return h->base & RIGHT_FD_ADVISE ? W_SUCCESS : W_NOTCAPABLE;
}

uint32_t call_fd_close(struct wasi *w, const struct guest *g,
		       const wasmtime_val_raw_t *a)
{
	(void)g;
	return handles_close(w, arg_u32(a, 0));
}

/* Files are published when the run ends; until then nothing is to be kept. */
static uint32_t sync_handle(struct wasi *w, uint32_t fd, uint64_t right)
{
	struct handle *h = handles_get(w, fd);

	if (!h)
		return W_BADF;
	if (h->kind == HANDLE_IN || h->kind == HANDLE_OUT)
		return W_INVAL;
	return h->base & right ? W_SUCCESS : W_NOTCAPABLE;
}

uint32_t call_fd_datasync(struct wasi *w, const struct guest *g,
			  const wasmtime_val_raw_t *a)
{
	(void)g;
	return sync_handle(w, arg_u32(a, 0), RIGHT_FD_DATASYNC);
}

uint32_t call_fd_sync(struct wasi *w, const struct guest *g,
		      const wasmtime_val_raw_t *a)
{
	(void)g;
	return sync_handle(w, arg_u32(a, 0), RIGHT_FD_SYNC);
}

uint32_t call_fd_fdstat_get(struct wasi *w, const struct guest *g,
			    const wasmtime_val_raw_t *a)
{
	struct handle *h = handles_get(w, arg_u32(a, 0));
	uint32_t ret = arg_u32(a, 1);

	if (!guest_has(g, ret, SIZE_FDSTAT))
		return W_FAULT;
	if (!h)
		return W_BADF;
	guest_put_u32(g, ret, filetype_of(h) | (uint32_t)h->flags << 16);
	guest_put_u32(g, ret + 4, 0);
	guest_put_u64(g, ret + 8, h->base);
	guest_put_u64(g, ret + 16, h->inheriting);
	return W_SUCCESS;
}

uint32_t call_fd_fdstat_set_flags(struct wasi *w, const struct guest *g,
				  const wasmtime_val_raw_t *a)
{
	uint32_t flags = arg_u32(a, 1);
	struct handle *h;
	uint32_t e;

	(void)g;
	if (flags & ~(uint32_t)FDFLAGS_ALL)
		return W_INVAL;
	e = handles_want(w, arg_u32(a, 0), RIGHT_FD_SET_FLAGS, &h);
	if (e)
		return e;
	h->flags = (uint16_t)flags;
	return W_SUCCESS;
}

uint32_t call_fd_fdstat_set_rights(struct wasi *w, const struct guest *g,
				   const wasmtime_val_raw_t *a)
{
	struct handle *h = handles_get(w, arg_u32(a, 0));
	uint64_t base = arg_u64(a, 1), inheriting = arg_u64(a, 2);

	(void)g;
	if (!h)
		return W_BADF;
	if (base & ~h->base || inheriting & ~h->inheriting)
		return W_NOTCAPABLE;
	h->base = base;
	h->inheriting = inheriting;
	return W_SUCCESS;
}

uint32_t call_fd_filestat_get(struct wasi *w, const struct guest *g,
			      const wasmtime_val_raw_t *a)
{
	uint32_t ret = arg_u32(a, 1);
	struct file_stat st;
	struct handle *h;
	uint32_t e;

	if (!guest_has(g, ret, SIZE_FILESTAT))
		return W_FAULT;
	e = handles_want(w, arg_u32(a, 0), RIGHT_FD_FILESTAT_GET, &h);
	if (!e)
		e = file_stat_handle(w, h, &st);
	if (e)
		return e;
	file_put_stat(g, ret, &st);
	return W_SUCCESS;
}

uint32_t call_fd_prestat_get(struct wasi *w, const struct guest *g,
			     const wasmtime_val_raw_t *a)
{
	struct handle *h = handles_get(w, arg_u32(a, 0));
	uint32_t ret = arg_u32(a, 1);

	if (!guest_has(g, ret, SIZE_PRESTAT))
		return W_FAULT;
	if (!h || !h->preopen)
		return W_BADF;
	guest_put_u32(g, ret, 0); /* a directory */
	guest_put_u32(g, ret + 4, 1);
	return W_SUCCESS;
}

uint32_t call_fd_prestat_dir_name(struct wasi *w, const struct guest *g,
				  const wasmtime_val_raw_t *a)
{
	struct handle *h = handles_get(w, arg_u32(a, 0));
	uint32_t at = arg_u32(a, 1), len = arg_u32(a, 2);

	if (!guest_has(g, at, len))
		return W_FAULT;
	if (!h || !h->preopen)
		return W_BADF;
	if (!len)
		return W_NAMETOOLONG;
	g->base[at] = '/';
	return W_SUCCESS;
}

uint32_t call_fd_renumber(struct wasi *w, const struct guest *g,
			  const wasmtime_val_raw_t *a)
{
	(void)g;
	return handles_renumber(w, arg_u32(a, 0), arg_u32(a, 1));
}
