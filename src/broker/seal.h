/* broker/seal.h - a policy becomes a plan and what only the core may hold.
 *
 * Sealing opens and checks every host name of a policy: afterwards no name is
 * looked up again, but below a directory that was granted.  All or nothing: a
 * grant that cannot be had refuses the run and leaves nothing behind.
 *
 * A file granted singly goes to the worker as a descriptor.  What must be
 * counted (`opens`, `max_bytes`) or cut (`bytes`) stays with the core, or is
 * a sealed copy of exactly those bytes; in the plan such a file starts at 0
 * and has no end of its own, whatever its range in the host's file was.
 *
 * Not thread-safe: one sealed plan serves one run. */
#ifndef BROKER_SEAL_H
#define BROKER_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"
#include "broker/board.h"
#include "policy/plan.h"
#include "policy/policy.h"

#define SEAL_FILES_MAX 4096u	/* files one run may write */
#define SEAL_DENIALS_MAX 64u

struct sealed;

/* A call that a grant did not allow.  Borrowed until the next call. */
struct seal_denial {
	const char *op;	    /* static: "open", "read", ... */
	const char *guest;  /* name of the grant in the guest */
	struct str path;    /* below it; as the worker sent it */
	uint64_t count;
	bool write;
};

/* Errors: REDOMA_E_INVALID for a name that is not what the policy promises,
 * REDOMA_E_UNSUPPORTED where the kernel cannot hold a grant; the sentence says
 * what to write instead. */
MUST_CHECK int seal_open(const struct policy *p, struct sealed **ret,
			 struct redoma_error *err);
/* The same, watched: `board` (borrowed until seal_close) tells how far this and
 * everything that is done with the plan afterwards is. */
MUST_CHECK int seal_open_watched(const struct policy *p, struct board *board,
				 struct sealed **ret, struct redoma_error *err);
/* What the guest is called with: argv[0] and then args (NULL-terminated, may
 * be NULL).  At most once, before the plan is sent. */
MUST_CHECK int seal_argv(struct sealed *s, const char *program,
			 const char *const *args, struct redoma_error *err);
/* The names of the tools that the guest may call (NULL-terminated, may be
 * NULL); likewise. */
MUST_CHECK int seal_tools(struct sealed *s, char *const *names,
			  struct redoma_error *err);
/* Borrowed; its descriptors are the worker's to be sent, ours to close. */
const struct plan *seal_plan(const struct sealed *s);
/* The largest file that the run may make, for RLIMIT_FSIZE; 0: none. */
uint64_t seal_file_bytes(const struct sealed *s);
/* Asked when the run ended, before its result is believed: REDOMA_E_INVALID
 * if a file whose digest the policy gave, and which was too long to copy, was
 * changed meanwhile. */
MUST_CHECK int seal_verify(const struct sealed *s, struct redoma_error *err);
/* True if there is something for seal_verify to look at. */
bool seal_is_watched(const struct sealed *s);
size_t seal_denials(const struct sealed *s, const struct seal_denial **ret);
/* Drops all stages and closes all descriptors; NULL is fine. */
void seal_close(struct sealed *s);
static inline void seal_cleanup(struct sealed **s)
{
	seal_close(*s);
}

#endif
