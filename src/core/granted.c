#include "core/granted.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/units.h"
#include "broker/ask.h"
#include "broker/report.h"
#include "broker/serve.h"
#include "core/usher.h"
#include "wire/plan_wire.h"

#define WHERE "core"
/* An usher that waits for a worker gives up first. */
#define MARGIN_US ((uint64_t)50000)

struct granted {
	struct redoma *h;
	const struct policy *policy;
	struct sealed *sealed; /* all of the plan but its grants */
	struct plan plan; /* what is in `sealed`, and grants */
	struct plan_grant *grants; /* owned; their names are the policy's */
	struct report_sealed told;
	bool ushered; /* the usher has it, and has to close it */
	bool lost;    /* the usher is gone, and it with that */
	uint32_t n_denials;
	struct report_finished end;
	int mounts[PLAN_GRANTS_MAX];
	size_t n_mounts;
	struct redoma_error hung; /* code 0: no */
	struct buf ask, answer;
};

static uint64_t quiet_us(const struct granted *g)
{
	uint64_t wall = g->plan.limits.wall_us;

	return wall > USHER_QUIET_US ? wall : USHER_QUIET_US;
}

/* Which grant the usher was busy with, and how long it said nothing. */
static void blame(struct granted *g, uint64_t us)
{
	uint32_t i = atomic_load(&g->h->usher->board->grant);
	const struct grant *at = &g->policy->grants[
		i < g->policy->n_grants ? i : 0];
	char room[UNITS_TEXT_MAX], line[24] = "";

	if (at->line)
		snprintf(line, sizeof line, "line %d: ", at->line);
	err_set(&g->hung, REDOMA_E_SYSTEM, WHERE,
		"%s%s %s: its file system does not answer (waited %s): see "
		"that its server runs, or take the grant out",
		line, at->kind < GRANT_WRITE_FILE ? "read" : "write",
		SHOW(str_of(at->host)), units_show_time(us, room));
}

/* 0, or: what the usher says; REDOMA_E_BUSY: it does not answer, *err names
 * the grant; REDOMA_E_WORKER: cancelled; REDOMA_E_SYSTEM: it is gone. */
static int ask(struct granted *g, const struct usher_ask *a,
	       struct redoma_error *err)
{
	uint64_t from = clock_monotonic_us();
	struct redoma_error why = {0};
	enum usher_end end = usher_ask(g->h, a, &g->answer, &why);

	if (end == USHER_TOLD)
		return 0;
	if (end == USHER_SILENT) {
		blame(g, clock_monotonic_us() - from);
		why = g->hung;
		why.code = REDOMA_E_BUSY;
	}
	if (end == USHER_CANCELLED)
		err_set(&why, REDOMA_E_WORKER, WHERE, "cancelled");
	if (end != USHER_FAILED) {
		usher_lose(g->h);
		g->lost = true;
	}
	if (err)
		*err = why;
	return why.code;
}

/* Opened by the name that needs no right to look into it. */
static int open_cwd(void)
{
	int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
	int fd = fd_lift(open("/proc/thread-self/cwd", flags));

	return fd >= 0 ? fd : fd_lift(open(".", flags));
}

/* As the policy has them; what sealing makes of them comes with its report. */
static int copy_grants(struct granted *g, struct redoma_error *err)
{
	size_t n = g->policy->n_grants;

	g->grants = calloc(n, sizeof *g->grants);
	if (!g->grants)
		return err_nomem(err, WHERE);
	for (size_t i = 0; i < n; i++) {
		const struct grant *from = &g->policy->grants[i];

		g->grants[i] = (struct plan_grant){.kind = from->kind,
						   .mode = from->mode,
						   .guest = from->guest,
						   .fd = -1,
						   .max_bytes = from->max_bytes,
						   .last = UINT64_MAX,
						   .opens = from->opens};
	}
	return 0;
}

static int take_sealed(struct granted *g, struct redoma_error *err)
{
	size_t n = g->policy->n_grants;
	int r = report_sealed_decode(g->answer.data, g->answer.len, g->grants,
				     n, &g->told, err);
	int fd;

	if (r)
		return r;
	g->plan.grants = g->grants;
	g->plan.n_grants = (uint32_t)n;
	while (g->n_mounts < PLAN_GRANTS_MAX &&
	       (fd = channel_take_fd(&g->h->usher->channel)) >= 0)
		g->mounts[g->n_mounts++] = fd;
	return 0;
}

static int ask_seal(struct granted *g, const struct granted_want *w, int cwd,
		    struct redoma_error *err)
{
	int cpu = sched_getcpu();
	struct usher *u = g->h->usher;
	struct ask_seal q = {.policy = w->policy,
			     .plan = &g->plan,
			     .native = w->native,
			     .other_user = w->other_user,
			     .has_cwd = cwd >= 0,
			     .cpu = cpu < 0 ? UINT32_MAX : (uint32_t)cpu};
	struct usher_ask a = {.body = &g->ask,
			      .fds = &cwd,
			      .n_fds = cwd >= 0,
			      .until_us = UINT64_MAX,
			      .quiet_us = quiet_us(g)};
	int r;

	buf_clear(&g->ask);
	r = ask_seal_encode(&q, &g->ask, err);
	if (!r)
		r = ask(g, &a, err);
	if (!r)
		u->cpu = q.cpu;
	return r;
}

static int seal(struct granted *g, const struct granted_want *w,
		struct redoma_error *err)
{
	bool relative = w->policy->base_dir[0] != '/';
	CLEANUP_FD int cwd = relative ? open_cwd() : -1;
	bool fresh = false;
	int r;

	if (relative && cwd < 0)
		return err_sys(err, WHERE, "open the current directory");
	do {
		g->lost = false;
		r = usher_ready(g->h, &fresh, err);
		if (r)
			return r;
		r = ask_seal(g, w, cwd, err);
		/* One that someone ended since the last run is replaced. */
	} while (r == REDOMA_E_SYSTEM && g->lost && !fresh);
	g->ushered = !r;
	if (r == REDOMA_E_BUSY && g->lost) {
		*err = g->hung;
		r = err->code;
	}
	return r ? r : take_sealed(g, err);
}

static void cleanup_granted(struct granted **g)
{
	granted_close(*g);
}

/* The plan has their names alone. */
static int seal_names(struct granted *g, struct redoma_error *err)
{
	char *names[TOOLS_MAX + 1];
	size_t n = g->policy->n_tools;

	for (size_t i = 0; i < n; i++)
		names[i] = g->policy->tools[i].name;
	names[n] = NULL;
	return n ? seal_tools(g->sealed, names, err) : 0;
}

int granted_open(struct redoma *h, const struct granted_want *w,
		 struct granted **ret, struct redoma_error *err)
{
	CLEANUP(cleanup_granted) struct granted *g = calloc(1, sizeof *g);
	struct policy bare = *w->policy;
	struct redoma_error why = {0};
	int r;

	if (!g)
		return err_nomem(err, WHERE);
	g->h = h;
	g->policy = w->policy;
	g->ask.cap = ASK_MAX;
	bare.n_grants = 0;
	r = seal_open(&bare, &g->sealed, err);
	if (!r)
		r = seal_argv(g->sealed, w->program, w->args, err);
	if (!r)
		r = seal_names(g, err);
	if (r)
		return r;
	g->plan = *seal_plan(g->sealed);
	if (w->policy->n_grants) {
		r = copy_grants(g, &why);
		if (!r)
			r = seal(g, w, &why);
		if (r && err)
			*err = why;
	}
	if (r)
		return r;
	*ret = TAKE_PTR(g);
	return 0;
}

void granted_close(struct granted *g)
{
	if (!g)
		return;
	/* It said no, or what it said is of no use: it is rid of it alike. */
	if (g->ushered && !g->lost)
		usher_close_run(g->h);
	while (g->n_mounts)
		close(g->mounts[--g->n_mounts]);
	report_finished_done(&g->end);
	free(g->grants);
	seal_close(g->sealed);
	buf_done(&g->ask);
	buf_done(&g->answer);
	free(g);
}

const struct plan *granted_plan(const struct granted *g)
{
	return &g->plan;
}

uint64_t granted_file_bytes(const struct granted *g)
{
	return g->told.file_bytes;
}

size_t granted_mounts(const struct granted *g, const int **ret)
{
	*ret = g->mounts;
	return g->n_mounts;
}

/* Nothing is granted: there is no descriptor to send but the module's. */
static int deliver_here(struct granted *g, const struct granted_way *w,
			struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf plan = {0};
	bool has_module = w->module_fd >= 0;
	int fds[FRAME_FDS_MAX];
	size_t n;
	int r = channel_put(w->worker, FRAME_BOUND, w->bounds,
			    sizeof w->bounds, 0, err);

	if (!r && has_module)
		r = channel_put(w->worker, FRAME_MODULE, NULL, 0, 1, err);
	if (!r)
		r = plan_encode(&g->plan, &plan, fds, &n, err);
	return r ? r
		 : channel_put(w->worker, FRAME_PLAN, plan.data, plan.len, 0,
			       err);
}

int granted_deliver(struct granted *g, const struct granted_way *w,
		    struct redoma_error *err)
{
	struct ask_deliver q = {.run = w->worker->run,
				.until_us = w->until_us,
				.has_module = w->module_fd >= 0,
				.n_mounts = (uint32_t)w->n_mounts};
	int fds[2 + PLAN_GRANTS_MAX];
	struct usher_ask a = {.body = &g->ask,
			      .fds = fds,
			      .until_us = w->until_us + MARGIN_US,
			      .quiet_us = UINT64_MAX / 2};
	int r;

	if (!g->ushered)
		return deliver_here(g, w, err);
	memcpy(q.bounds, w->bounds, sizeof q.bounds);
	fds[a.n_fds++] = w->worker->fd;
	if (q.has_module)
		fds[a.n_fds++] = w->module_fd;
	for (size_t i = 0; i < w->n_mounts; i++)
		fds[a.n_fds++] = w->mounts[i];
	buf_clear(&g->ask);
	r = ask_deliver_encode(&q, &g->ask, err);
	return r ? r : ask(g, &a, err);
}

static int call_here(struct granted *g, struct channel *worker,
		     const void *body, size_t len, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf reply = {0};
	CLEANUP_FD int fd = -1;
	int r = serve_call(g->sealed, body, len, &reply, &fd, err);

	return r ? r
		 : channel_send_fds(worker, FRAME_ANSWER, reply.data,
				    reply.len, &fd, fd >= 0, err);
}

int granted_call(struct granted *g, struct channel *worker, const void *body,
		 size_t len, struct redoma_error *err)
{
	const unsigned char op = ASK_CALL;
	struct usher_ask a = {.body = &g->ask,
			      .until_us = worker->send_by_us,
			      .quiet_us = UINT64_MAX / 2};
	int r;

	if (!g->ushered)
		return call_here(g, worker, body, len, err);
	buf_clear(&g->ask);
	if (buf_add(&g->ask, &op, 1) || buf_add(&g->ask, body, len))
		return err_nomem(err, WHERE);
	r = ask(g, &a, err);
	if (!r && g->answer.len == sizeof g->n_denials)
		memcpy(&g->n_denials, g->answer.data, sizeof g->n_denials);
	return r;
}

int granted_finish(struct granted *g, struct redoma_error *err)
{
	const unsigned char op = ASK_FINISH;
	struct usher_ask a = {.body = &g->ask,
			      .until_us = UINT64_MAX,
			      .quiet_us = quiet_us(g)};
	int r;

	if (!g->ushered || g->lost || !(g->told.watched || g->n_denials))
		return 0;
	buf_clear(&g->ask);
	if (buf_add(&g->ask, &op, 1))
		return err_nomem(err, WHERE);
	r = ask(g, &a, err);
	if (r == REDOMA_E_BUSY) {
		if (err)
			*err = g->hung;
		return g->hung.code;
	}
	return r ? r : report_finished_decode(g->answer.data, g->answer.len,
					      &g->end, err);
}

int granted_verify(const struct granted *g, struct redoma_error *err)
{
	if (err && g->end.verify.code)
		*err = g->end.verify;
	return g->end.verify.code;
}

size_t granted_denials(const struct granted *g, const struct seal_denial **ret)
{
	*ret = g->end.denials;
	return g->end.n_denials;
}

int granted_publish(struct granted *g, const struct outcome_written *w,
		    size_t n, struct published_list *ret,
		    struct redoma_error *err)
{
	struct usher_ask a = {.body = &g->ask,
			      .until_us = UINT64_MAX,
			      .quiet_us = quiet_us(g)};
	CLEANUP(published_done) struct published_list list = {0};
	int r;

	if (!g->ushered)
		return publish_all(g->sealed, w, n, ret, err);
	buf_clear(&g->ask);
	buf_clear(&g->answer);
	r = published_names(&g->plan, w, n, &list, err);
	if (!r)
		r = ask_publish_encode(w, n, &g->ask, err);
	if (!r && buf_reserve(&g->answer, report_published_bytes(n)))
		r = err_nomem(err, WHERE);
	if (!r)
		r = ask(g, &a, err);
	if (!r)
		r = report_published_decode(g->answer.data, g->answer.len,
					    &list, err);
	if (r)
		return r;
	*ret = list;
	list = (struct published_list){0};
	return 0;
}

const char *granted_hung(const struct granted *g)
{
	return g->hung.code ? g->hung.text : NULL;
}

const struct plan_grant *granted_find(const struct granted *g,
				      struct str guest, bool write,
				      const char **ret_host)
{
	for (size_t i = 0; i < g->plan.n_grants; i++) {
		const struct plan_grant *at = &g->plan.grants[i];

		if ((at->kind >= GRANT_WRITE_FILE) != write ||
		    !str_equal(guest, str_of(at->guest)))
			continue;
		*ret_host = g->policy->grants[i].host;
		return at;
	}
	return NULL;
}

/* What is left of the guest's name behind the grant's. */
static bool is_below(const struct plan_grant *at, struct str guest,
		     struct str *ret)
{
	struct str top = str_of(at->guest);
	bool dir = at->kind == GRANT_READ_DIR || at->kind == GRANT_WRITE_DIR;

	while (top.len && top.p[top.len - 1] == '/')
		top.len--;
	if (!str_starts(guest, top))
		return false;
	*ret = str_after(guest, top.len);
	return !ret->len || (dir && ret->p[0] == '/');
}

/* Of grants one within the other it is the inner one that the guest sees. */
static const char *host_of(const struct granted *g, struct str guest,
			   struct str *ret_rest)
{
	const char *host = NULL;

	for (size_t i = 0; i < g->plan.n_grants; i++) {
		struct str rest;

		if (!is_below(&g->plan.grants[i], guest, &rest) ||
		    (host && rest.len >= ret_rest->len))
			continue;
		host = g->policy->grants[i].host;
		*ret_rest = rest;
	}
	return host;
}

int granted_host(const struct granted *g, struct str guest, struct buf *ret)
{
	struct str rest = {0}, host;
	const char *name = host_of(g, guest, &rest);

	if (!name)
		return 1;
	host = str_of(name);
	while (rest.len && host.len > 1 && host.p[host.len - 1] == '/')
		host.len--;
	return buf_add(ret, host.p, host.len) || buf_add(ret, rest.p, rest.len)
		       ? -1
		       : 0;
}
