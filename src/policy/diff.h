/* policy/diff.h - what one policy allows and another does not, item by item. */
#ifndef POLICY_DIFF_H
#define POLICY_DIFF_H

#include "base/buf.h"
#include "base/err.h"
#include "policy/policy.h"

/* Appends the lines of b that a does not contain, as policy_print writes them:
 * "+ " before b's, "- " before what a says of the same key.  Nothing is
 * appended if b is within a (policy_contains).  Two grants that are each
 * within a and only together are more than it are said in one sentence. */
MUST_CHECK int policy_diff(const struct policy *a, const struct policy *b,
			   struct buf *out, struct redoma_error *err);

#endif
