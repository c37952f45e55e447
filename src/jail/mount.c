#include "jail/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "base/cleanup.h"

#define ROOT_FLAGS (ST_RDONLY | ST_NOSUID | ST_NODEV | ST_NOEXEC)
#define ROOT_ATTRS                                                           \
	(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |          \
	 MOUNT_ATTR_NOEXEC)

const char *mount_copy_proc(int *ret_fd)
{
	struct statfs s;
	CLEANUP_FD int fd = open_tree(AT_FDCWD, "/proc",
				      OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
					      AT_RECURSIVE);

	if (fd < 0)
		return "copy the mount of /proc";
	if (fstatfs(fd, &s))
		return "verify the copy of /proc";
	if (s.f_type != PROC_SUPER_MAGIC) {
		errno = ENODEV;
		return "verify that /proc is procfs";
	}
	*ret_fd = TAKE_FD(fd);
	return NULL;
}

const char *mount_tmpfs(const struct mount_tmpfs *o, int *ret_fd)
{
	CLEANUP_FD int fs = fsopen("tmpfs", FSOPEN_CLOEXEC);
	char bytes[24], inodes[24];
	int fd;

	snprintf(bytes, sizeof bytes, "%" PRIu64, o->bytes);
	snprintf(inodes, sizeof inodes, "%" PRIu64, o->inodes);
	if (fs < 0)
		return "open a tmpfs";
	if (fsconfig(fs, FSCONFIG_SET_STRING, "size", bytes, 0) ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "nr_inodes", inodes, 0) ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "mode", o->mode, 0) ||
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return "configure a tmpfs";
	fd = fsmount(fs, FSMOUNT_CLOEXEC, o->attrs);
	if (fd < 0)
		return "mount a tmpfs";
	*ret_fd = fd;
	return NULL;
}

static const char *verify(int root)
{
	struct stat want, is, up;
	struct statfs fs;
	char cwd[8];

	if (fstat(root, &want) || stat("/", &is) || stat("..", &up) ||
	    statfs("/", &fs) || !getcwd(cwd, sizeof cwd))
		return "verify the new root";
	if (is.st_dev != want.st_dev || is.st_ino != want.st_ino ||
	    up.st_dev != want.st_dev || up.st_ino != want.st_ino ||
	    fs.f_type != TMPFS_MAGIC || strcmp(cwd, "/") != 0 ||
	    (fs.f_flags & ROOT_FLAGS) != ROOT_FLAGS) {
		errno = EXDEV;
		return "verify the new root";
	}
	return NULL;
}

const char *mount_private(void)
{
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)
		       ? "make all mounts private"
		       : NULL;
}

const char *mount_pivot(int root_fd)
{
	if (fchdir(root_fd))
		return "change into the new root";
	if (syscall(SYS_pivot_root, ".", "."))
		return "pivot_root to the new root";
	if (umount2(".", MNT_DETACH))
		return "detach the old root";
	if (chdir("/"))
		return "change to / of the new root";
	return verify(root_fd);
}

const char *mount_empty_root(void)
{
	/* It holds its root directory and has room for nothing. */
	static const struct mount_tmpfs empty = {
		.bytes = 4096,
		.inodes = 2,
		.mode = "0555",
		.attrs = ROOT_ATTRS,
	};
	CLEANUP_FD int root = -1;
	const char *what = mount_private();

	if (!what)
		what = mount_tmpfs(&empty, &root);
	if (what)
		return what;
	/* On top of the old root: no path of the host is looked up. */
	if (move_mount(root, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH))
		return "attach the empty root";
	return mount_pivot(root);
}
