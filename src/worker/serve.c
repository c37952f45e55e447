#include "worker/serve.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "engine/module.h"
#include "wire/compile.h"
#include "worker/deadline.h"

#define WHERE "worker"

/* The largest artefact's memory: COMPILE_ARTEFACT of wire/compile.h. */
#define MODULE_IMAGE_MAX COMPILE_ARTEFACT

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
	/* Named in walls, and lacking: the result says so. */
	if (k->report.state[JAIL_RLIMITS] == JAIL_UNAVAILABLE)
		return 0;
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
	/* There is no first filter to stack one on, and the result says so. */
	if (r || k->report.state[JAIL_SECCOMP] == JAIL_UNAVAILABLE)
		return r;
	return jail_seal(err);
}

int serve_reply(struct channel *c, const struct run_result *res,
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

int serve_one(struct kit *k, struct channel *c, struct request *q,
	      struct run_result *res, struct redoma_error *err)
{
	int r = request_read(c, q, err);

	if (!r && q->module_fd >= 0)
		r = load_module(k, q, err);
	if (!r)
		r = bound(k, q, 0, err);
	if (!r)
		r = run_once(k, c, q, res, err);
	return r ? r : serve_reply(c, res, err);
}

