/* core/remake.h - a language image that does not load here, because it was
 * made for another CPU or by another build: its .wasm lies beside it, and is
 * compiled as a foreign module is, once: in the compiler's jail, into the
 * user's cache. */
#ifndef CORE_REMAKE_H
#define CORE_REMAKE_H

#include "core/handle.h"
#include "lang/lang.h"

struct remake {
	struct redoma *h;
	const struct lang *lang;
	enum profile profile;
	uint32_t may_lack; /* walls that may be missing, as for a worker */
	const struct redoma_request *q; /* who hears of it, or NULL */
};

/* Could it be made, and kept?  REDOMA_E_UNSUPPORTED: no; a sentence on the
 * image, on `why` (it does not load), on what is in the way, and what to do. */
MUST_CHECK int remake_check(const struct remake *m,
			    const struct redoma_error *why,
			    struct redoma_error *err);
/* For pool_want.other_image; data is a struct remake. */
int remake_image(void *data, const struct redoma_error *why, int *ret_fd,
		 struct redoma_error *err);

#endif
