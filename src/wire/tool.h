/* wire/tool.h - calls of tools: the messages FRAME_TOOL, worker to core, and
 * FRAME_RETURN, core to worker, as guest and host of the `redoma` imports see
 * them too.
 *
 * A message may be longer than a frame: then it is several of one kind.  Calls
 * of one run are numbered 1, 2, 3 ...; answers come in any order.
 *
 *	call	u32 number, then what the guest gave: NAME 0 JSON
 *	return	u32 number, then what the guest gets: one byte, and after 0 the
 *		JSON of the value, after 1 NAME 0 MESSAGE of the failure
 *
 * Numbers are little-endian.  tool_call_decode reads hostile bytes. */
#ifndef WIRE_TOOL_H
#define WIRE_TOOL_H

#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "wire/frame.h"

#define TOOL_TEXT_MAX ((size_t)1 << 20) /* what a guest gives or gets */
#define TOOL_CALL_MAX (TOOL_TEXT_MAX + sizeof(uint32_t))
#define TOOL_WORD_MAX 256u	 /* the name of a tool, of a failure */
#define TOOL_MESSAGE_MAX 4096u /* of a failure */

struct tool_call {
	uint32_t id;
	struct str name, args; /* borrowed; args may be anything */
};

/* Puts a call or a return: collected, to be flushed. */
MUST_CHECK int tool_put(struct channel *c, enum frame_kind kind, uint32_t id,
			const void *p, size_t n, struct redoma_error *err);
/* REDOMA_E_INVALID unless it has a number, a name of at most TOOL_WORD_MAX
 * bytes and its end, and is no longer than TOOL_CALL_MAX. */
MUST_CHECK int tool_call_decode(const void *p, size_t len,
				struct tool_call *ret,
				struct redoma_error *err);
/* Appends what a guest gets.  Name and message are cut at their caps. */
MUST_CHECK int tool_put_value(struct buf *out, const void *json, size_t n,
			      struct redoma_error *err);
MUST_CHECK int tool_put_failure(struct buf *out, const char *name,
				const char *message, struct redoma_error *err);

#endif
