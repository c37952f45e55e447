/* broker/path.h - names that a guest chose and that are to appear on the
 * host: relative, normalised, plain UTF-8, bounded. */
#ifndef BROKER_PATH_H
#define BROKER_PATH_H

#include "base/str.h"

#define PATH_DEPTH_MAX 32u
#define PATH_NAME_MAX 255u

/* 0, or a positive errno: EINVAL (empty, absolute, an empty component, "." or
 * ".."), ENAMETOOLONG (a component over PATH_NAME_MAX, more than
 * PATH_DEPTH_MAX of them, or all over 4096 bytes), EILSEQ (not UTF-8, or
 * control characters). */
int path_check(struct str path);
/* Orders paths so that what lies below a directory follows it at once. */
int path_compare(struct str a, struct str b);
/* True if a is b, or a directory above b. */
bool path_covers(struct str a, struct str b);

#endif
