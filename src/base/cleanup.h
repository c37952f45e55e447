/* base/cleanup.h - locals free themselves; ownership is handed over by name.
 *	CLEANUP(buf_done) struct buf b = {0};
 *	CLEANUP_FD int fd = open(...);
 *	CLEANUP_FREE char *s = strdup(...);
 *	*ret = TAKE_PTR(s);
 * This is the only cleanup idiom in the tree: no goto. */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

#define CLEANUP(fn) __attribute__((cleanup(fn)))
#define CLEANUP_FD CLEANUP(cleanup_fd)
#define CLEANUP_FREE CLEANUP(cleanup_free)

static inline void cleanup_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_free(void *pp)
{
	free(*(void **)pp);
}

/* Gives the pointer away and leaves NULL behind. */
#define TAKE_PTR(p)                  \
	__extension__({              \
		__typeof__(p) t_ = (p); \
		(p) = NULL;          \
		t_;                  \
	})
/* Gives the descriptor away and leaves -1 behind. */
#define TAKE_FD(fd)          \
	__extension__({      \
		int t_ = (fd); \
		(fd) = -1;   \
		t_;          \
	})

#endif
