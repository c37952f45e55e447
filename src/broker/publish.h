/* broker/publish.h - what a run wrote becomes files.
 *
 * Called once, and only when the run ended ok.  The list comes from a worker
 * that may be hostile: it is checked as a whole before the first file is
 * touched.  Each file is then published by itself, atomically: its bytes are
 * copied out of the stage (the worker may still hold that open, the copy it
 * never saw), hashed, and given their name in the directory held since
 * sealing, never through a symbolic link:
 *	replace  linked if nothing is there, else renamed over the old file
 *	create   linked; a file that is there is left and the new one refused
 *	append   one locked write at the end, undone if it fails half way
 * Nobody else can read a file before it has its name.  Then it has the access
 * of what it replaces, and a new one, like a new directory, what the umask
 * leaves (base/access.h).
 *
 * Nothing is synced to the disk: a power cut may lose what was published, as
 * with any program that does not call fsync(2).  A kill between making the
 * new file and its rename can leave one hidden ".redoma-*" file. */
#ifndef BROKER_PUBLISH_H
#define BROKER_PUBLISH_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/hash.h"
#include "broker/seal.h"
#include "wire/outcome.h"

struct published {
	char *path;	/* owned; as the guest knows it */
	uint64_t bytes; /* what is in the stage */
	uint8_t sha256[HASH_BYTES]; /* of what this run wrote; if published */
	bool published;
	struct redoma_error why; /* if not */
};

struct published_list {
	struct published *files; /* owned, n; in the order of the list */
	size_t n;
};

/* 0: every file was tried; see each `published`.  REDOMA_E_INVALID: the list
 * breaks the rules (a path that is not plain, a file twice or below another,
 * a handle that is not this run's) or a watched file changed (seal_verify);
 * REDOMA_E_DENIED: more bytes or files than the grant allows.  Then nothing
 * was published. */
MUST_CHECK int publish_all(struct sealed *s, const struct outcome_written *w,
			   size_t n, struct published_list *ret,
			   struct redoma_error *err);
/* A list of what is about to be published, each with its path and `published`
 * false: so that nothing has to be allocated once it is.  REDOMA_E_INVALID as
 * above. */
MUST_CHECK int published_names(const struct plan *p,
			       const struct outcome_written *w, size_t n,
			       struct published_list *ret,
			       struct redoma_error *err);
void published_done(struct published_list *l);

#endif
