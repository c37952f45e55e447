/* wire/outcome.h - what a worker says a run came to.  The decoder reads
 * hostile bytes: every count and length is capped, every string is checked to
 * lie inside the message, and a status outside the list is refused. */
#ifndef WIRE_OUTCOME_H
#define WIRE_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"

#define OUTCOME_DENIALS_MAX 64
#define OUTCOME_WRITTEN_MAX 4096
#define OUTCOME_TEXT_MAX 65536 /* bytes of one text */
#define OUTCOME_SIGNAL_MAX 64u
#define OUTCOME_MAX (32u << 20) /* bytes of one message */

struct outcome_text {
	const char *p; /* borrowed */
	uint32_t len;
};

struct outcome_denial {
	struct outcome_text op, path;
	uint64_t count;
	uint64_t needed; /* bytes that would be enough; 0: not known */
	bool write;
};

struct outcome_written {
	uint32_t grant;
	uint64_t handle;
	struct outcome_text path;
};

/* The name of the error if a row could be ended by a trap only. */
#define OUTCOME_ROW_TIME "RowTime"

struct outcome {
	uint32_t status; /* enum redoma_status */
	int32_t exit_code;
	uint32_t signal; /* that ended a native program; 0: none */
	bool used_clock, used_random, used_unpinned;
	uint64_t cpu_us, reset_us, fuel, memory_bytes;
	uint64_t read_bytes, written_bytes;
	uint64_t page_faults; /* since the worker parked or its last run */
	uint64_t resets_wrong; /* verify mode: bytes that differed */
	struct outcome_text name, message, stack; /* of the error */
	uint32_t line, column;
	uint32_t row; /* that a batch had come to, from 1; 0: not told */
	uint32_t n_denials, n_written;
	struct outcome_denial denials[OUTCOME_DENIALS_MAX];
	struct outcome_written *written; /* n_written; see below */
};

/* Appends the message; `written` is borrowed. */
MUST_CHECK int outcome_encode(const struct outcome *o, struct buf *out,
			      struct redoma_error *err);
/* Texts borrow from p; o->written is owned: free with outcome_done. */
MUST_CHECK int outcome_decode(const void *p, size_t len, struct outcome *o,
			      struct redoma_error *err);
void outcome_done(struct outcome *o);

#endif
