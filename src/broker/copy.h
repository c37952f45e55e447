/* broker/copy.h - bytes out of a stage. */
#ifndef BROKER_COPY_H
#define BROKER_COPY_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/hash.h"
#include "broker/board.h"

/* Reads exactly bytes [at, at + n) of a stage.  -1 with errno: EIO when it
 * has become shorter, which our own worker never does. */
MUST_CHECK int copy_read(int stage, void *p, size_t n, uint64_t at);
/* Writes exactly `bytes` from the start of a stage to fd, hashing them, with a
 * beat for each piece.  -1 with errno. */
MUST_CHECK int copy_exact(int stage, int fd, uint64_t bytes,
			  struct board *board, uint8_t ret_sha256[HASH_BYTES]);

/* Between begin and end a write over RLIMIT_FSIZE is EFBIG in this thread
 * instead of a SIGXFSZ that ends the host program. */
struct copy_guard {
	sigset_t before;
	bool pending;
};
void copy_guard_begin(struct copy_guard *g);
void copy_guard_end(const struct copy_guard *g);

#endif
