/* cli/package.h - the package that an image is made from, fetched by pip. */
#ifndef CLI_PACKAGE_H
#define CLI_PACKAGE_H

#include <limits.h>
#include "base/err.h"

struct package {
	char directory[PATH_MAX]; /* of its own, removed at the end; "" */
	char module[PATH_MAX + 128], library[PATH_MAX + 128];
};

/* Fetches the package of that image, or takes it from the file `from` (NULL:
 * fetch), and unpacks what is needed.  It runs the host's python3, which must
 * have pip to fetch. */
MUST_CHECK int package_fetch(const char *image, const char *from,
			     struct package *ret, struct redoma_error *err);
void package_done(struct package *p);

#endif
