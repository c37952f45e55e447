/* policy/env.h - the variables a guest sees: "K=V" strings. */
#ifndef POLICY_ENV_H
#define POLICY_ENV_H

#include <stddef.h>
#include "base/err.h"
#include "policy/policy.h"
#include "policy/tree.h"

/* The map under "env:"; into is the policy. */
MUST_CHECK int env_read(void *policy, const struct tree *map,
			struct redoma_error *err);
/* K=V: sets, or replaces, one variable. */
MUST_CHECK int env_option(struct policy *p, struct str value,
			  struct redoma_error *err);
/* "K=V" by the name of K, or NULL. */
const char *env_find(char *const *env, struct str name);
size_t env_count(char *const *env); /* NULL: 0 */
MUST_CHECK int env_copy(char *const *env, char ***ret,
			struct redoma_error *err);
void env_free(char **env);

#endif
