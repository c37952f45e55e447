/* What the payload may do with files, beside what the mounts say.
 *
 * Rights are those of places, found by their inodes: reading everywhere below
 * the root, for all that is in it was granted; starting programs only where an
 * entry of the root says so; writing in /tmp, in the scratch places and to the
 * harmless devices.  So a FIFO or socket in a granted directory, which a
 * read-only mount does not protect, cannot be written.  No socket, FIFO or
 * device is made, no device gets an ioctl, and no connection leaves. */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "jail/native_state.h"

#define READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE (LANDLOCK_ACCESS_FS_WRITE_FILE | KERNEL_LANDLOCK_TRUNCATE)
#define CHANGE                                                               \
	(WRITE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                             \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |      \
	 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SYM |         \
	 LANDLOCK_ACCESS_FS_REFER)
#define EXEC LANDLOCK_ACCESS_FS_EXECUTE

struct rules {
	const struct native *n;
	int fd;
};

static int allow_fd(const struct rules *r, int fd, uint64_t access)
{
	struct landlock_path_beneath_attr a = {
		.allowed_access = access & r->n->handled.fs,
		.parent_fd = fd,
	};

	return (int)syscall(SYS_landlock_add_rule, r->fd,
			    LANDLOCK_RULE_PATH_BENEATH, &a, 0);
}

static int allow(const struct rules *r, int dir_fd, const char *path,
		 uint64_t access)
{
	CLEANUP_FD int fd = openat(dir_fd, path, O_PATH | O_CLOEXEC);

	return fd < 0 ? -1 : allow_fd(r, fd, access);
}

static const char *allow_root(const struct rules *r)
{
	static const char *const devices[] = {"/dev/null", "/dev/zero",
					      "/dev/full", "/dev/urandom"};

	if (allow(r, AT_FDCWD, "/", READ) || allow(r, AT_FDCWD, "/tmp", CHANGE))
		return "allow to read the root and to write in /tmp";
	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
		if (allow(r, AT_FDCWD, devices[i], WRITE))
			return "allow to write to /dev/null";
	for (size_t i = 0; i < r->n->n_exec; i++)
		if (allow(r, AT_FDCWD, r->n->exec[i], EXEC))
			return "allow to start the programs of the root";
	return NULL;
}

static const char *allow_places(const struct rules *r, char *const *places,
				size_t n)
{
	for (size_t i = 0; i < n; i++) {
		CLEANUP_FD int fd = openat(r->n->stage_fd, places[i],
					   O_PATH | O_NOFOLLOW | O_CLOEXEC);
		struct stat st;

		if (fd < 0 || fstat(fd, &st) ||
		    allow_fd(r, fd, S_ISDIR(st.st_mode) ? CHANGE : WRITE))
			return "allow to write in scratch places";
	}
	return NULL;
}

/* The places that native_scratch will give away later. */
static const char *allow_late(const struct rules *r)
{
	int stage = r->n->stage_fd;
	char name[16];

	for (int i = 0; i < NATIVE_LATE_PLACES; i++) {
		CLEANUP_FD int fd = -1;

		snprintf(name, sizeof name, "D%d", i);
		if (mkdirat(stage, name, 0700) || allow(r, stage, name, CHANGE))
			return "make scratch directories for later";
		snprintf(name, sizeof name, "F%d", i);
		fd = openat(stage, name,
			    O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
		if (fd < 0 || allow_fd(r, fd, WRITE))
			return "make scratch files for later";
	}
	return NULL;
}

const char *rules_make(const struct native *n, const struct native_payload *p,
		       int *ret_fd)
{
	CLEANUP_FD int fd = (int)syscall(SYS_landlock_create_ruleset,
					 &n->handled, sizeof n->handled, 0);
	struct rules r = {n, fd};
	const char *what;

	if (fd < 0)
		return "make the Landlock ruleset";
	what = allow_root(&r);
	if (!what)
		what = p->places ? allow_places(&r, p->places, p->n_places)
				 : allow_places(&r, n->places, n->n_places);
	if (!what && p->early)
		what = allow_late(&r);
	if (!what)
		*ret_fd = TAKE_FD(fd);
	return what;
}
