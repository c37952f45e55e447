#include "pool/entry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/hash.h"
#include "wire/compile.h"

#define MAGIC 0x434d4452u /* "RDMC" */
#define VERSION 1u
#define NAME_ROOM 80 /* 64 digits and ".lock" */

struct head {
	uint8_t mac[HASH_BYTES];
	uint32_t magic, version;
	uint8_t name[ENTRY_NAME];
	uint64_t len;
};
_Static_assert(sizeof(struct head) == 80, "no padding in a file");

static void file_name(const uint8_t name[ENTRY_NAME], const char *tail,
		      char ret[NAME_ROOM])
{
	char hex[2 * ENTRY_NAME + 1];

	snprintf(ret, NAME_ROOM, "%s%s", hash_hex(name, ENTRY_NAME, hex), tail);
}

static void make_mac(const struct entry_dir *d, const uint8_t *file, size_t n,
		     uint8_t mac[HASH_BYTES])
{
	hash_mac(d->key, file + HASH_BYTES, n - HASH_BYTES, mac);
}

static bool is_ours(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
	       !(st->st_mode & 022) &&
	       (uint64_t)st->st_size > sizeof(struct head) &&
	       (uint64_t)st->st_size <= sizeof(struct head) + COMPILE_ARTEFACT;
}

static bool is_whole(const struct entry_dir *d, const uint8_t *file, size_t n,
		     const uint8_t name[ENTRY_NAME])
{
	uint8_t mac[HASH_BYTES];
	struct head h;

	memcpy(&h, file, sizeof(h));
	if (h.magic != MAGIC || h.version != VERSION ||
	    h.len != n - sizeof(h) || memcmp(h.name, name, ENTRY_NAME))
		return false;
	make_mac(d, file, n, mac);
	return hash_equal(mac, h.mac, sizeof(mac));
}

/* *ret_bad: it is not what it should be; without that, -1 is our own want. */
static int read_file(const struct entry_dir *d, int fd,
		     const uint8_t name[ENTRY_NAME], bool *ret_bad)
{
	CLEANUP_FREE uint8_t *file = NULL;
	struct stat st;
	ssize_t got;
	size_t n;

	*ret_bad = false;
	if (fstat(fd, &st))
		return -1;
	*ret_bad = !is_ours(&st);
	if (*ret_bad)
		return -1;
	n = (size_t)st.st_size;
	file = malloc(n);
	got = file ? pread(fd, file, n, 0) : -1;
	if (got < 0)
		return -1;
	*ret_bad = (size_t)got != n || !is_whole(d, file, n, name);
	if (*ret_bad)
		return -1;
	return fd_sealed("redoma-artefact", file + sizeof(struct head),
			 n - sizeof(struct head));
}

int entry_read(const struct entry_dir *d, const uint8_t name[ENTRY_NAME])
{
	char path[NAME_ROOM];
	CLEANUP_FD int fd = -1;
	int artefact;
	bool bad;

	file_name(name, "", path);
	fd = fd_lift(openat(d->fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
						 O_NONBLOCK));
	if (fd < 0) {
		if (errno != ENOENT && !err_is_shortage(errno))
			unlinkat(d->fd, path, 0);
		return -1;
	}
	artefact = read_file(d, fd, name, &bad);
	if (artefact >= 0)
		futimens(fd, NULL); /* used now */
	else if (bad)
		unlinkat(d->fd, path, 0);
	return artefact;
}

/* The whole file as bytes; NULL: no memory, or the artefact is unreadable. */
static uint8_t *build(const struct entry_dir *d,
		      const uint8_t name[ENTRY_NAME], int artefact_fd,
		      size_t *ret_n)
{
	CLEANUP_FREE uint8_t *file = NULL;
	struct head h = {.magic = MAGIC, .version = VERSION};
	struct stat st;

	if (fstat(artefact_fd, &st) || st.st_size <= 0)
		return NULL;
	h.len = (uint64_t)st.st_size;
	memcpy(h.name, name, ENTRY_NAME);
	*ret_n = sizeof(h) + (size_t)h.len;
	file = malloc(*ret_n);
	if (!file || pread(artefact_fd, file + sizeof(h), (size_t)h.len, 0) !=
			     (ssize_t)h.len)
		return NULL;
	memcpy(file, &h, sizeof(h));
	make_mac(d, file, *ret_n, file);
	return TAKE_PTR(file);
}

void entry_write(const struct entry_dir *d, const uint8_t name[ENTRY_NAME],
		 int artefact_fd)
{
	CLEANUP_FREE uint8_t *file = NULL;
	CLEANUP_FD int fd = -1;
	char temp[NAME_ROOM], path[NAME_ROOM], hex[17];
	uint8_t tag[8];
	size_t n = 0;

	file = build(d, name, artefact_fd, &n);
	if (!file || hash_random(tag, sizeof(tag)))
		return;
	snprintf(temp, sizeof(temp), "tmp-%s", hash_hex(tag, sizeof(tag), hex));
	file_name(name, "", path);
	fd = fd_lift(openat(d->fd, temp,
			    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC |
				    O_NOFOLLOW,
			    0600));
	if (fd < 0)
		return;
	if (fd_write_all(fd, file, n) ||
	    renameat(d->fd, temp, d->fd, path))
		unlinkat(d->fd, temp, 0);
}

int entry_lock(const struct entry_dir *d, const uint8_t name[ENTRY_NAME])
{
	char path[NAME_ROOM];
	struct stat st;

	file_name(name, ".lock", path);
	for (;;) {
		CLEANUP_FD int fd = fd_lift(openat(
			d->fd, path,
			O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));

		if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB))
			return -1;
		/* Its last holder removed it: the next one is another file. */
		if (!fstat(fd, &st) && st.st_nlink)
			return TAKE_FD(fd);
	}
}

void entry_unlock(const struct entry_dir *d, const uint8_t name[ENTRY_NAME],
		  int lock_fd)
{
	char path[NAME_ROOM];

	if (lock_fd < 0)
		return;
	file_name(name, ".lock", path);
	unlinkat(d->fd, path, 0);
	close(lock_fd);
}
