/* wasi/handles.h - the guest's descriptor table. */
#ifndef WASI_HANDLES_H
#define WASI_HANDLES_H

#include "wasi/state.h"

MUST_CHECK int handles_init(struct wasi *w);
/* 0, 1, 2 and the preopened "/" as 3. */
void handles_start(struct wasi *w);
void handles_clear(struct wasi *w); /* closes all */
void handles_done(struct wasi *w);
/* The handle, or NULL (W_BADF).  Valid until the next handles_add. */
struct handle *handles_get(struct wasi *w, uint32_t fd);
/* W_BADF: not open; W_NOTCAPABLE: it lacks a right. */
uint32_t handles_want(struct wasi *w, uint32_t fd, uint64_t rights,
		      struct handle **ret);
/* W_MFILE if one more file is over the plan's limit. */
uint32_t handles_room(struct wasi *w);
/* Takes *h over on success, at the lowest free number.  W_MFILE, W_NOMEM. */
uint32_t handles_add(struct wasi *w, const struct handle *h, uint32_t *ret);
/* Forgets a made node that has neither name nor descriptor; its stage is
 * closed and its bytes are free for the grant again. */
void handles_drop_node(struct wasi *w, uint32_t node);
uint32_t handles_close(struct wasi *w, uint32_t fd);
/* Moves `from` onto `to`, which must be open and is closed first. */
uint32_t handles_renumber(struct wasi *w, uint32_t from, uint32_t to);

#endif
