/* table/pieces.h - the bytes of a file of blocks: heads that are read whole,
 * and bodies of which only pieces are looked at.
 *
 * Of a regular file a piece is read where it stands, so that a body takes no
 * memory.  Of a pipe a body is held, BODY_MAX at most. */
#ifndef TABLE_PIECES_H
#define TABLE_PIECES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"

#define BODY_MAX ((uint64_t)256 << 20)

struct pieces {
	int fd; /* borrowed */
	bool placed;
	uint64_t at, end; /* of a regular file: what comes next, its size */
	uint64_t body, body_len;
	struct buf held;
	char back[8]; /* of a pipe: bytes that were returned */
	size_t n_back;
};

void pieces_open(struct pieces *s, int fd);
/* The next n bytes, or fewer where the file ends, in place of what `into`
 * holds. */
MUST_CHECK int pieces_take(struct pieces *s, size_t n, struct buf *into,
			   struct redoma_error *err);
/* Bytes that were just taken, 8 at most, are taken again. */
void pieces_return(struct pieces *s, const struct buf *bytes);
/* What follows is a body of n bytes.  *ret_short: they are not all there. */
MUST_CHECK int pieces_body(struct pieces *s, uint64_t n, bool *ret_short,
			   struct redoma_error *err);
/* n bytes of the body, which has them, from `from` on; they hold until the next
 * call or until `room` is touched. */
MUST_CHECK int pieces_look(struct pieces *s, uint64_t from, size_t n,
			   struct buf *room, const char **ret,
			   struct redoma_error *err);
void pieces_done(struct pieces *s);

#endif
