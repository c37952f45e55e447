/* runtime/scan.h - walks a directory of the root for modules that a program
 * may load (shared objects) and links that lead out of it. */
#ifndef RUNTIME_SCAN_H
#define RUNTIME_SCAN_H

#include "runtime/make.h"

#define SCAN_FILES_MAX 200000u /* of one root */
#define SCAN_DEPTH_MAX 16

/* Adds the libraries that modules below `dir` need and what links below it
 * name.  The directory itself is not added. */
MUST_CHECK int scan_modules(struct make *m, const char *dir,
			    struct redoma_error *err);

#endif
