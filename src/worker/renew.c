#include "worker/renew.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "base/cleanup.h"

#define WHERE "worker"

int renew_pagemap(int proc_fd, int pagemap_fd, struct redoma_error *err)
{
	CLEANUP_FD int fd = -1;

	/* A process that changed its user is not dumpable, and such a one
	 * cannot open its own pagemap. */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
		return err_sys(err, WHERE, "become dumpable for a moment");
	fd = openat(proc_fd, "self/pagemap", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, WHERE, "open the page map of this child");
	if (dup3(fd, pagemap_fd, O_CLOEXEC) < 0)
		return err_sys(err, WHERE, "renew the page map");
	return 0;
}
