#include "core/desk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/nearest.h"
#include "core/desk_state.h"
#include "policy/tools.h"
#include "wire/push.h"
#include "wire/tool.h"

#define WHERE "core"
#define DENIED "ToolDenied"
#define ANSWER_ROOM 64 /* for a failure that can always be told */
#define ERROR_MAX 200 /* of a failure's words, in the result */

void desk_drop(struct desk *d)
{
	unsigned left;

	pthread_mutex_lock(&d->lock);
	left = --d->shares;
	pthread_mutex_unlock(&d->lock);
	if (left)
		return;
	pthread_mutex_destroy(&d->lock);
	free(d);
}

int desk_open(const struct desk_want *w, struct desk **ret,
	      struct redoma_error *err)
{
	struct desk *d = calloc(1, sizeof *d);

	if (!d)
		return err_nomem(err, WHERE);
	d->counts = calloc(w->policy->n_tools, sizeof *d->counts);
	d->wake = d->counts ? fd_lift(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
			    : -1;
	if (d->wake < 0) {
		int r = d->counts ? err_sys(err, WHERE, "make an eventfd")
				  : err_nomem(err, WHERE);

		free(d->counts);
		free(d);
		return r;
	}
	pthread_mutex_init(&d->lock, NULL);
	d->shares = 1;
	d->want = *w;
	*ret = d;
	return 0;
}

void desk_close(struct desk *d)
{
	struct redoma_call *c;

	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	d->closed = true;
	d->sleeping = false;
	c = d->first;
	d->first = d->last = NULL;
	pthread_mutex_unlock(&d->lock);
	while (c) {
		struct redoma_call *next = c->next;

		call_free(c);
		c = next;
	}
	close(d->wake);
	result_calls_free(d->calls, d->n_calls);
	result_denials_free(d->denials, d->n_denials);
	for (size_t i = 0; i < DESK_DENIALS_MAX; i++)
		where_free(d->wide[i]);
	buf_done(&d->part);
	free(d->counts);
	d->counts = NULL;
	desk_drop(d);
}

/* ---- a call comes ---- */

static struct result_call *add_row(struct desk *d, struct str name)
{
	struct result_call *row;

	if (d->n_calls == d->room_calls) {
		size_t room = d->room_calls ? 2 * d->room_calls : 16;
		struct result_call *grown =
			realloc(d->calls, room * sizeof *grown);

		if (!grown)
			return NULL;
		d->calls = grown;
		d->room_calls = room;
	}
	row = &d->calls[d->n_calls];
	*row = (struct result_call){.from_us = clock_monotonic_us()};
	row->tool = strndup(name.p, name.len);
	d->n_calls += row->tool != NULL;
	return row->tool ? row : NULL;
}

static int note_end(struct result_call *row, uint64_t now, const char *name,
		    const char *message)
{
	char text[ERROR_MAX + TOOL_WORD_MAX + 4];

	row->us = now - row->from_us;
	row->over = true;
	row->ok = !name;
	if (row->ok)
		return 0;
	snprintf(text, sizeof text, "%.*s: %.*s", (int)TOOL_WORD_MAX, name,
		 ERROR_MAX, message);
	row->error = strdup(text);
	return row->error ? 0 : -1;
}

/* A denial of that name and reason; NULL: there is none yet. */
static struct result_denial *find_denial(struct desk *d, struct str name,
					 const char *why)
{
	for (size_t i = 0; i < d->n_denials; i++) {
		struct result_denial *at = &d->denials[i];

		if (!strcmp(at->why, why) &&
		    str_equal(name, (struct str){at->path, at->path_len}))
			return at;
	}
	return NULL;
}

static int new_denial(struct desk *d, struct str name, const char *why,
		      struct result_denial **ret)
{
	struct result_denial to = {.op = "tool", .path_len = name.len};

	if (!d->denials)
		d->denials = calloc(DESK_DENIALS_MAX, sizeof *d->denials);
	to.path = strndup(name.p, name.len);
	to.why = strdup(why);
	if (!d->denials || !to.path || !to.why) {
		free(to.path);
		free(to.why);
		return -1;
	}
	*ret = &d->denials[d->n_denials++];
	**ret = to;
	return 0;
}

/* What would let through this call, and those before it that failed alike. */
static int widen(struct where **wide, const struct tool_grant *t,
		 const struct json_value *args)
{
	struct where *next = NULL;

	if (where_widen(*wide ? *wide : t->where, args, &next, NULL))
		return -1;
	where_free(*wide);
	*wide = next;
	return 0;
}

/* One call on its way in. */
struct coming {
	struct desk *desk;
	struct channel *worker;
	struct tool_call call;
	const struct tool_grant *tool;
	struct result_call *row;
	enum desk_end *ret;
};

/* Answered here: it reaches nobody. */
static int fail(struct coming *in, const char *name, const char *message,
		struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	int r = tool_put_failure(&b, name, message, err);

	if (!r && note_end(in->row, clock_monotonic_us(), name, message))
		r = err_nomem(err, WHERE);
	return r ? r : tool_put(in->worker, FRAME_RETURN, in->call.id, b.data,
				b.len, err);
}

struct refusal {
	const char *why;
	uint64_t max_calls;
	const struct where *where;
	const struct json_value *args; /* not allowed by `where`, or NULL */
};

/* Same name and same reason: counted once more. */
static int note_denial(struct coming *in, const struct refusal *f)
{
	CLEANUP(buf_done) struct buf allow = {0};
	struct desk *d = in->desk;
	struct str name = in->call.name;
	const struct where *where = f->where;
	struct result_denial *to = find_denial(d, name, f->why);

	if (!to && d->n_denials == DESK_DENIALS_MAX)
		return 0;
	if (!to && new_denial(d, name, f->why, &to))
		return -1;
	to->count++;
	if (f->args) {
		struct where **wide = &d->wide[to - d->denials];

		if (widen(wide, in->tool, f->args))
			return -1;
		where = *wide;
	}
	if (tools_print_allow(name, f->max_calls, where, &allow))
		return -1;
	free(to->allow);
	to->allow = buf_take(&allow);
	return to->allow ? 0 : -1;
}

static int deny(struct coming *in, const struct refusal *f,
		struct redoma_error *err)
{
	if (note_denial(in, f))
		return err_nomem(err, WHERE);
	if (in->desk->want.policy->end_on_denied)
		*in->ret = DESK_DENIED;
	return fail(in, DENIED, f->why, err);
}

static int deny_unknown(struct coming *in, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf why = {0};
	const struct policy *p = in->desk->want.policy;
	const char *names[TOOLS_MAX + 1] = {0};
	const char *near;

	for (size_t i = 0; i < p->n_tools; i++)
		names[i] = p->tools[i].name;
	near = nearest_name(in->call.name, names);
	if (buf_addf(&why, "%s is not granted; ", SHOW(in->call.name)) ||
	    (near && buf_addf(&why, "did you mean %s? ", near)) ||
	    buf_addf(&why, "the tools of this run are "))
		return err_nomem(err, WHERE);
	for (size_t i = 0; i < p->n_tools; i++)
		if (buf_addf(&why, "%s%s", i ? ", " : "", names[i]))
			return err_nomem(err, WHERE);
	return deny(in, &(struct refusal){why.data, POLICY_UNSET, NULL, NULL},
		    err);
}

static int deny_more(struct coming *in, struct redoma_error *err)
{
	uint64_t max = in->tool->max_calls;
	uint64_t more = max > POLICY_UNSET / 2 ? POLICY_UNSET
					       : max ? 2 * max : 1;
	char why[200];

	snprintf(why, sizeof why, "%s may be called %llu time%s in one run, "
		 "and was", in->tool->name, (unsigned long long)max,
		 max == 1 ? "" : "s");
	return deny(in, &(struct refusal){why, more, in->tool->where, NULL},
		    err);
}

/* 0 with *ret_ok, or it is answered. */
static int check_args(struct coming *in, bool *ret_ok, struct redoma_error *err)
{
	CLEANUP(json_cleanup) struct json_doc *doc = NULL;
	struct str a = in->call.args;
	struct redoma_error why;
	int r = json_parse(a.p, a.len, &doc, &why);

	*ret_ok = false;
	if (r == REDOMA_E_NOMEM)
		return err_nomem(err, WHERE);
	if (r || json_kind(json_root(doc)) != JSON_OBJECT)
		return fail(in, "TypeError", "the arguments of a tool are one "
			    "JSON object", err);
	if (where_check(in->tool->where, json_root(doc), &why))
		return deny(in,
			    &(struct refusal){why.text, in->tool->max_calls,
					      NULL, json_root(doc)},
			    err);
	*ret_ok = true;
	return 0;
}

static int hand_out(struct coming *in, struct redoma_error *err)
{
	struct desk *d = in->desk;
	const struct tool_call *k = &in->call;
	struct redoma_call *c =
		calloc(1, sizeof *c + k->name.len + k->args.len + 2);

	if (!c || buf_reserve(&c->answer, ANSWER_ROOM)) {
		free(c);
		return err_nomem(err, WHERE);
	}
	c->desk = d;
	c->number = k->id;
	c->row = d->n_calls - 1;
	memcpy(c->text, k->name.p, k->name.len);
	c->args = c->text + k->name.len + 1;
	c->args_len = k->args.len;
	memcpy(c->args, k->args.p, k->args.len);
	pthread_mutex_lock(&d->lock);
	d->shares++;
	pthread_mutex_unlock(&d->lock);
	d->under_way++;
	d->want.on_call(d->want.data, c);
	return 0;
}

static int weigh(struct coming *in, struct redoma_error *err)
{
	const struct policy *p = in->desk->want.policy;
	uint64_t *count;
	bool ok;
	int r;

	in->tool = tools_find(p, in->call.name);
	if (!in->tool)
		return deny_unknown(in, err);
	count = &in->desk->counts[in->tool - p->tools];
	if (*count >= in->tool->max_calls)
		return deny_more(in, err);
	r = check_args(in, &ok, err);
	if (r || !ok)
		return r;
	++*count;
	return hand_out(in, err);
}

/* What a worker of ours may have coming: no more answers than calls that it may
 * have under way. */
static bool hoards(const struct desk *d, const struct channel *worker)
{
	uint64_t most = d->want.policy->limits.in_flight + 1;

	return worker->out.len / (TOOL_CALL_MAX + 1024) >= most;
}

static int hear_whole(struct desk *d, struct channel *worker, const void *body,
		      size_t len, enum desk_end *ret, struct redoma_error *err)
{
	const struct limits *l = &d->want.policy->limits;
	struct coming in = {.desk = d, .worker = worker, .ret = ret};
	struct redoma_error why;

	if (tool_call_decode(body, len, &in.call, &why) ||
	    in.call.id != d->number + 1 || d->under_way >= l->in_flight ||
	    hoards(d, worker)) {
		*ret = DESK_BROKEN;
		return 0;
	}
	if (d->n_calls >= l->calls) {
		*ret = DESK_LIMIT;
		return 0;
	}
	d->number++;
	in.row = add_row(d, in.call.name);
	return in.row ? weigh(&in, err) : err_nomem(err, WHERE);
}

int desk_hear(struct desk *d, struct channel *worker, const struct frame *f,
	      const void *body, enum desk_end *ret, struct redoma_error *err)
{
	bool last = f->flags & FRAME_LAST;
	int r;

	*ret = DESK_GOES_ON;
	if (last && !d->part.len)
		return hear_whole(d, worker, body, f->len, ret, err);
	if (!f->len || d->part.len + f->len > TOOL_CALL_MAX) {
		*ret = DESK_BROKEN;
		return 0;
	}
	if (buf_add(&d->part, body, f->len))
		return err_nomem(err, WHERE);
	if (!last)
		return 0;
	r = hear_whole(d, worker, d->part.data, d->part.len, ret, err);
	buf_clear(&d->part);
	return r;
}

/* ---- an answer goes ---- */

static struct redoma_call *take_answered(struct desk *d)
{
	struct redoma_call *c;

	pthread_mutex_lock(&d->lock);
	c = d->first;
	d->first = d->last = NULL;
	pthread_mutex_unlock(&d->lock);
	return c;
}

static int put_answer(struct desk *d, struct channel *worker,
		      struct redoma_call *c, struct redoma_error *err)
{
	const char *name = c->ok ? NULL : c->answer.data + 1;
	const char *message = name ? name + strlen(name) + 1 : NULL;

	d->under_way--;
	if (note_end(&d->calls[c->row], c->answered_us, name, message))
		return err_nomem(err, WHERE);
	return tool_put(worker, FRAME_RETURN, c->number, c->answer.data,
			c->answer.len, err);
}

static int put_answers(struct desk *d, struct channel *worker,
		       struct redoma_error *err)
{
	struct redoma_call *c = take_answered(d);
	int r = 0;

	while (c) {
		struct redoma_call *next = c->next;

		if (!r)
			r = put_answer(d, worker, c, err);
		call_free(c);
		c = next;
	}
	return r;
}

/* False: something was answered meanwhile. */
static bool fall_asleep(struct desk *d)
{
	bool sleeps;

	pthread_mutex_lock(&d->lock);
	sleeps = d->sleeping = !d->first;
	pthread_mutex_unlock(&d->lock);
	return sleeps;
}

static void wake_up(struct desk *d)
{
	pthread_mutex_lock(&d->lock);
	d->sleeping = false;
	pthread_mutex_unlock(&d->lock);
}

/* One that has ended may have said its outcome: that is still to be heard. */
static int push(struct channel *worker, bool *ret_heard,
		struct redoma_error *err)
{
	struct redoma_error why;
	int r = channel_push(worker, &why);

	if (r == REDOMA_E_WORKER) {
		buf_clear(&worker->out);
		*ret_heard = true;
		return 0;
	}
	if (r && err)
		*err = why;
	return r;
}

int desk_tend(struct desk *d, struct channel *worker, uint64_t until_us,
	      struct redoma_error *err)
{
	bool heard = false;

	for (;;) {
		uint64_t now;
		int r = put_answers(d, worker, err);

		if (!r)
			r = push(worker, &heard, err);
		if (r || heard || channel_heard(worker))
			return r;
		/* To receive is then to wait. */
		if (!d->under_way && !worker->out.len)
			return 0;
		now = clock_monotonic_us();
		if (now >= until_us)
			return err_set(err, REDOMA_E_BUSY, WHERE,
				       "nothing came in time");
		if (!fall_asleep(d))
			continue;
		r = channel_wait(worker, d->wake, until_us - now, &heard, err);
		wake_up(d);
		if (r)
			return r;
	}
}

/* ---- the result ---- */

int desk_tell(struct desk *d, struct redoma_result *res,
	      struct redoma_error *err)
{
	uint64_t now = clock_monotonic_us();
	struct result_denial *all;

	for (size_t i = 0; i < d->n_calls; i++)
		if (!d->calls[i].over &&
		    note_end(&d->calls[i], now, "Unanswered",
			     "the run ended before its answer"))
			return err_nomem(err, WHERE);
	if (d->n_calls)
		res->pure = false;
	res->calls = TAKE_PTR(d->calls);
	res->n_calls = d->n_calls;
	d->n_calls = 0;
	if (!d->n_denials)
		return 0;
	all = realloc(res->denials,
		      (res->n_denials + d->n_denials) * sizeof *all);
	if (!all)
		return err_nomem(err, WHERE);
	memcpy(all + res->n_denials, d->denials, d->n_denials * sizeof *all);
	res->denials = all;
	res->n_denials += d->n_denials;
	d->n_denials = 0;
	return 0;
}
