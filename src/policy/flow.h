/* policy/flow.h - a tree as one line of YAML flow text that is read back as the
 * same tree. */
#ifndef POLICY_FLOW_H
#define POLICY_FLOW_H

#include "base/buf.h"
#include "policy/tree.h"

/* Appends; 0, or -1 when the cap or memory is exceeded. */
MUST_CHECK int flow_print(const struct tree *t, struct buf *out);
/* One scalar: as it is if it is a plain word that YAML, JSON and people take
 * for text, else in double quotes. */
MUST_CHECK int flow_print_text(struct str s, struct buf *out);

#endif
