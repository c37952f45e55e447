/* The template: what all jails of a spawner see of the host. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "jail/native_state.h"

#define WHERE "jail"
#define ROOT_BYTES (1u << 20)
#define DOTS_TRIES 1000

struct device {
	const char *name, *host;
	unsigned minor;
};

static const struct device devices[] = {
	{"null", "/dev/null", 3},	{"zero", "/dev/zero", 5},
	{"full", "/dev/full", 7},	{"random", "/dev/urandom", 9},
	{"urandom", "/dev/urandom", 9},
};

static const struct {
	const char *name, *text;
} links[] = {
	{"fd", "/proc/self/fd"},
	{"stdin", "/proc/self/fd/0"},
	{"stdout", "/proc/self/fd/1"},
	{"stderr", "/proc/self/fd/2"},
};

/* Ours, whatever an entry says. */
static const char *const reserved[] = {"/dev", "/proc", "/tmp"};

bool root_path_ok(const char *guest)
{
	size_t len = strlen(guest);

	if (guest[0] != '/' || !guest[1] || len >= PATH_MAX)
		return false;
	for (const char *p = guest; *p;) {
		size_t n = strcspn(++p, "/");

		if (!n || n > NAME_MAX || (n == 1 && p[0] == '.') ||
		    (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		p += n;
	}
	return true;
}

/* 0: no; 1: at one of ours; 2: below. */
static int is_reserved(const char *guest)
{
	for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
		size_t n = strlen(reserved[i]);

		if (!strncmp(guest, reserved[i], n) && !guest[n])
			return 1;
		if (!strncmp(guest, reserved[i], n) && guest[n] == '/')
			return 2;
	}
	return 0;
}

/* Links are followed inside the new root only.  A mount or rename elsewhere
 * makes the kernel give up on ".." with EAGAIN. */
static int open_inside(int root_fd, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	int fd, tries = 0;

	do {
		fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof how);
	} while (fd < 0 && errno == EAGAIN && tries++ < DOTS_TRIES);
	return fd;
}

/* The directory of `guest`, made if it is missing. */
static int open_parent(int root_fd, const char *guest, int *ret_fd)
{
	CLEANUP_FD int dir = open_inside(root_fd, ".");
	char path[PATH_MAX];

	for (const char *at = guest + 1; dir >= 0; at++) {
		size_t n = strcspn(at, "/");
		int next;

		if (!at[n]) {
			*ret_fd = TAKE_FD(dir);
			return 0;
		}
		memcpy(path, guest + 1, (size_t)(at + n - guest - 1));
		path[at + n - guest - 1] = 0;
		next = open_inside(root_fd, path);
		if (next < 0 && errno == ENOENT &&
		    !mkdirat(dir, strrchr(path, '/') ? strrchr(path, '/') + 1
						     : path,
			     0755))
			next = open_inside(root_fd, path);
		close(dir);
		dir = next;
		at += n;
	}
	return -1;
}

static int make_point(int dir, const char *name, bool directory)
{
	struct stat st;
	int fd;

	if (directory && !mkdirat(dir, name, 0755))
		return 0;
	if (!directory) {
		fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC,
			    0444);
		if (fd >= 0)
			return close(fd);
	}
	if (errno != EEXIST || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return -1;
	errno = EEXIST;
	return (directory ? S_ISDIR(st.st_mode) : !S_ISDIR(st.st_mode) &&
							  !S_ISLNK(st.st_mode))
		       ? 0
		       : -1;
}

/* Shows what fd is of as `name` in dir. */
static int bind_at(int fd, int dir, const char *name, unsigned attrs)
{
	struct mount_attr a = {
		.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | attrs,
		.propagation = MS_PRIVATE,
	};
	CLEANUP_FD int tree =
		open_tree(fd, "",
			  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE |
				  AT_EMPTY_PATH);

	if (tree < 0 ||
	    mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &a, sizeof a))
		return -1;
	return move_mount(tree, "", dir, name, MOVE_MOUNT_F_EMPTY_PATH);
}

static int refuse(const char *verb, const char *what, struct redoma_error *err)
{
	char words[160];

	snprintf(words, sizeof words, "%s %.100s", verb, what);
	return jail_refuse(JAIL_MOUNT, words, err);
}

/* Who listed the entries has looked at every name: a link that stands there now
 * was put there since, and would lead anywhere. */
static int open_listed(const char *host)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS,
	};

	return (int)syscall(SYS_openat2, AT_FDCWD, host, &how, sizeof how);
}

static int add_bind(const struct native_entry *e, int dir, const char *name,
		    struct redoma_error *err)
{
	bool want_dir = e->kind == NATIVE_DIR;
	unsigned attrs = MOUNT_ATTR_NODEV;
	CLEANUP_FD int fd = open_listed(e->host);
	struct stat st;

	if (fd < 0 && errno == ELOOP)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%.150s leads through a symbolic link that was "
			       "not there when the root of native programs was "
			       "listed; name a root that nobody changes",
			       e->host);
	if (fd < 0 || fstat(fd, &st))
		return err_sys(err, WHERE, "open %.150s for the root of native "
			       "programs", e->host);
	if (want_dir ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%.150s is not a %s: it cannot be in the root "
			       "of native programs", e->host,
			       want_dir ? "directory" : "regular file");
	if (!e->exec)
		attrs |= MOUNT_ATTR_NOEXEC;
	if (make_point(dir, name, want_dir) || bind_at(fd, dir, name, attrs))
		return refuse("show in the root of native programs:", e->guest,
			      err);
	return 0;
}

static int write_text(int dir, const char *name, const char *text)
{
	CLEANUP_FD int fd =
		openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC,
		       0444);
	size_t n = strlen(text);

	return fd >= 0 && write(fd, text, n) == (ssize_t)n ? 0 : -1;
}

static int add(int root_fd, const struct native_entry *e,
	       struct redoma_error *err)
{
	const char *name = strrchr(e->guest, '/') + 1;
	CLEANUP_FD int dir = -1;
	bool bad;

	if (open_parent(root_fd, e->guest, &dir))
		return refuse("make the directory in the root of", e->guest,
			      err);
	switch ((enum native_kind)e->kind) {
	case NATIVE_FILE:
	case NATIVE_DIR:
		return add_bind(e, dir, name, err);
	case NATIVE_LINK:
		bad = symlinkat(e->host, dir, name);
		break;
	case NATIVE_TEXT:
		bad = write_text(dir, name, e->host);
		break;
	case NATIVE_EMPTY:
		bad = make_point(dir, name, true);
		break;
	default:
		errno = EINVAL;
		bad = true;
	}
	return bad ? refuse("make in the root of native programs:", e->guest,
			    err)
		   : 0;
}

static int add_entries(const struct native_options *o, int root_fd,
		       struct redoma_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < o->n_entries && !rc; i++) {
		const struct native_entry *e = &o->entries[i];
		int ours;

		if (!root_path_ok(e->guest))
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "%.150s: no path of the root of native "
				       "programs; it has to be absolute, "
				       "without . and ..", e->guest);
		ours = is_reserved(e->guest);
		if (ours == 1 && e->kind == NATIVE_EMPTY)
			continue;
		if (ours)
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "%.150s: /dev, /proc and /tmp of native "
				       "programs are made for each run",
				       e->guest);
		rc = add(root_fd, e, err);
	}
	return rc;
}

static const char *add_devices(int root_fd)
{
	CLEANUP_FD int dir = -1;

	if (mkdirat(root_fd, "dev", 0755))
		return "make /dev";
	dir = open_inside(root_fd, "dev");
	if (dir < 0)
		return "open /dev of the new root";
	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
		const struct device *d = &devices[i];
		CLEANUP_FD int fd = open(d->host, O_PATH | O_CLOEXEC);
		struct stat st;

		if (fd < 0 || fstat(fd, &st))
			return "open the host's null, zero, full and urandom";
		if (!S_ISCHR(st.st_mode) ||
		    st.st_rdev != makedev(1, d->minor)) {
			errno = ENODEV;
			return "verify the host's null, zero, full and urandom";
		}
		if (make_point(dir, d->name, false) ||
		    bind_at(fd, dir, d->name, MOUNT_ATTR_NOEXEC))
			return "show null, zero, full and urandom";
	}
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		if (symlinkat(links[i].text, dir, links[i].name))
			return "make the links of /dev";
	return NULL;
}

/* A new mount of proc is allowed only to who sees all of one already. */
static const char *add_proc(int root_fd, int proc_fd)
{
	if (mkdirat(root_fd, "proc", 0755) || mkdirat(root_fd, "tmp", 0755))
		return "make /proc and /tmp";
	return move_mount(proc_fd, "", root_fd, "proc",
			  MOVE_MOUNT_F_EMPTY_PATH)
		       ? "move the copy of /proc into the root"
		       : NULL;
}

static const char *attach(const struct native_options *o, int *ret_fd)
{
	struct mount_tmpfs t = {
		.bytes = ROOT_BYTES,
		.inodes = 1024,
		.mode = "0755",
		.attrs = NATIVE_LOCKED_ATTRS,
	};
	CLEANUP_FD int fd = -1;
	const char *what;

	for (size_t i = 0; i < o->n_entries; i++) {
		t.inodes += strlen(o->entries[i].guest) / 2;
		t.bytes += strlen(o->entries[i].host) + NATIVE_PAGE;
	}
	what = mount_private();
	if (!what)
		what = mount_tmpfs(&t, &fd);
	if (what)
		return what;
	/* Over the old root, of which paths are still looked up. */
	if (move_mount(fd, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH))
		return "attach the root of native programs";
	*ret_fd = TAKE_FD(fd);
	return NULL;
}

static const char *finish(int root_fd)
{
	struct mount_attr a = {.attr_set = MOUNT_ATTR_RDONLY};

	if (mount_setattr(root_fd, "", AT_EMPTY_PATH, &a, sizeof a))
		return "make the root of native programs read-only";
	return mount_pivot(root_fd);
}

int root_build(const struct native_options *o, int proc_fd,
	       struct redoma_error *err)
{
	mode_t mask = umask(022);
	CLEANUP_FD int fd = -1;
	const char *what = attach(o, &fd);
	int rc = 0;

	if (!what)
		what = add_devices(fd);
	if (!what)
		what = add_proc(fd, proc_fd);
	if (!what)
		rc = add_entries(o, fd, err);
	if (!what && !rc)
		what = finish(fd);
	umask(mask);
	return what ? jail_refuse(JAIL_MOUNT, what, err) : rc;
}
