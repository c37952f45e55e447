/* broker/stage.h - files without a name, in which a run writes.
 *
 * A stage lies in the directory where it may be published, so that it counts
 * against the right file system, and has no name, so that nothing is left of
 * it when any process dies. */
#ifndef BROKER_STAGE_H
#define BROKER_STAGE_H

#include <stdbool.h>
#include "base/err.h"

#define STAGE_NAME_MAX 32

/* A new empty file, O_RDWR, without a name, 0600.  -1 with errno. */
MUST_CHECK int stage_open(int dirfd);
/* A new empty file for publishing, O_RDWR, 0600.  `name` becomes "" if it has
 * no name yet, else its hidden name in dirfd: so if `named`, and where there
 * are no files without a name.  -1 with errno. */
MUST_CHECK int stage_open_target(int dirfd, bool named,
				 char name[STAGE_NAME_MAX]);
/* Gives a nameless file a name that must not exist.  -1 with errno. */
MUST_CHECK int stage_link(int fd, int dirfd, const char *name);
/* A hidden name that nothing has by chance.  -1 with errno. */
MUST_CHECK int stage_name(char name[STAGE_NAME_MAX]);

#endif
