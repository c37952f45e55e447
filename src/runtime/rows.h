/* runtime/rows.h - the runtimes that are built in, as data. */
#ifndef RUNTIME_ROWS_H
#define RUNTIME_ROWS_H

#include <stdbool.h>

struct row {
	const char *name;     /* of the runtime */
	const char *language; /* it has a bootstrap; "js", "py", or NULL */
	bool python;	      /* it needs its standard library */
	/* Lists end with NULL; none is NULL itself. */
	const char *const *commands; /* any of them means this runtime */
	const char *const *family;   /* programs that get the same files */
	const char *const *tools;    /* further programs, where they exist */
	const char *const *paths;    /* further files and directories,
					likewise */
};

extern const struct row rows[]; /* ends with a row without a name */

const struct row *rows_find(const char *name);	      /* or NULL */
const struct row *rows_language(const char *language); /* or NULL */
/* True if a command of that name means the row. */
bool rows_means(const struct row *row, const char *command);
/* The row whose files a program needs, by its file's name; or NULL. */
const struct row *rows_of_program(const char *path);

#endif
