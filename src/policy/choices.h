/* policy/choices.h - the keys that are one word out of two. */
#ifndef POLICY_CHOICES_H
#define POLICY_CHOICES_H

#include "base/err.h"
#include "policy/policy.h"
#include "policy/tree.h"

/* on_denied: error | end */
MUST_CHECK int choice_read_on_denied(void *policy, const struct tree *v,
				     struct redoma_error *err);
/* reuse: never | tenant */
MUST_CHECK int choice_read_reuse(void *policy, const struct tree *v,
				 struct redoma_error *err);

#endif
