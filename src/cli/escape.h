/* cli/escape.h - bytes from a guest, made harmless for a terminal. */
#ifndef CLI_ESCAPE_H
#define CLI_ESCAPE_H

#include <stdbool.h>
#include "base/buf.h"

enum escape_keep {
	ESCAPE_LINE, /* one line: newlines are escaped too */
	ESCAPE_TEXT, /* newline and tab stay */
};

/* Appends p with C0 (so ESC), DEL, C1, bidirectional controls and line
 * separators, and bytes that are not UTF-8, written as \n, \r, \t, \xNN or
 * \u{NNNN}.  0, or -1 when memory ends. */
MUST_CHECK int escape_add(struct buf *out, const char *p, size_t len,
			  enum escape_keep keep);

#endif
