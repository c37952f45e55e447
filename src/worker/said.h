/* worker/said.h - everything that is known after a run, made into the one
 * outcome that is told. */
#ifndef WORKER_SAID_H
#define WORKER_SAID_H

#include "engine/image.h"
#include "worker/deadline.h"
#include "worker/run.h"

struct said {
	struct exec_outcome exec;
	bool has_image;		    /* image is filled */
	struct image_result image;
	struct wasi_report wasi;
	enum deadline_kind deadline; /* the one that passed */
	uint32_t row;		     /* of a batch, where it ended; from 1 */
	bool output_over;
	uint64_t output_left; /* bytes that a value may still have */
};

void said_outcome(const struct said *s, const struct wasi *w,
		  struct run_result *ret);
/* The guest cannot be run as it was asked for; text gets the words. */
void said_invalid(struct outcome *o, const struct redoma_error *e, char *text,
		  size_t size);

#endif
