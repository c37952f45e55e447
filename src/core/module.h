/* core/module.h - a foreign module becomes an artefact that a worker loads:
 * from the cache, or by the compiler process. */
#ifndef CORE_MODULE_H
#define CORE_MODULE_H

#include "core/handle.h"

/* *ret_fd: a sealed memfd, the caller's to close.  digest: of the module.
 * REDOMA_E_INVALID: the module is not valid or took more than the compiler
 * may use; the text says which. */
MUST_CHECK int module_artefact(const struct redoma *h, const void *p, size_t n,
			       uint32_t profile, uint8_t digest[32],
			       int *ret_fd, struct redoma_error *err);

#endif
