/* wire/plan_wire.h - a sealed plan as the message FRAME_PLAN, both ends.
 *
 * Descriptors travel beside the bytes, in the order of the grants that have
 * one.  The decoder checks every count, length and enumeration, though its
 * bytes come from the core: a worker must not be the place where a mistake
 * becomes authority. */
#ifndef WIRE_PLAN_WIRE_H
#define WIRE_PLAN_WIRE_H

#include <stddef.h>
#include "base/buf.h"
#include "base/err.h"
#include "policy/plan.h"
#include "wire/frame.h"

#define PLAN_WIRE_MAX (4u << 20) /* bytes of one message */

/* Appends the message; fds[0..*ret_n] are borrowed from the plan, to be sent
 * with its first frame. */
MUST_CHECK int plan_encode(const struct plan *p, struct buf *out,
			   int fds[FRAME_FDS_MAX], size_t *ret_n,
			   struct redoma_error *err);
/* Takes all n_fds descriptors on success, none on failure.  Free with
 * plan_done. */
MUST_CHECK int plan_decode(const void *p, size_t len, const int *fds,
			   size_t n_fds, struct plan *ret,
			   struct redoma_error *err);

#endif
