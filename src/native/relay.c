#include "native/relay.h"

#include <string.h>
#include "wire/push.h"
#include "wire/tool.h"

#define WHERE "native"

static bool fits(const struct relay *r, const void *p, size_t n)
{
	struct tool_call c;

	return !tool_call_decode(p, n, &c, NULL) && c.id == r->last + 1 &&
	       r->under_way < r->in_flight;
}

int relay_call(void *data, const void *p, size_t n)
{
	struct relay *r = data;
	const char *text = p;
	uint32_t id = r->last + 1;

	if (r->failed.code || !fits(r, p, n))
		return -1;
	if (pump_drain(r->pump, &r->failed))
		return -1;
	/* Over its limit it has ended: nothing of it is done any more. */
	if (r->pump->over)
		return 0;
	if (tool_put(r->channel, FRAME_TOOL, id, text + sizeof id,
		     n - sizeof id, &r->failed) ||
	    channel_flush(r->channel, NULL, 0, &r->failed))
		return -1;
	r->last = id;
	r->under_way++;
	return 0;
}

bool relay_listens(const struct relay *r)
{
	return *r->boot->fd >= 0 && !boot_wants_out(r->boot);
}

bool relay_heard(const struct relay *r)
{
	return relay_listens(r) && channel_heard(r->channel);
}

static int pass_on(struct relay *r, struct redoma_error *err)
{
	uint32_t id = 0;
	int rc;

	if (r->part.len >= sizeof id)
		memcpy(&id, r->part.data, sizeof id);
	if (!id || id > r->last || !r->under_way)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "the core answers what was not asked");
	r->under_way--;
	rc = boot_answer(r->boot, r->part.data, r->part.len, err);
	buf_clear(&r->part);
	return rc;
}

int relay_answers(struct relay *r, struct redoma_error *err)
{
	while (relay_listens(r)) {
		struct frame f;
		const void *body;
		int rc = channel_recv(r->channel, 0, &f, &body, err);

		if (rc == REDOMA_E_BUSY)
			return 0;
		if (!rc && f.kind != FRAME_RETURN)
			rc = err_set(err, REDOMA_E_WORKER, WHERE,
				     "the core sent a frame of kind %u",
				     f.kind);
		if (!rc && buf_add(&r->part, body, f.len))
			rc = err_nomem(err, WHERE);
		if (!rc && f.flags & FRAME_LAST)
			rc = pass_on(r, err);
		if (rc)
			return rc;
	}
	return 0;
}

void relay_done(struct relay *r)
{
	buf_done(&r->part);
}
