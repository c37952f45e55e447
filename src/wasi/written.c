#include "wasi/written.h"

#include <stdlib.h>
#include <string.h>

#include "wire/outcome.h"

void written_forget(struct wasi *w)
{
	for (size_t i = 0; i < w->n_written; i++)
		free((char *)w->written[i].path);
	free(w->written);
	w->written = NULL;
	w->n_written = 0;
}

/* The first reason is told. */
static void lack(struct wasi *w, enum wasi_lack why, int32_t grant)
{
	if (w->report.lacks || !why)
		return;
	w->report.lacks = why;
	w->report.lacking = w->plan->grants[grant].guest;
}

/* -1: out of memory, or its path is too long by now. */
static int add(struct wasi *w, uint32_t node)
{
	const struct tree *t = &w->tree;
	const struct tree_node *n = &t->nodes[node];
	char path[WASI_PATH_MAX];
	struct wasi_written *all;
	uint32_t top = node;

	while (n->made && (!t->nodes[top].directory ||
			   t->nodes[top].write != n->write))
		top = t->nodes[top].parent;
	if (!tree_path(t, node, top, path, sizeof(path)))
		return -1;
	all = realloc(w->written, (w->n_written + 1) * sizeof(*all));
	if (!all)
		return -1;
	w->written = all;
	all[w->n_written] = (struct wasi_written){
		(uint32_t)n->write, strdup(path), n->made ? n->handle : 0};
	if (!all[w->n_written].path)
		return -1;
	w->n_written++;
	return 0;
}

void written_list(struct wasi *w)
{
	const struct tree *t = &w->tree;

	for (uint32_t i = 1; i < t->n; i++) {
		const struct tree_node *n = &t->nodes[i];

		if (n->directory || !n->live || !n->touched)
			continue;
		lack(w, (enum wasi_lack)n->lacks, n->write);
		if (w->n_written == OUTCOME_WRITTEN_MAX)
			lack(w, WASI_LACKS_FILES, n->write);
		else if (add(w, i))
			lack(w, WASI_LACKS_SPACE, n->write);
	}
	for (uint32_t i = 0; i < w->plan->n_grants; i++)
		lack(w, w->grants[i].lacks, (int32_t)i);
}
