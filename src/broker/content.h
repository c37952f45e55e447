/* broker/content.h - the bytes of a granted file, pinned.
 *
 * Up to CONTENT_COPY_MAX bytes are copied into a sealed memfd while they are
 * hashed, so that nothing done to the file afterwards reaches the guest.
 * Longer ones are hashed in place and their identity is compared again at the
 * end of the run. */
#ifndef BROKER_CONTENT_H
#define BROKER_CONTENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include "base/err.h"
#include "base/hash.h"
#include "broker/board.h"

#define CONTENT_COPY_MAX ((uint64_t)64 << 20)

/* What changes when somebody writes to a file or puts another in its place. */
struct content_id {
	uint64_t dev, ino, size;
	int64_t mtime_ns, ctime_ns;
};

struct content_id content_id(const struct stat *st);
bool content_same(const struct content_id *a, const struct content_id *b);

struct content_want { /* borrowed for the call */
	const char *name;	 /* for sentences */
	const uint8_t *sha256;	 /* of the whole file, or NULL */
	uint64_t first, last;	 /* inclusive; last UINT64_MAX: to the end */
	struct board *board;	 /* beats with each piece read; or NULL */
};

struct content {
	int fd;		     /* owned: the sealed copy, or -1: use the file */
	uint64_t first, len; /* the window, in the file; 0 in a copy */
	bool watched;	     /* the file must still be `id` at the end */
	struct content_id id;
};

/* Reads the file behind fd (st: its fstat) as `want` asks.  A digest that
 * differs, or a file that changes meanwhile, is REDOMA_E_INVALID. */
MUST_CHECK int content_pin(int fd, const struct stat *st,
			   const struct content_want *want,
			   struct content *ret, struct redoma_error *err);

#endif
