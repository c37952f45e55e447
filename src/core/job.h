/* core/job.h - one run on its way through the pipeline: what run.c and
 * native.c share. */
#ifndef CORE_JOB_H
#define CORE_JOB_H

#include "base/hash.h"
#include "core/converse.h"
#include "core/granted.h"
#include "core/handle.h"
#include "core/image.h"
#include "core/module.h"
#include "core/result.h"
#include "lang/lang.h"

struct job {
	struct redoma *h;
	const struct redoma_request *q; /* borrowed */
	const struct policy *policy;	/* borrowed: the handle's or q's */
	const struct lang *lang;
	const char *name;
	bool batch; /* q->input is a batch (wire/batch.h) */
	struct granted *granted;
	struct desk *desk; /* NULL: no tool is granted */
	char image[PATH_ROOM];
	struct image added; /* that is used in its place */
	struct module module;
	int artefact;
	struct slot *slot;
	uint64_t began_us;	/* of the real-time clock */
	int pid;		/* of the worker that was taken */
	uint32_t uid;		/* that only its processes have; 0: none */
	char root_digest[HASH_HEX_MAX]; /* of a native program */
	struct spawn_dead dead; /* how it ended, if that was asked */
	struct redoma_result *result;
};

/* True if the run was cancelled: its result then says so. */
bool job_is_cancelled(struct job *j);
/* After the conversation, before the verdict: see granted_finish. */
MUST_CHECK int job_finish(struct job *j, struct talk *t,
			  struct redoma_error *err);
/* Publishes what was written, if the run is to be believed; names it in the
 * result. */
MUST_CHECK int job_publish(struct job *j, const struct talk *t,
			   struct redoma_error *err);

#endif
