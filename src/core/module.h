/* core/module.h - a foreign module becomes an artefact that a worker loads:
 * from the cache, or by the compiler process. */
#ifndef CORE_MODULE_H
#define CORE_MODULE_H

#include "base/str.h"
#include "core/handle.h"

struct module {
	struct str bytes; /* borrowed */
	enum profile profile;
	uint32_t may_lack; /* walls that may be missing, as for a worker */
	const struct redoma_request *q; /* who hears of a wait, or NULL */
	const char *what;  /* and what of: "compiling ..." */
	uint8_t digest[CACHE_DIGEST];
};

/* Opens h->cache if it is not yet.  Fails only for want of memory or
 * descriptors; see cache_problem. */
MUST_CHECK int module_cache(struct redoma *h, struct redoma_error *err);

/* Fills m->digest.  *ret_fd: a sealed memfd, the caller's to close.
 * REDOMA_E_INVALID: the module cannot run here, or took more than the compiler
 * may use; the text says which. */
MUST_CHECK int module_artefact(struct redoma *h, struct module *m, int *ret_fd,
			       struct redoma_error *err);

#endif
