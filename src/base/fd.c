#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

#define WHERE "file"
#define CHUNK ((size_t)64 << 10)
/* A rename elsewhere makes the kernel give up on ".." with EAGAIN. */
#define RENAME_RETRIES 32

#define NOEXEC_SEAL 8U /* MFD_NOEXEC_SEAL of Linux 6.3; older headers lack it */

int fd_lift(int fd)
{
	int high, saved;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	saved = errno;
	close(fd);
	errno = saved;
	return high;
}

int fd_open_beneath(int dirfd, const char *path, int flags, mode_t mode,
		    enum fd_links links)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	long fd;
	int tries = 0;

	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)
		how.mode = mode;
	if (links == FD_LINKS_NONE)
		how.resolve |= RESOLVE_NO_SYMLINKS;
	do {
		fd = syscall(SYS_openat2, dirfd, path, &how, sizeof how);
	} while (fd < 0 &&
		 (errno == EINTR ||
		  (errno == EAGAIN && tries++ < RENAME_RETRIES)));
	return fd_lift((int)fd);
}

static int memfd(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING |
					    NOEXEC_SEAL);

	/* Before Linux 6.3 the flag is unknown. */
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd_lift(fd);
}

int fd_sealed(const char *name, const void *p, size_t n)
{
	CLEANUP_FD int fd = memfd(name);

	if (fd < 0 || fd_write_all(fd, p, n) ||
	    lseek(fd, 0, SEEK_SET) ||
	    fcntl(fd, F_ADD_SEALS,
		  F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE))
		return -1;
	return TAKE_FD(fd);
}

static void cut(struct buf *b, size_t len)
{
	b->len = len;
	if (b->data)
		b->data[len] = '\0';
}

static int read_rest(int fd, size_t cap, struct buf *out, const char *name,
		     struct redoma_error *err)
{
	size_t start = out->len;

	for (;;) {
		size_t left = cap - (out->len - start);
		size_t want = left < CHUNK ? left + 1 : CHUNK;
		ssize_t got;

		if (buf_reserve(out, want))
			return err_nomem(err, WHERE);
		got = read(fd, out->data + out->len, want);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(err, WHERE, "read %s", name);
		if (!got)
			return 0;
		if ((size_t)got > left)
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "%s has more than %zu bytes, which is "
				       "the most that is read here", name, cap);
		out->len += (size_t)got;
	}
}

int fd_read_all(int fd, size_t cap, const char *name, struct buf *out,
		struct redoma_error *err)
{
	size_t start = out->len;
	int e = read_rest(fd, cap, out, name, err);

	if (e)
		cut(out, start);
	else if (out->data)
		out->data[out->len] = '\0';
	return e;
}

int fd_write_all(int fd, const void *p, size_t n)
{
	const char *at = p;

	while (n) {
		ssize_t put = write(fd, at, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		at += put;
		n -= (size_t)put;
	}
	return 0;
}

int fd_copy(int from, int to, uint64_t size)
{
	char bytes[CHUNK];
	uint64_t done = 0;

	while (done < size) {
		size_t want = size - done < sizeof bytes ? (size_t)(size - done)
							 : sizeof bytes;
		ssize_t n = pread(from, bytes, want, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || (n && fd_write_all(to, bytes, (size_t)n)))
			return -1;
		if (n == 0)
			break;
		done += (uint64_t)n;
	}
	return 0;
}
