/* worker/inherit.h - the code that the zygote has in memory, its children have.
 *
 * fork(2) copies the page table of a mapping only if the mapping has a page of
 * its own; a child faults the other pages of files in again, and that was most
 * of what a child cost.  So each mapping of code gets one page of its own: a
 * byte of it is written with the value that it has. */
#ifndef WORKER_INHERIT_H
#define WORKER_INHERIT_H

/* In the zygote, once everything is loaded and while /proc is there.  Only
 * speed depends on it: where the kernel does not let a process write to its
 * own read-only pages, nothing changes. */
void inherit_code(void);

#endif
