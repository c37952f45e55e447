/* cli/verb.h - what `redoma VERB` can do.  One table drives dispatch, help,
 * the man page and the completions. */
#ifndef CLI_VERB_H
#define CLI_VERB_H

#include "cli/args.h"

struct verb {
	const char *name;
	const char *synopsis; /* after "redoma NAME " */
	const char *summary;  /* one line; NULL: not in this release */
	const char *detail;   /* paragraphs for help and man; or NULL */
	const char *words;    /* completion of plain words; or NULL */
	const struct option *options[ARGS_TABLES_MAX]; /* ends with NULL */
	bool takes_none;      /* plain words are refused */
	int (*run)(const struct args *a); /* exit code */
};

extern const struct verb *const verb_table[]; /* ends with NULL */

/* Options that every verb takes. */
extern const struct option verb_options[];

const struct verb *verb_find(const char *name); /* NULL: none */
const char *verb_nearest(const char *word);	/* NULL: none is near */

/* Parses what follows the verb's name, prints help or the sentence that says
 * what is wrong, or runs it.  Returns the exit code. */
int verb_run(const struct verb *v, char **argv);
/* For a first word that is no verb: says so on stderr.  Returns the exit
 * code. */
int verb_unknown(const char *word);

/* The verbs. */
extern const struct verb verb_run_row, verb_eval_row, verb_policy_row,
	verb_doctor_row, verb_version_row, verb_help_row,
	verb_runtime_row, verb_formula_row, verb_image_row;

#endif
