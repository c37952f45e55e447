/* pool/spawn.h - start one of our own programs so that the host program
 * never notices: no SIGCHLD, nothing for its wait() to reap, no descriptor,
 * variable or signal setting inherited.
 *
 * The process is a grandchild: the child in between is made by clone3(2) with
 * exit_signal 0 (invisible to wait() without __WCLONE), sends us a pidfd of it
 * over a socket, and is gone before the call returns.  Nothing between clone3
 * and exec allocates or takes a lock, so a host with many threads is safe.
 *
 * Until they are gone, or have become the program, both have a copy of every
 * descriptor that the host had open: what the host closes meanwhile, such as an
 * end of a pipe or a file with a lock, is closed for others some hundred
 * microseconds later.
 *
 * The program is not started before the host has the pidfd.  A call that fails
 * (the host is out of descriptors, someone killed what is in between) leaves
 * neither a process nor a descriptor. */
#ifndef POOL_SPAWN_H
#define POOL_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"

#define SPAWN_FDS_MAX 8

struct spawn_request {
	const char *path;	  /* the program's file */
	const char *const *argv;  /* NULL-terminated; argv[0] shows in ps */
	const int *fds;		  /* become 3, 4, ... in the new process */
	size_t n_fds;		  /* at most SPAWN_FDS_MAX */
	bool own_child; /* an ordinary child instead: for a program of ours,
			   which then leaves nothing to init either */
};

/* 0-2 of the new process are /dev/null.  A failing exec shows as end of file
 * on whatever channel was passed. */
MUST_CHECK int spawn_process(const struct spawn_request *q, int *ret_pidfd,
			     struct redoma_error *err);
/* Waits at most grace_ms for it to end by itself, then kills it and waits until
 * it is gone (at most about a second).  Reaps it if it is our child, also by
 * inheritance (a host that is pid 1 or a subreaper).  Closes pidfd. */
void spawn_end(int pidfd, int grace_ms);

#endif
