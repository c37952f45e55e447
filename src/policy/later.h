/* policy/later.h - net: read, checked for shape and shown, but
 * not run by this version.  A policy that has it refuses its runs by
 * name (core/). */
#ifndef POLICY_LATER_H
#define POLICY_LATER_H

#include "base/err.h"
#include "policy/policy.h"
#include "policy/tree.h"

MUST_CHECK int later_read_net(void *policy, const struct tree *v,
			      struct redoma_error *err);
/* One more entry of net ("GET https://..."). */
MUST_CHECK int later_option(struct policy *p, const char *key, struct str value,
			    struct redoma_error *err);
const struct policy_later *later_find(const struct policy *p, const char *key);
MUST_CHECK int later_copy(const struct policy *p, struct policy *to,
			  struct redoma_error *err);
void later_done(struct policy *p);

#endif
