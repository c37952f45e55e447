#include "native/ask.h"

#include <unistd.h>
#include "base/cleanup.h"
#include "wire/call.h"

#define ANSWER_US 5000000u /* a file system that is slow to create a file */

int ask_stage(void *data, uint32_t grant, struct str path,
	      uint64_t *ret_handle, int *ret_fd)
{
	struct channel *c = data;
	struct call call = {.op = CALL_OPEN,
			    .grant = grant,
			    .flags = CALL_WRITE | CALL_CREATE,
			    .path = path};
	CLEANUP(buf_done) struct buf body = {0};
	CLEANUP_FD int fd = -1;
	struct answer a;
	struct frame f;
	const void *p;
	int r = call_encode(&call, &body, NULL);

	if (!r)
		r = channel_send(c, FRAME_CALL, FRAME_LAST, body.data, body.len,
				 NULL);
	/* An answer to a tool that nobody waits for any more is passed over. */
	do
		r = r ? r : channel_recv(c, ANSWER_US, &f, &p, NULL);
	while (!r && f.kind == FRAME_RETURN);
	if (!r && (f.kind != FRAME_ANSWER || answer_decode(p, f.len, &a, NULL)))
		r = REDOMA_E_WORKER;
	if (r)
		return r;
	fd = f.n_fds ? channel_take_fd(c) : -1;
	if (a.error)
		return a.error;
	if (fd < 0)
		return REDOMA_E_WORKER;
	*ret_handle = a.handle;
	*ret_fd = TAKE_FD(fd);
	return 0;
}
