#include "broker/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/hash.h"

#define NAME_TRIES 8

int stage_name(char name[STAGE_NAME_MAX])
{
	uint64_t r;

	if (hash_random(&r, sizeof r))
		return -1;
	snprintf(name, STAGE_NAME_MAX, ".redoma-%016llx",
		 (unsigned long long)r);
	return 0;
}

static int open_nameless(int dirfd)
{
	return fd_lift(openat(dirfd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC,
			      0600));
}

/* Some file systems (NFS, FAT, some of FUSE) have no nameless files. */
static bool lacks_nameless(int sys)
{
	return sys == EOPNOTSUPP || sys == EISDIR || sys == ENOENT ||
	       sys == EINVAL || sys == ENOSYS;
}

static int open_named(int dirfd, char name[STAGE_NAME_MAX])
{
	int fd = -1, tries;

	for (tries = 0; fd < 0 && tries < NAME_TRIES; tries++) {
		if (stage_name(name))
			return -1;
		fd = openat(dirfd, name,
			    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	return fd_lift(fd);
}

int stage_open(int dirfd)
{
	char name[STAGE_NAME_MAX];
	int fd = open_nameless(dirfd);

	if (fd >= 0 || !lacks_nameless(errno))
		return fd;
	fd = open_named(dirfd, name);
	if (fd >= 0)
		unlinkat(dirfd, name, 0);
	return fd;
}

int stage_link(int fd, int dirfd, const char *name)
{
	char self[40];

	/* Allowed to who opened the file since Linux 6.10, before that to
	 * CAP_DAC_READ_SEARCH; the other way needs /proc. */
	if (!linkat(fd, "", dirfd, name, AT_EMPTY_PATH))
		return 0;
	if (errno != ENOENT && errno != EPERM && errno != EINVAL)
		return -1;
	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, self, dirfd, name, AT_SYMLINK_FOLLOW);
}

int stage_open_target(int dirfd, bool named, char name[STAGE_NAME_MAX])
{
	int fd = named ? -1 : open_nameless(dirfd);

	name[0] = '\0';
	if (fd >= 0 || (!named && !lacks_nameless(errno)))
		return fd;
	return open_named(dirfd, name);
}
