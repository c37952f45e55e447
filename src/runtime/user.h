/* runtime/user.h - runtimes of the user's: one file each,
 * ~/.config/redoma/runtimes/NAME.yaml, the home as the user database has it:
 *	program: /opt/tool/bin/tool
 *	files: [/opt/tool/share]
 * It must belong to this user or root and be writable by nobody else. */
#ifndef RUNTIME_USER_H
#define RUNTIME_USER_H

#include <limits.h>
#include "base/err.h"

#define USER_NAME_MAX 64
#define USER_FILES_MAX 256

struct user_row {
	char *program; /* owned, absolute, like all */
	char **files;  /* ends with NULL */
	size_t n_files;
};

/* The directory of the rows; "" if the user has no home. */
MUST_CHECK int user_dir(char ret[PATH_MAX], struct redoma_error *err);
/* NULL, or what is wrong with it as a name of a runtime. */
const char *user_name_flaw(const char *name);
/* *found false: there is no such row. */
MUST_CHECK int user_read(const char *dir, const char *name,
			 struct user_row *ret, bool *found,
			 struct redoma_error *err);
void user_row_done(struct user_row *row);
/* Writes a row; REDOMA_E_INVALID if there is one of that name. */
MUST_CHECK int user_write(const char *dir, const char *name,
			  const struct user_row *row,
			  struct redoma_error *err);
/* Names, sorted, ends with NULL; free each and the array. */
MUST_CHECK int user_names(const char *dir, char ***ret,
			  struct redoma_error *err);

#endif
