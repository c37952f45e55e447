/* worker/serve.h - one request of the core, inside both walls. */
#ifndef WORKER_SERVE_H
#define WORKER_SERVE_H

#include "wire/request.h"
#include "worker/run.h"
#include "worker/zygote.h"

/* Waits for a run, bounds this worker to it for good, runs it and replies.  An
 * error means that this worker is of no further use. */
MUST_CHECK int serve_one(struct kit *k, struct channel *c, struct request *q,
			 struct run_result *res, struct redoma_error *err);
/* Value and outcome, in one system call. */
MUST_CHECK int serve_reply(struct channel *c, const struct run_result *res,
			   struct redoma_error *err);

#endif
