/* pool/compile.h - one untrusted module to machine code, by redoma-compile.
 *
 * The compiler is a process of its own, inside the kernel jail, with
 * COMPILE_SECONDS, COMPILE_MEMORY and COMPILE_ARTEFACT (wire/compile.h); what
 * it answers is not believed, only passed on as text. */
#ifndef POOL_COMPILE_H
#define POOL_COMPILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "policy/profile.h"
#include "wire/compile.h"

struct compile_options { /* borrowed for the call */
	const _Atomic int *cancelled; /* not 0: give up; NULL: never */
	const char *program; /* file of redoma-compile */
	enum profile profile;
	uint32_t may_lack;   /* walls that may be missing, as for a worker */
	/* As redoma_request.on_wait; NULL: nobody.  Called if it is not done
	 * after COMPILE_QUIET_MS, and then at its end with NULL. */
	void (*on_wait)(void *data, const char *what);
	void *on_wait_data;
	const char *what;
};

/* Has the caller given up? */
static inline bool compile_cancelled(const struct compile_options *o)
{
	return o->cancelled && atomic_load(o->cancelled);
}

#define COMPILE_LOOK_MS 20 /* how often a wait looks */
#define COMPILE_QUIET_MS 300

/* `module_fd` is at offset 0 and borrowed.  *ret_fd: a sealed memfd with the
 * artefact; whatever the compiler wrote, so of a foreign module only for a
 * process inside all walls.
 * REDOMA_E_INVALID: no module that can run here, or over a limit.
 * REDOMA_E_UNSUPPORTED: a wall of the compiler's jail cannot be built.
 * REDOMA_E_BUSY: it was cancelled.
 * `ret_report` (may be NULL) is filled whenever the compiler reported. */
MUST_CHECK int compile_module(const struct compile_options *o, int module_fd,
			      int *ret_fd, struct compile_report *ret_report,
			      struct redoma_error *err);

/* What a report says, once it is one of this build: 0 or its error, whose texts
 * are then fit to be shown. */
MUST_CHECK int compile_check(struct compile_report *r,
			     struct redoma_error *err);

#endif
