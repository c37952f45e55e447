/* core/recall.h - whether a batch of formulas was answered before by this
 * handle: the answer then is given again, without a run.
 *
 * An answer is kept if the run was pure and nothing is granted: it then depends
 * on the batch (columns, formulas, names, rows, the limit of a row) and on what
 * the scope holds: tenant, language, image and the whole policy.  If a formula
 * asked for the time, it depends on that, too.
 *
 * The image is the file that the tenant's workers have loaded: one that was put
 * in its place counts once they have that, and no answer is given while there
 * are no workers. */
#ifndef CORE_RECALL_H
#define CORE_RECALL_H

#include "core/handle.h"
#include "core/result.h"
#include "core/sheet.h"

struct recall {
	struct redoma *h; /* borrowed */
	const char *tenant; /* borrowed */
	uint64_t fuel; /* limits.fuel */
	char image[PATH_ROOM];
	bool on; /* else nothing is kept of this call, and nothing given */
	uint8_t scope[HASH_BYTES];
};

/* For one call; for want of memory it is off. */
void recall_begin(struct recall *r, struct redoma *h,
		  const struct redoma_formula_request *q);
/* *ret: the result of one batch, or NULL: it is to be run. */
MUST_CHECK int recall_find(const struct recall *r, const struct buf *batch,
			   struct redoma_result **ret,
			   struct redoma_error *err);
/* The batch was run, and `part` is its answer, which was checked.  May take
 * the batch. */
void recall_keep(const struct recall *r, struct buf *batch,
		 const struct sheet_part *part,
		 const struct redoma_result *res);

#endif
