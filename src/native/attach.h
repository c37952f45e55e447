/* native/attach.h - the grants of one plan, shown in the jail. */
#ifndef NATIVE_ATTACH_H
#define NATIVE_ATTACH_H

#include "base/err.h"
#include "jail/native.h"
#include "policy/plan.h"

/* Where the files of write grants will be collected: one descriptor a grant,
 * owned, -1 where there is nothing to collect. */
struct scratch {
	int dirs[PLAN_GRANTS_MAX];
	uint32_t n;
};

void scratch_init(struct scratch *s);
void scratch_done(struct scratch *s);
/* In init, before native_settle.  Takes the descriptors of read grants from p.
 * REDOMA_E_UNSUPPORTED: a bound that nothing in a jail can enforce. */
MUST_CHECK int attach_grants(struct native *n, struct plan *p,
			     struct scratch *ret, struct redoma_error *err);
/* The last name of a guest path. */
const char *attach_name(const char *guest);

#endif
