#include "wire/frame.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/fd.h"

#define NUDGE_MOST_US 16000u
#define WHERE "wire"

void channel_init(struct channel *c, int fd)
{
	c->fd = fd;
	c->run = 0;
	c->send_by_us = 0;
	c->nudge_us = 0;
	c->adopt = false;
	c->no_fds = false;
	c->at = 0;
	c->have = 0;
	c->n_fds = 0;
	c->out = (struct buf){0};
}

void channel_renew(struct channel *c, int fd)
{
	struct buf out = c->out;

	channel_init(c, fd);
	buf_clear(&out);
	c->out = out;
}

void channel_done(struct channel *c)
{
	int fd;

	while ((fd = channel_take_fd(c)) >= 0)
		close(fd);
	buf_done(&c->out);
}

int channel_take_fd(struct channel *c)
{
	int fd;

	if (!c->n_fds)
		return -1;
	fd = c->fds[0];
	c->n_fds--;
	memmove(c->fds, c->fds + 1, c->n_fds * sizeof *c->fds);
	return fd;
}

static void skip(struct msghdr *m, size_t n)
{
	while (m->msg_iovlen && n >= m->msg_iov->iov_len) {
		n -= m->msg_iov->iov_len;
		m->msg_iov++;
		m->msg_iovlen--;
	}
	if (m->msg_iovlen) {
		m->msg_iov->iov_base = (char *)m->msg_iov->iov_base + n;
		m->msg_iov->iov_len -= n;
	}
}

/* 0: until something comes. */
static uint64_t next_nap(uint64_t nap)
{
	return nap < NUDGE_MOST_US ? 2 * nap : 0;
}

static int wait_for(const struct channel *c, short events, uint64_t until_us,
		    struct redoma_error *err)
{
	uint64_t nap = c->nudge_us;

	for (;; nap = next_nap(nap)) {
		struct pollfd p = {.fd = c->fd, .events = events};
		uint64_t now = clock_monotonic_us();
		uint64_t left = now < until_us ? until_us - now : 0;
		bool nudges = nap && nap < left;
		uint64_t us = nudges ? nap : left;
		struct timespec t = {(time_t)(us / 1000000),
				     (long)(us % 1000000) * 1000};
		bool timed = nudges || until_us != UINT64_MAX;
		int n = ppoll(&p, 1, timed ? &t : NULL, NULL);

		if (n > 0)
			return 0;
		if (n == 0 && nudges)
			continue;
		if (n == 0)
			return err_set(err, REDOMA_E_BUSY, WHERE,
				       "the other process was not ready in "
				       "time");
		if (errno != EINTR)
			return err_sys(err, WHERE, "wait for a frame");
	}
}

static int send_failed(const struct channel *c, struct redoma_error *err)
{
	if (errno == EINTR)
		return 0;
	if (errno == EAGAIN)
		return wait_for(c, POLLOUT, c->send_by_us, err);
	if (errno == EPIPE || errno == ECONNRESET)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "the other process is gone");
	return err_sys(err, WHERE, "send a frame");
}

static int send_all(const struct channel *c, struct msghdr *m,
		    struct redoma_error *err)
{
	int flags = MSG_NOSIGNAL | (c->send_by_us ? MSG_DONTWAIT : 0);

	while (m->msg_iovlen) {
		ssize_t n = sendmsg(c->fd, m, flags);
		int r = n < 0 ? send_failed(c, err) : 0;

		if (r)
			return r;
		if (n < 0)
			continue;
		m->msg_control = NULL;
		m->msg_controllen = 0;
		skip(m, (size_t)n);
	}
	return 0;
}

static int send_parts(const struct channel *c, struct msghdr *m,
		      const int *fds, size_t n_fds, struct redoma_error *err)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(FRAME_FDS_MAX * sizeof(int))];
	} ctl;
	size_t n = n_fds * sizeof(int);

	if (n) {
		m->msg_control = &ctl;
		m->msg_controllen = CMSG_SPACE(n);
		ctl.align = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
					     .cmsg_type = SCM_RIGHTS,
					     .cmsg_len = CMSG_LEN(n)};
		memcpy(CMSG_DATA(&ctl.align), fds, n);
	}
	return send_all(c, m, err);
}

static int send_frame(struct channel *c, const struct frame *f,
		      const void *body, const int *fds,
		      struct redoma_error *err)
{
	struct iovec v[2] = {{(void *)f, sizeof *f}, {(void *)body, f->len}};
	struct msghdr m = {.msg_iov = v, .msg_iovlen = f->len ? 2 : 1};

	return send_parts(c, &m, fds, f->n_fds, err);
}

int channel_put(struct channel *c, enum frame_kind kind, const void *p,
		size_t len, size_t n_fds, struct redoma_error *err)
{
	const char *at = p;

	for (;;) {
		size_t n = len < FRAME_BODY_MAX ? len : FRAME_BODY_MAX;
		struct frame f = {.magic = FRAME_MAGIC,
				  .kind = (uint16_t)kind,
				  .flags = n == len ? FRAME_LAST : 0,
				  .run = c->run,
				  .len = (uint32_t)n,
				  .n_fds = (uint32_t)n_fds};

		if (buf_add(&c->out, &f, sizeof f) || buf_add(&c->out, at, n))
			return err_nomem(err, WHERE);
		if (n == len)
			return 0;
		at += n;
		len -= n;
		n_fds = 0;
	}
}

int channel_flush(struct channel *c, const int *fds, size_t n_fds,
		  struct redoma_error *err)
{
	struct iovec v = {c->out.data, c->out.len};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	int r = c->out.len ? send_parts(c, &m, fds, n_fds, err) : 0;

	buf_clear(&c->out);
	return r;
}

int channel_send(struct channel *c, enum frame_kind kind, unsigned flags,
		 const void *body, size_t len, struct redoma_error *err)
{
	struct frame f = {.magic = FRAME_MAGIC,
			  .kind = (uint16_t)kind,
			  .flags = (uint16_t)flags,
			  .run = c->run,
			  .len = (uint32_t)len};

	if (len > FRAME_BODY_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "a frame of %zu bytes is over the cap of %u",
			       len, FRAME_BODY_MAX);
	return send_frame(c, &f, body, NULL, err);
}

int channel_send_fds(struct channel *c, enum frame_kind kind, const void *body,
		     size_t len, const int *fds, size_t n_fds,
		     struct redoma_error *err)
{
	struct frame f = {.magic = FRAME_MAGIC,
			  .kind = (uint16_t)kind,
			  .flags = FRAME_LAST,
			  .run = c->run,
			  .len = (uint32_t)len,
			  .n_fds = (uint32_t)n_fds};

	if (len > FRAME_BODY_MAX || n_fds > FRAME_FDS_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "a frame of %zu bytes and %zu descriptors is "
			       "over its caps",
			       len, n_fds);
	return send_frame(c, &f, body, fds, err);
}

/* Descriptors over what the channel can hold are closed: the frame that named
 * them is then refused by its count. */
static void keep_fds(struct channel *c, struct msghdr *m)
{
	struct cmsghdr *h;

	for (h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
		size_t n = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		size_t i;

		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
			continue;
		for (i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(h) + i * sizeof fd, sizeof fd);
			fd = fd_lift(fd);
			if (fd >= 0 && c->n_fds < FRAME_FDS_MAX)
				c->fds[c->n_fds++] = fd;
			else if (fd >= 0)
				close(fd);
		}
	}
}

/* The kernel keeps what we leave no room for, or have no number for. */
static int lost(const struct channel *c, struct redoma_error *err)
{
	if (c->no_fds)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "descriptors where none belong");
	return err_set(err, REDOMA_E_SYSTEM, WHERE,
		       "this process may have no more descriptors: raise "
		       "RLIMIT_NOFILE, or close some");
}

/* One large read behind what is there. */
static int fill(struct channel *c, uint64_t until_us, struct redoma_error *err)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(FRAME_FDS_MAX * sizeof(int))];
	} ctl;
	struct iovec v;
	ssize_t n;

	if (c->at) {
		memmove(c->in, c->in + c->at, c->have - c->at);
		c->have -= c->at;
		c->at = 0;
	}
	v = (struct iovec){c->in + c->have, sizeof c->in - c->have};
	for (;;) {
		struct msghdr m = {.msg_iov = &v,
				   .msg_iovlen = 1,
				   .msg_control = c->no_fds ? NULL : &ctl,
				   .msg_controllen =
					   c->no_fds ? 0 : sizeof ctl};
		int r;

		/* What is there already needs no wait. */
		n = recvmsg(c->fd, &m,
			    MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			r = wait_for(c, POLLIN, until_us, err);
			if (r)
				return r;
			continue;
		}
		if (n > 0)
			keep_fds(c, &m);
		if (n > 0 && m.msg_flags & MSG_CTRUNC)
			return lost(c, err);
		break;
	}
	if (n == 0 || (n < 0 && errno == ECONNRESET))
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "the other process is gone");
	if (n < 0)
		return err_sys(err, WHERE, "receive a frame");
	c->have += (size_t)n;
	return 0;
}

static int check(struct channel *c, const struct frame *f,
		 struct redoma_error *err)
{
	if (f->magic != FRAME_MAGIC || !f->kind || f->kind >= FRAME_KIND_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "not a frame: magic %08x, kind %u", f->magic,
			       f->kind);
	if (f->len > FRAME_BODY_MAX || f->n_fds > FRAME_FDS_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "a frame of %u bytes and %u descriptors is over "
			       "its caps",
			       f->len, f->n_fds);
	if (c->adopt)
		c->run = f->run;
	if (f->run != c->run)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "a frame of another run");
	return 0;
}

int channel_recv(struct channel *c, uint64_t timeout_us, struct frame *ret,
		 const void **ret_body, struct redoma_error *err)
{
	uint64_t until = UINT64_MAX;
	struct frame f;

	if (timeout_us != UINT64_MAX)
		until = clock_monotonic_us() + timeout_us;
	for (;;) {
		size_t have = c->have - c->at;
		int r;

		if (have >= sizeof f) {
			memcpy(&f, c->in + c->at, sizeof f);
			r = check(c, &f, err);
			if (r)
				return r;
			if (have - sizeof f >= f.len)
				break;
		}
		r = fill(c, until, err);
		if (r)
			return r;
	}
	if (f.n_fds > c->n_fds)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "a frame names %u descriptors and brought %zu",
			       f.n_fds, c->n_fds);
	c->adopt = false;
	*ret = f;
	*ret_body = c->in + c->at + sizeof f;
	c->at += sizeof f + f.len;
	if (c->at == c->have)
		c->at = c->have = 0;
	return 0;
}
