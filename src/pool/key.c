#include "pool/key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/hash.h"

int key_make_dirs(const char *path)
{
	CLEANUP_FREE char *copy = strdup(path);

	if (!copy)
		return -1;
	for (char *p = copy + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(copy, 0700) && errno != EEXIST)
			return -1;
		*p = '/';
	}
	return mkdir(copy, 0700) && errno != EEXIST ? -1 : 0;
}

static int make_parent(const char *path)
{
	CLEANUP_FREE char *copy = strdup(path);
	char *slash = copy ? strrchr(copy, '/') : NULL;

	if (!copy)
		return -1;
	if (!slash || slash == copy)
		return 0;
	*slash = '\0';
	return key_make_dirs(copy);
}

static int write_new(const char *temp, const uint8_t key[KEY_BYTES])
{
	CLEANUP_FD int fd =
		open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		     0600);

	fd = fd_lift(fd);
	return fd < 0 || fd_write_all(fd, key, KEY_BYTES) || fsync(fd) ? -1 : 0;
}

/* The link appears at once and whole; EEXIST: another maker was first. */
static int make_key(const char *path)
{
	CLEANUP_FREE char *temp = NULL;
	uint8_t key[KEY_BYTES], tag[8];
	char hex[2 * sizeof(tag) + 1];
	int rc = 0, sys;

	if (make_parent(path) || hash_random(key, sizeof(key)) ||
	    hash_random(tag, sizeof(tag)))
		return -1;
	if (asprintf(&temp, "%s.%s", path, hash_hex(tag, sizeof(tag), hex)) <
	    0) {
		temp = NULL;
		return -1;
	}
	if (write_new(temp, key) || (link(temp, path) && errno != EEXIST))
		rc = -1;
	sys = errno;
	hash_wipe(key, sizeof(key));
	unlink(temp);
	errno = sys;
	return rc;
}

static int check_key(int fd, const char *path, char *why, size_t size)
{
	const char *fault = NULL;
	struct stat st;

	if (fstat(fd, &st)) {
		int sys = errno;

		snprintf(why, size, "cannot examine the cache's key %s", path);
		errno = sys;
		return -1;
	}
	if (!S_ISREG(st.st_mode) || st.st_size != KEY_BYTES)
		fault = "is damaged; remove it";
	else if (st.st_uid != geteuid())
		fault = "belongs to another user";
	else if (st.st_mode & 077)
		fault = "can be read by others; chmod 600 or remove it";
	if (!fault)
		return 0;
	snprintf(why, size, "the cache's key %s %s", path, fault);
	errno = 0;
	return -1;
}

int key_read(const char *path, uint8_t key[KEY_BYTES], char *why, size_t size)
{
	CLEANUP_FD int fd = -1;
	ssize_t n;
	int sys;

	for (int tries = 0; tries < 2 && fd < 0; tries++) {
		fd = fd_lift(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
						O_NONBLOCK));
		if (fd >= 0 || errno != ENOENT)
			break;
		if (make_key(path))
			break;
	}
	if (fd < 0) {
		sys = errno;
		snprintf(why, size,
			 "cannot make or open the cache's key %s: %s", path,
			 strerror(sys));
		errno = sys;
		return -1;
	}
	if (check_key(fd, path, why, size))
		return -1;
	n = pread(fd, key, KEY_BYTES, 0);
	if (n == KEY_BYTES)
		return 0;
	sys = n < 0 ? errno : 0;
	snprintf(why, size, "cannot read the cache's key %s", path);
	errno = sys;
	return -1;
}
