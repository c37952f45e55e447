/* base/here.h - a child that is started and waited for at once stays on the CPU
 * of its parent: it runs when the parent waits, and no CPU that sleeps, or that
 * another program has, is asked for it. */
#ifndef BASE_HERE_H
#define BASE_HERE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct here {
	cpu_set_t all; /* where the process may run */
	bool stays;
};

/* A process of ours that nobody waits for: when it wakes it does not take the
 * CPU from one that runs (sched(7), SCHED_BATCH).  pid 0: the caller. */
void here_meek(pid_t pid);
/* The caller is waited for, and has little to do at a time: it asks for turns
 * of 0.1 ms, the shortest there are, so that its turn comes before that of a
 * program with the usual ones (sched_setattr(2), sched_runtime; Linux 6.12). */
void here_brisk(void);

/* Until here_leave, in the parent after fork and in the child.  Where it cannot
 * be done nothing is, and all works. */
void here_stay(struct here *h);
void here_leave(const struct here *h);

/* Who waits for a process on its own CPU lets that run, and goes on when it
 * waits: neither wakes the other, and neither is moved to a CPU that sleeps.
 * Where a third wants the CPU too, it takes that for a turn of its own, which
 * is milliseconds long: then the caller sleeps for the answer instead. */
struct turn {
	uint32_t asleep; /* of the next calls, which do nothing */
	uint32_t last;	 /* how many were when it was tried last */
};

void turn_give(struct turn *t);

#endif
