/* runtime/look.h - what a guest would find in a finished root. */
#ifndef RUNTIME_LOOK_H
#define RUNTIME_LOOK_H

#include <limits.h>
#include "runtime/ldso.h"
#include "runtime/runtime.h"

/* True if the absolute path `path` of the guest is a file or directory of the
 * host: its path there, without links.  Links of the root and in its
 * directories are followed, and never leave it. */
bool look_up(const struct root *r, const char *path, char host[PATH_MAX]);
/* Finds a command in the root, a name in the usual directories or a path, and
 * checks that it can be started there: its kind, its interpreter or loader; and
 * if a directory is the root, that others may not write to those files or to a
 * directory on the way to them, up to that of the host (one that is sticky is
 * good enough).
 * `roots` names the root in sentences.  `ret` is its path inside. */
MUST_CHECK int look_command(const struct root *r, const struct ldso *l,
			    const char *command, const char *roots,
			    char ret[PATH_MAX], struct redoma_error *err);

#endif
