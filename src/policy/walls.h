/* policy/walls.h - the controls of the kernel wall that a policy lets go. */
#ifndef POLICY_WALLS_H
#define POLICY_WALLS_H

#include "base/buf.h"
#include "base/err.h"
#include "policy/policy.h"
#include "policy/tree.h"

/* "required", or a list of names that may be missing; into is the policy. */
MUST_CHECK int walls_read(void *policy, const struct tree *v,
			  struct redoma_error *err);
/* "required", or names with commas between them. */
MUST_CHECK int walls_option(struct policy *p, struct str value,
			    struct redoma_error *err);
MUST_CHECK int walls_print(const struct policy *p, struct buf *out);

#endif
