/* core/granted.h - what one run was granted, and who serves it: the usher, or,
 * when nothing is granted, nobody: then no file is touched and all of it
 * happens here.
 *
 * The core never has a descriptor of a granted file: to close one asks its file
 * system too (FUSE: flush), in a wait that no signal ends.
 *
 * Bounds: sealing, finishing and publishing may be quiet for limits.wall, at
 * least USHER_QUIET_US; hashing and copying are not quiet.  While the guest
 * runs, its wall holds.  redoma_cancel ends each. */
#ifndef CORE_GRANTED_H
#define CORE_GRANTED_H

#include "broker/publish.h"
#include "broker/seal.h"
#include "core/handle.h"
#include "wire/outcome.h"

struct granted;

struct granted_want { /* borrowed until granted_close: policy; else the call */
	const struct policy *policy;
	const char *program;
	const char *const *args;
	bool native, other_user; /* see seal_native */
};

/* How the plan reaches its worker. */
struct granted_way {
	struct channel *worker;
	int module_fd;	   /* -1: none */
	const int *mounts; /* native: of granted_mounts, in their order */
	size_t n_mounts;
	uint64_t bounds[3];
	uint64_t until_us;
};

MUST_CHECK int granted_open(struct redoma *h, const struct granted_want *w,
			    struct granted **ret, struct redoma_error *err);
void granted_close(struct granted *g);
/* Borrowed.  Its grants have no descriptors. */
const struct plan *granted_plan(const struct granted *g);
uint64_t granted_file_bytes(const struct granted *g); /* seal_file_bytes */
/* Native: what to mount, O_PATH; borrowed. */
size_t granted_mounts(const struct granted *g, const int **ret);

/* FRAME_BOUND, FRAME_MODULE and FRAME_PLAN.  Here and in granted_call:
 * REDOMA_E_BUSY when time ran out, REDOMA_E_WORKER when the worker is gone or
 * the run was cancelled, REDOMA_E_INVALID when the worker broke the protocol.
 */
MUST_CHECK int granted_deliver(struct granted *g, const struct granted_way *w,
			       struct redoma_error *err);
/* The body of a FRAME_CALL; the worker gets its FRAME_ANSWER. */
MUST_CHECK int granted_call(struct granted *g, struct channel *worker,
			    const void *body, size_t len,
			    struct redoma_error *err);
/* Once, when the worker has nothing more to say; before granted_denials and
 * granted_verify (seal_verify) are asked. */
MUST_CHECK int granted_finish(struct granted *g, struct redoma_error *err);
MUST_CHECK int granted_verify(const struct granted *g,
			      struct redoma_error *err);
size_t granted_denials(const struct granted *g, const struct seal_denial **ret);
/* See publish_all. */
MUST_CHECK int granted_publish(struct granted *g,
			       const struct outcome_written *w, size_t n,
			       struct published_list *ret,
			       struct redoma_error *err);
/* A file system that did not answer: the sentence that names its grant, or
 * NULL. */
const char *granted_hung(const struct granted *g);
/* What the host calls a name of the guest, by any grant of it or of a directory
 * above.  1: there is none; -1: out of memory. */
int granted_host(const struct granted *g, struct str guest, struct buf *ret);
/* The grant whose name in the guest is exactly `guest`, or NULL: for advice on
 * what it lacks.  *ret_host is the policy's name for it; both borrowed. */
const struct plan_grant *granted_find(const struct granted *g,
				      struct str guest, bool write,
				      const char **ret_host);

#endif
