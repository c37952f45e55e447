/* runtime/python.h - what a CPython needs beside its libraries: the standard
 * library, packages installed beside it, and the libraries that extension
 * modules need.  Found from the interpreter's path, as CPython itself does. */
#ifndef RUNTIME_PYTHON_H
#define RUNTIME_PYTHON_H

#include "runtime/make.h"

#define PYTHON_VERSION_MAX 32

/* The program was just added (make->needs holds its objects): `path` as it was
 * named, `real` without links. */
MUST_CHECK int python_add(struct make *m, const char *path, const char *real,
			  struct redoma_error *err);
/* "3.11" and the prefix above lib/python3.11, from a path without links;
 * REDOMA_E_UNSUPPORTED: no standard library is found from there. */
MUST_CHECK int python_find(const char *real, char prefix[PATH_MAX],
			   char version[PYTHON_VERSION_MAX],
			   struct redoma_error *err);

#endif
