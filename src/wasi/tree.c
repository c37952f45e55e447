#include "wasi/tree.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOM_FIRST 8u

/* FNV-1a. */
static uint32_t hash_of(struct str s)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < s.len; i++)
		h = (h ^ (unsigned char)s.p[i]) * 16777619u;
	return h;
}

static const struct tree_node blank = {
	.parent = TREE_NONE,
	.first = TREE_NONE,
	.last = TREE_NONE,
	.next = TREE_NONE,
	.prev = TREE_NONE,
	.read = -1,
	.write = -1,
	.fd = -1,
	.live = true,
};

int tree_init(struct tree *t)
{
	*t = (struct tree){.free = TREE_NONE, .n = 1, .room = ROOM_FIRST};
	t->nodes = malloc(ROOM_FIRST * sizeof(*t->nodes));
	if (!t->nodes)
		return REDOMA_E_NOMEM;
	t->nodes[TREE_ROOT] = blank;
	t->nodes[TREE_ROOT].directory = true;
	return 0;
}

void tree_clear(struct tree *t)
{
	for (uint32_t i = 1; i < t->n; i++) {
		free(t->nodes[i].name);
		if (t->nodes[i].made && t->nodes[i].fd >= 0)
			close(t->nodes[i].fd);
	}
	t->n = 1;
	t->free = TREE_NONE;
	t->n_made = 0;
	t->serial = 0;
	t->nodes[TREE_ROOT] = blank;
	t->nodes[TREE_ROOT].directory = true;
}

void tree_done(struct tree *t)
{
	if (t->nodes)
		tree_clear(t);
	free(t->nodes);
	t->nodes = NULL;
}

uint32_t tree_child(const struct tree *t, uint32_t dir, struct str name)
{
	uint32_t hash = hash_of(name);

	for (uint32_t i = t->nodes[dir].first; i != TREE_NONE;
	     i = t->nodes[i].next) {
		const struct tree_node *n = &t->nodes[i];

		if (n->hash == hash && str_equal(tree_name(n), name))
			return i;
	}
	return TREE_NONE;
}

static void attach(struct tree *t, uint32_t node, uint32_t dir)
{
	struct tree_node *n = &t->nodes[node], *d = &t->nodes[dir];

	n->parent = dir;
	n->next = TREE_NONE;
	n->prev = d->last;
	n->serial = ++t->serial;
	if (d->last == TREE_NONE)
		d->first = node;
	else
		t->nodes[d->last].next = node;
	d->last = node;
}

static void detach(struct tree *t, uint32_t node)
{
	struct tree_node *n = &t->nodes[node], *d = &t->nodes[n->parent];

	if (n->prev == TREE_NONE)
		d->first = n->next;
	else
		t->nodes[n->prev].next = n->next;
	if (n->next == TREE_NONE)
		d->last = n->prev;
	else
		t->nodes[n->next].prev = n->prev;
	n->next = n->prev = TREE_NONE;
}

static uint32_t take_slot(struct tree *t)
{
	uint32_t i = t->free;

	if (i != TREE_NONE) {
		t->free = t->nodes[i].next;
		return i;
	}
	if (t->n == t->room) {
		uint32_t room = t->room * 2;
		struct tree_node *nodes =
			realloc(t->nodes, room * sizeof(*nodes));

		if (!nodes)
			return TREE_NONE;
		t->nodes = nodes;
		t->room = room;
	}
	return t->n++;
}

uint32_t tree_add(struct tree *t, uint32_t dir, struct str name,
		  bool directory)
{
	char *copy = t->n_made < TREE_NODES_MAX ? strndup(name.p, name.len)
						: NULL;
	uint32_t i = copy ? take_slot(t) : TREE_NONE;

	if (i == TREE_NONE) {
		free(copy);
		return TREE_NONE;
	}
	t->nodes[i] = blank;
	t->nodes[i].name = copy;
	t->nodes[i].name_len = (uint32_t)name.len;
	t->nodes[i].hash = hash_of(name);
	t->nodes[i].directory = directory;
	attach(t, i, dir);
	t->n_made++;
	return i;
}

void tree_forget(struct tree *t, uint32_t node)
{
	struct tree_node *n = &t->nodes[node];

	free(n->name);
	*n = blank;
	n->live = false;
	n->free = true;
	n->next = t->free;
	t->free = node;
	t->n_made--;
}

void tree_remove(struct tree *t, uint32_t node)
{
	detach(t, node);
	t->nodes[node].live = false;
}

int tree_move(struct tree *t, uint32_t node, uint32_t dir, struct str name)
{
	char *copy = strndup(name.p, name.len);
	struct tree_node *n = &t->nodes[node];

	if (!copy)
		return -1;
	detach(t, node);
	free(n->name);
	n->name = copy;
	n->name_len = (uint32_t)name.len;
	n->hash = hash_of(name);
	attach(t, node, dir);
	return 0;
}

void tree_ref(struct tree *t, uint32_t node)
{
	t->nodes[node].refs++;
}

bool tree_unref(struct tree *t, uint32_t node)
{
	struct tree_node *n = &t->nodes[node];

	n->refs--;
	return !n->refs && !n->live;
}

bool tree_within(const struct tree *t, uint32_t node, uint32_t dir)
{
	while (node != dir && node != TREE_ROOT)
		node = t->nodes[node].parent;
	return node == dir;
}

bool tree_path(const struct tree *t, uint32_t node, uint32_t top, char *path,
	       size_t size)
{
	size_t at = size;

	/* From the end to the front, then moved to the front. */
	if (!size)
		return false;
	path[--at] = '\0';
	for (; node != top && node != TREE_ROOT; node = t->nodes[node].parent) {
		const struct tree_node *n = &t->nodes[node];

		if (at < (size_t)n->name_len + 1)
			return false;
		at -= n->name_len;
		memcpy(path + at, n->name, n->name_len);
		path[--at] = '/';
	}
	if (top != TREE_NONE && path[at] == '/')
		at++;
	if (top == TREE_NONE && !path[at]) {
		if (!at)
			return false;
		path[--at] = '/';
	}
	memmove(path, path + at, size - at);
	return true;
}

int32_t tree_writer(const struct tree *t, uint32_t node)
{
	for (;;) {
		const struct tree_node *n = &t->nodes[node];

		if (n->directory && n->write >= 0)
			return n->write;
		if ((n->directory && n->read >= 0) || node == TREE_ROOT)
			return -1;
		node = n->parent;
	}
}

int32_t tree_reader(const struct tree *t, uint32_t node, char *path,
		    size_t size)
{
	uint32_t top = node;

	for (;;) {
		const struct tree_node *n = &t->nodes[top];

		if (n->directory && n->read >= 0)
			break;
		if ((n->directory && n->write >= 0) || top == TREE_ROOT)
			return -1;
		top = n->parent;
	}
	return tree_path(t, node, top, path, size) ? t->nodes[top].read : -1;
}

/* The node for a grant's guest name, with all directories on the way. */
static uint32_t add_name(struct tree *t, const char *guest, bool directory)
{
	uint32_t node = TREE_ROOT;
	struct str rest = str_of(guest);

	while (rest.len && rest.p[0] == '/')
		rest = str_after(rest, 1);
	while (rest.len) {
		struct str name = rest, after = {0};
		uint32_t child;

		if (str_split(rest, '/', &name, &after))
			while (after.len && after.p[0] == '/')
				after = str_after(after, 1);
		if (!t->nodes[node].directory)
			return TREE_NONE;
		child = tree_child(t, node, name);
		if (child == TREE_NONE)
			child = tree_add(t, node, name,
					 after.len || directory);
		if (child == TREE_NONE)
			return TREE_NONE;
		node = child;
		rest = after;
	}
	return t->nodes[node].directory == directory ? node : TREE_NONE;
}

static int add_grant(struct tree *t, const struct plan_grant *g, int32_t i,
		     struct redoma_error *err)
{
	bool read = g->kind == GRANT_READ_FILE || g->kind == GRANT_READ_DIR;
	bool dir = g->kind == GRANT_READ_DIR || g->kind == GRANT_WRITE_DIR;
	uint32_t node = add_name(t, g->guest, dir);
	int32_t *slot;

	if (node == TREE_NONE)
		return err_set(err, REDOMA_E_INVALID, "wasi",
			       "%s is both a file and a directory of the plan, "
			       "or there is no memory; give each grant a guest "
			       "name of its own",
			       g->guest);
	slot = read ? &t->nodes[node].read : &t->nodes[node].write;
	if (*slot >= 0)
		return err_set(err, REDOMA_E_INVALID, "wasi",
			       "%s is granted twice; keep one of the grants",
			       g->guest);
	*slot = i;
	if (g->kind == GRANT_WRITE_FILE)
		t->nodes[node].fd = g->fd;
	return 0;
}

int tree_add_plan(struct tree *t, const struct plan *plan,
		  struct redoma_error *err)
{
	for (uint32_t i = 0; i < plan->n_grants; i++) {
		int r = add_grant(t, &plan->grants[i], (int32_t)i, err);

		if (r) {
			tree_clear(t);
			return r;
		}
	}
	t->n_made = 0; /* only what the run makes counts */
	return 0;
}
