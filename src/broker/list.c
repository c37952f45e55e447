#include "broker/list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "wire/pack.h"

/* A record of the answer is shorter than the kernel's: 11 + length bytes
 * against 19 + length + NUL, rounded up. */
#define PIECE 32768u

enum call_type list_type(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return CALL_TYPE_REGULAR;
	case S_IFDIR:
		return CALL_TYPE_DIRECTORY;
	case S_IFLNK:
		return CALL_TYPE_LINK;
	case S_IFCHR:
		return CALL_TYPE_CHARACTER;
	case S_IFBLK:
		return CALL_TYPE_BLOCK;
	case S_IFSOCK:
		return CALL_TYPE_STREAM;
	default:
		return CALL_TYPE_UNKNOWN;
	}
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

static enum call_type entry_type(int fd, const struct dirent64 *d)
{
	struct stat st;

	if (d->d_type != DT_UNKNOWN)
		return list_type(DTTOIF(d->d_type));
	if (fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW))
		return CALL_TYPE_UNKNOWN;
	return list_type(st.st_mode);
}

static size_t put_entry(int fd, const struct dirent64 *d, char *out)
{
	size_t len = strlen(d->d_name), i;

	for (i = 0; i < 8; i++)
		out[i] = (char)(d->d_ino >> (8 * i));
	out[8] = (char)entry_type(fd, d);
	out[9] = (char)len;
	out[10] = (char)(len >> 8);
	memcpy(out + 11, d->d_name, len);
	return 11 + len;
}

int list_read(int fd, uint64_t at, char *out, struct str *ret,
	      uint64_t *ret_next)
{
	_Alignas(struct dirent64) char piece[PIECE];
	uint64_t next = 0;
	size_t len = 0;

	if (at > INT64_MAX)
		return EINVAL;
	if (lseek(fd, (off_t)at, SEEK_SET) < 0)
		return errno;
	while (!len) {
		ssize_t n = getdents64(fd, piece, sizeof piece), i = 0;

		if (n < 0)
			return errno;
		next = 0;
		if (!n)
			break;
		while (i < n) {
			const struct dirent64 *d = (const void *)(piece + i);

			if (!is_dots(d->d_name))
				len += put_entry(fd, d, out + len);
			next = (uint64_t)d->d_off;
			i += d->d_reclen;
		}
	}
	*ret = (struct str){out, len};
	*ret_next = next;
	return 0;
}
