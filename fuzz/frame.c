/* Frames from a hostile worker: every byte it can send is a frame within its
 * limits or a protocol error.  The first byte chooses the run's id. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "wire/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(struct channel *c)
{
	struct redoma_error err;
	struct frame f;
	const void *body;
	int rc;

	do {
		memset(&err, 0, sizeof(err));
		rc = channel_recv(c, 1000000, &f, &body, &err);
		if (rc == 0 && (f.magic != FRAME_MAGIC || !f.kind ||
				f.kind >= FRAME_KIND_MAX || f.run != c->run ||
				f.len > FRAME_BODY_MAX ||
				f.n_fds > FRAME_FDS_MAX))
			abort();
		/* The peer is gone: waiting would be for ever. */
		if (rc == REDOMA_E_BUSY || (rc && !err.text[0]))
			abort();
		for (uint32_t i = 0, sum = 0; rc == 0 && i < f.len; i++) {
			sum += ((const uint8_t *)body)[i];
			__asm__ volatile("" : : "r"(sum));
		}
	} while (rc == 0);
	if (channel_take_fd(c) != -1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct channel c;
	int pair[2];

	/* What fits a socket's buffer without a reader. */
	if (size < 1 || size > 100000)
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		abort();
	if (send(pair[0], data + 1, size - 1, MSG_DONTWAIT) != (ssize_t)size - 1)
		abort();
	close(pair[0]);
	channel_init(&c, pair[1]);
	c.run = data[0];
	read_all(&c);
	channel_done(&c);
	close(pair[1]);
	return 0;
}
