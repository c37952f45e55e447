/* wire/request.h - reads one run from the core, in a worker or in init of a
 * native jail.  The core is trusted; caps hold all the same. */
#ifndef WIRE_REQUEST_H
#define WIRE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "policy/plan.h"
#include "wire/frame.h"

#define REQUEST_TEXT_MAX FRAME_TEXT_MAX /* source, input */
#define REQUEST_BOUNDS (3 * sizeof(uint64_t))
#define REQUEST_NAME_MAX FRAME_NAME_MAX

/* Buffers are kept from run to run. */
struct request {
	struct plan plan;
	struct buf plan_bytes;
	struct buf source, input; /* NUL-terminated by struct buf */
	struct buf name;	  /* of the source, shown in errors */
	struct buf invoke;	  /* export to call; empty: the command entry */
	struct buf bounds;	  /* body of FRAME_BOUND */
	int module_fd;		  /* artefact to load; -1: none came */
};

void request_init(struct request *q);
/* Waits for the core's next run.  REDOMA_E_WORKER: the core is gone. */
MUST_CHECK int request_read(struct channel *c, struct request *q,
			    struct redoma_error *err);
/* Somebody watches the output. */
bool request_eager(const struct request *q);
/* Ready for the next; plan and descriptors are released. */
void request_clear(struct request *q);

#endif
