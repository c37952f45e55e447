/* The root of one jail: a small tmpfs of its own over the template, so that
 * mount points of grants can be made in it, which no other jail sees. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "jail/native_state.h"

#define LAY_MAX 1024 /* entries of a directory that is laid over */
#define LAY_BYTES 65536
#define LAY_INODES 4096
#define DIRENT_BYTES 8192
#define TREE_FLAGS (OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH)

static const char *take_note(struct native *n, int fd)
{
	struct stat st;

	if (n->n_own == NATIVE_OWN_MAX) {
		errno = E2BIG;
		return "make one more file system for this jail";
	}
	if (fstat(fd, &st))
		return "look at a file system of this jail";
	n->own[n->n_own++] = st.st_dev;
	return NULL;
}

int root_is_own(const struct native *n, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -1;
	for (size_t i = 0; i < n->n_own; i++)
		if (n->own[i] == st.st_dev)
			return 1;
	return 0;
}

static int make_plain(int dir_fd, const char *name, bool directory)
{
	CLEANUP_FD int fd = -1;

	if (directory)
		return mkdirat(dir_fd, name, 0755);
	fd = openat(dir_fd, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC,
		    0444);
	return fd < 0 ? -1 : 0;
}

/* By a second, writable mount of it that nobody else sees. */
const char *root_make(const struct native *n, int dir_fd, const char *name,
		      bool directory)
{
	struct mount_attr a = {.attr_clr = MOUNT_ATTR_RDONLY};
	CLEANUP_FD int fd = -1;

	errno = EROFS;
	if (root_is_own(n, dir_fd) != 1)
		return "make a mount point";
	fd = open_tree(dir_fd, "", TREE_FLAGS);
	if (fd < 0 || mount_setattr(fd, "", AT_EMPTY_PATH, &a, sizeof a) ||
	    make_plain(fd, name, directory))
		return "make a mount point";
	return NULL;
}

static int copy_link(int from_fd, const char *name, int to_fd)
{
	char text[PATH_MAX];
	ssize_t len = readlinkat(from_fd, name, text, sizeof text - 1);

	if (len < 0)
		return -1;
	text[len] = 0;
	return symlinkat(text, to_fd, name);
}

static int copy_mount(int from_fd, const char *name, int to_fd)
{
	CLEANUP_FD int fd = openat(from_fd, name, O_PATH | O_NOFOLLOW |
							  O_CLOEXEC);
	CLEANUP_FD int tree = -1;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) ||
	    make_plain(to_fd, name, S_ISDIR(st.st_mode)))
		return -1;
	tree = open_tree(fd, "", TREE_FLAGS | AT_RECURSIVE);
	return tree < 0 ? -1
			: move_mount(tree, "", to_fd, name,
				     MOVE_MOUNT_F_EMPTY_PATH);
}

static bool is_dot(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Of the template, /proc is the host's and /tmp is nothing. */
static bool is_fresh(const char *name)
{
	return !strcmp(name, "proc") || !strcmp(name, "tmp");
}

static int copy_one(int from_fd, const struct dirent64 *e, int to_fd, bool top)
{
	struct stat st;

	if (is_dot(e->d_name))
		return 0;
	if (top && is_fresh(e->d_name))
		return mkdirat(to_fd, e->d_name, 0755);
	if (fstatat(from_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
		return -1;
	return S_ISLNK(st.st_mode) ? copy_link(from_fd, e->d_name, to_fd)
				   : copy_mount(from_fd, e->d_name, to_fd);
}

static const char *copy_all(int under_fd, int to_fd, bool top)
{
	_Alignas(struct dirent64) char room[DIRENT_BYTES];
	CLEANUP_FD int dir =
		openat(under_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int count = 0;
	ssize_t n;

	if (dir < 0)
		return "list a directory of the root";
	while ((n = getdents64(dir, room, sizeof room)) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *e = (const void *)(room + at);

			at += e->d_reclen;
			errno = E2BIG;
			if (++count > LAY_MAX ||
			    copy_one(under_fd, e, to_fd, top))
				return "show again what a directory holds";
		}
	return n < 0 ? "list a directory of the root" : NULL;
}

static const char *lay(struct native *n, int under_fd, bool top, int *ret_fd)
{
	static const struct mount_tmpfs small = {.bytes = LAY_BYTES,
						 .inodes = LAY_INODES,
						 .mode = "0755",
						 .attrs = NATIVE_LOCKED_ATTRS};
	struct mount_attr a = {.attr_set = MOUNT_ATTR_RDONLY};
	CLEANUP_FD int fd = -1;
	const char *what = mount_tmpfs(&small, &fd);

	if (!what)
		what = take_note(n, fd);
	if (what)
		return what;
	if (move_mount(fd, "", under_fd, "",
		       MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH))
		return "lay a tmpfs over a directory";
	what = copy_all(under_fd, fd, top);
	if (what)
		return what;
	if (mount_setattr(fd, "", AT_EMPTY_PATH, &a, sizeof a))
		return "make a laid directory read-only";
	*ret_fd = TAKE_FD(fd);
	return NULL;
}

const char *root_lay(struct native *n, int under_fd, int *ret_fd)
{
	return lay(n, under_fd, false, ret_fd);
}

/* Under /tmp, where nothing but our descriptor leads to it. */
static const char *add_stage(struct native *n, int root_fd)
{
	const struct mount_tmpfs t = {.bytes = NATIVE_PAGE,
				      .inodes = 4 * NATIVE_LATE_PLACES + 2,
				      .mode = "0700",
				      .attrs = NATIVE_LOCKED_ATTRS};
	CLEANUP_FD int fd = -1;
	const char *what = mount_tmpfs(&t, &fd);

	if (what)
		return what;
	n->stage_bytes = t.bytes;
	n->stage_inodes = t.inodes;
	if (move_mount(fd, "", root_fd, "tmp", MOVE_MOUNT_F_EMPTY_PATH))
		return "attach the tmpfs of scratch places";
	n->stage_fd = TAKE_FD(fd);
	return NULL;
}

static const char *add_tmp(struct native *n, int root_fd)
{
	const struct mount_tmpfs t = {
		.bytes = n->tmp_bytes > NATIVE_PAGE ? n->tmp_bytes
						    : NATIVE_PAGE,
		.inodes = n->tmp_bytes / NATIVE_PAGE + 64,
		.mode = "0700",
		.attrs = NATIVE_LOCKED_ATTRS};
	CLEANUP_FD int fd = -1;
	const char *what = mount_tmpfs(&t, &fd);

	if (!what)
		what = take_note(n, fd);
	n->tmp = n->own[n->n_own - 1];
	if (!what && move_mount(fd, "", root_fd, "tmp",
				MOVE_MOUNT_F_EMPTY_PATH))
		return "attach /tmp";
	return what;
}

/* May be refused, where the host's own is masked: then there is none. */
static int add_proc(int root_fd)
{
	CLEANUP_FD int fs = fsopen("proc", FSOPEN_CLOEXEC);
	CLEANUP_FD int fd = -1;

	if (fs < 0 ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "hidepid", "ptraceable", 0) ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "subset", "pid", 0) ||
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return errno;
	fd = fsmount(fs, FSMOUNT_CLOEXEC,
		     MOUNT_ATTR_RDONLY | NATIVE_LOCKED_ATTRS);
	if (fd < 0 || move_mount(fd, "", root_fd, "proc",
				 MOVE_MOUNT_F_EMPTY_PATH))
		return errno;
	return 0;
}

const char *root_own(struct native *n)
{
	CLEANUP_FD int old = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_FD int fd = -1;
	const char *what;

	if (old < 0)
		return "open the root of native programs";
	what = lay(n, old, true, &fd);
	if (!what)
		what = add_stage(n, fd);
	if (!what)
		what = add_tmp(n, fd);
	if (what)
		return what;
	n->proc_sys = add_proc(fd);
	return mount_pivot(fd);
}
