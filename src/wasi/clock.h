/* wasi/clock.h - the guest's time, as the plan gives it.
 *
 * real: the host's time of day, and a monotonic clock that starts at one
 * second when the run first looks at it (the host's uptime is not shown).
 * fixed: both stand still, at the plan's time.  none: refused. */
#ifndef WASI_CLOCK_H
#define WASI_CLOCK_H

#include "wasi/state.h"

/* W_INVAL: no such clock; W_NOTCAPABLE: the plan gives none (noted as a
 * denial).  Looking at a real clock takes away purity. */
uint32_t clock_now(struct wasi *w, uint32_t id, int64_t *ret_ns);

#endif
