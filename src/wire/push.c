#include "wire/push.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WHERE "wire"

int channel_push(struct channel *c, struct redoma_error *err)
{
	size_t at = 0;

	while (at < c->out.len) {
		ssize_t n = send(c->fd, c->out.data + at, c->out.len - at,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n >= 0) {
			at += (size_t)n;
			continue;
		}
		if (errno == EAGAIN)
			break;
		if (errno == EINTR)
			continue;
		if (errno == EPIPE || errno == ECONNRESET)
			return err_set(err, REDOMA_E_WORKER, WHERE,
				       "the other process is gone");
		return err_sys(err, WHERE, "send a frame");
	}
	if (at == c->out.len) {
		buf_clear(&c->out);
	} else if (at) {
		memmove(c->out.data, c->out.data + at, c->out.len - at);
		c->out.len -= at;
	}
	return 0;
}

bool channel_heard(const struct channel *c)
{
	size_t have = c->have - c->at;
	struct frame f;

	if (have < sizeof f)
		return false;
	memcpy(&f, c->in + c->at, sizeof f);
	return f.len > FRAME_BODY_MAX || have - sizeof f >= f.len;
}

int channel_wait(struct channel *c, int wake_fd, uint64_t timeout_us,
		 bool *ret_heard, struct redoma_error *err)
{
	struct pollfd p[2] = {
		{.fd = c->fd,
		 .events = (short)(POLLIN | (c->out.len ? POLLOUT : 0))},
		{.fd = wake_fd, .events = POLLIN}};
	struct timespec t = {(time_t)(timeout_us / 1000000),
			     (long)(timeout_us % 1000000) * 1000};
	uint64_t n;

	if (ppoll(p, 2, &t, NULL) < 0 && errno != EINTR)
		return err_sys(err, WHERE, "wait for a frame");
	*ret_heard = p[0].revents & ~POLLOUT;
	if (p[1].revents && read(wake_fd, &n, sizeof n) < 0 &&
	    errno != EAGAIN && errno != EINTR)
		return err_sys(err, WHERE, "read a wake-up");
	return 0;
}
