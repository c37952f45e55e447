/* policy/native.h - `native`: the jail of a native program.  Guests of other
 * kinds do not see it. */
#ifndef POLICY_NATIVE_H
#define POLICY_NATIVE_H

#include "base/buf.h"
#include "base/err.h"
#include "policy/policy.h"
#include "policy/tree.h"

#define NATIVE_TMP_DEFAULT ((uint64_t)64 << 20)
#define NATIVE_PIDS_DEFAULT 32u
#define NATIVE_PIDS_MAX 4096u

void native_default(struct policy *p);
MUST_CHECK int native_read(void *policy, const struct tree *v,
			   struct redoma_error *err);
/* "root=runtime:node", "tmp=8MiB", "pids=4": a root is one more.  `dir` as in
 * grants_option. */
MUST_CHECK int native_option(struct policy *p, struct str value,
			     const char *dir, struct redoma_error *err);
MUST_CHECK int native_copy(const struct policy *p, struct policy *to,
			   struct redoma_error *err);
MUST_CHECK int native_print(const struct policy *p, struct buf *out);
/* 0 if inner's jail is within outer's; REDOMA_E_DENIED.  Roots are compared as
 * words.  Without roots of its own a program gets its row of the table. */
MUST_CHECK int native_contains(const struct policy *outer,
			       const struct policy *inner,
			       struct redoma_error *err);
void native_done(struct policy *p);

#endif
