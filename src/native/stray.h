/* native/stray.h - what a bootstrap that imported packages ahead must not have
 * left beside itself: nothing may be there that could watch the next run. */
#ifndef NATIVE_STRAY_H
#define NATIVE_STRAY_H

#include <sys/types.h>

#define STRAY_THREADS_MAX 16 /* of a bootstrap, libraries' own among them */

/* In init, pid 1 of its jail, before it is settled: looks at all pids that were
 * given out.  NULL: there is no process but init and `pid`, it has not too many
 * threads, and /tmp is empty.  Else what it left; static text. */
const char *stray_find(pid_t pid);

#endif
