#include "broker/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"

#define WHERE "policy"

const char *resolve_kind(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "a regular file";
	case S_IFDIR:
		return "a directory";
	case S_IFLNK:
		return "a symbolic link";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	case S_IFCHR:
	case S_IFBLK:
		return "a device";
	default:
		return "no file";
	}
}

bool resolve_is_proc(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

static int open_path(const struct resolve *r, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_NO_MAGICLINKS |
			   (r->follow ? 0 : RESOLVE_NO_SYMLINKS),
	};
	long fd;

	do
		fd = syscall(SYS_openat2, r->base, path, &how, sizeof how);
	while (fd < 0 && errno == EINTR);
	return fd_lift((int)fd);
}

int resolve_base(const char *base_dir, int *ret_fd, struct redoma_error *err)
{
	const char *dir = base_dir && *base_dir ? base_dir : ".";
	int fd = fd_lift(open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC));

	if (fd < 0)
		return err_sys(err, WHERE, "open %s, where relative names "
			       "start from", SHOW(str_of(dir)));
	*ret_fd = fd;
	return 0;
}

/* Finds the first component of path that is a link, and its target. */
static bool find_link(const struct resolve *r, const char *path,
		      char link[RESOLVE_PATH_MAX],
		      char target[RESOLVE_PATH_MAX])
{
	size_t len = strlen(path), i;

	for (i = 1; i <= len; i++) {
		ssize_t n;

		if (i < len && path[i] != '/')
			continue;
		memcpy(link, path, i);
		link[i] = '\0';
		n = readlinkat(r->base, link, target, RESOLVE_PATH_MAX - 1);
		if (n >= 0) {
			target[n] = '\0';
			return true;
		}
	}
	return false;
}

static int fail_link(const struct resolve *r, const char *path,
		     struct redoma_error *err)
{
	char link[RESOLVE_PATH_MAX], target[RESOLVE_PATH_MAX];

	if (r->follow || !find_link(r, path, link, target))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s %s: goes round in links or through a magic "
			       "link; name the real path",
			       r->label, SHOW(str_of(r->host)));
	/* The link begins the host name: both would cut off the advice. */
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "%s %s is a symbolic link to %s; name the real path%s",
		       r->label, SHOW(str_of(link)), SHOW(str_of(target)),
		       r->may_follow ? " or write `follow: true` in a policy"
				     : "");
}

/* errno of a failed open becomes a sentence. */
static int fail(const struct resolve *r, const char *path,
		struct redoma_error *err)
{
	const char *host = SHOW(str_of(r->host));

	switch (errno) {
	case ELOOP:
		return fail_link(r, path, err);
	case ENOSYS:
	case EPERM:
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "%s %s: this kernel does not let us use "
			       "openat2(2), without which no file can be "
			       "granted safely",
			       r->label, host);
	case ENOENT:
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s %s: no such file or directory; check the "
			       "name%s",
			       r->label, host,
			       r->in_file ? ", relative ones start from the "
					    "policy's directory" : "");
	case EACCES:
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s %s: you may not open it (permission "
			       "denied)",
			       r->label, host);
	case ENOTDIR:
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s %s: a part of the path is not a directory",
			       r->label, host);
	default:
		return err_sys(err, WHERE, "%s %s", r->label, host);
	}
}

static int check_length(const struct resolve *r, struct redoma_error *err)
{
	if (*r->host && strlen(r->host) < RESOLVE_PATH_MAX)
		return 0;
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "%s %s: a host name has 1 to %u bytes", r->label,
		       SHOW(str_of(r->host)), RESOLVE_PATH_MAX - 1);
}

static int fail_kind(const struct resolve *r, mode_t mode,
		     struct redoma_error *err)
{
	const char *host = SHOW(str_of(r->host));

	if (S_ISDIR(mode))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s %s: is a directory; to grant a directory "
			       "end its name with a slash",
			       r->label, host);
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "%s %s: is %s; only regular files can be granted: copy "
		       "its bytes to a file first",
		       r->label, host, resolve_kind(mode));
}

/* Looked at before it is opened, since opening a device can do things; looked
 * at again after, since names can change meanwhile. */
int resolve_file(const struct resolve *r, int *ret_fd, struct stat *ret_st,
		 struct redoma_error *err)
{
	CLEANUP_FD int seen = -1;
	CLEANUP_FD int fd = -1;
	struct stat st;
	int e = check_length(r, err);

	if (e)
		return e;
	seen = open_path(r, r->host, O_PATH);
	if (seen < 0)
		return fail(r, r->host, err);
	if (fstat(seen, &st))
		return err_sys(err, WHERE, "fstat %s", SHOW(str_of(r->host)));
	if (!S_ISREG(st.st_mode))
		return fail_kind(r, st.st_mode, err);
	fd = open_path(r, r->host, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fail(r, r->host, err);
	if (fstat(fd, &st))
		return err_sys(err, WHERE, "fstat %s", SHOW(str_of(r->host)));
	if (!S_ISREG(st.st_mode))
		return fail_kind(r, st.st_mode, err);
	*ret_st = st;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int resolve_dir(const struct resolve *r, int *ret_fd, struct redoma_error *err)
{
	CLEANUP_FD int fd = -1;
	int e = check_length(r, err);

	if (e)
		return e;
	fd = open_path(r, r->host, O_PATH | O_DIRECTORY);
	if (fd < 0 && errno == ENOTDIR)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s %s: is not a directory; to grant a file "
			       "leave out the slash at the end",
			       r->label, SHOW(str_of(r->host)));
	if (fd < 0)
		return fail(r, r->host, err);
	if (resolve_is_proc(fd))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s %s: directories of /proc show this program "
			       "itself and are never granted; name single "
			       "files",
			       r->label, SHOW(str_of(r->host)));
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int resolve_parent(const struct resolve *r, int *ret_fd, char name[256],
		   struct redoma_error *err)
{
	struct str host = str_of(r->host), dir, last;
	char path[RESOLVE_PATH_MAX];
	int fd, e = check_length(r, err);

	if (e)
		return e;
	if (!str_split_last(host, '/', &dir, &last)) {
		dir = STR(".");
		last = host;
	} else if (!dir.len) {
		dir = STR("/");
	}
	if (!last.len || last.len > 255 || str_equal(last, STR(".")) ||
	    str_equal(last, STR("..")))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s %s: does not end in the name of a file",
			       r->label, SHOW(host));
	snprintf(path, sizeof path, "%.*s", (int)dir.len, dir.p);
	fd = open_path(r, path, O_PATH | O_DIRECTORY);
	if (fd < 0 && errno == ENOENT)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s %s: its directory does not exist; make it "
			       "first",
			       r->label, SHOW(host));
	if (fd < 0)
		return fail(r, path, err);
	memcpy(name, last.p, last.len);
	name[last.len] = '\0';
	*ret_fd = fd;
	return 0;
}
