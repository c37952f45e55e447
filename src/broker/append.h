/* broker/append.h - bytes at the end of a file that others append to. */
#ifndef BROKER_APPEND_H
#define BROKER_APPEND_H

#include "broker/copy.h"

/* Appends the first `bytes` bytes of a stage to dirfd/name under flock(2), in
 * one write if they are at most APPEND_ONCE; makes the file, as the umask has
 * it, if it is not there.  -1 with errno, and the file is as it was:
 * EWOULDBLOCK when another process holds the lock for APPEND_WAIT_US, ELOOP or
 * EINVAL when no regular file is there. */
#define APPEND_ONCE ((uint64_t)16 << 20)
#define APPEND_WAIT_US 2000000u
MUST_CHECK int append_exact(int stage, uint64_t bytes, int dirfd,
			    const char *name, uint8_t ret_sha256[HASH_BYTES]);

#endif
