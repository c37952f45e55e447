/* cli/topics.h - help on what is not a verb. */
#ifndef CLI_TOPICS_H
#define CLI_TOPICS_H

#include <stdbool.h>
#include "base/buf.h"

struct topic {
	const char *name;
	const char *text; /* NULL: made by topics_add */
};

const struct topic *topics_find(const char *name); /* NULL: none */
MUST_CHECK int topics_add(struct buf *out, const struct topic *t);
/* The table of exit codes: plain lines, or paragraphs of man(7). */
MUST_CHECK int topics_add_exits(struct buf *out, bool man);

#endif
