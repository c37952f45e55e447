/* cli/exits.h - exit codes of the command. */
#ifndef CLI_EXITS_H
#define CLI_EXITS_H

#include <redoma.h>

enum cli_exit {
	EXIT_OK = 0,
	EXIT_GUEST = 1,	  /* the guest threw or exited non-zero */
	EXIT_USAGE = 2,	  /* command line, policy, granted file */
	EXIT_LIMIT = 3,
	EXIT_DENIED = 4,
	EXIT_INVALID = 5, /* bad module or source */
	EXIT_SANDBOX = 6, /* a wall, limit or grant cannot be applied here */
	EXIT_CRASH = 7,	  /* trap or crash */
	EXIT_BREACH = 9,
	EXIT_INTERNAL = 70,
	EXIT_CANCELLED = 130
};

/* For a run that came to a result. */
enum cli_exit exits_of_status(enum redoma_status s);
/* For a run that was refused or failed on our side. */
enum cli_exit exits_of_error(const struct redoma_error *err);

/* A row of the table in help and manual; ends with a NULL text. */
struct exit_row {
	int code;
	const char *text;
};
extern const struct exit_row exits_table[];

#endif
