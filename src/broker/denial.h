/* broker/denial.h - calls that a grant did not allow, for the result. */
#ifndef BROKER_DENIAL_H
#define BROKER_DENIAL_H

#include "broker/sealed.h"

/* Counts one; what comes after SEAL_DENIALS_MAX different ones is not told
 * apart from them and not kept.  op is static. */
void denial_add(struct sealed *s, const char *op, uint32_t grant,
		struct str path, bool write);

#endif
