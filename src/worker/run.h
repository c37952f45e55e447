/* worker/run.h - one run inside both walls: a plan and bytes in, an outcome
 * and a value out. */
#ifndef WORKER_RUN_H
#define WORKER_RUN_H

#include "base/buf.h"
#include "policy/plan.h"
#include "wire/outcome.h"
#include "worker/zygote.h"

#define RUN_SOURCE_MAX ((size_t)64 << 20)
#define RUN_INPUT_MAX ((size_t)64 << 20)

/* What the core sent; buffers are kept from run to run. */
struct run_request {
	struct plan plan;
	bool has_plan;
	struct buf plan_bytes, source, input;
	struct buf name;   /* shown in errors */
	struct buf invoke; /* export to call; empty: the command entry */
};

/* What it came to; texts and value are borrowed until run_reset. */
struct run_result {
	struct outcome outcome;
	struct buf value; /* JSON text; empty: none */
	struct buf text;  /* holds the error's words */
	bool broken;	  /* the conversation with the core broke */
};

/* Runs; output goes to the channel as it comes.  Errors are ours. */
MUST_CHECK int run_once(struct kit *k, struct channel *c,
			struct run_request *q, struct run_result *ret,
			struct redoma_error *err);
/* Puts the instance back to the image; *ret_us is what it took. */
void run_reset(struct kit *k, uint64_t *ret_us);
/* Verify mode: bytes that differ from the image after a reset. */
uint64_t run_verify(struct kit *k);
/* A first trusted run that touches what every run touches. */
MUST_CHECK int run_warm(struct kit *k, struct redoma_error *err);

#endif
