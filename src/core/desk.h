/* core/desk.h - the calls of tools of one run: each is held against the policy
 * here, handed to the caller's on_call, and answered when the caller answers.
 *
 * What comes is a worker's word: numbers that are not the next, more under way
 * than may be, names and arguments of any kind.  Only what passed reaches the
 * caller.  The run's thread uses all of this; redoma_answer and
 * redoma_answer_error may be called on any thread, also after the run. */
#ifndef CORE_DESK_H
#define CORE_DESK_H

#include <redoma.h>
#include "core/result.h"
#include "policy/policy.h"
#include "wire/frame.h"

struct desk;

struct desk_want { /* borrowed until desk_close */
	const struct policy *policy;
	void (*on_call)(void *data, struct redoma_call *c);
	void *data;
};

enum desk_end {
	DESK_GOES_ON,
	DESK_BROKEN, /* what no worker of ours sends */
	DESK_LIMIT,  /* limits.calls */
	DESK_DENIED  /* refused, and on_denied is end */
};

MUST_CHECK int desk_open(const struct desk_want *w, struct desk **ret,
			 struct redoma_error *err);
/* What is answered from now on goes nowhere; NULL is fine. */
void desk_close(struct desk *d);
/* One FRAME_TOOL.  May call on_call. */
MUST_CHECK int desk_hear(struct desk *d, struct channel *worker,
			 const struct frame *f, const void *body,
			 enum desk_end *ret, struct redoma_error *err);
/* Waits, while calls are under way, until a frame of the worker's can be read,
 * and meanwhile sends what is answered.  0; REDOMA_E_BUSY: it is `until_us`
 * (CLOCK_MONOTONIC); else as channel_recv. */
MUST_CHECK int desk_tend(struct desk *d, struct channel *worker,
			 uint64_t until_us, struct redoma_error *err);
/* Every call and every refusal, for the result. */
MUST_CHECK int desk_tell(struct desk *d, struct redoma_result *res,
			 struct redoma_error *err);

#endif
