/* worker/deadline.h - the timers that end a run, and the signal handler that
 * does it: it sets the word that a language image polls, and makes epoch
 * checks trap.  Process-wide, since signals are.
 *
 * Source: timer_create(2), signal-safety(7). */
#ifndef WORKER_DEADLINE_H
#define WORKER_DEADLINE_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "engine/engine.h"

/* DEADLINE_ROW: a row went on although it was told to end. */
enum deadline_kind { DEADLINE_NONE, DEADLINE_WALL, DEADLINE_CPU, DEADLINE_ROW };

/* Once, in the zygote: the handler. */
MUST_CHECK int deadline_install(struct engine *e, struct redoma_error *err);
/* In the child, before it is locked: timers are not inherited by fork. */
MUST_CHECK int deadline_create(struct redoma_error *err);
/* True while one has passed; every wait of the host looks at it. */
const volatile sig_atomic_t *deadline_stop(void);
/* The image's interrupt word while it runs, NULL otherwise. */
void deadline_watch(volatile int32_t *word);
/* Of a batch, while it runs: a row that takes longer than row_us is ended by
 * itself; `words` are those of image_row_words.  One that then computes on for
 * deaf_us of CPU time ends the batch, as does what precedes the first row after
 * 1 s or more: the memory of the guest is shut, so that its next access to it
 * traps: not while a function of ours works on that memory, which would crash.
 * Forgotten by deadline_arm and deadline_disarm. */
struct deadline_batch {
	volatile uint32_t *words;
	uint64_t row_us, deaf_us;
	void *memory; /* of the guest, of which `reserved` bytes are its own */
	size_t reserved;
	uintptr_t code, code_end; /* of the guest: where its accesses trap */
};
MUST_CHECK int deadline_rows(const struct deadline_batch *b,
			     struct redoma_error *err);
/* Opens a memory again that was shut, `size` bytes of it; behind
 * deadline_disarm, and before anything else looks at it. */
MUST_CHECK int deadline_reopen(void *memory, size_t size,
			       struct redoma_error *err);
/* Whose output leaves when a deadline passes; forgotten by deadline_disarm. */
struct host;
void deadline_host(struct host *h);
MUST_CHECK int deadline_arm(uint64_t wall_us, uint64_t cpu_us,
			    struct redoma_error *err);
/* Disarms and says which one had passed. */
enum deadline_kind deadline_disarm(void);

#endif
