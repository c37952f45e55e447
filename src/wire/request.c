#include "wire/request.h"

#include <string.h>
#include <unistd.h>
#include "wire/plan_wire.h"

#define WHERE "wire"

void request_init(struct request *q)
{
	memset(q, 0, sizeof *q);
	q->module_fd = -1;
	q->plan_bytes.cap = PLAN_WIRE_MAX;
	q->source.cap = q->input.cap = REQUEST_TEXT_MAX;
	q->bounds.cap = REQUEST_BOUNDS;
	q->name.cap = q->invoke.cap = REQUEST_NAME_MAX;
}

void request_clear(struct request *q)
{
	plan_done(&q->plan);
	memset(&q->plan, 0, sizeof q->plan);
	buf_clear(&q->plan_bytes);
	buf_clear(&q->source);
	buf_clear(&q->input);
	buf_clear(&q->name);
	buf_clear(&q->invoke);
	buf_clear(&q->bounds);
	if (q->module_fd >= 0)
		close(q->module_fd);
	q->module_fd = -1;
}

bool request_eager(const struct request *q)
{
	uint64_t n[3] = {0};

	if (q->bounds.len == sizeof n)
		memcpy(n, q->bounds.data, sizeof n);
	return n[2];
}

static int take_plan(struct channel *c, struct request *q,
		     struct redoma_error *err)
{
	int fds[FRAME_FDS_MAX];
	size_t n = 0, i;
	int fd, r;

	while (n < FRAME_FDS_MAX && (fd = channel_take_fd(c)) >= 0)
		fds[n++] = fd;
	r = plan_decode(q->plan_bytes.data, q->plan_bytes.len, fds, n, &q->plan,
			err);
	for (i = 0; r && i < n; i++)
		close(fds[i]);
	return r;
}

static struct buf *part(struct request *q, unsigned kind)
{
	switch (kind) {
	case FRAME_PLAN:
		return &q->plan_bytes;
	case FRAME_SOURCE:
		return &q->source;
	case FRAME_INPUT:
		return &q->input;
	case FRAME_NAME:
		return &q->name;
	case FRAME_BOUND:
		return &q->bounds;
	case FRAME_INVOKE:
		return &q->invoke;
	default:
		return NULL;
	}
}

int request_read(struct channel *c, struct request *q,
		 struct redoma_error *err)
{
	struct frame f;
	const void *body;
	int r;

	c->adopt = true;
	do {
		struct buf *b;

		r = channel_recv(c, UINT64_MAX, &f, &body, err);
		if (r)
			return r;
		if (f.kind == FRAME_MODULE) {
			q->module_fd = channel_take_fd(c);
			continue;
		}
		b = part(q, f.kind);
		if (!b)
			return err_set(err, REDOMA_E_WORKER, WHERE,
				       "the core sent a frame of kind %u",
				       f.kind);
		if (buf_add(b, body, f.len))
			return err_set(err, REDOMA_E_NOMEM, WHERE,
				       "the run is larger than its cap");
		if (f.kind == FRAME_PLAN && f.flags & FRAME_LAST)
			r = take_plan(c, q, err);
	} while (!r && !(f.kind == FRAME_INPUT && f.flags & FRAME_LAST));
	return r;
}
