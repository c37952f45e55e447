/* native/boot.h - init's side of the conversation with the bootstrap of a
 * language, on descriptor 3 of the payload.
 *
 * A message is {u32 kind, u32 length}, little-endian, and the bytes.  From the
 * payload: READY, once, before its run; CALL (wire/tool.h), any number; VALUE
 * (JSON text), ERROR (a JSON object) and EXIT (u32), which is the last.  To it:
 * RUN, once, and ANSWER (wire/tool.h).  The payload is hostile once it runs:
 * lengths are capped, a second VALUE or ERROR or an unknown kind breaks the
 * conversation.  Nothing here waits. */
#ifndef NATIVE_BOOT_H
#define NATIVE_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "wire/request.h"
#include "wire/tool.h"

#define BOOT_HEADER 8u
#define BOOT_ERROR_MAX (256u << 10) /* bytes of an ERROR */

enum boot_kind {
	BOOT_READY = 1,
	BOOT_RUN,
	BOOT_VALUE,
	BOOT_ERROR,
	BOOT_EXIT,
	BOOT_CALL,
	BOOT_ANSWER
};

enum boot_tag {
	BOOT_SOURCE = 1,
	BOOT_NAME,
	BOOT_INPUT,
	BOOT_ARG,
	BOOT_ENV,
	BOOT_TOOL,	/* a name that is granted */
	BOOT_IN_FLIGHT	/* u32: calls that may be under way at once */
};

enum boot_state {
	BOOT_TALKS,
	BOOT_ENDED,  /* EXIT came */
	BOOT_CLOSED, /* end of file */
	BOOT_OVER,   /* a VALUE over its cap */
	BOOT_BROKEN  /* not the protocol */
};

struct boot {
	int *fd; /* borrowed; set to -1 and closed at its end */
	enum boot_state state;
	bool ready, has_value, has_error, has_exit;
	bool asked; /* RUN was put */
	uint32_t exit_code;
	struct buf value, error; /* as they came; error is not yet parsed */
	uint64_t value_max;
	/* Takes a CALL that came whole.  Not 0: it is none of the protocol.
	 * NULL: none may come. */
	int (*call)(void *data, const void *p, size_t n);
	void *call_data;
	struct buf call_bytes; /* of one that has not come whole yet */
	struct buf out; /* bytes not yet sent, from `sent` on */
	size_t sent;
	/* A message being read. */
	unsigned char head[BOOT_HEADER], code[4];
	size_t have, code_have;
	uint32_t kind, left;
};

void boot_init(struct boot *b, int *fd);
void boot_done(struct boot *b);
/* One read; the states say what came of it. */
void boot_read(struct boot *b);
/* Reads until nothing is there. */
void boot_drain(struct boot *b);
/* Puts RUN together; q's source and input are freed. */
MUST_CHECK int boot_ask(struct boot *b, struct request *q,
			struct redoma_error *err);
/* Puts an ANSWER: what a FRAME_RETURN holds. */
MUST_CHECK int boot_answer(struct boot *b, const void *p, size_t n,
			   struct redoma_error *err);
/* True while bytes are left to send. */
bool boot_wants_out(const struct boot *b);
void boot_write(struct boot *b);

#endif
