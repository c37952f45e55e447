#include "worker/host.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "wire/call.h"
#include "worker/host_tools.h"

/* How long one look at *stop can be late: a signal that comes between the
 * look and the wait is seen at the next. */
#define LOOK_MS 20
/* A run that is being ended still takes the answer it asked for, so that the
 * conversation stays in step; shorter than the core's grace. */
#define ANSWER_LATE_US 30000u

_Static_assert(WASI_OPEN_WRITE == (int)CALL_WRITE &&
		       WASI_OPEN_CREATE == (int)CALL_CREATE &&
		       WASI_OPEN_EXCLUSIVE == (int)CALL_EXCLUSIVE &&
		       WASI_OPEN_TRUNCATE == (int)CALL_TRUNCATE &&
		       WASI_OPEN_DIRECTORY == (int)CALL_DIRECTORY &&
		       WASI_OPEN_NOFOLLOW == (int)CALL_NOFOLLOW,
	       "the two lists of flags are one");

static enum frame_kind kind_of(int stream)
{
	return stream == 2 ? FRAME_ERR : FRAME_OUT;
}

/* The collected text becomes a frame that waits in the channel. */
int host_put_text(struct host *h)
{
	if (h->len && channel_put(h->channel, kind_of(h->stream), h->text,
				  h->len, 0, NULL))
		return -1;
	h->len = 0;
	return 0;
}

int host_send(struct host *h)
{
	if (h->broke || host_put_text(h) ||
	    channel_flush(h->channel, NULL, 0, NULL)) {
		h->broke = true;
		return -1;
	}
	return 0;
}

static int collect(struct host *h, int stream, const char *p, size_t n)
{
	if (stream != h->stream && host_put_text(h))
		return -1;
	h->stream = stream;
	if (n > HOST_TEXT - h->len) {
		if (host_put_text(h) || (n >= HOST_TEXT &&
				    channel_put(h->channel, kind_of(stream), p,
						n, 0, NULL)))
			return -1;
		if (channel_flush(h->channel, NULL, 0, NULL))
			return -1;
		if (n >= HOST_TEXT)
			return 0;
	}
	memcpy(h->text + h->len, p, n);
	h->len += n;
	if (h->channel->out.len > HOST_TEXT &&
	    channel_flush(h->channel, NULL, 0, NULL))
		return -1;
	return 0;
}

static int do_write(struct host *h, int stream, const char *p, size_t n)
{
	while (n) {
		size_t part = n < FRAME_BODY_MAX ? n : FRAME_BODY_MAX;

		if (h->broke || collect(h, stream, p, part)) {
			h->broke = true;
			return EPIPE;
		}
		p += part;
		n -= part;
	}
	if ((h->over || h->eager) && host_send(h))
		return EPIPE;
	return h->over ? EFBIG : 0;
}

/* What a signal handler on this thread must not see half done. */
void host_enter(struct host *h)
{
	h->busy = 1;
	atomic_signal_fence(memory_order_seq_cst);
}

void host_leave(struct host *h)
{
	atomic_signal_fence(memory_order_seq_cst);
	h->busy = 0;
}

static int host_write(void *data, int stream, const void *p, size_t n)
{
	struct host *h = data;
	int e;

	host_enter(h);
	if (n > h->left) {
		n = (size_t)h->left;
		h->over = true;
	}
	h->left -= n;
	e = do_write(h, stream, p, n);
	host_leave(h);
	return e;
}

bool host_flush(struct host *h)
{
	host_enter(h);
	if (host_send(h))
		h->len = 0;
	host_leave(h);
	return h->over;
}

void host_rescue(struct host *h)
{
	struct buf *out = &h->channel->out;
	struct frame f = {.magic = FRAME_MAGIC,
			  .kind = (uint16_t)kind_of(h->stream),
			  .flags = FRAME_LAST,
			  .run = h->channel->run,
			  .len = (uint32_t)h->len};
	struct iovec v[3] = {{out->data, out->len},
			     {&f, sizeof f},
			     {h->text, h->len}};
	struct msghdr m = {.msg_iov = v, .msg_iovlen = h->len ? 3 : 1};
	size_t all = out->len + (h->len ? sizeof f + h->len : 0);
	int sys = errno;
	ssize_t n;

	if (h->busy || h->broke || !all)
		return;
	n = sendmsg(h->channel->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n > 0) {
		/* A part of a frame would put the core out of step. */
		h->broke = (size_t)n != all;
		h->len = 0;
		buf_clear(out);
	}
	errno = sys;
}

/* Waits until a frame can be read.  0, EINTR (being ended) or EPIPE. */
static int wait_answer(struct host *h)
{
	uint64_t until = 0;

	while (h->channel->at == h->channel->have) {
		struct pollfd p = {.fd = h->channel->fd, .events = POLLIN};
		int n;

		if (*h->stop && !until)
			until = clock_monotonic_us() + ANSWER_LATE_US;
		if (until && clock_monotonic_us() > until)
			return EINTR;
		n = poll(&p, 1, LOOK_MS);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return EPIPE;
	}
	return 0;
}

static int take_answer(struct host *h, struct answer *ret, int *ret_fd)
{
	struct frame f;
	const void *body;

	do {
		if (channel_recv(h->channel, UINT64_MAX, &f, &body, NULL))
			return EPIPE;
	} while (f.kind == FRAME_RETURN && !host_tools_keep(h, &f, body));
	if (f.kind != FRAME_ANSWER || answer_decode(body, f.len, ret, NULL) ||
	    f.n_fds != ret->has_fd)
		return EPIPE;
	*ret_fd = ret->has_fd ? channel_take_fd(h->channel) : -1;
	return ret->has_fd && *ret_fd < 0 ? EPIPE : 0;
}

static int exchange(struct host *h, const struct call *c, struct answer *ret,
		    int *ret_fd)
{
	CLEANUP(buf_done) struct buf body = {0};
	int e;

	if (h->broke)
		return EPIPE;
	if (call_encode(c, &body, NULL))
		return c->path.len > CALL_PATH_MAX ? ENAMETOOLONG : EINVAL;
	if (host_put_text(h) || channel_put(h->channel, FRAME_CALL, body.data,
				       body.len, 0, NULL) ||
	    channel_flush(h->channel, NULL, 0, NULL))
		e = EPIPE;
	else
		e = wait_answer(h);
	if (!e)
		e = take_answer(h, ret, ret_fd);
	if (e)
		h->broke = true;
	return e;
}

/* One question.  *ret_fd may be NULL where none can come.  The data of the
 * answer is borrowed until the next one. */
static int ask(struct host *h, const struct call *c, struct answer *ret,
	       int *ret_fd)
{
	CLEANUP_FD int fd = -1;
	int e;

	if (*h->stop)
		return EINTR;
	host_enter(h);
	e = exchange(h, c, ret, &fd);
	host_leave(h);
	if (e)
		return e;
	if (*h->stop)
		return EINTR;
	if (ret->error)
		return ret->error;
	if (ret_fd)
		*ret_fd = TAKE_FD(fd);
	return 0;
}

static struct wasi_stat to_wasi(const struct call_stat *st)
{
	return (struct wasi_stat){.type = (uint8_t)st->type,
				  .dev = st->dev,
				  .ino = st->ino,
				  .nlink = st->nlink,
				  .size = st->size,
				  .atim_ns = st->atim_ns,
				  .mtim_ns = st->mtim_ns,
				  .ctim_ns = st->ctim_ns};
}

static int host_open(void *data, uint32_t grant, const char *path,
		     unsigned flags, struct wasi_opened *ret)
{
	struct call c = {.op = CALL_OPEN,
			 .grant = grant,
			 .flags = flags,
			 .path = str_of(path)};
	struct answer a;
	int fd;
	int e = ask(data, &c, &a, &fd);

	if (e)
		return e;
	*ret = (struct wasi_opened){fd, a.handle, to_wasi(&a.st)};
	return 0;
}

static int host_stat(void *data, uint32_t grant, const char *path,
		     bool follow, struct wasi_stat *ret)
{
	struct call c = {.op = CALL_STAT,
			 .grant = grant,
			 .flags = follow ? 0 : CALL_NOFOLLOW,
			 .path = str_of(path)};
	struct answer a;
	int e = ask(data, &c, &a, NULL);

	if (!e)
		*ret = to_wasi(&a.st);
	return e;
}

static int host_list(void *data, uint32_t grant, const char *path,
		     uint64_t at, struct buf *out, uint64_t *ret_next)
{
	struct call c = {.op = CALL_LIST,
			 .grant = grant,
			 .offset = at,
			 .path = str_of(path)};
	struct answer a;
	int e = ask(data, &c, &a, NULL);

	if (e)
		return e;
	if (buf_add(out, a.data.p, a.data.len))
		return ENOMEM;
	*ret_next = a.next;
	return 0;
}

static int host_readlink(void *data, uint32_t grant, const char *path,
			 struct buf *out)
{
	struct call c = {.op = CALL_READLINK,
			 .grant = grant,
			 .path = str_of(path)};
	struct answer a;
	int e = ask(data, &c, &a, NULL);

	if (!e && buf_add(out, a.data.p, a.data.len))
		e = ENOMEM;
	return e;
}

static int host_pread(void *data, uint64_t handle, void *p, size_t n,
		      uint64_t offset, size_t *ret_n)
{
	char *to = p;
	size_t done = 0;

	while (done < n) {
		size_t want = n - done < CALL_DATA_MAX ? n - done
						       : CALL_DATA_MAX;
		struct call c = {.op = CALL_PREAD,
				 .handle = handle,
				 .count = (uint32_t)want,
				 .offset = offset + done};
		struct answer a;
		int e = ask(data, &c, &a, NULL);

		if (e && !done)
			return e;
		if (e || !a.data.len || a.data.len > want)
			break;
		memcpy(to + done, a.data.p, a.data.len);
		done += a.data.len;
		if (a.data.len < want)
			break;
	}
	*ret_n = done;
	return 0;
}

static int host_close(void *data, uint64_t handle)
{
	struct call c = {.op = CALL_CLOSE, .handle = handle};
	struct answer a;

	/* The core keeps nothing of what it gave away as a descriptor. */
	return handle ? ask(data, &c, &a, NULL) : 0;
}

void host_begin(struct host *h, struct channel *c, const struct limits *l,
		const volatile sig_atomic_t *stop)
{
	h->ops = (struct wasi_host){.data = h,
				    .write = host_write,
				    .open = host_open,
				    .stat = host_stat,
				    .list = host_list,
				    .readlink = host_readlink,
				    .pread = host_pread,
				    .close = host_close,
				    .tool_call = host_tools_call,
				    .tool_wait = host_tools_wait,
				    .tool_take = host_tools_take};
	h->channel = c;
	h->stop = stop;
	h->left = l->output_bytes;
	h->eager = false;
	h->over = false;
	h->broke = false;
	h->busy = 0;
	h->stream = 0;
	h->len = 0;
	h->tools = (struct host_tools){.in_flight = l->in_flight};
}

void host_done(struct host *h)
{
	buf_done(&h->tools.message);
	buf_done(&h->tools.early);
}

const struct wasi_host *host_ops(struct host *h)
{
	return &h->ops;
}

uint64_t host_left(const struct host *h)
{
	return h->left;
}

bool host_broke(const struct host *h)
{
	return h->broke;
}
