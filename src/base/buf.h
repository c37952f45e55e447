/* base/buf.h - owned bytes with a hard cap.  All zero is an empty buffer with
 * the cap BUF_CAP_DEFAULT.  The bytes are followed by a NUL that len does not
 * count. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>
#include "base/err.h"

#define BUF_CAP_DEFAULT ((size_t)1 << 30)

struct buf {
	char *data; /* owned; NULL while nothing was added */
	size_t len;
	size_t room;
	size_t cap; /* hard cap in bytes; 0 means BUF_CAP_DEFAULT */
};

/* 0, or -1 when the cap or memory is exceeded; the buffer then holds what it
 * held before. */
MUST_CHECK int buf_add(struct buf *b, const void *p, size_t n);
MUST_CHECK int buf_addf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
MUST_CHECK int buf_reserve(struct buf *b, size_t more);
void buf_clear(struct buf *b); /* len = 0, memory kept */
void buf_done(struct buf *b);
/* The bytes (NUL-terminated, never NULL unless out of memory); the buffer is
 * empty afterwards.  Free with free(). */
char *buf_take(struct buf *b);

#endif
