/* runtime/make.h - puts a root together: programs with all that they need. */
#ifndef RUNTIME_MAKE_H
#define RUNTIME_MAKE_H

#include "runtime/build.h"
#include "runtime/ldso.h"
#include "runtime/needs.h"
#include "runtime/rows.h"

struct make { /* make_init, make_done */
	struct build build;
	struct ldso ldso;
	struct needs needs;
	unsigned rows_made;	/* bit per row of rows[] */
	size_t scanned;		/* files looked at for modules */
};

/* `m` must stay where it is. */
MUST_CHECK int make_init(struct make *m, struct redoma_error *err);
void make_done(struct make *m);
/* Adds the program at an absolute path of the host: itself, its interpreter
 * and libraries, and the files of the row that it belongs to.  `guest` is its
 * name inside; may be NULL. */
MUST_CHECK int make_program(struct make *m, const char *path,
			    char guest[PATH_MAX], struct redoma_error *err);
/* Adds a runtime by its name, built in or the user's. */
MUST_CHECK int make_runtime(struct make *m, const char *name,
			    char guest[PATH_MAX], struct redoma_error *err);
/* The path on this host of a built-in row's program. */
MUST_CHECK int make_find(const struct row *row, char ret[PATH_MAX],
			 struct redoma_error *err);
/* Adds what programs expect in /etc: users, groups, where to look them up, the
 * name localhost.  An entry that is there stays. */
MUST_CHECK int make_etc(struct make *m, struct redoma_error *err);
/* Adds an absolute path that was named on purpose: it must exist.  Modules and
 * programs in it get their libraries. */
MUST_CHECK int make_path(struct make *m, const char *path,
			 struct redoma_error *err);

#endif
