/* usher/serve.h - redoma-usher: what the core would wait for on the file
 * systems of grants, in a process that can be left behind.
 *
 * Serves one run at a time for one core, as broker/ask.h has it, until the
 * core closes its end.  Descriptors of granted files exist here and in workers
 * and nowhere else: to close one is to ask its file system, too. */
#ifndef USHER_SERVE_H
#define USHER_SERVE_H

#include "broker/board.h"
#include "broker/seal.h"
#include "wire/frame.h"

struct usher {
	struct channel core, worker;
	struct board *board; /* borrowed */
	struct sealed *sealed; /* owned; NULL between runs */
	int worker_fd; /* owned; -1 until the plan is delivered */
	uint32_t cpu; /* where it was moved to; UINT32_MAX: nowhere */
	struct buf asked, told;
	int fds[FRAME_FDS_MAX]; /* borrowed: sent with what is told */
	size_t n_fds;
};

/* The exit status. */
int usher_serve(struct usher *u);

#endif
