/* cli/print.h - what a person or a pipe sees. */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"

struct print_style {
	bool json;  /* the result as one JSON object on stdout */
	bool stats; /* one more line about time and memory on stderr */
	bool quiet; /* no line of ours on stderr */
};

/* Exact bytes to a pipe or a file; on a terminal what would act on it is
 * escaped.  0 or REDOMA_E_SYSTEM. */
MUST_CHECK int print_bytes(int fd, const void *p, size_t len,
			   struct redoma_error *err);
/* "redoma: TEXT" on stderr, control characters escaped. */
void print_line(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* On a terminal: a line on stderr that goes when the next call comes, with NULL
 * for none; elsewhere nothing.  For redoma_request.on_wait. */
void print_wait(void *data, const char *what);
/* Why nothing was run: a line on stderr, or with json an object
 * {"status":"refused","error":{...}} on stdout.  Returns the exit code. */
int print_refused(const struct redoma_error *err, bool json);
/* Output of a guest as it comes; for redoma_request.on_output.  `data` is a
 * struct print_live, all zero at first. */
struct print_live {
	char cut[2][4]; /* a character that the end of a piece cut in two */
	unsigned char n_cut[2];
	char last;  /* byte on stdout; 0: none yet */
	bool wrong; /* it could not be written: err says why */
	struct redoma_error err;
};
void print_live(void *data, int stream, const void *p, uint64_t len);
/* The result of a run, whose output was printed by `live` (NULL with json).
 * Returns the exit code. */
int print_result(struct redoma_result *r, const struct print_style *style,
		 struct print_live *live);

#endif
