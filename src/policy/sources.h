/* policy/sources.h - where a run gets time and randomness from:
 *	clock: real | fixed:2026-01-01T00:00:00Z | none
 *	random: real | seed:42 | none */
#ifndef POLICY_SOURCES_H
#define POLICY_SOURCES_H

#include "base/buf.h"
#include "base/err.h"
#include "policy/policy.h"
#include "policy/tree.h"

#define SOURCE_TEXT_MAX 48

MUST_CHECK int source_read_clock(void *policy, const struct tree *v,
				 struct redoma_error *err);
MUST_CHECK int source_read_random(void *policy, const struct tree *v,
				  struct redoma_error *err);
/* Text that is read back the same; both return dst. */
const char *source_print_clock(const struct policy *p,
			       char dst[SOURCE_TEXT_MAX]);
const char *source_print_random(const struct policy *p,
				char dst[SOURCE_TEXT_MAX]);

#endif
