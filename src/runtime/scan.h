/* runtime/scan.h - walks a directory of the root for modules that a program
 * may load (shared objects) and links that lead out of it. */
#ifndef RUNTIME_SCAN_H
#define RUNTIME_SCAN_H

#include "runtime/make.h"

#define SCAN_FILES_MAX 200000u /* of one root */
#define SCAN_DEPTH_MAX 16

/* Adds the libraries that modules below `dir` need, and what links below it
 * name if it stays in `base`.  The directory itself is not added. */
MUST_CHECK int scan_modules(struct make *m, const char *dir, const char *base,
			    struct redoma_error *err);
/* False if what `path` names, links followed, is missing, or lies neither below
 * the directory `base` nor where the system keeps its packages.  Modules may be
 * as little reviewed as the program: a link of theirs must not show a jail what
 * else this user can read. */
MUST_CHECK int scan_stays(const char *path, const char *base, bool *ret,
			  struct redoma_error *err);

#endif
