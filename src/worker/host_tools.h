/* worker/host_tools.h - calls of tools, as frames; what host.c and host_tools.c
 * share.
 *
 * One answer at a time waits for the guest to take it; more stay in the socket,
 * so that what the caller answers costs the worker no memory of its own. */
#ifndef WORKER_HOST_TOOLS_H
#define WORKER_HOST_TOOLS_H

#include "worker/host.h"

/* Members of struct wasi_host. */
int host_tools_call(void *data, const void *p, size_t n, uint32_t *ret_id);
int host_tools_wait(void *data, uint64_t timeout_us, uint32_t *ret_id,
		    uint32_t *ret_len);
int host_tools_take(void *data, uint32_t id, const void **ret,
		    uint32_t *ret_len);
/* A FRAME_RETURN that came while something else was waited for. */
MUST_CHECK int host_tools_keep(struct host *h, const struct frame *f,
			       const void *body);

/* host.c: around what a signal handler must not see half done; and sending what
 * was collected, as text and as frames. */
void host_enter(struct host *h);
void host_leave(struct host *h);
int host_put_text(struct host *h);
int host_send(struct host *h);

#endif
