/* native/collect.h - what a native program wrote, copied out of its scratch
 * directories when it is dead.
 *
 * Everything in there is hostile: names, links, FIFOs, devices, sparse files,
 * a hundred thousand entries.  Regular files only, opened beneath the
 * directory, through no link and into no other mount, never waiting; at most
 * what the grant allows is read.  What is left out is told as a denial. */
#ifndef NATIVE_COLLECT_H
#define NATIVE_COLLECT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/plan.h"
#include "wire/outcome.h"

#define COLLECT_LOOKS_MAX 65536u /* entries that are no files, of a grant */

struct collect {
	/* Opens a new stage for a file of a write directory: 0, or a positive
	 * errno; a negative code: the core is gone. */
	int (*stage)(void *data, uint32_t grant, struct str path,
		     uint64_t *ret_handle, int *ret_fd);
	void *data; /* of stage */
	struct outcome_written *written; /* owned; room for all */
	uint32_t n_written;
	struct outcome_denial denials[OUTCOME_DENIALS_MAX];
	uint32_t n_denials;
	uint64_t bytes;	     /* that were copied */
	const char *over;    /* the bound that was reached: "max_bytes" or
				"max_files"; nothing is to be published */
	uint32_t over_grant;
	uint64_t needed; /* of max_bytes: what its files came to */
	bool stop;	 /* there is nothing more to look at */
};

/* With stage and data set; all else zero. */
MUST_CHECK int collect_init(struct collect *c, struct redoma_error *err);
void collect_done(struct collect *c);
/* One grant: the file `name` of `dir` into its stage, if it was touched. */
MUST_CHECK int collect_file(struct collect *c, const struct plan *p,
			    uint32_t grant, int dir, struct redoma_error *err);
/* One grant: every file below `dir`. */
MUST_CHECK int collect_dir(struct collect *c, const struct plan *p,
			   uint32_t grant, int dir, struct redoma_error *err);

#endif
