/* runtime/ldso.h - where the dynamic loader of the host looks for libraries:
 * ld.so.conf(5) with its includes, the directories built into it, and lists of
 * directories with $ORIGIN, $LIB and $PLATFORM (ld.so(8)).  Variants for newer
 * processors (glibc-hwcaps) are not used: inside they do not exist, and the
 * loader takes the plain ones. */
#ifndef RUNTIME_LDSO_H
#define RUNTIME_LDSO_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

#define LDSO_DIRS_MAX 256
#define LDSO_TEXT_MAX ((size_t)64 << 10) /* of one configuration file */

struct ldso {
	uint16_t machine;	/* EM_* of this machine; 0: not known */
	const char *platform;	/* "x86_64"; static */
	const char *lib;	/* what $LIB stands for; static */
	const char *system[5];	/* built in; ends with NULL */
	char *conf[LDSO_DIRS_MAX]; /* owned: of ld.so.conf */
	size_t n_conf;
};

/* For the machine this runs on.  Without a configuration file n_conf is 0. */
MUST_CHECK int ldso_init(struct ldso *ret, struct redoma_error *err);
void ldso_done(struct ldso *l);
/* The same as read from another file than /etc/ld.so.conf. */
MUST_CHECK int ldso_read(struct ldso *l, const char *path,
			 struct redoma_error *err);
/* The n-th directory of a list such as "$ORIGIN/../lib:/opt/lib", expanded, in
 * ret.  False: there are not so many.  One that cannot be (too long, relative,
 * an unknown token) is "". */
bool ldso_nth(const struct ldso *l, const char *list, size_t n,
	      const char *origin, char ret[PATH_MAX]);
/* "x86-64", for sentences; a number's words if it is not known. */
const char *ldso_machine(uint16_t machine);

#endif
