#include "usher/answer.h"

#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "broker/ask.h"
#include "broker/native.h"
#include "broker/publish.h"
#include "broker/report.h"
#include "broker/serve.h"
#include "usher/start.h"
#include "wire/plan_wire.h"

#define WHERE "usher"

/* A question, behind its op. */
struct question {
	const char *p;
	size_t len;
};

static int out_of_turn(struct redoma_error *err)
{
	return err_set(err, REDOMA_E_WORKER, WHERE,
		       "the core asked out of turn");
}

static bool is_mounted(const struct plan_grant *g)
{
	return g->kind <= GRANT_READ_DIR && !g->via_core;
}

/* Where a relative name of the policy starts. */
static int enter(struct usher *u, bool has_cwd, struct redoma_error *err)
{
	CLEANUP_FD int fd = -1;

	if (!has_cwd)
		return 0;
	fd = channel_take_fd(&u->core);
	return fd >= 0 && !fchdir(fd)
		       ? 0
		       : err_sys(err, WHERE, "enter the current directory");
}

static int seal(struct usher *u, const struct ask_sealing *q,
		struct redoma_error *err)
{
	char **argv = q->plan.argv;
	const char *program = argv ? argv[0] : NULL;
	int r = seal_open_watched(&q->policy, u->board, &u->sealed, err);

	if (!r && q->native)
		r = seal_native(u->sealed, q->other_user, err);
	if (!r)
		r = seal_argv(u->sealed, program,
			      (const char *const *)(program ? argv + 1 : NULL),
			      err);
	return r ? r : seal_tools(u->sealed, q->plan.tools, err);
}

/* What the core passes on to who makes the mounts. */
static void lend_mounts(struct usher *u)
{
	const struct plan *p = seal_plan(u->sealed);

	for (uint32_t i = 0; i < p->n_grants; i++)
		if (is_mounted(&p->grants[i]))
			u->fds[u->n_fds++] = p->grants[i].fd;
}

static int answer_seal(struct usher *u, struct question in,
		       struct redoma_error *err)
{
	CLEANUP(ask_sealing_done) struct ask_sealing q = {0};
	int r = ask_seal_decode(in.p, in.len, &q, err);

	if (r)
		return r;
	if (u->sealed)
		return out_of_turn(err);
	if (q.cpu != u->cpu)
		start_follow(q.cpu);
	u->cpu = q.cpu;
	r = enter(u, q.has_cwd, err);
	if (!r)
		r = seal(u, &q, err);
	/* A directory that is entered cannot be unmounted. */
	if (q.has_cwd && chdir("/") && !r)
		r = err_sys(err, WHERE, "leave the directory");
	if (!r)
		r = report_sealed_encode(u->sealed, &u->told, err);
	if (!r && q.native)
		lend_mounts(u);
	if (r)
		answer_close(u);
	return r;
}

/* The plan as the worker gets it: of a native one, the grants that are mounted
 * are told by their mounts. */
static int put_plan(struct usher *u, const struct ask_deliver *q,
		    const int *mounts, int *fds, size_t *n,
		    struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf body = {0};
	struct plan plan = *seal_plan(u->sealed);
	struct plan_grant grants[PLAN_GRANTS_MAX];
	size_t n_plan = 0, at = 0;
	int r;

	for (uint32_t i = 0; i < plan.n_grants; i++) {
		grants[i] = plan.grants[i];
		if (q->n_mounts && is_mounted(&grants[i]) && at < q->n_mounts)
			grants[i].fd = mounts[at++];
	}
	plan.grants = grants;
	r = plan_encode(&plan, &body, fds + *n, &n_plan, err);
	if (!r)
		r = channel_put(&u->worker, FRAME_PLAN, body.data, body.len,
				n_plan, err);
	*n += n_plan;
	return r;
}

static int deliver(struct usher *u, const struct ask_deliver *q, int module,
		   const int *mounts, struct redoma_error *err)
{
	int fds[FRAME_FDS_MAX + 1];
	size_t n = 0;
	int r = channel_put(&u->worker, FRAME_BOUND, q->bounds,
			    sizeof q->bounds, 0, err);

	if (!r && q->has_module) {
		fds[n++] = module;
		r = channel_put(&u->worker, FRAME_MODULE, NULL, 0, 1, err);
	}
	if (!r)
		r = put_plan(u, q, mounts, fds, &n, err);
	return r ? r : channel_flush(&u->worker, fds, n, err);
}

static int answer_deliver(struct usher *u, struct question in,
			  struct redoma_error *err)
{
	struct ask_deliver q;
	CLEANUP_FD int module = -1;
	int mounts[FRAME_FDS_MAX];
	size_t n = 0;
	int r = ask_deliver_decode(in.p, in.len, &q, err);

	if (r)
		return r;
	if (!u->sealed || u->worker_fd >= 0 || q.n_mounts > FRAME_FDS_MAX)
		return out_of_turn(err);
	u->worker_fd = channel_take_fd(&u->core);
	if (q.has_module)
		module = channel_take_fd(&u->core);
	while (n < q.n_mounts && (mounts[n] = channel_take_fd(&u->core)) >= 0)
		n++;
	channel_renew(&u->worker, u->worker_fd);
	u->worker.run = q.run;
	u->worker.send_by_us = q.until_us;
	if (u->worker_fd < 0 || n < q.n_mounts || (q.has_module && module < 0))
		r = out_of_turn(err);
	else
		r = deliver(u, &q, module, mounts, err);
	while (n)
		close(mounts[--n]);
	return r;
}

static int answer_call(struct usher *u, struct question in,
		       struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf reply = {0};
	const struct seal_denial *none;
	CLEANUP_FD int fd = -1;
	uint32_t denials;
	int r;

	if (!u->sealed || u->worker_fd < 0)
		return out_of_turn(err);
	r = serve_call(u->sealed, in.p, in.len, &reply, &fd, err);
	if (!r)
		r = channel_send_fds(&u->worker, FRAME_ANSWER, reply.data,
				     reply.len, &fd, fd >= 0, err);
	denials = (uint32_t)seal_denials(u->sealed, &none);
	if (!r && buf_add(&u->told, &denials, sizeof denials))
		r = err_nomem(err, WHERE);
	return r;
}

static int answer_finish(struct usher *u, struct question in,
			 struct redoma_error *err)
{
	(void)in;
	return u->sealed ? report_finished_encode(u->sealed, &u->told, err)
			 : out_of_turn(err);
}

static int answer_publish(struct usher *u, struct question in,
			  struct redoma_error *err)
{
	CLEANUP(published_done) struct published_list list = {0};
	CLEANUP_FREE struct outcome_written *w = NULL;
	size_t n;
	int r;

	if (!u->sealed)
		return out_of_turn(err);
	r = ask_publish_decode(in.p, in.len, &w, &n, err);
	/* No file appears of which then could not be told. */
	if (!r && buf_reserve(&u->told, report_published_bytes(n)))
		r = err_nomem(err, WHERE);
	if (!r)
		r = publish_all(u->sealed, w, n, &list, err);
	return r ? r : report_published_encode(&list, &u->told, err);
}

void answer_close(struct usher *u)
{
	seal_close(TAKE_PTR(u->sealed));
	channel_renew(&u->worker, -1);
	if (u->worker_fd >= 0)
		close(TAKE_FD(u->worker_fd));
}

static int do_close(struct usher *u, struct question in,
		    struct redoma_error *err)
{
	(void)in;
	(void)err;
	answer_close(u);
	return 0;
}

int answer_ask(struct usher *u, struct redoma_error *err)
{
	static int (*const verbs[ASK_OPS])(struct usher *, struct question,
					   struct redoma_error *) = {
		[ASK_SEAL] = answer_seal,
		[ASK_DELIVER] = answer_deliver,
		[ASK_CALL] = answer_call,
		[ASK_FINISH] = answer_finish,
		[ASK_PUBLISH] = answer_publish,
		[ASK_CLOSE] = do_close,
	};
	unsigned char op = u->asked.len ? (unsigned char)u->asked.data[0] : 0;
	struct question in = {u->asked.data + 1, u->asked.len - 1};

	if (!op || op >= ASK_OPS)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "the core asked what is not known here");
	return verbs[op](u, in, err);
}
