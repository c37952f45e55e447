/* cli/split.h - a command in one word becomes its arguments, as a shell would
 * split it and without one: blanks separate, '...' is as it stands, in "..."
 * and outside \ takes the next character as it is.  Nothing is expanded. */
#ifndef CLI_SPLIT_H
#define CLI_SPLIT_H

#include "base/err.h"

/* *ret: NULL-terminated, with at least one; one block, free with free().
 * REDOMA_E_INVALID: a quote that is not closed, a \ at the end, or nothing. */
MUST_CHECK int split_command(const char *text, char ***ret,
			     struct redoma_error *err);

#endif
