/* core/run.h - the pipeline: request, plan, worker, outcome, result. */
#ifndef CORE_RUN_H
#define CORE_RUN_H

#include "core/handle.h"
#include "core/result.h"

MUST_CHECK int run_request(struct redoma *h, const struct redoma_request *q,
			   struct redoma_result **ret,
			   struct redoma_error *err);
/* The same with a batch (wire/batch.h) as input for q->language's image; the
 * result's value is the image's answer, a guest's word. */
MUST_CHECK int run_batch(struct redoma *h, const struct redoma_request *q,
			 struct redoma_result **ret, struct redoma_error *err);

/* Of a batch that needs no run, since its answer is known (core/recall.h): a
 * result of its own, pure, whose value is still missing. */
MUST_CHECK int run_none(struct redoma *h, struct redoma_result **ret,
			struct redoma_error *err);

#endif
