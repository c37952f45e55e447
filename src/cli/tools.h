/* cli/tools.h - --tool NAME='COMMAND ARGS': a process of the host for each call
 * of the guest.  The arguments are its standard input, one JSON object; one
 * JSON value on its standard output is the answer (nothing: null).  One that
 * ends with another code than 0 has failed: with the "message" and "name" of
 * the JSON object it printed, or with the code alone.  Its standard error is
 * the caller's to read, never the guest's.
 *
 * The environment has PATH alone. */
#ifndef CLI_TOOLS_H
#define CLI_TOOLS_H

#include <redoma.h>
#include "cli/args.h"

struct tools;

/* Reads every --tool of the command line.  REDOMA_E_INVALID: one has no command
 * that can be run. */
MUST_CHECK int tools_open(const struct args *a, bool quiet, struct tools **ret,
			  struct redoma_error *err);
/* For redoma_request.on_call, with a struct tools. */
void tools_on_call(void *tools, struct redoma_call *c);
/* Ends every process that still runs; NULL is fine. */
void tools_close(struct tools *t);
/* The name in a value of --tool; *ret_command: what follows it, or NULL. */
struct str tools_name(const char *value, const char **ret_command);

#endif
