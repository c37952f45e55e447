#include "broker/append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"

#define POLL_US 5000u
#define OPEN_TRIES 16

static int open_end(int dirfd, const char *name, bool *ret_made)
{
	int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
		    O_CLOEXEC;
	int fd = openat(dirfd, name, flags | O_CREAT | O_EXCL, 0666);

	*ret_made = fd >= 0;
	if (fd < 0 && errno == EEXIST)
		fd = openat(dirfd, name, flags);
	return fd_lift(fd);
}

static int lock(int fd)
{
	uint64_t until = clock_monotonic_us() + APPEND_WAIT_US;

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK || clock_monotonic_us() >= until)
			return -1;
		usleep(POLL_US);
	}
	return 0;
}

/* False if the name was given to another file while we waited. */
static bool still_named(int fd, int dirfd, const char *name, struct stat *st)
{
	struct stat now;

	return !fstat(fd, st) &&
	       !fstatat(dirfd, name, &now, AT_SYMLINK_NOFOLLOW) &&
	       st->st_dev == now.st_dev && st->st_ino == now.st_ino;
}

/* The file, locked; *st is its state then. */
static int open_locked(int dirfd, const char *name, struct stat *st,
		       bool *ret_made)
{
	int tries;

	for (tries = 0; tries < OPEN_TRIES; tries++) {
		CLEANUP_FD int fd = open_end(dirfd, name, ret_made);

		if (fd < 0 && errno == ENOENT)
			continue; /* removed between the two attempts */
		if (fd < 0 || fstat(fd, st))
			return -1;
		if (!S_ISREG(st->st_mode)) {
			errno = EINVAL;
			return -1;
		}
		if (lock(fd))
			return -1;
		if (still_named(fd, dirfd, name, st))
			return TAKE_FD(fd);
	}
	errno = ENOENT;
	return -1;
}

static int write_pieces(int stage, int fd, uint64_t bytes, struct hash *h,
			uint64_t *ret_done)
{
	size_t room = bytes < APPEND_ONCE ? (size_t)bytes : APPEND_ONCE;
	CLEANUP_FREE char *p = malloc(room ? room : 1);

	*ret_done = 0;
	if (!p)
		return -1;
	while (*ret_done < bytes) {
		uint64_t left = bytes - *ret_done;
		size_t n = left < room ? (size_t)left : room, at = 0;

		if (copy_read(stage, p, n, *ret_done))
			return -1;
		while (at < n) {
			ssize_t put = write(fd, p + at, n - at);

			if (put < 0 && errno == EINTR)
				continue;
			if (put < 0)
				return -1;
			at += (size_t)put;
			*ret_done += (uint64_t)put;
		}
		hash_add(h, p, n);
	}
	return 0;
}

/* Takes back what was written, unless somebody wrote behind it. */
static void undo(int fd, uint64_t before, uint64_t written)
{
	struct stat st;

	if (!fstat(fd, &st) && (uint64_t)st.st_size == before + written &&
	    ftruncate(fd, (off_t)before))
		return; /* nothing more can be done */
}

int append_exact(int stage, uint64_t bytes, int dirfd, const char *name,
		 uint8_t ret_sha256[HASH_BYTES])
{
	struct stat st;
	struct hash h;
	uint64_t done;
	bool made;
	CLEANUP_FD int fd = open_locked(dirfd, name, &st, &made);

	if (fd < 0)
		return -1;
	hash_init(&h);
	if (write_pieces(stage, fd, bytes, &h, &done)) {
		int sys = errno;

		undo(fd, (uint64_t)st.st_size, done);
		if (made)
			unlinkat(dirfd, name, 0);
		errno = sys;
		return -1;
	}
	hash_end(&h, ret_sha256);
	return 0;
}
