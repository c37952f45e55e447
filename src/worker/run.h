/* worker/run.h - one run inside both walls: a plan and bytes in, an outcome
 * and a value out. */
#ifndef WORKER_RUN_H
#define WORKER_RUN_H

#include "base/buf.h"
#include "wire/outcome.h"
#include "wire/request.h"
#include "worker/zygote.h"

/* What it came to.  Texts of the outcome and the value borrow from the guest's
 * memory or from `text`, until run_reset. */
struct run_result {
	struct outcome outcome;
	struct outcome_text value; /* JSON text; len 0: none */
	struct buf results;	   /* of an invoked export; kept run to run */
	struct outcome_written written[OUTCOME_WRITTEN_MAX];
	char text[256];
};

/* Runs q; output goes to the channel as it comes.  A guest that misbehaves is
 * an outcome; an error means that this worker is of no further use. */
MUST_CHECK int run_once(struct kit *k, struct channel *c, struct request *q,
			struct run_result *ret, struct redoma_error *err);
struct run_usage {
	uint64_t page_faults; /* since it was last asked */
	uint64_t cpu_us;      /* of this process in all */
};
void run_usage(struct kit *k, struct run_usage *ret);
/* Puts the instance back to the image; *ret_us is the CPU time it took.  In
 * verify mode *ret_wrong counts bytes that are not the image's afterwards. */
MUST_CHECK int run_reset(struct kit *k, uint64_t *ret_us, uint64_t *ret_wrong,
			 struct redoma_error *err);
/* Verify mode: keeps a copy of a fresh instance. */
MUST_CHECK int run_remember(struct kit *k, struct redoma_error *err);
/* Maps the image where its instances live: no file is mapped after the lock. */
MUST_CHECK int run_map(struct kit *k, struct redoma_error *err);
/* A first, trusted run, so that what every run touches is in place. */
MUST_CHECK int run_warm(struct kit *k, struct redoma_error *err);

#endif
