#include "wasi/state.h"

#include <stdlib.h>
#include <string.h>

static bool is_same(const struct wasi_denial *d, const char *op,
		    struct str path)
{
	return !strcmp(d->op, op) &&
	       str_equal((struct str){d->path, d->path_len}, path);
}

uint32_t denial_add(struct wasi *w, const char *op, struct str path, bool write)
{
	struct wasi_report *r = &w->report;
	struct wasi_denial *d;
	char *copy;

	if (w->plan->end_on_denied)
		wasi_end_run(w, WASI_END_DENIED);
	if (path.len > WASI_PATH_MAX)
		path.len = WASI_PATH_MAX;
	for (size_t i = 0; i < r->n_denials; i++) {
		if (!is_same(&w->denials[i], op, path))
			continue;
		w->denials[i].count++;
		w->denials[i].write |= write;
		return W_ACCES;
	}
	copy = r->n_denials < WASI_DENIALS_MAX ? malloc(path.len + 1) : NULL;
	if (!copy) {
		r->more_denials++;
		return W_ACCES;
	}
	if (path.len)
		memcpy(copy, path.p, path.len);
	copy[path.len] = '\0';
	d = &w->denials[r->n_denials++];
	*d = (struct wasi_denial){op, copy, path.len, 1, write};
	return W_ACCES;
}

void denial_clear(struct wasi *w)
{
	for (size_t i = 0; i < w->report.n_denials; i++)
		free((char *)w->denials[i].path);
	w->report.n_denials = 0;
}
