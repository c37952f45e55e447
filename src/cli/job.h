/* cli/job.h - one run from options to exit code, for run and eval. */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include "cli/args.h"
#include "cli/source.h"

/* --input --invoke --json --stats --quiet */
extern const struct option job_options[];

/* `name` is shown in the guest's errors.  Returns the exit code, everything
 * printed. */
int job_run(const struct args *a, const struct source *s, const char *name);
/* From now on the first signal cancels what runs on `r` (NULL: nothing does any
 * more), and the second ends the process. */
void job_watch(struct redoma *r);
bool job_is_cancelled(void); /* a signal came */
/* The refusal as --json or a line. */
int job_refused(const struct args *a, const struct redoma_error *err);

#endif
