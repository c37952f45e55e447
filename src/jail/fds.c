#include "jail/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "jail/kernel.h"

/* An O_PATH descriptor of an empty memfd: read, write, lseek, fcntl(F_SETFL)
 * and flock on it are EBADF, so that children of one zygote share no offset,
 * flag or lock through it, and it leads to no directory. */
const char *fds_inert(int proc_fd, int *ret_fd)
{
	CLEANUP_FD int mem =
		memfd_create("redoma-inert", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
	char path[32];
	int fd;

	if (mem < 0 && errno == EINVAL) /* before Linux 6.3 */
		mem = memfd_create("redoma-inert", MFD_CLOEXEC);
	if (mem < 0)
		return "make an inert descriptor";
	snprintf(path, sizeof path, "self/fd/%d", mem);
	fd = openat(proc_fd, path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return "reopen an inert descriptor";
	*ret_fd = fd;
	return NULL;
}

static const char *fill_stdio(const int *keep, size_t n_keep, int inert_fd)
{
	for (int fd = 0; fd < 3; fd++) {
		bool kept = false;

		for (size_t i = 0; i < n_keep; i++)
			kept |= keep[i] == fd;
		if (!kept && fd != inert_fd && dup2(inert_fd, fd) != fd)
			return "replace standard input, output and error";
	}
	return NULL;
}

const char *fds_close(const int *keep, size_t n_keep, int inert_fd)
{
	const char *what = fill_stdio(keep, n_keep, inert_fd);
	unsigned first = 3;

	if (what)
		return what;
	for (size_t i = 0; i < n_keep; i++) {
		unsigned fd = (unsigned)keep[i];

		if (keep[i] < 0 || (i && keep[i] <= keep[i - 1])) {
			errno = EINVAL;
			return "order the descriptors to keep";
		}
		if (fd < 3)
			continue;
		if (fd > first && close_range(first, fd - 1, 0))
			return "close descriptors";
		first = fd + 1;
	}
	return close_range(first, UINT_MAX, 0) ? "close descriptors" : NULL;
}
