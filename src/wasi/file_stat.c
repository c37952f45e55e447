#include "wasi/file.h"

#include <errno.h>
#include <sys/stat.h>

#include "wasi/clock.h"

#define NS_PER_S 1000000000

/* Devices of the tree: nodes are all on one; the core names its own. */
#define TREE_DEV 1

static uint64_t positive(int64_t ns)
{
	return ns > 0 ? (uint64_t)ns : 0;
}

void file_stat_host(const struct wasi_stat *st, struct file_stat *ret)
{
	*ret = (struct file_stat){
		.type = st->type,
		.dev = st->dev,
		.ino = st->ino,
		.nlink = st->nlink,
		.size = st->size,
		.atim_ns = positive(st->atim_ns),
		.mtim_ns = positive(st->mtim_ns),
		.ctim_ns = positive(st->ctim_ns),
	};
}

static uint64_t time_of(struct timespec ts)
{
	uint64_t ns;

	if (ts.tv_sec < 0)
		return 0;
	if (__builtin_mul_overflow((uint64_t)ts.tv_sec, NS_PER_S, &ns) ||
	    __builtin_add_overflow(ns, (uint64_t)ts.tv_nsec, &ns))
		return UINT64_MAX;
	return ns;
}

/* What of the file is in the grant's range. */
static uint64_t in_range(const struct plan_grant *g, uint64_t size)
{
	uint64_t end = g->last < size ? g->last + 1 : size;

	if (g->kind != GRANT_READ_FILE || g->via_core)
		return size;
	return end > g->first ? end - g->first : 0;
}

static uint32_t stat_fd(struct wasi *w, int fd, uint32_t grant,
			struct file_stat *ret)
{
	const struct plan_grant *g = &w->plan->grants[grant];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return wasi_errno(w, errno);
	*ret = (struct file_stat){
		.type = FILETYPE_REGULAR,
		.dev = (uint64_t)st.st_dev,
		.ino = st.st_ino,
		.nlink = st.st_nlink,
		.size = in_range(g, (uint64_t)st.st_size),
		.atim_ns = time_of(st.st_atim),
		.mtim_ns = time_of(st.st_mtim),
		.ctim_ns = time_of(st.st_ctim),
	};
	return W_SUCCESS;
}

/* A single file has the tree's identity, not the host's; a pinned one has
 * no times, for they are not pinned with it. */
static void disguise(struct wasi *w, uint32_t grant, uint64_t ino,
		     struct file_stat *st)
{
	st->dev = TREE_DEV;
	st->ino = ino;
	st->nlink = 1;
	if (w->plan->grants[grant].pinned)
		st->atim_ns = st->mtim_ns = st->ctim_ns = 0;
	else
		w->report.used_unpinned = true;
}

uint32_t file_stat_grant(struct wasi *w, uint32_t grant, uint64_t ino,
			 struct file_stat *ret)
{
	const struct plan_grant *g = &w->plan->grants[grant];
	uint32_t e = W_SUCCESS;

	if (g->fd >= 0 && !g->via_core) {
		e = stat_fd(w, g->fd, grant, ret);
	} else {
		struct wasi_stat st;
		int bad = w->host->stat ? w->host->stat(w->host->data, grant,
							"", true, &st)
					: ENOSYS;

		if (bad)
			return wasi_errno(w, bad);
		file_stat_host(&st, ret);
	}
	if (!e)
		disguise(w, grant, ino, ret);
	return e;
}

/* Times of what the run makes: the guest's own, else the plan's clock. */
static void stat_times(struct wasi *w, const struct tree_node *n,
		       struct file_stat *ret)
{
	uint64_t now = 0;
	struct stat st;

	if (w->plan->clock == SOURCE_FIXED)
		now = positive(w->plan->clock_fixed_ns);
	if (w->plan->clock == SOURCE_REAL && !n->directory &&
	    !fstat(n->fd, &st)) {
		now = time_of(st.st_mtim);
		w->report.used_clock = true;
	}
	ret->atim_ns = n->has_atim ? n->atim_ns : now;
	ret->mtim_ns = n->has_mtim ? n->mtim_ns : now;
	ret->ctim_ns = now;
}

void file_stat_node(struct wasi *w, uint32_t node, struct file_stat *ret)
{
	const struct tree_node *n = &w->tree.nodes[node];

	*ret = (struct file_stat){
		.type = n->directory ? FILETYPE_DIRECTORY : FILETYPE_REGULAR,
		.dev = TREE_DEV,
		.ino = (uint64_t)node + 1,
		.nlink = n->live,
		.size = n->directory ? 0 : n->size,
	};
	if (n->made || n->touched)
		stat_times(w, n, ret);
}

static uint32_t stat_dir(struct wasi *w, const struct handle *h,
			 struct file_stat *ret)
{
	file_stat_node(w, h->node, ret);
	if (h->rest)
		file_stat_host(&h->st, ret);
	return W_SUCCESS;
}

static uint32_t stat_read(struct wasi *w, const struct handle *h,
			  struct file_stat *ret)
{
	bool single = w->plan->grants[h->grant].kind == GRANT_READ_FILE;
	uint32_t e = W_SUCCESS;

	if (h->fd >= 0)
		e = stat_fd(w, h->fd, (uint32_t)h->grant, ret);
	else
		file_stat_host(&h->st, ret);
	if (e)
		return e;
	if (single)
		disguise(w, (uint32_t)h->grant, (uint64_t)h->node + 1, ret);
	else if (h->st.ino) {
		ret->dev = h->st.dev;
		ret->ino = h->st.ino;
	}
	return W_SUCCESS;
}

uint32_t file_stat_handle(struct wasi *w, const struct handle *h,
			  struct file_stat *ret)
{
	switch (h->kind) {
	case HANDLE_DIR:
		return stat_dir(w, h, ret);
	case HANDLE_READ:
		return stat_read(w, h, ret);
	case HANDLE_WRITE:
		file_stat_node(w, h->node, ret);
		return W_SUCCESS;
	default:
		*ret = (struct file_stat){.type = FILETYPE_UNKNOWN,
					  .nlink = 1};
		return W_SUCCESS;
	}
}

uint32_t file_size(struct wasi *w, const struct handle *h, uint64_t *ret)
{
	struct file_stat st;
	uint32_t e;

	if (h->kind == HANDLE_WRITE) {
		*ret = w->tree.nodes[h->node].size;
		return W_SUCCESS;
	}
	e = stat_read(w, h, &st);
	if (!e)
		*ret = st.size;
	return e;
}

void file_put_stat(const struct guest *g, uint32_t at,
		   const struct file_stat *st)
{
	guest_put_u64(g, at, st->dev);
	guest_put_u64(g, at + 8, st->ino);
	guest_put_u64(g, at + 16, st->type); /* and seven bytes of padding */
	guest_put_u64(g, at + 24, st->nlink);
	guest_put_u64(g, at + 32, st->size);
	guest_put_u64(g, at + 40, st->atim_ns);
	guest_put_u64(g, at + 48, st->mtim_ns);
	guest_put_u64(g, at + 56, st->ctim_ns);
}

uint32_t file_check_times(uint32_t flags)
{
	const uint32_t atim = FST_ATIM | FST_ATIM_NOW;
	const uint32_t mtim = FST_MTIM | FST_MTIM_NOW;

	if (flags & ~(uint32_t)FST_ALL || (flags & atim) == atim ||
	    (flags & mtim) == mtim)
		return W_INVAL;
	return W_SUCCESS;
}

uint32_t file_set_times(struct wasi *w, uint32_t node, uint32_t flags,
			uint64_t atim_ns, uint64_t mtim_ns)
{
	struct tree_node *n = &w->tree.nodes[node];
	int64_t now = 0;

	if (flags & (FST_ATIM_NOW | FST_MTIM_NOW)) {
		uint32_t e = clock_now(w, CLOCK_ID_REALTIME, &now);

		if (e)
			return e;
	}
	if (flags & (FST_ATIM | FST_ATIM_NOW)) {
		n->has_atim = true;
		n->atim_ns = flags & FST_ATIM ? atim_ns : positive(now);
	}
	if (flags & (FST_MTIM | FST_MTIM_NOW)) {
		n->has_mtim = true;
		n->mtim_ns = flags & FST_MTIM ? mtim_ns : positive(now);
	}
	return W_SUCCESS;
}
