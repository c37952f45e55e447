/* core/usher.h - the usher of a handle, as the core sees it: a process that is
 * asked, waited for within a bound, and left behind when it does not answer.
 *
 * Started when a run first has grants, with the rights that the calling thread
 * has then; a thread that has others gets another one.  One that is stuck in
 * its file system is killed and forgotten: the kernel ends it when the file
 * system lets it go. */
#ifndef CORE_USHER_H
#define CORE_USHER_H

#include <sys/types.h>
#include "base/buf.h"
#include "broker/board.h"
#include "core/handle.h"

#define USHER_LOST_MAX 16u /* left behind and still there; then no more */
#define USHER_QUIET_US ((uint64_t)10000000)
#define USHER_CLOSE_US ((uint64_t)100000)

/* What decides which files can be opened, and by which names. */
struct usher_rights {
	uid_t uid[3], fsuid;
	gid_t gid[3], fsgid;
	uint32_t caps[2]; /* effective */
	dev_t root_dev;
	ino_t root_ino;
	char mounts[64]; /* the mount namespace */
	int n_groups;	 /* -1: more than are compared */
	gid_t groups[1024];
	mode_t mask; /* of what it makes */
};

struct usher {
	struct channel channel; /* fd -1: none runs */
	int pidfd;
	bool closing; /* it has not said yet that it closed the last run */
	uint32_t cpu; /* that it follows to; UINT32_MAX: none yet */
	struct turn turn;
	struct board *board;
	struct usher_rights rights;
	int lost[USHER_LOST_MAX]; /* pidfds */
	size_t n_lost;
};

enum usher_end {
	USHER_TOLD,
	USHER_FAILED,	 /* it says why */
	USHER_SILENT,	 /* within the bound; it was left behind */
	USHER_CANCELLED, /* likewise */
	USHER_GONE,	 /* by no doing of ours */
	USHER_BROKEN	 /* no memory or descriptor here: err says which */
};

struct usher_ask {
	const struct buf *body;
	const int *fds; /* borrowed */
	size_t n_fds;
	uint64_t until_us; /* CLOCK_MONOTONIC; UINT64_MAX: by quiet_us alone */
	uint64_t quiet_us; /* the longest time without a beat of its board */
};

/* Starts one if none runs or its rights are others; *ret_new: it did. */
MUST_CHECK int usher_ready(struct redoma *h, bool *ret_new,
			   struct redoma_error *err);
/* Asks and collects the answer in told (cleared first); descriptors wait in
 * the channel.  err is filled unless the answer is USHER_TOLD. */
MUST_CHECK enum usher_end usher_ask(struct redoma *h,
				    const struct usher_ask *a,
				    struct buf *told,
				    struct redoma_error *err);
/* Has it close what it holds of the run, which it does by itself; who needs it
 * next waits for that at most USHER_CLOSE_US, and then takes another. */
void usher_close_run(struct redoma *h);
/* Kills the one that runs, without waiting for its end. */
void usher_lose(struct redoma *h);
void usher_free(struct usher *u);
/* The same in a child that has a copy: the process is not ended. */
void usher_forget(struct usher *u);

#endif
