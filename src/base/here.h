/* base/here.h - a child that is started and waited for at once stays on the CPU
 * of its parent: it runs when the parent waits, and no CPU that sleeps, or that
 * another program has, is asked for it. */
#ifndef BASE_HERE_H
#define BASE_HERE_H

#include <sched.h>
#include <stdbool.h>

struct here {
	cpu_set_t all; /* where the process may run */
	bool stays;
};

/* Until here_leave, in the parent after fork and in the child.  Where it cannot
 * be done nothing is, and all works. */
void here_stay(struct here *h);
void here_leave(const struct here *h);

#endif
