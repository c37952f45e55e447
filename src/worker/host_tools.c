#include "worker/host_tools.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include "base/clock.h"
#include "wire/tool.h"

/* Calls collected before they leave by themselves. */
#define COLLECT_MAX 65536u

int host_tools_call(void *data, const void *p, size_t n, uint32_t *ret_id)
{
	struct host *h = data;
	struct host_tools *t = &h->tools;
	int e = 0;

	if (t->under_way >= t->in_flight)
		return EAGAIN;
	if (*h->stop)
		return EINTR;
	host_enter(h);
	if (h->broke || host_put_text(h) ||
	    tool_put(h->channel, FRAME_TOOL, t->last + 1, p, n, NULL) ||
	    (h->channel->out.len > COLLECT_MAX && host_send(h))) {
		h->broke = true;
		e = EPIPE;
	}
	host_leave(h);
	if (e)
		return e;
	t->under_way++;
	*ret_id = ++t->last;
	return 0;
}

int host_tools_keep(struct host *h, const struct frame *f, const void *body)
{
	struct buf *b = &h->tools.early;

	return buf_reserve(b, sizeof *f + f->len) || buf_add(b, f, sizeof *f) ||
	       buf_add(b, body, f->len);
}

/* A piece of an answer. */
static int add(struct host_tools *t, const struct frame *f, const void *body)
{
	uint32_t id = 0;

	if (buf_add(&t->message, body, f->len))
		return -1;
	if (!(f->flags & FRAME_LAST))
		return 0;
	if (t->message.len >= sizeof id)
		memcpy(&id, t->message.data, sizeof id);
	if (!id || id > t->last || !t->under_way)
		return -1;
	t->under_way--;
	t->heard = true;
	return 0;
}

static int take_early(struct host_tools *t)
{
	while (!t->heard && t->early_at < t->early.len) {
		struct frame f;

		memcpy(&f, t->early.data + t->early_at, sizeof f);
		if (add(t, &f, t->early.data + t->early_at + sizeof f))
			return -1;
		t->early_at += sizeof f + f.len;
	}
	if (t->early_at == t->early.len) {
		buf_clear(&t->early);
		t->early_at = 0;
	}
	return 0;
}

/* All that makes an answer whole is on its way once a part of it is here. */
static int take_frames(struct host *h)
{
	struct host_tools *t = &h->tools;

	do {
		struct frame f;
		const void *body;

		if (channel_recv(h->channel, UINT64_MAX, &f, &body, NULL) ||
		    f.kind != FRAME_RETURN || add(t, &f, body))
			return -1;
	} while (!t->heard);
	return 0;
}

/* Until something can be read, `until` has come or the run is being ended.
 * Signals are let in by ppoll alone, so that one which comes after the look at
 * *stop is not lost.  -1 with errno: 0 for time. */
static int sleep_until(struct host *h, uint64_t until)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGILL,
				     SIGFPE,  SIGSYS, SIGTRAP};
	struct pollfd p = {.fd = h->channel->fd, .events = POLLIN};
	sigset_t all, before;
	int n = 0, e = 0;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	while (!n && !e) {
		uint64_t now = until == UINT64_MAX ? 0 : clock_monotonic_us();
		uint64_t left = now < until ? until - now : 0;
		struct timespec ts = {(time_t)(left / 1000000),
				      (long)(left % 1000000) * 1000};

		if (*h->stop)
			e = EINTR;
		else
			n = ppoll(&p, 1, until == UINT64_MAX ? NULL : &ts,
				  &before);
		if (n < 0) {
			e = errno == EINTR ? 0 : EPIPE;
			n = 0;
		} else if (!n && !e) {
			break;
		}
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = e;
	return n > 0 ? 0 : -1;
}

/* 0 with t->heard, or without: time is over.  EINTR, EPIPE. */
static int hear(struct host *h, uint64_t timeout_us)
{
	struct host_tools *t = &h->tools;
	uint64_t until = timeout_us;

	if (t->heard || !t->under_way)
		return 0;
	buf_clear(&t->message);
	if (h->broke || take_early(t))
		return EPIPE;
	if (t->heard)
		return 0;
	if (h->channel->at == h->channel->have) {
		if (!timeout_us)
			return 0;
		if (host_send(h))
			return EPIPE;
		if (until != UINT64_MAX)
			until = clock_monotonic_us() + timeout_us;
		if (sleep_until(h, until))
			return errno;
	}
	return take_frames(h) ? EPIPE : 0;
}

static int hear_apart(struct host *h, uint64_t timeout_us)
{
	int e;

	host_enter(h);
	e = hear(h, timeout_us);
	h->broke |= e == EPIPE;
	host_leave(h);
	return e;
}

int host_tools_wait(void *data, uint64_t timeout_us, uint32_t *ret_id,
		    uint32_t *ret_len)
{
	struct host *h = data;
	struct host_tools *t = &h->tools;
	int e;

	if (t->told)
		t->heard = t->told = false;
	*ret_id = *ret_len = 0;
	e = hear_apart(h, timeout_us);
	if (e || !t->heard)
		return e;
	t->told = true;
	memcpy(ret_id, t->message.data, sizeof *ret_id);
	*ret_len = (uint32_t)(t->message.len - sizeof *ret_id);
	return 0;
}

int host_tools_take(void *data, uint32_t id, const void **ret,
		    uint32_t *ret_len)
{
	struct host *h = data;
	struct host_tools *t = &h->tools;

	if (!t->told || memcmp(t->message.data, &id, sizeof id))
		return ENOENT;
	t->heard = t->told = false;
	*ret = t->message.data + sizeof id;
	*ret_len = (uint32_t)(t->message.len - sizeof id);
	return 0;
}

int host_rest(struct host *h)
{
	return hear_apart(h, UINT64_MAX);
}
