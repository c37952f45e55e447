/* core/incident.h - what is kept of a run that touched a wall: a file of its
 * own, with digests and counters and nothing of the payload. */
#ifndef CORE_INCIDENT_H
#define CORE_INCIDENT_H

#include "core/job.h"

#define INCIDENTS_MAX 1000 /* files kept; then the oldest makes room */

/* j->result has a status that is a breach or a crash.  Writes NAME.json below
 * the handle's incident directory, which is made with mode 0700; NAME is the
 * run's id.  That it cannot be written is counted (redoma_stats), and changes
 * nothing of the run. */
void incident_keep(const struct job *j);

#endif
