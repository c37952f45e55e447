#include "wasi/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wasi/file.h"
#include "wasi/handles.h"
#include "wasi/made.h"
#include "wasi/path.h"

/* One path_open, taken apart. */
struct opening {
	struct spot spot;
	uint32_t lookup, oflags, fdflags;
	uint64_t base, inheriting;
	bool change; /* it asks to write */
};

static bool creates(const struct opening *o)
{
	return o->oflags & OFLAG_CREAT;
}

static bool is_exclusive(const struct opening *o)
{
	return creates(o) && o->oflags & OFLAG_EXCL;
}

static uint32_t add_dir(struct wasi *w, const struct opening *o,
			const struct wasi_stat *st, uint32_t *ret)
{
	struct handle h = {
		.kind = HANDLE_DIR,
		.node = o->spot.node,
		.flags = (uint16_t)o->fdflags,
		.base = o->base & RIGHTS_DIR,
		.inheriting = o->inheriting & RIGHTS_ALL,
		.fd = -1,
	};
	uint32_t e;

	if (is_exclusive(o))
		return W_EXIST;
	if (creates(o) || o->oflags & OFLAG_TRUNC ||
	    (o->change && !(o->oflags & OFLAG_DIRECTORY)))
		return W_ISDIR;
	if (st) {
		h.st = *st;
		h.rest = strdup(o->spot.rest);
		if (!h.rest)
			return W_NOMEM;
	}
	e = handles_add(w, &h, ret);
	if (e)
		free(h.rest);
	else
		tree_ref(&w->tree, h.node);
	return e;
}

static uint32_t add_read(struct wasi *w, const struct opening *o,
			 uint32_t grant, const struct wasi_opened *opened,
			 uint32_t *ret)
{
	struct handle h = {
		.kind = HANDLE_READ,
		.flags = (uint16_t)o->fdflags,
		.base = o->base & RIGHTS_READ,
		.node = o->spot.node,
		.grant = (int32_t)grant,
		.fd = w->plan->grants[grant].fd,
	};
	uint32_t e;

	if (opened) {
		h.fd = opened->fd;
		h.owns_fd = opened->fd >= 0;
		h.core = opened->handle;
		h.has_core = true;
		h.st = opened->st;
	}
	e = handles_add(w, &h, ret);
	if (e)
		return e;
	w->grants[grant].opens++;
	w->report.used_unpinned |= !w->plan->grants[grant].pinned;
	return W_SUCCESS;
}

static void give_back(struct wasi *w, const struct wasi_opened *opened)
{
	if (opened->fd >= 0)
		close(opened->fd);
	if (w->host->close)
		(void)w->host->close(w->host->data, opened->handle);
}

/* Opens in a read grant through the core. */
static uint32_t open_core(struct wasi *w, const struct opening *o,
			  uint32_t grant, const char *path, uint32_t *ret)
{
	struct wasi_opened opened = {.fd = -1};
	unsigned flags = 0;
	uint32_t e;
	int bad = ENOSYS;

	if (o->spot.must_dir || o->oflags & OFLAG_DIRECTORY)
		flags |= WASI_OPEN_DIRECTORY;
	if (!(o->lookup & LOOKUP_FOLLOW) && !o->spot.must_dir)
		flags |= WASI_OPEN_NOFOLLOW;
	w->report.used_unpinned |= !w->plan->grants[grant].pinned;
	if (w->host->open)
		bad = w->host->open(w->host->data, grant, path, flags,
				    &opened);
	if (bad)
		return path_failed(w, &o->spot, bad);
	if (opened.st.type == FILETYPE_DIRECTORY &&
	    w->plan->grants[grant].kind == GRANT_READ_DIR) {
		give_back(w, &opened);
		return add_dir(w, o, &opened.st, ret);
	}
	if (opened.st.type != FILETYPE_REGULAR)
		e = path_denied(w, &o->spot, false);
	else if (flags & WASI_OPEN_DIRECTORY)
		e = W_NOTDIR;
	else if (is_exclusive(o))
		e = W_EXIST;
	else
		e = add_read(w, o, grant, &opened, ret);
	if (e)
		give_back(w, &opened);
	return e;
}

static bool may_open(const struct wasi *w, uint32_t grant)
{
	return w->grants[grant].opens < w->plan->grants[grant].opens;
}

static uint32_t open_read_file(struct wasi *w, const struct opening *o,
			       uint32_t grant, uint32_t *ret)
{
	const struct plan_grant *g = &w->plan->grants[grant];

	if (is_exclusive(o))
		return W_EXIST;
	if (!may_open(w, grant))
		return path_denied(w, &o->spot, false);
	if (g->via_core || g->fd < 0)
		return open_core(w, o, grant, "", ret);
	return add_read(w, o, grant, NULL, ret);
}

static uint32_t open_stage(struct wasi *w, const struct opening *o,
			   uint32_t node, uint32_t *ret)
{
	struct handle h = {
		.kind = HANDLE_WRITE,
		.node = node,
		.flags = (uint16_t)o->fdflags,
		.base = o->base & RIGHTS_WRITE,
		.fd = -1,
	};
	uint32_t e = W_SUCCESS;

	if (o->oflags & OFLAG_TRUNC)
		e = file_resize(w, node, 0);
	if (!e)
		e = handles_add(w, &h, ret);
	if (e)
		return e;
	w->tree.nodes[node].touched = true;
	tree_ref(&w->tree, node);
	return W_SUCCESS;
}

/* A file of a write grant before it was opened for writing: what a read grant
 * shows there, of the file or of a directory it is in. */
static uint32_t open_old(struct wasi *w, const struct opening *o,
			 uint32_t *ret)
{
	const struct tree_node *n = &w->tree.nodes[o->spot.node];
	char path[WASI_PATH_MAX];
	int32_t reader;

	if (n->read >= 0)
		return open_read_file(w, o, (uint32_t)n->read, ret);
	reader = path_reader(w, o->spot.node, "", path);
	if (reader < 0)
		return W_NOENT;
	if (!may_open(w, (uint32_t)reader))
		return path_denied(w, &o->spot, false);
	return open_core(w, o, (uint32_t)reader, path, ret);
}

/* A single file or one that the run made.  A file of a write grant exists
 * once it was opened for writing. */
static uint32_t open_file(struct wasi *w, const struct opening *o,
			  uint32_t *ret)
{
	const struct tree_node *n = &w->tree.nodes[o->spot.node];
	uint32_t e = W_NOENT;

	if (o->oflags & OFLAG_DIRECTORY)
		return W_NOTDIR;
	if (n->touched && is_exclusive(o))
		return W_EXIST;
	if (n->touched)
		return open_stage(w, o, o->spot.node, ret);
	if (!o->change)
		e = open_old(w, o, ret);
	if (e != W_NOENT)
		return e;
	if (n->write < 0)
		return path_denied(w, &o->spot, true);
	if (!creates(o) && !(o->oflags & OFLAG_TRUNC) &&
	    !(o->change && w->plan->grants[n->write].mode == WRITE_APPEND))
		return W_NOENT;
	return open_stage(w, o, o->spot.node, ret);
}

/* What a read grant shows at a name that a write directory could make. */
static uint32_t open_shown(struct wasi *w, const struct opening *o,
			   const struct wasi_stat *st, uint32_t *ret)
{
	char path[WASI_PATH_MAX];
	int32_t reader = path_reader(w, o->spot.node, o->spot.rest, path);
	int32_t writer = tree_writer(&w->tree, o->spot.node);
	enum write_mode mode = w->plan->grants[writer].mode;

	if (!o->change || st->type == FILETYPE_DIRECTORY)
		return may_open(w, (uint32_t)reader)
			       ? open_core(w, o, (uint32_t)reader, path, ret)
			       : path_denied(w, &o->spot, false);
	if (is_exclusive(o))
		return W_EXIST;
	if (mode == WRITE_APPEND && creates(o))
		return W_SUCCESS;
	if (mode == WRITE_REPLACE && o->oflags & OFLAG_TRUNC)
		return W_SUCCESS;
	return path_denied(w, &o->spot, true);
}

/* A name in a write directory that the run did not make yet. */
static uint32_t open_new(struct wasi *w, const struct opening *o,
			 uint32_t *ret)
{
	struct wasi_stat st;
	uint32_t node, e = path_stat(w, &o->spot, true, &st);

	*ret = UINT32_MAX;
	if (!e)
		e = open_shown(w, o, &st, ret);
	else if (e == W_NOENT)
		e = creates(o) ? W_SUCCESS : W_NOENT;
	if (e || *ret != UINT32_MAX)
		return e;
	if (o->spot.must_dir)
		return W_ISDIR;
	e = made_file(w, &o->spot, &node);
	return e ? e : open_stage(w, o, node, ret);
}

/* A name that is no node. */
static uint32_t open_below(struct wasi *w, const struct opening *o,
			   uint32_t *ret)
{
	char path[WASI_PATH_MAX];
	int32_t reader = path_reader(w, o->spot.node, o->spot.rest, path);
	bool writer = tree_writer(&w->tree, o->spot.node) >= 0;
	struct wasi_stat st;

	if (writer && (o->change || creates(o)))
		return open_new(w, o, ret);
	if (reader < 0 && writer)
		return W_NOENT;
	if (reader < 0 || o->change)
		return path_denied(w, &o->spot, o->change || creates(o));
	if (creates(o) && path_stat(w, &o->spot, true, &st) == W_NOENT)
		return path_denied(w, &o->spot, true);
	if (!may_open(w, (uint32_t)reader))
		return path_denied(w, &o->spot, false);
	return open_core(w, o, (uint32_t)reader, path, ret);
}

static uint32_t check_flags(const struct opening *o)
{
	if (o->lookup & ~(uint32_t)LOOKUP_FOLLOW ||
	    o->oflags & ~(uint32_t)OFLAGS_ALL ||
	    o->fdflags & ~(uint32_t)FDFLAGS_ALL)
		return W_INVAL;
	if (creates(o) && o->oflags & OFLAG_DIRECTORY)
		return W_INVAL;
	return W_SUCCESS;
}

static uint64_t rights_for(const struct opening *o)
{
	return RIGHT_PATH_OPEN |
	       (creates(o) ? RIGHT_PATH_CREATE_FILE : 0) |
	       (o->oflags & OFLAG_TRUNC ? RIGHT_PATH_SET_SIZE : 0);
}

uint32_t call_path_open(struct wasi *w, const struct guest *g,
			const wasmtime_val_raw_t *a)
{
	struct opening o = {
		.lookup = arg_u32(a, 1),
		.oflags = arg_u32(a, 4),
		.base = arg_u64(a, 5) & RIGHTS_ALL,
		.inheriting = arg_u64(a, 6) & RIGHTS_ALL,
		.fdflags = arg_u32(a, 7),
	};
	struct path_arg name = {arg_u32(a, 0), arg_u32(a, 2), arg_u32(a, 3),
				rights_for(&o), "open"};
	uint32_t fd, e, ret = arg_u32(a, 8);

	if (!guest_has(g, ret, 4))
		return W_FAULT;
	e = check_flags(&o);
	if (!e)
		e = handles_room(w);
	if (!e)
		e = path_from(w, g, &name, &o.spot);
	if (e)
		return e;
	if ((o.base | o.inheriting) & ~o.spot.dir->inheriting)
		return W_NOTCAPABLE;
	o.change = o.base & RIGHTS_CHANGE || o.oflags & OFLAG_TRUNC;
	if (o.spot.rest_len)
		e = open_below(w, &o, &fd);
	else if (w->tree.nodes[o.spot.node].directory)
		e = add_dir(w, &o, NULL, &fd);
	else
		e = open_file(w, &o, &fd);
	if (e)
		return e;
	guest_put_u32(g, ret, fd);
	return W_SUCCESS;
}
