/* broker/manifest.h - the worker's list of written files, checked. */
#ifndef BROKER_MANIFEST_H
#define BROKER_MANIFEST_H

#include "broker/sealed.h"
#include "wire/outcome.h"

struct item {
	uint32_t grant;
	struct str path; /* below a directory, "" for a single file; borrowed
			    from the list */
	int stage;	 /* borrowed */
	uint64_t bytes;  /* size of the stage when the list was checked */
};

/* Fills items[n]; the codes of publish_all.  Marks every handle as used. */
MUST_CHECK int manifest_check(struct sealed *s, const struct outcome_written *w,
			      size_t n, struct item *items,
			      struct redoma_error *err);

#endif
