/* core/converse.h - the core's side of one run: send, listen, enforce.
 *
 * Everything that arrives is hostile.  The limits that the worker enforces
 * from inside are enforced here once more from outside. */
#ifndef CORE_CONVERSE_H
#define CORE_CONVERSE_H

#include "core/desk.h"
#include "core/granted.h"
#include "core/handle.h"
#include "core/result.h"
#include "wire/outcome.h"

/* A worker that does not end itself by then is killed. */
#define GRACE_US 50000u
/* A jail has to end all its processes first. */
#define NATIVE_GRACE_US 500000u

/* What is sent; borrowed. */
struct errand {
	struct granted *granted;
	struct desk *desk; /* NULL: no tool is granted */
	const int *mounts; /* native: see granted_way */
	size_t n_mounts;
	int cpu_fd; /* of group_cpu_read; with native alone; -1: not told */
	bool native;
	int module_fd; /* artefact; -1: none to send */
	const char *name, *invoke;
	const void *source, *input;
	size_t source_len, input_len;
	uint64_t data_bytes, file_bytes; /* what the worker bounds itself to */
	void (*on_output)(void *data, int stream, const void *p, uint64_t len);
	void *on_output_data;
};

enum verdict {
	VERDICT_OUTCOME, /* it ended by itself and said what it came to */
	VERDICT_WALL,	 /* killed at its deadline plus grace */
	VERDICT_CPU,
	VERDICT_MEMORY,
	VERDICT_OUTPUT,	   /* sent more than it may */
	VERDICT_GONE,	   /* its end of the conversation closed */
	VERDICT_PROTOCOL,  /* it broke the protocol */
	VERDICT_CALLS,	   /* called tools more often than it may */
	VERDICT_DENIED,	   /* was refused a tool, and on_denied is end */
	VERDICT_CANCELLED
};

struct talk {
	struct redoma_result *result; /* gets output, value, wall time */
	struct outcome outcome; /* VERDICT_OUTCOME; borrows outcome_bytes */
	struct buf outcome_bytes;
	enum verdict verdict;
	bool stuck; /* it was killed, and part of it is not dead yet */
	uint64_t cpu_before_us; /* what its process had used by then */
};

/* Fails if memory is short or the worker could not set itself up; what it says
 * of that is in err. */
MUST_CHECK int converse(struct redoma *h, struct slot *s,
			const struct errand *e, struct talk *t,
			struct redoma_error *err);
void talk_done(struct talk *t);

#endif
