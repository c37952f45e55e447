/* base/access.h - who may use a file that is about to get a name. */
#ifndef BASE_ACCESS_H
#define BASE_ACCESS_H

#include <sys/types.h>
#include "base/err.h"

/* The file mode creation mask, without a change to it, which other threads
 * would see; 077 if /proc does not tell. */
MUST_CHECK mode_t access_mask(void);
/* Gives the open new file fd, 0600 and ours, the access it is to have as
 * dirfd/name: what is there has its permission bits and its access list, never
 * set-user-ID, set-group-ID or sticky, and its owner and group where we may
 * give them away; where not, nobody but us gets more than they had.  If
 * nothing is there: 0666 without access_mask().  -1 with errno. */
MUST_CHECK int access_like(int fd, int dirfd, const char *name);

#endif
