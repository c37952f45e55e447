#include "jail/jail.h"

#include <errno.h>
#include <sys/resource.h>

#define WHERE "jail"

static int lower(__rlimit_resource_t what, uint64_t n)
{
	struct rlimit had, l = {n, n};

	if (getrlimit(what, &had))
		return -1;
	if (had.rlim_max == n && had.rlim_cur == n)
		return 0;
	if (had.rlim_max < n) {
		errno = EPERM;
		return -1;
	}
	return setrlimit(what, &l);
}

int jail_bound(uint64_t data_bytes, uint64_t file_bytes,
	       struct redoma_error *err)
{
	if (!lower(RLIMIT_DATA, data_bytes) && !lower(RLIMIT_FSIZE, file_bytes))
		return 0;
	err_sys(err, WHERE, "bound this worker's memory and files");
	return REDOMA_E_UNSUPPORTED;
}
