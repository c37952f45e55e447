/* core/formula_cache.h - answers to batches of formulas that are kept, in
 * memory and of one handle, for whoever asks for the very same again.
 *
 * What is the same is told by comparing all bytes of it, not by a digest: that
 * takes a tenth of the time, and no two batches are ever taken for one.  So a
 * kept answer costs the batch's memory, too, which is bounded in all and by
 * number.  Of these the tenant that holds the most gives way first, with what
 * was not asked for the longest: one tenant does not push out the others. */
#ifndef CORE_FORMULA_CACHE_H
#define CORE_FORMULA_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/hash.h"
#include "base/str.h"

#define FORMULA_CACHE_BYTES ((uint64_t)64 << 20) /* unless it is said */
#define FORMULA_CACHE_ENTRIES 4096u

struct formula_cache;

/* What is asked for. */
struct formula_ask {
	const char *tenant;
	uint8_t scope[HASH_BYTES]; /* of all that matters beside the batch */
	struct str batch;	   /* wire/batch.h; all that the image gets */
};

/* At most `bytes` of memory are held. */
MUST_CHECK int formula_cache_new(uint64_t bytes, struct formula_cache **ret,
				 struct redoma_error *err);
void formula_cache_free(struct formula_cache *c); /* NULL is fine */
/* The answer, borrowed until the next keep; len 0: there is none. */
struct str formula_cache_find(struct formula_cache *c,
			      const struct formula_ask *ask);
/* Keeps a copy of `answer`, in the place of what was kept for the same.
 * has_time: for those alone who ask at the same time (batch_head.now_us).
 * Takes the bytes that ask->batch views from `batch`, unless there is no memory
 * or room: then nothing is kept, and that is no failure. */
void formula_cache_keep(struct formula_cache *c, const struct formula_ask *ask,
			struct buf *batch, struct str answer, bool has_time);
/* What is held now. */
uint64_t formula_cache_bytes(const struct formula_cache *c);

#endif
