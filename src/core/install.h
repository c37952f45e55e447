/* core/install.h - where our own programs and images are.  Found from the
 * place of this library's code, never from the environment. */
#ifndef CORE_INSTALL_H
#define CORE_INSTALL_H

#include "core/handle.h"

/* Where `make install` puts our programs: only in the library that it
 * installs (gen/place), else NULL. */
extern const char install_place[] __attribute__((weak));

/* Fills h->install, h->worker and h->compiler.  `dir` is what the caller named,
 * or NULL. */
MUST_CHECK int install_find(struct redoma *h, const char *dir,
			    struct redoma_error *err);
/* Fills h->cache_dir and h->cache_key from the caller's directory, or from the
 * home of the user as the user database has it.  A user without one has no
 * cache.  Fails only if the database could not be asked for want of memory or
 * descriptors. */
/* Where incidents are kept; "": a user without a home. */
MUST_CHECK int install_incidents(struct redoma *h, const char *dir,
				 struct redoma_error *err);
MUST_CHECK int install_cache(struct redoma *h, const char *dir,
			     struct redoma_error *err);
/* "<install>/images/<name>" into path; REDOMA_E_UNSUPPORTED: it is missing. */
MUST_CHECK int install_image(struct redoma *h, const char *name,
			     char path[PATH_ROOM], struct redoma_error *err);

#endif
