#include "wasi/file.h"

#include <errno.h>
#include <unistd.h>

#include "wasi/calls.h"

#define OFFSET_MAX ((uint64_t)INT64_MAX)

static struct str guest_name(const struct wasi *w, int32_t grant)
{
	return str_of(w->plan->grants[grant].guest);
}

/* pread that the deadline ends. */
static uint32_t read_at(struct wasi *w, int fd, struct guest_span to,
			uint64_t offset, size_t *ret)
{
	ssize_t n;

	*ret = 0;
	if (offset >= OFFSET_MAX)
		return W_SUCCESS;
	if (to.n > OFFSET_MAX - offset)
		to.n = (size_t)(OFFSET_MAX - offset);
	for (;;) {
		n = pread(fd, to.p, to.n, (off_t)offset);
		if (n >= 0)
			break;
		if (errno != EINTR)
			return wasi_errno(w, errno);
		if (wasi_stopped(w))
			return W_INTR;
	}
	*ret = (size_t)n;
	return W_SUCCESS;
}

static uint32_t read_core(struct wasi *w, const struct handle *h,
			  struct guest_span to, uint64_t offset, size_t *ret)
{
	size_t got = 0;
	int e = w->host->pread ? w->host->pread(w->host->data, h->core, to.p,
						to.n, offset, &got)
			       : ENOSYS;

	if (e == EDQUOT) { /* over max_bytes: the core has noted it */
		if (w->plan->end_on_denied)
			wasi_end_run(w, WASI_END_DENIED);
		return W_ACCES;
	}
	if (e)
		return wasi_errno(w, e);
	if (got > to.n)
		return wasi_end_run(w, WASI_END_HOST);
	*ret = got;
	return W_SUCCESS;
}

/* One piece of a read grant; the range of a plain file is applied here. */
static uint32_t read_piece(struct wasi *w, const struct handle *h,
			   struct guest_span to, uint64_t offset, size_t *ret)
{
	const struct plan_grant *g = &w->plan->grants[h->grant];
	uint64_t at = offset, left;

	if (h->fd < 0)
		return read_core(w, h, to, offset, ret);
	if (g->kind == GRANT_READ_FILE && !g->via_core) {
		if (offset > UINT64_MAX - g->first ||
		    offset + g->first > g->last) {
			*ret = 0;
			return W_SUCCESS;
		}
		at = offset + g->first;
		left = g->last - at;
		if (to.n - 1 > left)
			to.n = (size_t)left + 1;
	}
	return read_at(w, h->fd, to, at, ret);
}

/* The grant's budget is used up: fine at the end of the file only. */
static uint32_t read_past(struct wasi *w, const struct handle *h,
			  uint64_t offset, size_t *ret)
{
	uint8_t byte;
	uint32_t e = read_piece(w, h, (struct guest_span){&byte, 1}, offset,
				ret);

	if (e || !*ret)
		return e;
	return denial_add(w, "read", guest_name(w, h->grant), false);
}

static uint32_t read_grant(struct wasi *w, const struct handle *h,
			   struct guest_span to, uint64_t offset, size_t *ret)
{
	uint64_t max = w->plan->grants[h->grant].max_bytes;
	struct grant_state *used = &w->grants[h->grant];
	uint64_t left = max > used->bytes ? max - used->bytes : 0;
	uint32_t e;

	if (!left)
		return read_past(w, h, offset, ret);
	if (to.n > left)
		to.n = (size_t)left;
	e = read_piece(w, h, to, offset, ret);
	if (e)
		return e;
	used->bytes += *ret;
	w->report.read_bytes += *ret;
	return W_SUCCESS;
}

uint32_t file_read(struct wasi *w, struct handle *h, struct guest_span to,
		   uint64_t offset, size_t *ret)
{
	size_t done = 0;

	while (done < to.n) {
		struct guest_span piece = {to.p + done, to.n - done};
		size_t got = 0;
		uint32_t e;

		if (piece.n > WASI_PIECE_BYTES)
			piece.n = WASI_PIECE_BYTES;
		if (offset > UINT64_MAX - done)
			break;
		if (h->kind == HANDLE_WRITE)
			e = read_at(w, w->tree.nodes[h->node].fd, piece,
				    offset + done, &got);
		else
			e = read_grant(w, h, piece, offset + done, &got);
		if (e && !done)
			return e;
		if (e || !got)
			break;
		done += got;
		if (done < to.n && wasi_stopped(w))
			break;
	}
	*ret = done;
	return W_SUCCESS;
}

uint32_t file_check_size(struct wasi *w, uint32_t node, uint64_t size)
{
	const struct tree_node *n = &w->tree.nodes[node];
	uint64_t max = w->plan->grants[n->write].max_bytes;
	uint64_t others = w->grants[n->write].bytes - n->size;

	if (size <= n->size || (size <= max && others <= max - size))
		return W_SUCCESS;
	denial_add(w, "write", guest_name(w, n->write), true);
	return W_NOSPC;
}

static void note_size(struct wasi *w, struct tree_node *n, uint64_t size)
{
	w->grants[n->write].bytes += size - n->size;
	n->size = size;
}

static uint32_t write_at(struct wasi *w, struct tree_node *n,
			 struct guest_span from, uint64_t offset)
{
	while (from.n) {
		size_t piece = from.n < WASI_PIECE_BYTES ? from.n
							 : WASI_PIECE_BYTES;
		ssize_t put;

		if (wasi_stopped(w))
			return W_INTR;
		put = pwrite(n->fd, from.p, piece, (off_t)offset);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return wasi_errno(w, errno);
		offset += (uint64_t)put;
		from.p += put;
		from.n -= (size_t)put;
		w->report.written_bytes += (uint64_t)put;
		if (offset > n->size)
			note_size(w, n, offset);
	}
	return W_SUCCESS;
}

/* A run that is being ended publishes nothing anyway. */
static void note_lack(struct tree_node *n, uint32_t e, enum wasi_lack why)
{
	if (e && e != W_INTR && !n->lacks)
		n->lacks = why;
}

uint32_t file_write(struct wasi *w, uint32_t node, uint64_t offset,
		    const struct guest_span *from, uint32_t n, uint32_t *ret)
{
	uint64_t total = 0, before = w->report.written_bytes;
	uint32_t e = W_SUCCESS;

	for (uint32_t i = 0; i < n; i++)
		total += from[i].n;
	*ret = 0;
	if (!total)
		return W_SUCCESS;
	if (offset > OFFSET_MAX || total > OFFSET_MAX - offset) {
		note_lack(&w->tree.nodes[node], W_FBIG, WASI_LACKS_BYTES);
		return W_FBIG;
	}
	e = file_check_size(w, node, offset + total);
	note_lack(&w->tree.nodes[node], e, WASI_LACKS_BYTES);
	for (uint32_t i = 0; !e && i < n; i++) {
		e = write_at(w, &w->tree.nodes[node], from[i], offset);
		offset += from[i].n;
	}
	note_lack(&w->tree.nodes[node], e, WASI_LACKS_SPACE);
	*ret = (uint32_t)(w->report.written_bytes - before);
	return *ret ? W_SUCCESS : e;
}

uint32_t file_resize(struct wasi *w, uint32_t node, uint64_t size)
{
	struct tree_node *n = &w->tree.nodes[node];
	uint32_t e;

	if (size > OFFSET_MAX)
		return W_FBIG;
	e = file_check_size(w, node, size);
	if (e)
		return e;
	while (ftruncate(n->fd, (off_t)size) < 0) {
		if (errno != EINTR)
			return wasi_errno(w, errno);
		if (wasi_stopped(w))
			return W_INTR;
	}
	if (size <= n->size)
		n->lacks = WASI_LACKS_NOTHING;
	note_size(w, n, size);
	return W_SUCCESS;
}

uint32_t file_set_size(struct wasi *w, uint32_t node, uint64_t size)
{
	uint32_t e = file_resize(w, node, size);

	note_lack(&w->tree.nodes[node], e,
		  e == W_NOSPC ? WASI_LACKS_BYTES : WASI_LACKS_SPACE);
	return e;
}
