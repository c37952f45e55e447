/* worker/renew.h - a forked child's own view of its page table.
 *
 * Wasmtime holds one descriptor of /proc/self/pagemap.  After a raw clone3 it
 * still shows the parent's pages: a reset would miss what the child dirtied and
 * the next run would find it.  So each child puts its own in that place, before
 * it loses /proc. */
#ifndef WORKER_RENEW_H
#define WORKER_RENEW_H

#include "base/err.h"

/* proc_fd: O_PATH of the host's /proc; pagemap_fd: the number to replace. */
MUST_CHECK int renew_pagemap(int proc_fd, int pagemap_fd,
			     struct redoma_error *err);

#endif
