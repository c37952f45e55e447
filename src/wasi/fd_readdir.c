#include "wasi/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wasi/handles.h"
#include "wasi/path.h"

/* Cookies: 0 is ".", 1 is "..", then the nodes by their serial number, then,
 * with the highest bit, the core's entries: the page, which is an answer of
 * the core, and the number of the record in it.  The position where each page
 * begins is kept with the handle, for it has up to 64 bits itself. */
#define COOKIE_NODES 2u
#define COOKIE_CORE ((uint64_t)1 << 63)
#define PAGE_SHIFT 20
#define PAGE_BYTES ((size_t)1 << 20) /* 12 a record at least: it fits */
#define PAGES_MAX (1u << 20)
#define RECORD_HEAD 11u /* u64 ino, u8 type, u16 len */

struct entry {
	uint64_t ino, next;
	uint8_t type;
	struct str name;
};

/* What of the answer is written; `full` once an entry did not fit. */
struct filling {
	uint8_t *to;
	size_t room, used;
	bool full;
};

static void put_entry(struct filling *f, const struct entry *e)
{
	uint8_t head[SIZE_DIRENT] = {0};
	uint32_t len = (uint32_t)e->name.len;
	size_t n = f->room - f->used;

	memcpy(head, &e->next, 8);
	memcpy(head + 8, &e->ino, 8);
	memcpy(head + 16, &len, 4);
	head[20] = e->type;
	if (n > sizeof(head))
		n = sizeof(head);
	memcpy(f->to + f->used, head, n);
	f->used += n;
	n = f->room - f->used;
	if (n > e->name.len)
		n = e->name.len;
	memcpy(f->to + f->used, e->name.p, n);
	f->used += n;
	f->full = f->used == f->room;
}

static void put_dots(struct filling *f, const struct wasi *w,
		     const struct handle *h, uint64_t *cookie)
{
	uint32_t up = w->tree.nodes[h->node].parent;

	if (*cookie == 0 && !f->full) {
		struct entry e = {(uint64_t)h->node + 1, 1, FILETYPE_DIRECTORY,
				  STR(".")};

		put_entry(f, &e);
		*cookie = 1;
	}
	if (*cookie == 1 && !f->full) {
		struct entry e = {(uint64_t)(up == TREE_NONE ? 0 : up) + 1,
				  COOKIE_NODES, FILETYPE_DIRECTORY, STR("..")};

		put_entry(f, &e);
		*cookie = COOKIE_NODES;
	}
}

static bool is_shown(const struct tree_node *n)
{
	return n->directory || n->touched || n->read >= 0;
}

static void put_nodes(struct filling *f, const struct wasi *w,
		      const struct handle *h, uint64_t *cookie)
{
	const struct tree *t = &w->tree;

	for (uint32_t i = t->nodes[h->node].first; i != TREE_NONE && !f->full;
	     i = t->nodes[i].next) {
		const struct tree_node *n = &t->nodes[i];
		struct entry e = {
			.ino = (uint64_t)i + 1,
			.next = COOKIE_NODES + n->serial + 1,
			.type = n->directory ? FILETYPE_DIRECTORY
					     : FILETYPE_REGULAR,
			.name = tree_name(n),
		};

		if (COOKIE_NODES + n->serial < *cookie || !is_shown(n))
			continue;
		put_entry(f, &e);
		*cookie = e.next;
	}
}

/* One record at the front of `left`; false if it is cut off. */
static bool take_record(struct str *left, struct entry *ret)
{
	uint16_t len;

	if (left->len < RECORD_HEAD)
		return false;
	memcpy(&ret->ino, left->p, 8);
	ret->type = (uint8_t)left->p[8];
	memcpy(&len, left->p + 9, 2);
	if (left->len - RECORD_HEAD < len || !len)
		return false;
	ret->name = (struct str){left->p + RECORD_HEAD, len};
	*left = str_after(*left, (size_t)RECORD_HEAD + len);
	return true;
}

/* Keeps the position where the next page begins. */
static uint32_t add_page(struct handle *h, uint64_t position)
{
	uint64_t *pages;

	if (h->page + 1 < h->n_pages) {
		h->pages[h->page + 1] = position;
		return W_SUCCESS;
	}
	if (h->n_pages == PAGES_MAX)
		return W_OVERFLOW;
	pages = realloc(h->pages, (h->n_pages + 1) * sizeof(*pages));
	if (!pages)
		return W_NOMEM;
	h->pages = pages;
	pages[h->n_pages++] = position;
	return W_SUCCESS;
}

static uint32_t ask_core(struct wasi *w, struct handle *h, uint64_t at,
			 uint64_t *ret_next)
{
	struct spot s = {.asked = STR("."), .dir = h, .op = "list",
			 .node = h->node};
	char path[WASI_PATH_MAX];
	int32_t grant = path_reader(w, h->node, h->rest ? h->rest : "", path);
	int e = ENOSYS;

	buf_clear(&h->list);
	h->list.cap = PAGE_BYTES;
	if (grant < 0)
		return W_NOENT;
	w->report.used_unpinned |= !w->plan->grants[grant].pinned;
	if (w->host->list)
		e = w->host->list(w->host->data, (uint32_t)grant, path, at,
				  &h->list, ret_next);
	if (!e)
		return W_SUCCESS;
	buf_clear(&h->list);
	*ret_next = 0;
	/* A directory of the tree need not be one of the core's too. */
	if (!h->rest && (e == ENOENT || e == ENOTDIR))
		return W_SUCCESS;
	return path_failed(w, &s, e);
}

/* Brings a page here, if it is not. */
static uint32_t fetch(struct wasi *w, struct handle *h, uint32_t page)
{
	uint64_t at, next = 0;
	uint32_t e;

	if (h->listed && h->page == page)
		return W_SUCCESS;
	if (page && page >= h->n_pages)
		return W_INVAL;
	at = page ? h->pages[page] : 0;
	h->listed = false;
	e = ask_core(w, h, at, &next);
	if (e)
		return e;
	if (next && next == at)
		return wasi_end_run(w, WASI_END_HOST);
	h->page = page;
	if (!h->n_pages)
		e = add_page(h, 0);
	if (!e && next)
		e = add_page(h, next);
	h->more = next != 0;
	h->listed = !e;
	return e;
}

static bool is_hidden(const struct wasi *w, const struct handle *h,
		      const struct entry *e)
{
	uint32_t child;

	if (str_equal(e->name, STR(".")) || str_equal(e->name, STR("..")))
		return true;
	if (h->rest)
		return false;
	child = tree_child(&w->tree, h->node, e->name);
	return child != TREE_NONE && is_shown(&w->tree.nodes[child]);
}

/* The records of the page in hand from number `from` on. */
static uint32_t put_records(struct filling *f, struct wasi *w,
			    const struct handle *h, uint64_t from)
{
	struct str left = {h->list.data, h->list.len};
	uint64_t page = COOKIE_CORE | (uint64_t)h->page << PAGE_SHIFT;

	for (uint64_t i = 0; left.len && !f->full; i++) {
		struct entry e;

		if (!take_record(&left, &e))
			return wasi_end_run(w, WASI_END_HOST);
		e.next = page | (i + 1);
		if (i >= from && !is_hidden(w, h, &e))
			put_entry(f, &e);
	}
	return W_SUCCESS;
}

static uint32_t put_core(struct filling *f, struct wasi *w, struct handle *h,
			 uint64_t cookie)
{
	uint64_t page = (cookie & ~COOKIE_CORE) >> PAGE_SHIFT;
	uint64_t from = cookie & (((uint64_t)1 << PAGE_SHIFT) - 1);

	if (page >= PAGES_MAX)
		return W_INVAL;
	while (!f->full) {
		uint32_t e = fetch(w, h, (uint32_t)page);

		if (!e)
			e = put_records(f, w, h, from);
		if (e)
			return e;
		if (!h->more)
			break;
		if (wasi_stopped(w))
			return W_INTR;
		page++;
		from = 0;
	}
	return W_SUCCESS;
}

uint32_t call_fd_readdir(struct wasi *w, const struct guest *g,
			 const wasmtime_val_raw_t *a)
{
	uint32_t at = arg_u32(a, 1), room = arg_u32(a, 2), ret = arg_u32(a, 4);
	struct filling f = {.room = room, .full = !room};
	uint64_t cookie = arg_u64(a, 3);
	char path[WASI_PATH_MAX];
	struct handle *h = handles_get(w, arg_u32(a, 0));
	uint32_t e = W_SUCCESS;

	if (!guest_has(g, at, room) || !guest_has(g, ret, 4))
		return W_FAULT;
	if (!h)
		return W_BADF;
	if (h->kind != HANDLE_DIR)
		return W_NOTDIR;
	if (!(h->base & RIGHT_FD_READDIR))
		return W_NOTCAPABLE;
	if (!w->tree.nodes[h->node].live)
		return W_NOENT;
	f.to = g->base + at;
	if (!cookie)
		h->listed = false;
	put_dots(&f, w, h, &cookie);
	if (!h->rest && cookie < COOKIE_CORE)
		put_nodes(&f, w, h, &cookie);
	if (path_reader(w, h->node, h->rest ? h->rest : "", path) >= 0)
		e = put_core(&f, w, h, cookie & COOKIE_CORE ? cookie : 0);
	if (e)
		return e;
	guest_put_u32(g, ret, (uint32_t)f.used);
	return W_SUCCESS;
}
