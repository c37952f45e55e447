#include "wasi/handles.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define HANDLES_FIRST 64u
#define HANDLES_STD 4u /* 0 to 3 are not counted as files */

int handles_init(struct wasi *w)
{
	w->handles = calloc(HANDLES_FIRST, sizeof(*w->handles));
	w->room_handles = w->handles ? HANDLES_FIRST : 0;
	return w->handles ? 0 : REDOMA_E_NOMEM;
}

void handles_start(struct wasi *w)
{
	w->handles[0] = (struct handle){.kind = HANDLE_IN, .base = RIGHTS_IN};
	w->handles[1] = (struct handle){
		.kind = HANDLE_OUT, .stream = 1, .base = RIGHTS_OUT};
	w->handles[2] = (struct handle){
		.kind = HANDLE_OUT, .stream = 2, .base = RIGHTS_OUT};
	w->handles[3] = (struct handle){
		.kind = HANDLE_DIR,
		.preopen = true,
		.node = TREE_ROOT,
		.base = RIGHTS_DIR,
		.inheriting = RIGHTS_ALL,
	};
	tree_ref(&w->tree, TREE_ROOT);
	w->top_handles = HANDLES_STD;
	w->low_handle = HANDLES_STD;
	w->n_files = 0;
}

void handles_drop_node(struct wasi *w, uint32_t node)
{
	struct tree_node *n = &w->tree.nodes[node];

	if (!n->directory && n->made && n->fd >= 0) {
		close(n->fd);
		w->grants[n->write].bytes -= n->size;
		if (w->host->close)
			(void)w->host->close(w->host->data, n->handle);
	}
	tree_forget(&w->tree, node);
}

static void close_handle(struct wasi *w, struct handle *h)
{
	if (h->kind == HANDLE_DIR || h->kind == HANDLE_WRITE)
		if (tree_unref(&w->tree, h->node))
			handles_drop_node(w, h->node);
	if (h->kind == HANDLE_READ && h->owns_fd)
		close(h->fd);
	if (h->kind == HANDLE_READ && h->has_core && w->host->close)
		(void)w->host->close(w->host->data, h->core);
	free(h->rest);
	free(h->pages);
	buf_done(&h->list);
	*h = (struct handle){0};
}

void handles_clear(struct wasi *w)
{
	for (uint32_t i = 0; i < w->top_handles; i++)
		if (w->handles[i].kind != HANDLE_FREE)
			close_handle(w, &w->handles[i]);
	w->top_handles = 0;
}

void handles_done(struct wasi *w)
{
	free(w->handles);
	w->handles = NULL;
	w->room_handles = 0;
}

struct handle *handles_get(struct wasi *w, uint32_t fd)
{
	if (fd >= w->top_handles || w->handles[fd].kind == HANDLE_FREE)
		return NULL;
	return &w->handles[fd];
}

uint32_t handles_want(struct wasi *w, uint32_t fd, uint64_t rights,
		      struct handle **ret)
{
	struct handle *h = handles_get(w, fd);

	if (!h)
		return W_BADF;
	if (rights & ~h->base)
		return W_NOTCAPABLE;
	*ret = h;
	return W_SUCCESS;
}

/* Standard streams and the preopen are free; moving them does not change
 * that. */
static bool counts(const struct handle *h)
{
	return !h->preopen && h->kind != HANDLE_IN && h->kind != HANDLE_OUT &&
	       h->kind != HANDLE_FREE;
}

uint32_t handles_room(struct wasi *w)
{
	return w->n_files < w->plan->limits.files ? W_SUCCESS : W_MFILE;
}

static bool grow(struct wasi *w)
{
	uint32_t room = w->room_handles * 2;
	struct handle *h;

	if (room <= w->room_handles || room > UINT32_MAX / 2)
		return false;
	h = realloc(w->handles, room * sizeof(*h));
	if (!h)
		return false;
	w->handles = h;
	w->room_handles = room;
	return true;
}

uint32_t handles_add(struct wasi *w, const struct handle *h, uint32_t *ret)
{
	uint32_t fd = w->low_handle;

	if (handles_room(w) != W_SUCCESS)
		return W_MFILE;
	while (fd < w->top_handles && w->handles[fd].kind != HANDLE_FREE)
		fd++;
	if (fd == w->room_handles && !grow(w))
		return W_NOMEM;
	w->handles[fd] = *h;
	if (fd == w->top_handles)
		w->top_handles++;
	w->low_handle = fd + 1;
	w->n_files++;
	*ret = fd;
	return W_SUCCESS;
}

uint32_t handles_close(struct wasi *w, uint32_t fd)
{
	struct handle *h = handles_get(w, fd);

	if (!h)
		return W_BADF;
	w->n_files -= counts(h);
	close_handle(w, h);
	if (fd < w->low_handle)
		w->low_handle = fd;
	return W_SUCCESS;
}

uint32_t handles_renumber(struct wasi *w, uint32_t from, uint32_t to)
{
	struct handle *a = handles_get(w, from), *b = handles_get(w, to);

	if (!a || !b)
		return W_BADF;
	if (a == b)
		return W_SUCCESS;
	w->n_files -= counts(b);
	close_handle(w, b);
	*b = *a;
	*a = (struct handle){0};
	if (from < w->low_handle)
		w->low_handle = from;
	return W_SUCCESS;
}
