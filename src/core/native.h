/* core/native.h - a native program: a root for it, a jail from a spawner, and
 * then the conversation that every run has. */
#ifndef CORE_NATIVE_H
#define CORE_NATIVE_H

#include "core/job.h"

struct native_cache; /* the roots of languages that were found */

void native_cache_free(struct native_cache *c);
/* Refuses what a native program cannot be held to, before anything starts. */
MUST_CHECK int native_check(const struct redoma_request *q,
			    const struct policy *p, struct redoma_error *err);
/* j has policy and result; fills the result. */
MUST_CHECK int native_run(struct job *j, struct redoma_error *err);

#endif
