#include "wasi/wasi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "wasi/handles.h"
#include "wasi/state.h"
#include "wasi/written.h"

static void cleanup_wasi(struct wasi **w)
{
	wasi_free(*w);
}

int wasi_new(const volatile sig_atomic_t *stop, struct wasi **ret,
	     struct redoma_error *err)
{
	CLEANUP(cleanup_wasi) struct wasi *w = calloc(1, sizeof(*w));

	if (!w || tree_init(&w->tree) || handles_init(w))
		return err_nomem(err, "wasi");
	w->stop = stop;
	*ret = TAKE_PTR(w);
	return 0;
}

/* Costs what the last run left, not what there is room for. */
static void forget_run(struct wasi *w)
{
	if (w->plan)
		handles_clear(w);
	tree_clear(&w->tree);
	written_forget(w);
	denial_clear(w);
	w->report = (struct wasi_report){.denials = w->denials};
	w->plan = NULL;
	w->host = NULL;
	w->input = NULL;
	w->input_len = w->input_at = 0;
	w->bound = false;
	w->has_monotonic = false;
	w->random_at = 0;
}

static int make_grants(struct wasi *w, uint32_t n)
{
	if (n > w->room_grants) {
		struct grant_state *g = realloc(w->grants, n * sizeof(*g));

		if (!g)
			return -1;
		w->grants = g;
		w->room_grants = n;
	}
	if (n)
		memset(w->grants, 0, n * sizeof(*w->grants));
	return 0;
}

int wasi_begin(struct wasi *w, const struct plan *plan,
	       const struct wasi_host *host, const void *input,
	       size_t input_len, struct redoma_error *err)
{
	int r;

	forget_run(w);
	if (make_grants(w, plan->n_grants))
		return err_nomem(err, "wasi");
	r = tree_add_plan(&w->tree, plan, err);
	if (r)
		return r;
	w->plan = plan;
	w->host = host;
	w->input = input;
	w->input_len = input_len;
	handles_start(w);
	return 0;
}

void wasi_bind(struct wasi *w, wasmtime_context_t *ctx,
	       const wasmtime_memory_t *memory)
{
	(void)ctx; /* each call's own context is the same one */
	w->bound = memory != NULL;
	if (memory)
		w->memory = *memory;
}

void wasi_end(struct wasi *w, struct wasi_report *ret)
{
	if (w->plan) {
		written_list(w);
		handles_clear(w);
		for (uint32_t i = 0; i < w->plan->n_grants; i++)
			if (w->plan->grants[i].fd >= 0)
				close(w->plan->grants[i].fd);
		w->plan = NULL;
	}
	w->bound = false;
	*ret = w->report;
}

size_t wasi_written(const struct wasi *w, const struct wasi_written **ret)
{
	*ret = w->written;
	return w->n_written;
}

void wasi_free(struct wasi *w)
{
	if (!w)
		return;
	if (w->handles && w->tree.nodes)
		forget_run(w);
	handles_done(w);
	tree_done(&w->tree);
	free(w->grants);
	free(w);
}

uint32_t wasi_end_run(struct wasi *w, enum wasi_end why)
{
	if (w->report.end == WASI_END_NONE)
		w->report.end = why;
	return W_INTR;
}

bool wasi_stopped(struct wasi *w)
{
	if (!w->stop || !*w->stop)
		return false;
	wasi_end_run(w, WASI_END_STOP);
	return true;
}

uint32_t wasi_errno(struct wasi *w, int host_errno)
{
	static const struct {
		int host;
		uint32_t guest;
	} rows[] = {
		{0, W_SUCCESS},
		{E2BIG, W_2BIG},
		{EACCES, W_ACCES},
		{EAGAIN, W_AGAIN},
		{EBADF, W_BADF},
		{EBUSY, W_BUSY},
		{EEXIST, W_EXIST},
		{EFBIG, W_FBIG},
		{EILSEQ, W_ILSEQ},
		{EINVAL, W_INVAL},
		{EISDIR, W_ISDIR},
		{ELOOP, W_LOOP},
		{EMFILE, W_MFILE},
		{ENFILE, W_MFILE},
		{ENAMETOOLONG, W_NAMETOOLONG},
		{ENOENT, W_NOENT},
		{ENOMEM, W_NOMEM},
		{ENOSPC, W_NOSPC},
		{EDQUOT, W_NOSPC},
		{ENOSYS, W_NOSYS},
		{ENOTDIR, W_NOTDIR},
		{ENOTEMPTY, W_NOTEMPTY},
		{ENOTSUP, W_NOTSUP},
		{EPERM, W_PERM},
		{EROFS, W_ROFS},
		{ESPIPE, W_SPIPE},
		{ESTALE, W_STALE},
		{EXDEV, W_XDEV},
	};

	if (host_errno == EINTR)
		return wasi_end_run(w, WASI_END_STOP);
	if (host_errno == EPIPE || host_errno == EPROTO)
		return wasi_end_run(w, WASI_END_HOST);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].host == host_errno)
			return rows[i].guest;
	return W_IO;
}
