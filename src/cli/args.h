/* cli/args.h - words of a command line, read by a table.
 *
 * Options are long ("--limit K=V", "--limit=K=V") with at most one letter
 * ("-h"); they may stand before or after plain words.  "--" ends them: what
 * follows is kept apart, for the guest. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"

/* One row; a table ends with a row without a name. */
struct option {
	const char *name;  /* without the dashes */
	char letter;	   /* 0: none */
	const char *value; /* what help calls its value; NULL: a flag */
	bool repeats;
	bool later; /* known, but not in this release */
	const char *help;
	const char *words; /* for completion: "js wasm", "@file"; or NULL */
};

#define ARGS_TABLES_MAX 5

struct arg {
	const struct option *option; /* borrowed */
	const char *value;	     /* borrowed; NULL for a flag */
};

struct args { /* all zero is empty; borrows from argv */
	struct arg *given; /* owned, in the order they were written */
	size_t n_given;
	char **words; /* owned array: plain words before "--" */
	size_t n_words;
	char **rest; /* borrowed: after "--", NULL-terminated; NULL: no "--" */
	size_t n_rest;
};

/* `tables` ends with NULL.  argv is what follows the verb, NULL-terminated.
 * REDOMA_E_INVALID with one sentence for whatever is wrong. */
MUST_CHECK int args_parse(const struct option *const *tables, char **argv,
			  struct args *ret, struct redoma_error *err);
void args_done(struct args *a);
bool args_has(const struct args *a, const char *name);
/* The value of an option that does not repeat, or NULL. */
const char *args_value(const struct args *a, const char *name);

#endif
