/* worker/rehearse.h - a whole run of our own, from the request's bytes to the
 * reply's, in a child that is not locked yet: what a run writes to is this
 * process's own and in its caches before a caller waits for it. */
#ifndef WORKER_REHEARSE_H
#define WORKER_REHEARSE_H

#include "worker/zygote.h"

/* Writes the request, once for all children: k->rehearsal. */
MUST_CHECK int rehearse_write(struct kit *k, struct redoma_error *err);
/* Plays it over a socket pair of its own; k->exec is reset afterwards. */
MUST_CHECK int rehearse(struct kit *k, struct redoma_error *err);

#endif
