/* cli/tool_process.h - one process of a host command: text in, text out,
 * bounded in time and in what it prints, and gone when it is over. */
#ifndef CLI_TOOL_PROCESS_H
#define CLI_TOOL_PROCESS_H

#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"

#define TOOL_SECONDS 30u
#define TOOL_OUTPUT_MAX (((size_t)1 << 20) - 1)
#define TOOL_NOISE_MAX ((size_t)16 << 10) /* kept of its standard error */

struct tool_process {
	char *const *argv; /* borrowed; argv[0] is the path of a program */
	char *const *env;  /* borrowed */
	const char *in;	   /* borrowed: its standard input */
	size_t in_len;
	int end_fd; /* readable when it has to end at once */
};

enum tool_ending {
	TOOL_ENDED, /* status is of waitpid */
	TOOL_SLOW,
	TOOL_LOUD, /* printed more than it may */
	TOOL_CANCELLED
};

/* Waits for its end.  Its process group, which it leads, is killed then.
 * Signals should be blocked by the caller: it writes into a pipe. */
MUST_CHECK int tool_process_run(const struct tool_process *p, struct buf *out,
				struct buf *noise, enum tool_ending *ret,
				int *ret_status, struct redoma_error *err);

#endif
