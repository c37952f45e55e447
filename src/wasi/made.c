#include "wasi/made.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "wasi/handles.h"

/* What could not be made is missing, whatever becomes of the rest. */
static uint32_t not_made(struct wasi *w, int32_t grant, enum wasi_lack why)
{
	w->grants[grant].lacks = why;
	return W_NOSPC;
}

/* Counts one more file or directory against the grant. */
static uint32_t take_room(struct wasi *w, int32_t grant)
{
	const struct plan_grant *g = &w->plan->grants[grant];

	if (w->grants[grant].files < g->max_files)
		return W_SUCCESS;
	denial_add(w, "create", str_of(g->guest), true);
	return not_made(w, grant, WASI_LACKS_FILES);
}

static uint32_t add_dir(struct wasi *w, uint32_t dir, struct str name,
			uint32_t *ret)
{
	int32_t grant = tree_writer(&w->tree, dir);
	uint32_t node, e = take_room(w, grant);

	if (e)
		return e;
	node = tree_add(&w->tree, dir, name, true);
	if (node == TREE_NONE)
		return not_made(w, grant, WASI_LACKS_FILES);
	w->tree.nodes[node].made = true;
	w->grants[grant].files++;
	*ret = node;
	return W_SUCCESS;
}

uint32_t made_parent(struct wasi *w, const struct spot *s, uint32_t *ret_dir,
		     struct str *ret_name)
{
	struct str left = {s->rest, s->rest_len}, name, after;
	struct spot here = *s;

	*ret_dir = s->node;
	*ret_name = left;
	/* Each directory on the way that only a read grant shows. */
	while (str_split(left, '/', &name, &after)) {
		struct wasi_stat st;
		uint32_t e;

		here.node = *ret_dir;
		here.rest_len = name.len;
		memcpy(here.rest, name.p, name.len);
		here.rest[name.len] = '\0';
		e = path_stat(w, &here, false, &st);
		if (e)
			return e;
		if (st.type == FILETYPE_SYMLINK || str_equal(name, STR("..")))
			return path_denied(w, s, true);
		if (st.type != FILETYPE_DIRECTORY)
			return W_NOTDIR;
		e = add_dir(w, *ret_dir, name, ret_dir);
		if (e)
			return e;
		left = after;
		*ret_name = after;
	}
	return str_equal(*ret_name, STR("..")) ? path_denied(w, s, true)
					       : W_SUCCESS;
}

uint32_t made_dir(struct wasi *w, const struct spot *s)
{
	struct str name;
	uint32_t dir, e = made_parent(w, s, &dir, &name);

	return e ? e : add_dir(w, dir, name, &dir);
}

/* The directory of the tree that carries the grant. */
static uint32_t top_of(const struct tree *t, uint32_t node, int32_t grant)
{
	while (t->nodes[node].write != grant || !t->nodes[node].directory)
		node = t->nodes[node].parent;
	return node;
}

/* The host's trouble, and no word of the guest's or the policy's. */
static bool is_trouble(int e)
{
	return e == EIO || e == EMFILE || e == ENFILE || e == ENOMEM;
}

static uint32_t new_stage(struct wasi *w, int32_t grant, uint32_t node,
			  struct wasi_opened *ret)
{
	char path[WASI_PATH_MAX];
	uint32_t top = top_of(&w->tree, w->tree.nodes[node].parent, grant);
	int e = ENOSYS;

	if (!tree_path(&w->tree, node, top, path, sizeof(path)))
		return W_NAMETOOLONG;
	if (w->host->open)
		e = w->host->open(w->host->data, (uint32_t)grant, path,
				  WASI_OPEN_WRITE | WASI_OPEN_CREATE, ret);
	if (e == EDQUOT)
		return not_made(w, grant, WASI_LACKS_FILES);
	if (e == ENOSPC || is_trouble(e))
		not_made(w, grant, WASI_LACKS_SPACE);
	if (e)
		return wasi_errno(w, e);
	if (ret->fd < 0)
		return wasi_end_run(w, WASI_END_HOST);
	return W_SUCCESS;
}

uint32_t made_file(struct wasi *w, const struct spot *s, uint32_t *ret)
{
	struct wasi_opened opened = {.fd = -1};
	struct tree_node *n;
	struct str name;
	uint32_t dir, node, e = made_parent(w, s, &dir, &name);
	int32_t grant;

	if (e)
		return e;
	grant = tree_writer(&w->tree, dir);
	e = take_room(w, grant);
	if (e)
		return e;
	node = tree_add(&w->tree, dir, name, false);
	if (node == TREE_NONE)
		return not_made(w, grant, WASI_LACKS_FILES);
	e = new_stage(w, grant, node, &opened);
	if (e) {
		tree_remove(&w->tree, node);
		tree_forget(&w->tree, node);
		return e == W_ACCES ? path_denied(w, s, true) : e;
	}
	n = &w->tree.nodes[node];
	n->made = true;
	n->write = grant;
	n->fd = opened.fd;
	n->handle = opened.handle;
	w->grants[grant].files++;
	*ret = node;
	return W_SUCCESS;
}

void made_remove(struct wasi *w, uint32_t node)
{
	const struct tree_node *n = &w->tree.nodes[node];

	w->grants[tree_writer(&w->tree, n->parent)].files--;
	tree_remove(&w->tree, node);
	if (!w->tree.nodes[node].refs)
		handles_drop_node(w, node);
}
