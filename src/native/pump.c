#include "native/pump.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"

static void end(int *fd)
{
	close(TAKE_FD(*fd));
}

int pump_take(struct pump *m, enum frame_kind kind, struct redoma_error *err)
{
	int *fd = kind == FRAME_ERR ? m->err : m->out;
	char text[FRAME_BODY_MAX];
	ssize_t n;
	size_t len;

	if (*fd < 0)
		return 0;
	n = read(*fd, text, sizeof text);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		end(fd);
		return 0;
	}
	len = (size_t)n;
	if (len > m->left) {
		len = (size_t)m->left;
		m->over = true;
	}
	m->left -= len;
	return len ? channel_send(m->channel, kind, FRAME_LAST, text, len, err)
		   : 0;
}

static bool drained(const struct pump *m, int fd, size_t taken)
{
	return fd < 0 || m->over || taken > PIPE_BYTES_MAX;
}

int pump_drain(struct pump *m, struct redoma_error *err)
{
	static const enum frame_kind kinds[] = {FRAME_OUT, FRAME_ERR};
	size_t i, taken;
	int r = 0;

	for (i = 0; i < 2; i++) {
		int *fd = i ? m->err : m->out;

		for (taken = 0; !r && !drained(m, *fd, taken);) {
			uint64_t before = m->left;

			r = pump_take(m, kinds[i], err);
			if (m->left == before)
				break;
			taken += (size_t)(before - m->left);
		}
	}
	return r;
}

void pump_feed(struct pump *m)
{
	ssize_t n = 0;

	if (*m->in < 0)
		return;
	if (m->input_left)
		n = write(*m->in, m->input, m->input_left);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		m->input += n;
		m->input_left -= (size_t)n;
	}
	/* Nobody reads it any more, or there is no more. */
	if (n < 0 || !m->input_left)
		end(m->in);
}

void pump_drop(int fd, char *head, size_t size)
{
	size_t have = 0, dropped = 0;
	char text[4096];
	ssize_t n;

	while (fd >= 0 && dropped <= PIPE_BYTES_MAX &&
	       (n = read(fd, text, sizeof text)) > 0) {
		size_t room = head && size ? size - 1 - have : 0;
		size_t len = (size_t)n < room ? (size_t)n : room;

		if (len)
			memcpy(head + have, text, len);
		have += len;
		dropped += (size_t)n;
	}
	if (head && size)
		head[have] = '\0';
}
