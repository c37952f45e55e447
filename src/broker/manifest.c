#include "broker/manifest.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "broker/handle.h"
#include "broker/path.h"

#define WHERE "broker"

static int reject(const struct outcome_written *w, const char *why,
		  struct redoma_error *err)
{
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "the worker's list of files: %s: %s",
		       SHOW(((struct str){w->path.p, w->path.len})), why);
}

static int take_single(struct sealed *s, const struct outcome_written *w,
		       struct item *it, struct redoma_error *err)
{
	if (w->path.len || w->handle)
		return reject(w, "a single file has no path below it", err);
	it->stage = s->plan.grants[w->grant].fd;
	return 0;
}

static int take_below(struct sealed *s, const struct outcome_written *w,
		      struct item *it, struct redoma_error *err)
{
	struct handle *h = handle_find(s, w->handle);

	if (path_check(it->path))
		return reject(w, "not a plain relative path", err);
	if (!h || !h->stage || h->grant != w->grant || h->used)
		return reject(w, "not a file that this run made", err);
	h->used = true;
	it->stage = h->fd;
	return 0;
}

static int take(struct sealed *s, const struct outcome_written *w,
		struct item *it, struct redoma_error *err)
{
	struct stat st;
	int e;

	if (w->grant >= s->plan.n_grants ||
	    s->plan.grants[w->grant].kind < GRANT_WRITE_FILE)
		return reject(w, "not in a write grant", err);
	*it = (struct item){.grant = w->grant,
			    .path = {w->path.p, w->path.len}};
	if (s->plan.grants[w->grant].kind == GRANT_WRITE_FILE)
		e = take_single(s, w, it, err);
	else
		e = take_below(s, w, it, err);
	if (e)
		return e;
	if (fstat(it->stage, &st))
		return err_sys(err, WHERE, "fstat a stage");
	it->bytes = (uint64_t)st.st_size;
	return 0;
}

static int compare(const void *pa, const void *pb)
{
	const struct item *a = *(const struct item *const *)pa;
	const struct item *b = *(const struct item *const *)pb;

	if (a->grant != b->grant)
		return a->grant < b->grant ? -1 : 1;
	return path_compare(a->path, b->path);
}

static int check_caps(const struct sealed *s, const struct item *const *sorted,
		      size_t n, struct redoma_error *err)
{
	uint64_t bytes = 0, files = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct item *it = sorted[i];
		const struct plan_grant *g = &s->plan.grants[it->grant];

		if (!i || it->grant != sorted[i - 1]->grant)
			bytes = files = 0;
		files++;
		if (it->bytes > g->max_bytes - bytes)
			return err_set(err, REDOMA_E_DENIED, WHERE,
				       "write %s: more than max_bytes (%llu) "
				       "was written; nothing is published",
				       SHOW(str_of(g->guest)),
				       (unsigned long long)g->max_bytes);
		bytes += it->bytes;
		if (g->kind == GRANT_WRITE_DIR && files > g->max_files)
			return err_set(err, REDOMA_E_DENIED, WHERE,
				       "write %s: more than max_files (%llu) "
				       "were written; nothing is published",
				       SHOW(str_of(g->guest)),
				       (unsigned long long)g->max_files);
	}
	return 0;
}

static int check_set(const struct sealed *s, const struct item *items,
		     size_t n, struct redoma_error *err)
{
	CLEANUP_FREE const struct item **sorted = calloc(n, sizeof *sorted);
	size_t i;

	if (!sorted)
		return err_nomem(err, WHERE);
	for (i = 0; i < n; i++)
		sorted[i] = &items[i];
	qsort(sorted, n, sizeof *sorted, compare);
	for (i = 1; i < n; i++)
		if (sorted[i]->grant == sorted[i - 1]->grant &&
		    path_covers(sorted[i - 1]->path, sorted[i]->path))
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "the worker's list of files: %s is "
				       "there twice, or has a file below it",
				       SHOW(sorted[i - 1]->path));
	return check_caps(s, sorted, n, err);
}

int manifest_check(struct sealed *s, const struct outcome_written *w, size_t n,
		   struct item *items, struct redoma_error *err)
{
	size_t i;
	int e;

	if (n > SEAL_FILES_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the worker's list of files: %zu are over the "
			       "most, %u",
			       n, SEAL_FILES_MAX);
	for (i = 0; i < n; i++) {
		e = take(s, &w[i], &items[i], err);
		if (e)
			return e;
	}
	return n ? check_set(s, items, n, err) : 0;
}
