/* broker/ask.h - what the core asks of its usher: the broker over frames.
 *
 * A question is one FRAME_ASK message (several frames when it is long), its
 * first byte an enum ask_op; each is answered by one FRAME_TOLD message or by
 * FRAME_FAILED.  Both ends are ours and of one build: the decoders check every
 * length and count all the same.
 *
 *	SEAL	struct ask_seal; gets report_sealed and, for a native program,
 *		a descriptor for each grant to mount
 *	DELIVER	struct ask_deliver, the worker's socket, its module, mounts
 *		that replace those of SEAL
 *	CALL	the body of a FRAME_CALL; the worker gets its answer, the core a
 *		u32: denials so far
 *	FINISH	gets report_finished
 *	PUBLISH	list of struct outcome_written; gets report_published
 *	CLOSE	answered when all of it is closed
 */
#ifndef BROKER_ASK_H
#define BROKER_ASK_H

#include <stdbool.h>
#include "base/buf.h"
#include "base/err.h"
#include "policy/plan.h"
#include "policy/policy.h"
#include "wire/outcome.h"

#define ASK_MAX ((size_t)64 << 20) /* bytes of one message, either way */

/* Descriptors of redoma-usher when it starts. */
enum { ASK_CONTROL_FD = 3, ASK_BOARD_FD = 4 };

enum ask_op {
	ASK_SEAL = 1,
	ASK_DELIVER,
	ASK_CALL,
	ASK_FINISH,
	ASK_PUBLISH,
	ASK_CLOSE,
	ASK_OPS
};

/* The first page of the descriptor ASK_BOARD_FD holds this behind the board. */
struct ask_rights {
	uint32_t caps[2]; /* effective capabilities of the core: no more */
	uint32_t fsuid, fsgid;
};

struct ask_seal {
	const struct policy *policy; /* base_dir and grants are sent of it */
	const struct plan *plan; /* all else: limits, clock, argv, env */
	bool native, other_user; /* see seal_native */
	bool has_cwd; /* a descriptor comes along: where a relative base_dir
			 starts */
	uint32_t cpu; /* of the core */
};

/* The same on the other side.  Texts of policy borrow from the message. */
struct ask_sealing {
	struct policy policy;
	struct plan plan; /* owned; without grants */
	bool native, other_user, has_cwd;
	uint32_t cpu;
};

struct ask_deliver {
	uint64_t run;
	uint64_t until_us; /* CLOCK_MONOTONIC: no worker is waited for longer */
	bool has_module;
	uint32_t n_mounts;
	uint64_t bounds[3]; /* body of FRAME_BOUND */
};

MUST_CHECK int ask_seal_encode(const struct ask_seal *q, struct buf *out,
			       struct redoma_error *err);
/* p and len: behind the op.  Free with ask_sealing_done. */
MUST_CHECK int ask_seal_decode(const void *p, size_t len,
			       struct ask_sealing *ret,
			       struct redoma_error *err);
void ask_sealing_done(struct ask_sealing *q);
MUST_CHECK int ask_deliver_encode(const struct ask_deliver *q, struct buf *out,
				  struct redoma_error *err);
MUST_CHECK int ask_deliver_decode(const void *p, size_t len,
				  struct ask_deliver *ret,
				  struct redoma_error *err);
MUST_CHECK int ask_publish_encode(const struct outcome_written *w, size_t n,
				  struct buf *out, struct redoma_error *err);
/* *ret: n of them, to be freed; paths borrow from p. */
MUST_CHECK int ask_publish_decode(const void *p, size_t len,
				  struct outcome_written **ret, size_t *ret_n,
				  struct redoma_error *err);

#endif
