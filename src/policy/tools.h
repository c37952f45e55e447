/* policy/tools.h - the tools a guest may call, and with what. */
#ifndef POLICY_TOOLS_H
#define POLICY_TOOLS_H

#include "base/err.h"
#include "policy/policy.h"
#include "policy/tree.h"

MUST_CHECK int tools_read(void *policy, const struct tree *v,
			  struct redoma_error *err);
/* One more, by its name; one that is granted stays as it is. */
MUST_CHECK int tools_option(struct policy *p, struct str value,
			    struct redoma_error *err);
/* The line of it. */
MUST_CHECK int tools_print(const struct policy *p, struct buf *out);
MUST_CHECK int tools_copy(const struct policy *p, struct policy *to,
			  struct redoma_error *err);
MUST_CHECK int tools_contain(const struct policy *outer,
			     const struct policy *inner,
			     struct redoma_error *err);
/* The line that grants a tool on these terms; name may be a guest's. */
MUST_CHECK int tools_print_allow(struct str name, uint64_t max_calls,
				 const struct where *where, struct buf *out);
const struct tool_grant *tools_find(const struct policy *p, struct str name);
void tools_done(struct policy *p);

#endif
