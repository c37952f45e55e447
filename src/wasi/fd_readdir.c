#include "wasi/calls.h"

#include <errno.h>
#include <string.h>

#include "wasi/handles.h"
#include "wasi/path.h"

/* Cookies: 0 is ".", 1 is "..", then the nodes by their serial number, then,
 * with the highest bit, the core's entries by their position. */
#define COOKIE_NODES 2u
#define COOKIE_CORE ((uint64_t)1 << 63)
#define LIST_BYTES ((size_t)1 << 20)
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

/* Asks the core for entries from `at` on, if they are not here already. */
static uint32_t fetch(struct wasi *w, struct handle *h, uint64_t at)
{
	struct spot s = {.asked = STR("."), .dir = h, .op = "list",
			 .node = h->node};
	char path[WASI_PATH_MAX];
	int32_t grant = path_reader(w, h->node, h->rest ? h->rest : "", path);
	uint64_t next = 0;
	int e = ENOSYS;

	h->listed = false;
	buf_clear(&h->list);
	h->list.cap = LIST_BYTES;
	if (grant < 0)
		return W_NOENT;
	w->report.used_unpinned |= !w->plan->grants[grant].pinned;
	if (w->host->list)
		e = w->host->list(w->host->data, (uint32_t)grant, path, at,
				  &h->list, &next);
	/* A directory of the tree need not be one of the core's too. */
	if (!h->rest && (e == ENOENT || e == ENOTDIR)) {
		e = 0;
		next = 0;
		buf_clear(&h->list);
	}
	if (e)
		return path_failed(w, &s, e);
	if (next && next <= at)
		return wasi_end_run(w, WASI_END_HOST);
	h->listed = true;
	h->list_at = at;
	h->list_next = next;
	return W_SUCCESS;
}

static bool is_hidden(const struct wasi *w, const struct handle *h,
		      const struct entry *e)
{
	if (str_equal(e->name, STR(".")) || str_equal(e->name, STR("..")))
		return true;
	return !h->rest && tree_child(&w->tree, h->node, e->name) != TREE_NONE;
}

/* The records in hand from position `at` on; *at is then behind them. */
static uint32_t put_records(struct filling *f, struct wasi *w,
			    const struct handle *h, uint64_t *at)
{
	struct str left = {h->list.data, h->list.len};
	uint64_t i = h->list_at;

	while (left.len && !f->full) {
		struct entry e;

		if (!take_record(&left, &e))
			return wasi_end_run(w, WASI_END_HOST);
		e.next = COOKIE_CORE | ++i;
		if (i <= *at)
			continue;
		*at = i;
		if (!is_hidden(w, h, &e))
			put_entry(f, &e);
	}
	if (!f->full && h->list_next)
		*at = h->list_next;
	return W_SUCCESS;
}

static uint32_t put_core(struct filling *f, struct wasi *w, struct handle *h,
			 uint64_t at)
{
	while (!f->full) {
		bool here = h->listed && at >= h->list_at &&
			    (!h->list_next || at < h->list_next);
		uint32_t e = here ? W_SUCCESS : fetch(w, h, at);

		if (!e)
			e = put_records(f, w, h, &at);
		if (e)
			return e;
		if (f->full || !h->list_next)
			break;
		if (wasi_stopped(w))
			return W_INTR;
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
		e = put_core(&f, w, h,
			     cookie & COOKIE_CORE ? cookie & ~COOKIE_CORE : 0);
	if (e)
		return e;
	guest_put_u32(g, ret, (uint32_t)f.used);
	return W_SUCCESS;
}
