#include "wasi/calls.h"

#include <string.h>

#include "wasi/made.h"
#include "wasi/path.h"

/* Only what the run made can be changed; the rest is there by grant.  What is
 * not there at all is W_NOENT where the guest may look, else a denial. */
static uint32_t check_made(struct wasi *w, const struct spot *s)
{
	const struct tree_node *n = &w->tree.nodes[s->node];
	struct wasi_stat st;
	uint32_t e;

	if (!s->rest_len && n->made)
		return W_SUCCESS;
	if (!s->rest_len && !n->directory && !n->touched && n->read < 0)
		return W_NOENT;
	if (!s->rest_len)
		return path_denied(w, s, true);
	e = path_stat(w, s, false, &st);
	return e ? e : path_denied(w, s, true);
}

/* The guest makes room, so it knows of what found none. */
static void take_away(struct wasi *w, uint32_t node)
{
	int32_t grant = tree_writer(&w->tree, w->tree.nodes[node].parent);

	w->grants[grant].lacks = WASI_LACKS_NOTHING;
	made_remove(w, node);
}

uint32_t call_path_create_directory(struct wasi *w, const struct guest *g,
				    const wasmtime_val_raw_t *a)
{
	struct path_arg name = {arg_u32(a, 0), arg_u32(a, 1), arg_u32(a, 2),
				RIGHT_PATH_CREATE_DIRECTORY, "mkdir"};
	struct wasi_stat st;
	struct spot s;
	uint32_t e = path_from(w, g, &name, &s);

	if (e)
		return e;
	if (!s.rest_len)
		return W_EXIST;
	if (tree_writer(&w->tree, s.node) < 0)
		return path_denied(w, &s, true);
	e = path_stat(w, &s, false, &st);
	if (e != W_NOENT)
		return e ? e : W_EXIST;
	return made_dir(w, &s);
}

uint32_t call_path_unlink_file(struct wasi *w, const struct guest *g,
			       const wasmtime_val_raw_t *a)
{
	struct path_arg name = {arg_u32(a, 0), arg_u32(a, 1), arg_u32(a, 2),
				RIGHT_PATH_UNLINK_FILE, "unlink"};
	struct spot s;
	uint32_t e = path_from(w, g, &name, &s);

	if (!e)
		e = check_made(w, &s);
	if (e)
		return e;
	if (w->tree.nodes[s.node].directory)
		return W_ISDIR;
	take_away(w, s.node);
	return W_SUCCESS;
}

uint32_t call_path_remove_directory(struct wasi *w, const struct guest *g,
				    const wasmtime_val_raw_t *a)
{
	struct path_arg name = {arg_u32(a, 0), arg_u32(a, 1), arg_u32(a, 2),
				RIGHT_PATH_REMOVE_DIRECTORY, "rmdir"};
	struct spot s;
	uint32_t e = path_from(w, g, &name, &s);

	if (!e)
		e = check_made(w, &s);
	if (e)
		return e;
	if (!w->tree.nodes[s.node].directory)
		return W_NOTDIR;
	if (s.dots)
		return W_INVAL;
	if (w->tree.nodes[s.node].first != TREE_NONE)
		return W_NOTEMPTY;
	take_away(w, s.node);
	return W_SUCCESS;
}

/* What is at the new name gives way, if it may. */
static uint32_t make_way(struct wasi *w, uint32_t from, const struct spot *to)
{
	const struct tree_node *a = &w->tree.nodes[from];
	const struct tree_node *b = &w->tree.nodes[to->node];

	if (!b->made)
		return path_denied(w, to, true);
	if (b->directory && !a->directory)
		return W_ISDIR;
	if (!b->directory && a->directory)
		return W_NOTDIR;
	if (b->directory && b->first != TREE_NONE)
		return W_NOTEMPTY;
	return W_SUCCESS;
}

/* The directory and name that a rename leads to; what was there is gone. */
static uint32_t rename_to(struct wasi *w, uint32_t from, const struct spot *to,
			  uint32_t *ret_dir, struct str *ret_name)
{
	int32_t grant = tree_writer(&w->tree, to->node);
	struct wasi_stat st;
	uint32_t e;

	if (to->rest_len) {
		e = path_stat(w, to, false, &st);
		if (!e && w->plan->grants[grant].mode != WRITE_REPLACE)
			return W_EXIST;
		if (e && e != W_NOENT)
			return e;
		return made_parent(w, to, ret_dir, ret_name);
	}
	e = make_way(w, from, to);
	if (e)
		return e;
	*ret_dir = w->tree.nodes[to->node].parent;
	*ret_name = str_after(to->asked, 0);
	return W_SUCCESS;
}

static uint32_t rename_made(struct wasi *w, const struct spot *from,
			    const struct spot *to)
{
	const struct tree_node *n = &w->tree.nodes[from->node];
	char kept[WASI_NAME_MAX + 1];
	struct str name;
	uint32_t dir, e;

	if (!to->rest_len && to->node == from->node)
		return W_SUCCESS;
	if (n->directory && tree_within(&w->tree, to->node, from->node))
		return W_INVAL;
	if (to->must_dir && !n->directory)
		return W_NOTDIR;
	e = rename_to(w, from->node, to, &dir, &name);
	if (e)
		return e;
	if (!to->rest_len) {
		name = tree_name(&w->tree.nodes[to->node]);
		memcpy(kept, name.p, name.len);
		name.p = kept;
		if (tree_within(&w->tree, from->node, to->node))
			return W_NOTEMPTY;
		made_remove(w, to->node);
	}
	return tree_move(&w->tree, from->node, dir, name) ? W_NOMEM : W_SUCCESS;
}

uint32_t call_path_rename(struct wasi *w, const struct guest *g,
			  const wasmtime_val_raw_t *a)
{
	struct path_arg old = {arg_u32(a, 0), arg_u32(a, 1), arg_u32(a, 2),
			       RIGHT_PATH_RENAME_SOURCE, "rename"};
	struct path_arg new = {arg_u32(a, 3), arg_u32(a, 4), arg_u32(a, 5),
			       RIGHT_PATH_RENAME_TARGET, "rename"};
	struct spot from, to;
	struct str checked; /* both names, before anything is asked or noted */
	uint32_t e = path_get(g, new.ptr, new.len, &checked);
	int32_t grant;

	if (!e)
		e = path_from(w, g, &old, &from);
	if (!e)
		e = path_from(w, g, &new, &to);
	if (!e)
		e = check_made(w, &from);
	if (e)
		return e;
	if (from.dots || to.dots)
		return W_INVAL;
	grant = tree_writer(&w->tree, to.node);
	if (grant < 0)
		return path_denied(w, &to, true);
	if (grant != tree_writer(&w->tree, from.node))
		return W_XDEV;
	return rename_made(w, &from, &to);
}

/* Links are never made: a second name for a file would outlive what the plan
 * says of the first, and a symbolic link misleads other programs. */
static uint32_t refuse_link(struct wasi *w, const struct guest *g,
			    const struct path_arg *a)
{
	struct spot s;
	uint32_t e = path_from(w, g, a, &s);

	if (e)
		return e;
	path_denied(w, &s, true);
	return W_NOTCAPABLE;
}

uint32_t call_path_link(struct wasi *w, const struct guest *g,
			const wasmtime_val_raw_t *a)
{
	struct path_arg old = {arg_u32(a, 0), arg_u32(a, 2), arg_u32(a, 3),
			       RIGHT_PATH_LINK_SOURCE, "link"};
	struct path_arg new = {arg_u32(a, 4), arg_u32(a, 5), arg_u32(a, 6),
			       RIGHT_PATH_LINK_TARGET, "link"};
	struct str checked;
	struct spot s;
	uint32_t e = path_get(g, new.ptr, new.len, &checked);

	if (!e && arg_u32(a, 1) & ~(uint32_t)LOOKUP_FOLLOW)
		e = W_INVAL;
	if (!e)
		e = path_from(w, g, &old, &s);
	return e ? e : refuse_link(w, g, &new);
}

uint32_t call_path_symlink(struct wasi *w, const struct guest *g,
			   const wasmtime_val_raw_t *a)
{
	struct path_arg new = {arg_u32(a, 2), arg_u32(a, 3), arg_u32(a, 4),
			       RIGHT_PATH_SYMLINK, "symlink"};
	struct str target;
	uint32_t e = path_get(g, arg_u32(a, 0), arg_u32(a, 1), &target);

	return e ? e : refuse_link(w, g, &new);
}
