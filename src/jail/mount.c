#include "jail/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
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

/* A file system that holds its root directory and has room for nothing. */
static const char *make_root(int *ret_fd)
{
	CLEANUP_FD int fs = fsopen("tmpfs", FSOPEN_CLOEXEC);
	int fd;

	if (fs < 0)
		return "open a tmpfs for the empty root";
	if (fsconfig(fs, FSCONFIG_SET_STRING, "size", "4k", 0) ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "nr_inodes", "2", 0) ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "mode", "0555", 0) ||
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return "configure the empty root";
	fd = fsmount(fs, FSMOUNT_CLOEXEC, ROOT_ATTRS);
	if (fd < 0)
		return "mount the empty root";
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
		return "verify the empty root";
	if (is.st_dev != want.st_dev || is.st_ino != want.st_ino ||
	    up.st_dev != want.st_dev || up.st_ino != want.st_ino ||
	    fs.f_type != TMPFS_MAGIC || strcmp(cwd, "/") != 0 ||
	    (fs.f_flags & ROOT_FLAGS) != ROOT_FLAGS) {
		errno = EXDEV;
		return "verify the empty root";
	}
	return NULL;
}

const char *mount_empty_root(void)
{
	CLEANUP_FD int root = -1;
	const char *what;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return "make all mounts private";
	what = make_root(&root);
	if (what)
		return what;
	/* On top of the old root: no path of the host is looked up. */
	if (move_mount(root, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH))
		return "attach the empty root";
	if (fchdir(root))
		return "change into the empty root";
	if (syscall(SYS_pivot_root, ".", "."))
		return "pivot_root to the empty root";
	if (umount2(".", MNT_DETACH))
		return "detach the host's root";
	if (chdir("/"))
		return "change to / of the empty root";
	return verify(root);
}
