/* worker/child.h - one worker: locks itself, parks, runs, and is gone. */
#ifndef WORKER_CHILD_H
#define WORKER_CHILD_H

#include "worker/zygote.h"

#define CHILD_FAILED 70 /* exit status: it could not lock itself */

/* In the forked child; never returns. */
void child_main(struct kit *k, int sock)
	__attribute__((noreturn));

#endif
