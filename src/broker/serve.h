/* broker/serve.h - what a guest asks of the core while it runs.
 *
 * The caller is a worker that may be hostile: each call is parsed as outside
 * bytes and checked against the sealed plan.  Below a granted directory names
 * are resolved by the kernel, beneath the descriptor held since sealing:
 * links and ".." that stay inside work, what leaves is EXDEV; FIFOs, sockets,
 * devices and what lies in /proc are seen but not opened (EACCES).  Nothing
 * that was there before is ever opened for writing. */
#ifndef BROKER_SERVE_H
#define BROKER_SERVE_H

#include "base/buf.h"
#include "base/err.h"
#include "broker/seal.h"

/* Answers the body of one FRAME_CALL.  0: reply (cleared first) is the body
 * of a FRAME_ANSWER, and *ret_fd a descriptor to send with it, the caller's
 * to close, or -1.  A refusal is an answer.  REDOMA_E_INVALID: the body breaks
 * the protocol, which our own worker never does. */
MUST_CHECK int serve_call(struct sealed *s, const void *body, size_t len,
			  struct buf *reply, int *ret_fd,
			  struct redoma_error *err);

#endif
