#include "wasi/path.h"

#include <errno.h>
#include <string.h>

#include "wasi/handles.h"

static bool is_utf8(struct str s)
{
	while (s.len) {
		size_t n = str_utf8(s.p, s.len);

		if (!n)
			return false;
		s = str_after(s, n);
	}
	return true;
}

uint32_t path_get(const struct guest *g, uint32_t ptr, uint32_t len,
		  struct str *ret)
{
	struct str s;

	if (!guest_has(g, ptr, len))
		return W_FAULT;
	if (!len)
		return W_NOENT;
	if (len >= WASI_PATH_MAX)
		return W_NAMETOOLONG;
	s = (struct str){(const char *)g->base + ptr, len};
	if (memchr(s.p, '\0', s.len))
		return W_INVAL;
	if (!is_utf8(s))
		return W_ILSEQ;
	*ret = s;
	return W_SUCCESS;
}

int32_t path_reader(const struct wasi *w, uint32_t node, const char *rest,
		    char path[WASI_PATH_MAX])
{
	int32_t grant = tree_reader(&w->tree, node, path, WASI_PATH_MAX);
	size_t at, len = strlen(rest);

	if (grant < 0 || !len)
		return grant;
	at = strlen(path);
	if (at + 1 + len >= WASI_PATH_MAX)
		return -1;
	if (at)
		path[at++] = '/';
	memcpy(path + at, rest, len + 1);
	return grant;
}

/* One part more of an absolute name without "." and ".."; its new length. */
static size_t add_part(char *out, size_t cap, size_t at, struct str part)
{
	if (!part.len || str_equal(part, STR(".")))
		return at;
	if (str_equal(part, STR(".."))) {
		while (at && out[--at] != '/')
			;
		return at;
	}
	if (part.len + 1 > cap - at)
		part.len = cap - at ? cap - at - 1 : 0;
	if (!part.len)
		return at;
	out[at++] = '/';
	memcpy(out + at, part.p, part.len);
	return at + part.len;
}

static size_t add_parts(char *out, size_t cap, size_t at, struct str name)
{
	while (name.len) {
		struct str part = name, after = {0};

		str_split(name, '/', &part, &after);
		at = add_part(out, cap, at, part);
		name = after;
	}
	return at;
}

/* The absolute name that the guest meant, cut to fit.  ".." is taken by its
 * word: this is the name that a policy would have to grant. */
static struct str full_name(const struct wasi *w, const struct spot *s,
			    char out[2 * WASI_PATH_MAX])
{
	const char *rest = s->dir->rest ? s->dir->rest : "";
	size_t at = 0, cap = 2 * WASI_PATH_MAX;

	if (s->asked.p[0] != '/') {
		if (tree_path(&w->tree, s->dir->node, TREE_NONE, out,
			      WASI_PATH_MAX))
			at = strlen(out);
		at -= at == 1;
		at = add_parts(out, cap, at, str_of(rest));
	}
	at = add_parts(out, cap, at, s->asked);
	if (!at)
		out[at++] = '/';
	return (struct str){out, at};
}

uint32_t path_denied(struct wasi *w, const struct spot *s, bool write)
{
	char name[2 * WASI_PATH_MAX];

	return denial_add(w, s->op, full_name(w, s, name), write);
}

uint32_t path_failed(struct wasi *w, const struct spot *s, int host_errno)
{
	if (host_errno == EACCES || host_errno == EPERM || host_errno == EXDEV)
		return path_denied(w, s, false);
	return wasi_errno(w, host_errno);
}

uint32_t path_stat(struct wasi *w, const struct spot *s, bool follow,
		   struct wasi_stat *ret)
{
	char path[WASI_PATH_MAX];
	int32_t grant = path_reader(w, s->node, s->rest, path);
	int e;

	if (grant < 0 && tree_writer(&w->tree, s->node) >= 0)
		return W_NOENT;
	if (grant < 0)
		return path_denied(w, s, false);
	w->report.used_unpinned |= !w->plan->grants[grant].pinned;
	e = w->host->stat ? w->host->stat(w->host->data, (uint32_t)grant, path,
					  follow, ret)
			  : ENOSYS;
	return e ? path_failed(w, s, e) : W_SUCCESS;
}

static uint32_t go_down(const struct wasi *w, struct spot *s, struct str name)
{
	uint32_t child;

	if (name.len > WASI_NAME_MAX)
		return W_NAMETOOLONG;
	if (!s->rest_len) {
		if (!w->tree.nodes[s->node].directory)
			return W_NOTDIR;
		child = tree_child(&w->tree, s->node, name);
		if (child != TREE_NONE) {
			s->node = child;
			return W_SUCCESS;
		}
	}
	if (s->rest_len + 1 + name.len >= WASI_PATH_MAX)
		return W_NAMETOOLONG;
	if (s->rest_len)
		s->rest[s->rest_len++] = '/';
	memcpy(s->rest + s->rest_len, name.p, name.len);
	s->rest_len += name.len;
	s->rest[s->rest_len] = '\0';
	return W_SUCCESS;
}

/* Where nothing is granted there is nothing, so no link either. */
static bool is_granted(const struct wasi *w, const struct spot *s)
{
	char path[WASI_PATH_MAX];

	return path_reader(w, s->node, s->rest, path) >= 0 ||
	       tree_writer(&w->tree, s->node) >= 0;
}

static uint32_t go_up(struct wasi *w, struct spot *s)
{
	const char *slash = strrchr(s->rest, '/');
	struct wasi_stat st;
	uint32_t e;

	if (!s->rest_len) {
		if (!w->tree.nodes[s->node].directory)
			return W_NOTDIR;
		if (s->node != TREE_ROOT)
			s->node = w->tree.nodes[s->node].parent;
		return W_SUCCESS;
	}
	if (!strcmp(slash ? slash + 1 : s->rest, ".."))
		return go_down(w, s, STR(".."));
	if (is_granted(w, s)) {
		e = path_stat(w, s, false, &st);
		if (e)
			return e;
		if (st.type == FILETYPE_SYMLINK)
			return go_down(w, s, STR(".."));
		if (st.type != FILETYPE_DIRECTORY)
			return W_NOTDIR;
	}
	s->rest_len = slash ? (size_t)(slash - s->rest) : 0;
	s->rest[s->rest_len] = '\0';
	return W_SUCCESS;
}

static uint32_t step(struct wasi *w, struct spot *s, struct str name)
{
	bool here = str_equal(name, STR(".")), up = str_equal(name, STR(".."));

	s->dots = here || up;
	if (up)
		return go_up(w, s);
	if (!here)
		return go_down(w, s, name);
	return s->rest_len || w->tree.nodes[s->node].directory ? W_SUCCESS
							       : W_NOTDIR;
}

static uint32_t start(const struct wasi *w, const struct handle *dir,
		      struct spot *s)
{
	s->node = s->asked.p[0] == '/' ? TREE_ROOT : dir->node;
	s->rest_len = 0;
	s->must_dir = s->dots = false;
	s->rest[0] = '\0';
	if (!w->tree.nodes[s->node].live)
		return W_NOENT;
	if (dir->rest && s->asked.p[0] != '/') {
		s->rest_len = strlen(dir->rest);
		memcpy(s->rest, dir->rest, s->rest_len + 1);
	}
	return W_SUCCESS;
}

uint32_t path_find(struct wasi *w, const struct handle *dir, struct str name,
		   const char *op, struct spot *ret)
{
	struct str left = name;
	uint32_t e;

	ret->asked = name;
	ret->dir = dir;
	ret->op = op;
	e = start(w, dir, ret);
	while (!e && left.len) {
		struct str part = left, after = {0};
		bool more = str_split(left, '/', &part, &after);

		left = more ? after : (struct str){0};
		ret->must_dir = more && !left.len;
		if (part.len)
			e = step(w, ret, part);
		if (!e && wasi_stopped(w))
			e = W_INTR;
	}
	if (e)
		return e;
	ret->must_dir |= ret->dots;
	if (ret->must_dir && !ret->rest_len &&
	    !w->tree.nodes[ret->node].directory)
		return W_NOTDIR;
	return W_SUCCESS;
}

uint32_t path_from(struct wasi *w, const struct guest *g,
		   const struct path_arg *a, struct spot *ret)
{
	struct handle *h;
	struct str name;
	uint32_t e = path_get(g, a->ptr, a->len, &name);

	if (e)
		return e;
	h = handles_get(w, a->fd);
	if (!h)
		return W_BADF;
	if (h->kind != HANDLE_DIR)
		return W_NOTDIR;
	if (a->rights & ~h->base)
		return W_NOTCAPABLE;
	return path_find(w, h, name, a->op, ret);
}
