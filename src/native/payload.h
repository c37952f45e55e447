/* native/payload.h - the hostile program of one jail: started by init, held
 * until init has given up its own rights, watched until it is dead.
 *
 * init must be pid 1 of its jail: to end the payload is to kill every other
 * process that there is. */
#ifndef NATIVE_PAYLOAD_H
#define NATIVE_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include "base/err.h"
#include "jail/native.h"

struct payload_start {
	const struct native *jail;
	const char *program; /* path inside the root */
	bool boot;  /* gets a socket to init as descriptor 3 */
	/* For payload_order; not looked at before. */
	char *const *argv;
	char *const *env;
	/* struct native_payload */
	uint64_t file_bytes, max_fds, cpu_s, memory_bytes, pids;
	uint64_t output_bytes; /* the limit of what it says; 0: not known yet */
	bool early; /* struct native_payload */
};

/* Why it never became the program: written by the child before its exec, which
 * takes the page away from it. */
struct payload_fault {
	const char *what; /* NULL: none; static text */
	int sys;
	bool at_exec; /* not the lock, but the program itself */
};

struct payload {
	pid_t pid;	   /* 0: none */
	clockid_t cpu_clock;
	int in, out, err;  /* our ends of its pipes, not blocking; -1 */
	int boot;	   /* our end of its socket; -1 */
	int gate;	   /* closed without a byte: it never starts */
	int stat;	   /* its /proc/PID/stat; -1 */
	struct payload_fault *fault; /* a shared page */
	bool dead;
	int status;	   /* of wait(2), once dead */
	bool sigsys;	   /* it, or one that init inherited, died by that */
	uint64_t cpu_us;   /* of all that init reaped */
	uint64_t peak_bytes, page_faults;
	uint64_t warm_faults; /* of those, before it was given a run */
};

#define PAYLOAD_NONE ((struct payload){.in = -1, .out = -1, .err = -1, \
				       .boot = -1, .gate = -1, .stat = -1})

/* Forks it; it waits for its order. */
MUST_CHECK int payload_fork(const struct payload_start *s, struct payload *p,
			    struct redoma_error *err);
/* Tells it what it is to become; it locks itself in, and waits.  Before
 * native_settle. */
MUST_CHECK int payload_order(const struct payload_start *s, struct payload *p,
			     struct redoma_error *err);
MUST_CHECK int payload_release(struct payload *p, struct redoma_error *err);
/* New bounds for one that was started before its run was known; they only go
 * down.  Before native_settle. */
MUST_CHECK int payload_bound(const struct payload *p,
			     const struct payload_start *s,
			     struct redoma_error *err);
/* CPU time of the payload's first process so far; 0 if it is gone. */
uint64_t payload_cpu_us(const struct payload *p);
/* Takes what has ended, a few at most.  True: there may be more, and no signal
 * will tell. */
bool payload_reap(struct payload *p);
/* Kills everything else in the jail and reaps it all, within wait_us;
 * REDOMA_E_BUSY: something could not be ended.  Does nothing but fail in a
 * process that is not pid 1. */
MUST_CHECK int payload_end(struct payload *p, uint64_t wait_us,
			   struct redoma_error *err);
/* Kills it and does not wait: nothing of it will run, but its last process may
 * not be counted among the dead.  What it used is counted. */
MUST_CHECK int payload_strike(struct payload *p, struct redoma_error *err);
/* Once it is warm: for payload_strike to tell its page faults, and which of
 * them are not its run's; where there is no /proc they are not told. */
void payload_open_stat(struct payload *p);
/* Closes our ends. */
void payload_done(struct payload *p);

#endif
