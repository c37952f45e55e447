#include "wasi/calls.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "wasi/file.h"
#include "wasi/path.h"

static uint32_t stat_host(struct wasi *w, const struct spot *s, bool follow,
			  struct file_stat *ret)
{
	struct wasi_stat st;
	uint32_t e = path_stat(w, s, follow || s->must_dir, &st);

	if (!e && s->must_dir && st.type != FILETYPE_DIRECTORY)
		e = W_NOTDIR;
	if (!e)
		file_stat_host(&st, ret);
	return e;
}

static uint32_t stat_spot(struct wasi *w, const struct spot *s, bool follow,
			  struct file_stat *ret)
{
	const struct tree_node *n = &w->tree.nodes[s->node];
	char path[WASI_PATH_MAX];

	if (s->rest_len)
		return stat_host(w, s, follow, ret);
	if (n->directory || n->touched) {
		file_stat_node(w, s->node, ret);
		return W_SUCCESS;
	}
	if (n->read >= 0)
		return file_stat_grant(w, (uint32_t)n->read,
				       (uint64_t)s->node + 1, ret);
	/* Not written yet; a read directory may show what is there. */
	return path_reader(w, s->node, "", path) < 0
		       ? W_NOENT
		       : stat_host(w, s, follow, ret);
}

uint32_t call_path_filestat_get(struct wasi *w, const struct guest *g,
				const wasmtime_val_raw_t *a)
{
	struct path_arg name = {arg_u32(a, 0), arg_u32(a, 2), arg_u32(a, 3),
				RIGHT_PATH_FILESTAT_GET, "stat"};
	bool follow = arg_u32(a, 1) & LOOKUP_FOLLOW;
	uint32_t ret = arg_u32(a, 4);
	struct file_stat out;
	struct spot s;
	uint32_t e;

	if (!guest_has(g, ret, SIZE_FILESTAT))
		return W_FAULT;
	if (arg_u32(a, 1) & ~(uint32_t)LOOKUP_FOLLOW)
		return W_INVAL;
	e = path_from(w, g, &name, &s);
	if (e)
		return e;
	e = stat_spot(w, &s, follow, &out);
	if (e)
		return e;
	file_put_stat(g, ret, &out);
	return W_SUCCESS;
}

uint32_t call_path_filestat_set_times(struct wasi *w, const struct guest *g,
				      const wasmtime_val_raw_t *a)
{
	struct path_arg name = {arg_u32(a, 0), arg_u32(a, 2), arg_u32(a, 3),
				RIGHT_PATH_SET_TIMES, "utimes"};
	const struct tree_node *n;
	struct wasi_stat st;
	struct spot s;
	uint32_t e;

	if (arg_u32(a, 1) & ~(uint32_t)LOOKUP_FOLLOW)
		return W_INVAL;
	e = file_check_times(arg_u32(a, 6));
	if (!e)
		e = path_from(w, g, &name, &s);
	if (e)
		return e;
	if (s.rest_len) {
		e = path_stat(w, &s, true, &st);
		return e ? e : path_denied(w, &s, true);
	}
	n = &w->tree.nodes[s.node];
	if (!n->made && !n->touched)
		return path_denied(w, &s, true);
	return file_set_times(w, s.node, arg_u32(a, 6), arg_u64(a, 4),
			      arg_u64(a, 5));
}

static void cleanup_buf(struct buf *b)
{
	buf_done(b);
}

uint32_t call_path_readlink(struct wasi *w, const struct guest *g,
			    const wasmtime_val_raw_t *a)
{
	struct path_arg name = {arg_u32(a, 0), arg_u32(a, 1), arg_u32(a, 2),
				RIGHT_PATH_READLINK, "readlink"};
	uint32_t to = arg_u32(a, 3), room = arg_u32(a, 4), ret = arg_u32(a, 5);
	CLEANUP(cleanup_buf) struct buf target = {.cap = WASI_PATH_MAX};
	char path[WASI_PATH_MAX];
	struct spot s;
	int32_t grant;
	uint32_t e;
	int bad;

	if (!guest_has(g, to, room) || !guest_has(g, ret, 4))
		return W_FAULT;
	e = path_from(w, g, &name, &s);
	if (e)
		return e;
	grant = path_reader(w, s.node, s.rest, path);
	/* Nodes are no links, and "link/" means what it leads to. */
	if (!s.rest_len || (s.must_dir && grant >= 0))
		return W_INVAL;
	if (grant < 0)
		return tree_writer(&w->tree, s.node) >= 0
			       ? W_NOENT
			       : path_denied(w, &s, false);
	w->report.used_unpinned |= !w->plan->grants[grant].pinned;
	bad = w->host->readlink ? w->host->readlink(w->host->data,
						    (uint32_t)grant, path,
						    &target)
				: ENOSYS;
	if (bad)
		return path_failed(w, &s, bad);
	if (room > target.len)
		room = (uint32_t)target.len;
	if (room)
		memcpy(g->base + to, target.data, room);
	guest_put_u32(g, ret, room);
	return W_SUCCESS;
}
