/* native/watch.h - one run of a payload, from its release to its end: output,
 * input, conversation, deadlines, the dead. */
#ifndef NATIVE_WATCH_H
#define NATIVE_WATCH_H

#include <stdint.h>
#include "base/err.h"
#include "native/boot.h"
#include "native/payload.h"
#include "native/pump.h"
#include "native/relay.h"
#include "policy/plan.h"

enum watch_end {
	WATCH_RUNS,
	WATCH_DIED,   /* the payload's first process has ended */
	WATCH_SAID,   /* its bootstrap said EXIT */
	WATCH_BROKEN, /* its bootstrap broke the conversation */
	WATCH_WALL,
	WATCH_CPU,
	WATCH_OUTPUT
};

struct watch {
	struct payload *payload; /* all borrowed */
	struct boot *boot;	 /* NULL: a plain command */
	struct relay *relay;	 /* NULL: no tool is granted */
	struct pump pump;
	int sigfd; /* a signalfd of SIGCHLD, which is blocked */
	int core;  /* the socket; its end ends us */
	uint64_t wall_at_us, cpu_at_us, cpu_limit_us, cpu_before_us;
	enum watch_end end;
	bool more_dead; /* than were reaped at once */
	bool early; /* once it has said all, its death is not waited for */
};

/* The clock starts here. */
void watch_begin(struct watch *w, const struct limits *l);
/* Until something has ended it.  An error: the core is gone or does not
 * listen. */
MUST_CHECK int watch_run(struct watch *w, struct redoma_error *err);
/* Everything is killed and, unless it may be left, reaped; then what was in the
 * pipes follows. */
MUST_CHECK int watch_finish(struct watch *w, struct redoma_error *err);
/* Reads a signalfd empty. */
void watch_clear(int sigfd);

#endif
