/* base/fd.h - descriptors: close-on-exec from birth and never 0, 1 or 2, since
 * a host program may have closed those and will write to them.
 *
 * Functions that return a descriptor return -1 with errno set on failure, so
 * that callers can tell ENOENT from EACCES; err_sys makes the sentence. */
#ifndef BASE_FD_H
#define BASE_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/buf.h"
#include "base/err.h"

/* What a path may go through below its directory (openat2(2)).  Absolute
 * paths, "..", links that leave the directory and magic links fail always. */
enum fd_links {
	FD_LINKS_INSIDE, /* symbolic links that stay below are followed */
	FD_LINKS_NONE,   /* any symbolic link is ELOOP */
};

/* Opens path below dirfd, never outside it: EXDEV.  flags are open(2)'s,
 * O_CLOEXEC is added; mode counts only when something is created. */
MUST_CHECK int fd_open_beneath(int dirfd, const char *path, int flags,
			       mode_t mode, enum fd_links links);
/* Takes fd and returns one that is 3 or more (close-on-exec); the old one is
 * closed if it had to move, or if that failed.  -1 stays -1, errno kept. */
MUST_CHECK int fd_lift(int fd);
/* A sealed memfd (no write, grow, shrink, further seals) holding n bytes,
 * offset 0; `name` is shown in /proc. */
MUST_CHECK int fd_sealed(const char *name, const void *p, size_t n);

/* Appends everything up to the end of file.  More than cap bytes:
 * REDOMA_E_INVALID; `name` is what the sentence calls the file.  out keeps
 * what it held before on failure. */
MUST_CHECK int fd_read_all(int fd, size_t cap, const char *name,
			   struct buf *out, struct redoma_error *err);
/* All n bytes, or -1 with errno.  EINTR is retried. */
MUST_CHECK int fd_write_all(int fd, const void *p, size_t n);
/* At most `size` bytes from the beginning of `from`, less if it ends before, to
 * where `to` stands; -1 with errno. */
MUST_CHECK int fd_copy(int from, int to, uint64_t size);

#endif
