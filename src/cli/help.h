/* cli/help.h - help, the man page and completions, all from verb_table. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "base/buf.h"
#include "cli/verb.h"

/* Prints to stdout; each returns the exit code. */
int help_screen(void); /* fits 24 lines of 80 columns */
int help_verb(const struct verb *v);

/* Appends text in lines of at most 79 columns, each after `left` of them. */
MUST_CHECK int help_add_filled(struct buf *out, const char *text, int left);

/* Each appends to out: 0, or -1 when memory ends. */
MUST_CHECK int help_add_screen(struct buf *out);
MUST_CHECK int man_add(struct buf *out); /* redoma(1), man(7) macros */
MUST_CHECK int completions_add(struct buf *out, const char *shell);

/* Prints what was gathered.  Returns the exit code. */
int help_flush(struct buf *out, int failed);

#endif
