#include "worker/child.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "engine/module.h"
#include "wire/compile.h"
#include "worker/deadline.h"
#include "worker/renew.h"
#include "worker/request.h"
#include "worker/run.h"

#define WHERE "worker"

/* The largest artefact's memory: COMPILE_ARTEFACT of wire/compile.h. */
#define MODULE_IMAGE_MAX COMPILE_ARTEFACT
#define FILE_BYTES_MAX ((uint64_t)1 << 62)

/* Shown in ps; both names have the same length, argv[0] holds no more. */
#define TITLE "redoma-worker"

static void set_title(const struct kit *k)
{
	prctl(PR_SET_NAME, TITLE, 0, 0, 0);
	if (strlen(k->title) == sizeof TITLE - 1)
		memcpy(k->title, TITLE, sizeof TITLE - 1);
}

static void pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	/* Only speed depends on it. */
	sched_setaffinity(0, sizeof set, &set);
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

static int prepare(struct kit *k, int sock, int cpu, struct redoma_error *err)
{
	int pagemap = engine_pagemap_fd(k->engine);
	int r = 0;

	set_title(k);
	pin(cpu);
	if (pagemap >= 0)
		r = renew_pagemap(jail_proc_fd(k->jail), pagemap, err);
	if (!r)
		r = deadline_create(err);
	if (!r)
		r = lock(k, sock, err);
	if (!r && k->setup.has_image && !k->setup.single)
		r = run_warm(k, err);
	if (!r && k->setup.has_image && k->setup.verify)
		r = run_remember(k, err);
	if (!r && k->setup.has_image && !k->setup.verify && !k->setup.single)
		exec_ahead(k->exec);
	run_usage(k, &(struct run_usage){0});
	return r;
}

/* What the core allows, for good.  While an artefact is loaded its memory image
 * is written as a file, so the bound of files comes in two steps. */
static int bound(struct kit *k, const struct request *q, uint64_t at_least,
		 struct redoma_error *err)
{
	uint64_t n[3];
	int r;

	if (q->bounds.len != sizeof n)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "the core sent no bounds");
	memcpy(n, q->bounds.data, sizeof n);
	if (n[1] < at_least)
		n[1] = at_least;
	/* What is so already need not be asked for. */
	if (n[0] == k->bounds[0] && n[1] == k->bounds[1])
		return 0;
	r = jail_bound(n[0], n[1], err);
	if (!r)
		memcpy(k->bounds, n, sizeof k->bounds);
	return r;
}

/* Inside all walls: the artefact's bytes are those that the core checked, but
 * the module they were made from is the guest's. */
static int load_module(struct kit *k, const struct request *q,
		       struct redoma_error *err)
{
	int fd = q->module_fd;
	CLEANUP_FREE void *p = NULL;
	struct stat st;
	ssize_t n;
	int r;

	if (fstat(fd, &st))
		return err_sys(err, WHERE, "measure the artefact");
	p = malloc((size_t)st.st_size);
	if (!p)
		return err_nomem(err, WHERE);
	n = pread(fd, p, (size_t)st.st_size, 0);
	if (n != st.st_size)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "the artefact could not be read whole");
	r = bound(k, q, MODULE_IMAGE_MAX, err);
	if (!r)
		r = module_load_bytes(k->engine, p, (size_t)n, err);
	if (!r)
		r = module_link(k->engine, k->wasi, err);
	if (!r)
		r = exec_new(k->engine, deadline_stop(), &k->exec, err);
	return r ? r : jail_seal(err);
}

static int reply(struct channel *c, const struct run_result *res,
		 struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	int r = 0;

	if (res->value.len)
		r = channel_put(c, FRAME_VALUE, res->value.p, res->value.len, 0,
				err);
	if (!r)
		r = outcome_encode(&res->outcome, &b, err);
	if (!r)
		r = channel_put(c, FRAME_OUTCOME, b.data, b.len, 0, err);
	return r ? r : channel_flush(c, NULL, 0, err);
}

static int serve_one(struct kit *k, struct channel *c, struct request *q,
		     struct run_result *res, struct redoma_error *err)
{
	int r = request_read(c, q, err);

	if (!r && q->module_fd >= 0)
		r = load_module(k, q, err);
	if (!r)
		r = bound(k, q, 0, err);
	if (!r)
		r = run_once(k, c, q, res, err);
	return r ? r : reply(c, res, err);
}

static int park(struct kit *k, struct channel *c, uint64_t since,
		struct redoma_error *err)
{
	struct spawn_ready ready;

	zygote_ready(k, since, &ready);
	return channel_send(c, FRAME_READY, FRAME_LAST, &ready, sizeof ready,
			    err);
}

static void tell(struct channel *c, const struct redoma_error *e)
{
	if (channel_send(c, FRAME_FAILED, FRAME_LAST, e, sizeof *e, NULL))
		_exit(0);
	_exit(CHILD_FAILED);
}

void child_main(struct kit *k, int sock, int cpu)
{
	uint64_t since = clock_monotonic_us(), reset_us = 0, wrong = 0;
	struct channel *c = k->channel;
	struct request *q = k->request;
	struct run_result *res = k->result;
	struct redoma_error err = {0};
	int r;

	channel_init(c, sock);
	request_init(q);
	r = prepare(k, sock, cpu, &err);
	if (!r)
		r = park(k, c, since, &err);
	while (!r) {
		res->outcome.reset_us = reset_us;
		res->outcome.resets_wrong = wrong;
		r = serve_one(k, c, q, res, &err);
		if (r)
			break;
		if (!k->setup.reuse)
			_exit(0);
		r = run_reset(k, &reset_us, &wrong, &err);
		request_clear(q);
	}
	tell(c, &err);
	_exit(CHILD_FAILED);
}
