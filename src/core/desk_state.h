/* core/desk_state.h - what desk.c and call.c share; nobody else's. */
#ifndef CORE_DESK_STATE_H
#define CORE_DESK_STATE_H

#include <pthread.h>
#include "base/buf.h"
#include "core/desk.h"
#include "policy/where.h"

#define DESK_DENIALS_MAX 64

/* Alive while the run or an unanswered call has a share. */
struct desk {
	pthread_mutex_t lock; /* of the next five */
	unsigned shares;
	bool closed;
	bool sleeping; /* the run's thread waits on `wake` */
	int wake;      /* eventfd */
	struct redoma_call *first, *last; /* answered, not sent yet */
	/* The run's thread alone: */
	struct desk_want want;
	uint32_t number; /* of the last call */
	uint64_t under_way;
	uint64_t *counts; /* owned: per tool of the policy */
	struct buf part;  /* of a call that comes in several frames */
	struct result_call *calls; /* owned */
	size_t n_calls, room_calls;
	struct result_denial *denials; /* owned; room for all */
	size_t n_denials;
	struct where *wide[DESK_DENIALS_MAX]; /* owned: what would allow all
						 that a denial counts */
};

struct redoma_call {
	struct redoma_call *next;
	struct desk *desk; /* a share */
	uint32_t number;
	size_t row;	     /* of desk->calls */
	uint64_t answered_us;
	bool ok;
	struct buf answer; /* as the guest gets it */
	size_t args_len;
	char *args;   /* in text, behind the name */
	char text[]; /* name 0 arguments 0 */
};

/* One share less. */
void desk_drop(struct desk *d);
void call_free(struct redoma_call *c);

#endif
