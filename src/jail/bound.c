#include "jail/jail.h"

#include <errno.h>
#include <sys/resource.h>

#define WHERE "jail"

static int lower(__rlimit_resource_t what, uint64_t n)
{
	struct rlimit had, l = {n, n};

	/* One call sets and tells what was: a limit that was lower already
	 * cannot be raised in here, and must not pass for the one asked. */
	if (prlimit(0, what, &l, &had))
		return -1;
	if (had.rlim_max >= n)
		return 0;
	errno = EPERM;
	return -1;
}

int jail_bound(uint64_t data_bytes, uint64_t file_bytes,
	       struct redoma_error *err)
{
	if (!lower(RLIMIT_DATA, data_bytes) && !lower(RLIMIT_FSIZE, file_bytes))
		return 0;
	if (errno == EPERM)
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "bound this worker's memory and files: a hard "
			       "limit that the caller has is lower than this "
			       "run needs; raise it (ulimit -Hd and -Hf), or "
			       "lower limits.memory and max_bytes");
	err_sys(err, WHERE, "bound this worker's memory and files");
	return REDOMA_E_UNSUPPORTED;
}
