/* pool/cache.h - compiled modules, kept.
 *
 * An entry is keyed by the module's bytes, the build of the compiler, the
 * profile and the CPU's features, and carries a keyed code over everything in
 * it.  The key is a file of 32 random bytes outside the cache, mode 0600, that
 * no other process of ours ever sees.  What is damaged, cut off, swapped with
 * another entry, of another owner or writable by others is removed and made
 * again, never used.  A directory or key that cannot be used means no cache:
 * modules are compiled each time, and cache_problem says why.
 *
 * Entries are written to a temporary name and renamed.  Processes that want the
 * same module compile it once (flock(2) on a file beside it).  Above max_bytes
 * the entries that were not used for longest go.
 *
 * Not thread-safe: one cache belongs to one handle. */
#ifndef POOL_CACHE_H
#define POOL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "pool/compile.h"

#define CACHE_BYTES ((uint64_t)1 << 30) /* default of max_bytes */
#define CACHE_DIGEST 32

struct cache;

struct cache_options { /* borrowed for the call */
	const char *dir;      /* made if it is missing; NULL or "": no cache */
	const char *key_file; /* made if it is missing */
	uint64_t max_bytes;   /* of all entries; 0: CACHE_BYTES */
};

/* Fails only without memory or descriptors: then nothing is known of the
 * directory, and it can be tried again. */
MUST_CHECK int cache_open(const struct cache_options *o, struct cache **ret,
			  struct redoma_error *err);
void cache_free(struct cache *c); /* NULL is fine */
/* Why nothing is kept on disk; NULL: it is.  Borrowed. */
const char *cache_problem(const struct cache *c);

struct cache_module { /* all borrowed */
	const void *p;
	size_t len;
	const uint8_t *digest; /* CACHE_DIGEST bytes: its SHA-256 */
};

/* The artefact of a module as a sealed memfd at offset 0, from memory, from the
 * directory, or compiled now (*ret_compiled, may be NULL).  The descriptor is
 * the caller's; its offset is shared, so use pread(2).  Errors: those of
 * compile_module. */
MUST_CHECK int cache_artefact(struct cache *c, const struct compile_options *o,
			      const struct cache_module *m, int *ret_fd,
			      bool *ret_compiled, struct redoma_error *err);

#endif
