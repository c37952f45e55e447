#include "worker/child.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/here.h"
#include "wire/request.h"
#include "worker/deadline.h"
#include "worker/rehearse.h"
#include "worker/renew.h"
#include "worker/run.h"
#include "worker/serve.h"

#define WHERE "worker"

/* After a reply: a core that runs has ended us by then. */
#define NUDGE_US 60u
#define FILE_BYTES_MAX ((uint64_t)1 << 62)

/* Shown in ps; both names have the same length, argv[0] holds no more. */
#define TITLE "redoma-worker"

static void set_title(const struct kit *k)
{
	prctl(PR_SET_NAME, TITLE, 0, 0, 0);
	if (strlen(k->title) == sizeof TITLE - 1)
		memcpy(k->title, TITLE, sizeof TITLE - 1);
}

static int lock(struct kit *k, int sock, struct redoma_error *err)
{
	int pagemap = engine_pagemap_fd(k->engine);
	int keep[2] = {sock, pagemap};
	struct jail_options o = {
		.may_lack = k->setup.may_lack,
		.filter = k->setup.has_image ? JAIL_FILTER_WORKER
					     : JAIL_FILTER_LOADING,
		/* Lowered before each run: jail_bound. */
		.file_bytes = FILE_BYTES_MAX,
		.keep = keep,
		.n_keep = pagemap < 0 ? 1 : 2,
	};

	if (pagemap >= 0 && pagemap < sock) {
		keep[0] = pagemap;
		keep[1] = sock;
	}
	return jail_lock(k->jail, &o, &k->report, err);
}

/* A worker for one run alone has nobody waiting later. */
static int rehearsed(struct kit *k, struct redoma_error *err)
{
	return k->setup.has_image && !k->setup.single ? rehearse(k, err) : 0;
}

static int prepare(struct kit *k, int sock, struct run_usage *ret_used,
		   struct redoma_error *err)
{
	int pagemap = engine_pagemap_fd(k->engine);
	int r = 0;

	set_title(k);
	if (pagemap >= 0)
		r = renew_pagemap(jail_proc_fd(k->jail), pagemap, err);
	if (!r)
		r = deadline_create(err);
	if (!r)
		r = rehearsed(k, err);
	if (!k->setup.single)
		here_brisk();
	if (!r)
		r = lock(k, sock, err);
	if (!r && k->setup.has_image && k->setup.verify)
		r = run_remember(k, err);
	if (!r && k->setup.has_image && !k->setup.verify && !k->setup.single)
		exec_ahead(k->exec);
	k->page_faults = 0;
	run_usage(k, ret_used);
	return r;
}

static int park(struct kit *k, struct channel *c, uint64_t since,
		const struct run_usage *used, struct redoma_error *err)
{
	struct spawn_ready ready;

	zygote_ready(k, since, &ready);
	ready.used_us = used->cpu_us;
	ready.used_faults = used->page_faults;
	return channel_send(c, FRAME_READY, FRAME_LAST, &ready, sizeof ready,
			    err);
}

static void tell(struct channel *c, const struct redoma_error *e)
{
	if (channel_send(c, FRAME_FAILED, FRAME_LAST, e, sizeof *e, NULL))
		_exit(0);
	_exit(CHILD_FAILED);
}

/* To exit takes longer than the core's rest of the run, on the same CPU: the
 * core goes first, and ends us when it is done. */
__attribute__((noreturn)) static void leave(struct channel *c)
{
	struct frame f;
	const void *body;

	c->nudge_us = NUDGE_US;
	while (!channel_recv(c, UINT64_MAX, &f, &body, NULL))
		;
	_exit(0);
}

void child_main(struct kit *k, int sock)
{
	uint64_t since = clock_monotonic_us(), reset_us = 0, wrong = 0;
	struct channel *c = k->channel;
	struct request *q = k->request;
	struct run_result *res = k->result;
	struct redoma_error err = {0};
	struct run_usage used;
	int r;

	request_init(q);
	r = prepare(k, sock, &used, &err);
	channel_renew(c, sock);
	if (!r)
		r = park(k, c, since, &used, &err);
	while (!r) {
		res->outcome.reset_us = reset_us;
		res->outcome.resets_wrong = wrong;
		r = serve_one(k, c, q, res, &err);
		if (r)
			break;
		if (!k->setup.reuse)
			leave(c);
		/* The core takes the reply before we tidy up. */
		sched_yield();
		r = run_reset(k, &reset_us, &wrong, &err);
		request_clear(q);
	}
	tell(c, &err);
	_exit(CHILD_FAILED);
}
