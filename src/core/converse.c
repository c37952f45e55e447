#include "core/converse.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash.h"
#include "core/watch.h"
#include "wire/failed.h"

#define WHERE "core"
/* A worker that says nothing for so long is computing. */
#define SILENT_US 3000u

void talk_done(struct talk *t)
{
	outcome_done(&t->outcome);
	buf_done(&t->outcome_bytes);
}

static int put_text(struct channel *c, enum frame_kind kind, const char *s,
		    struct redoma_error *err)
{
	return s ? channel_put(c, kind, s, strlen(s), 0, err) : 0;
}

static int put_all(struct channel *c, const struct errand *e,
		   struct redoma_error *err)
{
	int r = put_text(c, FRAME_NAME, e->name, err);

	if (!r)
		r = put_text(c, FRAME_INVOKE, e->invoke, err);
	if (!r && e->source_len)
		r = channel_put(c, FRAME_SOURCE, e->source, e->source_len, 0,
				err);
	if (!r)
		r = channel_put(c, FRAME_INPUT, e->input, e->input_len, 0, err);
	return r;
}

/* One system call, so that the worker wakes once; with grants two, since the
 * usher sends the plan. */
static int send_errand(struct redoma *h, struct slot *s,
		       const struct errand *e, struct redoma_error *err)
{
	struct granted_way way = {
		.worker = &s->channel,
		.module_fd = e->module_fd,
		.mounts = e->mounts,
		.n_mounts = e->n_mounts,
		.bounds = {e->data_bytes, e->file_bytes, e->on_output != NULL},
		.until_us = s->channel.send_by_us,
	};
	bool here = !granted_plan(e->granted)->n_grants;
	int r;

	if (handle_random(h, &s->channel.run, sizeof s->channel.run))
		return err_sys(err, WHERE, "draw a run's id");
	r = granted_deliver(e->granted, &way, err);
	if (!r)
		r = put_all(&s->channel, e, err);
	return r ? r
		 : channel_flush(&s->channel, &e->module_fd,
				 here && e->module_fd >= 0, err);
}

static bool within_output(const struct redoma_result *r, size_t more,
			  const struct limits *l)
{
	uint64_t have = r->out.len + r->err.len + r->value.len;

	return more <= l->output_bytes && have <= l->output_bytes - more;
}

/* A conversation that failed: about the worker, or about us. */
static int judge(int r, const struct redoma_error *why, struct talk *t,
		 struct redoma_error *err)
{
	switch (r) {
	case REDOMA_E_BUSY:
		t->verdict = VERDICT_WALL;
		return 0;
	case REDOMA_E_INVALID:
		t->verdict = VERDICT_PROTOCOL;
		return 0;
	case REDOMA_E_WORKER:
		t->verdict = VERDICT_GONE;
		return 0;
	default:
		if (err && r)
			*err = *why;
		return r;
	}
}

static int answer(struct slot *s, const struct errand *e, const void *body,
		  size_t len, struct talk *t, struct redoma_error *err)
{
	struct redoma_error why;
	int r = 0;

	/* The usher sends by itself: nothing of ours may be half sent. */
	if (s->channel.out.len)
		r = channel_flush(&s->channel, NULL, 0, &why);
	if (!r)
		r = granted_call(e->granted, &s->channel, body, len, &why);
	return judge(r, &why, t, err);
}

static int keep(struct buf *b, const void *body, size_t len,
		struct redoma_error *err)
{
	return buf_add(b, body, len) ? err_nomem(err, WHERE) : 0;
}

static int take_outcome(const struct frame *f, const void *body,
			struct talk *t, bool *ret_over,
			struct redoma_error *err)
{
	struct redoma_error why;
	int r;

	if (t->outcome_bytes.len + f->len > OUTCOME_MAX) {
		t->verdict = VERDICT_PROTOCOL;
		*ret_over = true;
		return 0;
	}
	if (keep(&t->outcome_bytes, body, f->len, err))
		return REDOMA_E_NOMEM;
	if (!(f->flags & FRAME_LAST))
		return 0;
	*ret_over = true;
	t->verdict = VERDICT_OUTCOME;
	r = outcome_decode(t->outcome_bytes.data, t->outcome_bytes.len,
			   &t->outcome, &why);
	return judge(r, &why, t, err);
}

static int take_output(const struct errand *e, const struct frame *f,
		       const void *body, struct redoma_result *res,
		       struct redoma_error *err)
{
	bool out = f->kind == FRAME_OUT;

	if (e->on_output)
		e->on_output(e->on_output_data, out ? 1 : 2, body, f->len);
	return keep(out ? &res->out : &res->err, body, f->len, err);
}

static int take_tool(struct slot *s, const struct errand *e,
		     const struct frame *f, const void *body, struct talk *t,
		     struct redoma_error *err)
{
	static const enum verdict verdicts[] = {
		[DESK_GOES_ON] = VERDICT_OUTCOME,
		[DESK_BROKEN] = VERDICT_PROTOCOL,
		[DESK_LIMIT] = VERDICT_CALLS,
		[DESK_DENIED] = VERDICT_DENIED,
	};
	enum desk_end end = DESK_BROKEN;
	int r = e->desk ? desk_hear(e->desk, &s->channel, f, body, &end, err)
			: 0;

	t->verdict = verdicts[end];
	return r;
}

/* One frame from the worker.  *ret_over: the conversation is at its end. */
static int hear(struct slot *s, const struct errand *e, const struct frame *f,
		const void *body, struct talk *t, bool *ret_over,
		struct redoma_error *err)
{
	const struct limits *l = &granted_plan(e->granted)->limits;
	struct redoma_result *res = t->result;
	int r;

	switch (f->kind) {
	case FRAME_OUT:
	case FRAME_ERR:
	case FRAME_VALUE:
		if (within_output(res, f->len, l))
			return f->kind == FRAME_VALUE
				       ? keep(&res->value, body, f->len, err)
				       : take_output(e, f, body, res, err);
		t->verdict = VERDICT_OUTPUT;
		*ret_over = true;
		return 0;
	case FRAME_CALL:
		t->verdict = VERDICT_OUTCOME;
		r = answer(s, e, body, f->len, t, err);
		*ret_over = t->verdict != VERDICT_OUTCOME;
		return r;
	case FRAME_TOOL:
		r = take_tool(s, e, f, body, t, err);
		*ret_over = t->verdict != VERDICT_OUTCOME;
		return r;
	case FRAME_OUTCOME:
		return take_outcome(f, body, t, ret_over, err);
	case FRAME_FAILED:
		return failed_read(body, f->len, err);
	default:
		t->verdict = VERDICT_PROTOCOL;
		*ret_over = true;
		return 0;
	}
}

/* Until when to wait for the worker's next word. */
static uint64_t listen_until(const struct watch *w, const struct slot *s,
			     uint64_t now)
{
	uint64_t at = w->wall_at_us < w->cpu_at_us ? w->wall_at_us
						   : w->cpu_at_us;

	return s->cpu >= 0 && at > now + SILENT_US ? now + SILENT_US : at;
}

static void give_way(const struct slot *s, struct turn *t)
{
	bool heard = s->channel.at < s->channel.have;

	if (!heard && s->cpu >= 0 && s->cpu == sched_getcpu())
		turn_give(t);
}

static int listen_on(struct redoma *h, struct slot *s, const struct errand *e,
		     struct talk *t, struct watch *w, struct redoma_error *err)
{
	struct redoma_error why;
	bool over = false;
	int r = 0;

	while (!over && !r) {
		uint64_t now = clock_monotonic_us();
		uint64_t at = listen_until(w, s, now);
		struct frame f;
		const void *body;

		/* Also while it never stops talking. */
		if (now >= at && (over = watch_over(w, &t->verdict)))
			break;
		r = e->desk ? desk_tend(e->desk, &s->channel, at, &why) : 0;
		give_way(s, &h->turn);
		if (!r)
			r = channel_recv(&s->channel, now < at ? at - now : 0,
					 &f, &body, &why);
		if (!r)
			r = hear(s, e, &f, body, t, &over, err);
		else if (r == REDOMA_E_BUSY) {
			r = 0;
			over = watch_over(w, &t->verdict);
			pool_loosen(s);
		} else {
			return judge(r, &why, t, err);
		}
	}
	return r;
}

int converse(struct redoma *h, struct slot *s, const struct errand *e,
	     struct talk *t, struct redoma_error *err)
{
	struct redoma_error why;
	struct watch w;
	int r;

	atomic_store(&h->running, s->pidfd);
	atomic_store(&h->asked, s->channel.fd);
	/* It may have come before there was a worker to kill. */
	if (atomic_load(&h->cancelled))
		redoma_cancel(h);
	watch_start(&w, s, &granted_plan(e->granted)->limits,
		    e->native ? e->cpu_fd : -1);
	t->cpu_before_us = w.cpu_before;
	/* A worker that stops reading does not stop us. */
	s->channel.send_by_us = w.wall_at_us;
	r = send_errand(h, s, e, &why);
	if (!r)
		r = listen_on(h, s, e, t, &w, err);
	else if (r == REDOMA_E_BUSY || r == REDOMA_E_WORKER)
		r = judge(r, &why, t, err);
	else if (err)
		*err = why;
	handle_calm(h, &h->running, -1);
	handle_calm(h, &h->asked, -1);
	t->result->usage.wall_us = clock_monotonic_us() - w.start_us;
	if (!r && atomic_load(&h->cancelled) && t->verdict == VERDICT_GONE)
		t->verdict = VERDICT_CANCELLED;
	return r;
}
