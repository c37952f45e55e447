#include "base/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/fd.h"

#define ACL "system.posix_acl_access"
#define UNKNOWN_MASK 077
#define LIST_MAX 4096
#define STATUS_MAX 512 /* the mask stands in the second line */

mode_t access_mask(void)
{
	CLEANUP_FD int fd =
		open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
	char text[STATUS_MAX + 1];
	const char *at;
	ssize_t n = fd < 0 ? -1 : read(fd, text, STATUS_MAX);

	if (n <= 0)
		return UNKNOWN_MASK;
	text[n] = '\0';
	at = strstr(text, "\nUmask:");
	return at ? (mode_t)strtoul(at + strlen("\nUmask:"), NULL, 8) & 0777
		  : UNKNOWN_MASK;
}

/* The bits that give nobody but the owner more than before. */
static mode_t narrow(mode_t bits, bool owner_kept, bool group_kept)
{
	mode_t user = bits >> 6 & 7, group = bits >> 3 & 7, other = bits & 7;

	/* Who owned it may be any of the others now. */
	if (!owner_kept) {
		group &= user;
		other &= user;
	}
	if (!group_kept)
		group = other = group & other;
	return (mode_t)(user << 6 | group << 3 | other);
}

/* False if it may have a list of access that fd has not. */
static bool same_list(int fd, int old, bool owned)
{
	char path[40], list[LIST_MAX];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/self/fd/%d", old);
	n = getxattr(path, ACL, list, sizeof list);
	if (n >= 0)
		return owned && !fsetxattr(fd, ACL, list, (size_t)n, 0);
	if (errno != ENODATA && errno != EOPNOTSUPP)
		return false;
	/* What the directory gave it. */
	return !fremovexattr(fd, ACL) || errno == ENODATA ||
	       errno == EOPNOTSUPP;
}

static int follow(int fd, int old, const struct stat *st)
{
	struct stat now;
	bool owner, group;
	mode_t bits = st->st_mode & 0777;

	/* Whichever of them fails: what came of it counts. */
	if (fchown(fd, st->st_uid, st->st_gid) &&
	    fchown(fd, (uid_t)-1, st->st_gid))
		errno = 0;
	if (fstat(fd, &now))
		return -1;
	owner = now.st_uid == st->st_uid;
	group = now.st_gid == st->st_gid;
	if (!same_list(fd, old, owner && group))
		bits &= 0700;
	return fchmod(fd, narrow(bits, owner, group));
}

int access_like(int fd, int dirfd, const char *name)
{
	CLEANUP_FD int old = fd_lift(
		openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
	struct stat st;

	if (old < 0 && errno == ENOENT)
		return fchmod(fd, 0666 & ~access_mask());
	if (old < 0 || fstat(old, &st))
		return -1;
	return follow(fd, old, &st);
}
