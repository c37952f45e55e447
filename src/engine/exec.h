/* engine/exec.h - one instance: begin, run, reset.
 *
 *	exec_begin -> exec_start | exec_invoke | image_run -> exec_reset
 *
 * A guest that misbehaves is an outcome; errors are ours.  After any outcome
 * call exec_reset: a store that trapped is never used again. */
#ifndef ENGINE_EXEC_H
#define ENGINE_EXEC_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "engine/engine.h"

enum exec_end {
	EXEC_DONE,	/* it returned */
	EXEC_HOST,	/* a host function ended it: wasi_end says why; if
			   that says WASI_END_NONE the engine itself failed,
			   see text */
	EXEC_TRAP,
	EXEC_INTERRUPT, /* engine_interrupt or *stop; the caller knows which
			   deadline that was */
	EXEC_FUEL,
	EXEC_STACK,
	EXEC_MEMORY,	/* its memory does not fit the limit, or it gave up
			   (unreachable) after a refused growth */
};

struct exec_limits {
	uint64_t memory_bytes;	 /* linear memory and exception heap together */
	uint64_t fuel;		 /* > 0 in a fuel profile, else 0 */
};

struct exec_outcome {
	enum exec_end end;
	int trap;		/* wasmtime_trap_code, or -1 */
	bool memory_denied;	/* a growth was refused */
	uint64_t fuel_used;	/* 0 if it was not counted */
	uint64_t memory_bytes;	/* most it had */
	char text[160];		/* for people; "" if EXEC_DONE */
};

struct exec;

/* `stop` (may be NULL) is borrowed: a flag that the deadline's signal handler
 * sets before it calls engine_interrupt, so that a deadline which passes
 * between two steps is not lost.
 *
 * In an epoch profile the module is instantiated once and reset: no guest code
 * runs (a start function traps at its entry), but what comes after needs
 * neither memfd_create nor file mappings any more.  So call it while the jail
 * still allows them. */
MUST_CHECK int exec_new(struct engine *e, const volatile sig_atomic_t *stop,
			struct exec **ret, struct redoma_error *err);
void exec_free(struct exec *x); /* resets first; NULL is fine */

/* A new store and instance under the limits; the module's start function runs
 * here, under the same limits and deadline.  Arm the timer and wasi before.
 * out->end other than EXEC_DONE: it ended already.
 * REDOMA_E_INVALID: its segments lie outside its memory or table.
 * REDOMA_E_BUSY: there is an instance already (exec_reset was forgotten). */
MUST_CHECK int exec_begin(struct exec *x, const struct exec_limits *l,
			  struct exec_outcome *out, struct redoma_error *err);
/* Makes the instance of the next exec_begin ahead of it, so that a request
 * finds it there; that call gives it its limits.  For images, which have no
 * start function: no guest code runs.  Without effect in other profiles. */
void exec_ahead(struct exec *x);
/* Runs _start (check module_entry before). */
MUST_CHECK int exec_start(struct exec *x, struct exec_outcome *out,
			  struct redoma_error *err);
/* Runs _initialize if it is exported, then the export `name` with arguments
 * parsed by its parameter types: i32 and i64 in decimal or 0x, signed or
 * unsigned; f32 and f64 as strtod reads them.  REDOMA_E_INVALID: an argument
 * that does not fit.  Appends the results as one JSON value to `value`: nothing
 * for none, a value for one, an array for more; numbers that JSON lacks are
 * tagged ({"$redoma":"bigint",...}, nan, inf, -inf, -0). */
MUST_CHECK int exec_invoke(struct exec *x, const char *name,
			   const char *const *argv, struct exec_outcome *out,
			   struct buf *value, struct redoma_error *err);
/* Deletes the store: this is the reset, and the memory is clean afterwards. */
void exec_reset(struct exec *x);

/* The memory exported as "memory"; NULL and 0 if there is none.  Valid until
 * the guest runs again or exec_reset. */
uint8_t *exec_memory(struct exec *x, size_t *ret_size);
const char *exec_end_name(enum exec_end end);

#endif
