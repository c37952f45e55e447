/* What one run is granted, shown in its jail. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "jail/native_state.h"

#define WHERE "jail"
#define ASIDE "/.granted" /* see show_aside */

struct spot { /* where a mount goes */
	int dir_fd;
	bool in_grant;	 /* below a mount that was attached */
	bool in_scratch; /* which is writable */
	char name[NAME_MAX + 1];
};

static void close_spot(struct spot *s)
{
	if (s->dir_fd >= 0)
		close(s->dir_fd);
}

static int mount_id(int fd, uint64_t *ret)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st))
		return -1;
	*ret = st.stx_mnt_id;
	errno = EOPNOTSUPP;
	return st.stx_mask & STATX_MNT_ID ? 0 : -1;
}

/* Notes in s if fd is of a mount that was attached. */
static int see_grant(const struct native *n, int fd, struct spot *s)
{
	uint64_t id;

	if (mount_id(fd, &id))
		return -1;
	for (size_t i = 0; i < n->n_grants; i++) {
		if (n->grants[i] != id)
			continue;
		s->in_grant = true;
		s->in_scratch |= n->writable[i];
	}
	return 0;
}

/* Links are the root's own, or those of show_aside. */
static int open_dir(int dir_fd, const char *name)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
			       .resolve = RESOLVE_NO_MAGICLINKS};

	return (int)syscall(SYS_openat2, dir_fd, name, &how, sizeof how);
}

/* Makes `name` in the directory, on a tmpfs over it if it is not ours. */
static const char *make(struct native *n, struct spot *s, const char *name,
			bool directory)
{
	int own = root_is_own(n, s->dir_fd);

	if (own < 0)
		return "look at a directory";
	if (!own) {
		int fd;
		const char *what = root_lay(n, s->dir_fd, &fd);

		if (what)
			return what;
		close(s->dir_fd);
		s->dir_fd = fd;
	}
	return root_make(n, s->dir_fd, name, directory);
}

static int step(struct native *n, struct spot *s, const char *guest,
		struct redoma_error *err)
{
	int fd = open_dir(s->dir_fd, s->name);

	if (fd < 0 && errno == ENOENT) {
		const char *what = make(n, s, s->name, true);

		if (what && errno == EEXIST)
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "the grant %.150s: %s is a link that "
				       "leads nowhere in this root; choose "
				       "another place", guest, s->name);
		if (what)
			return err_sys(err, WHERE, "%s for the grant %.150s",
				       what, guest);
		fd = open_dir(s->dir_fd, s->name);
	}
	if (fd < 0)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the grant %.150s: %s is no directory of this "
			       "root: %s; choose another place", guest, s->name,
			       strerror(errno));
	close(s->dir_fd);
	s->dir_fd = fd;
	return see_grant(n, fd, s) ? err_sys(err, WHERE,
					     "look at the mount of %.150s",
					     guest)
				   : 0;
}

static int make_last(struct native *n, struct spot *s, const char *guest,
		     bool directory, struct redoma_error *err)
{
	const char *what;
	struct stat st;

	if (!fstatat(s->dir_fd, s->name, &st, AT_SYMLINK_NOFOLLOW)) {
		if (s->in_grant && !S_ISLNK(st.st_mode) &&
		    S_ISDIR(st.st_mode) == directory)
			return 0;
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the grant %.150s would hide what the root has "
			       "there; choose another place", guest);
	}
	if (errno != ENOENT)
		return err_sys(err, WHERE, "look at the grant's place %.150s",
			       guest);
	what = make(n, s, s->name, directory);
	return what ? err_sys(err, WHERE, "%s for the grant %.150s", what,
			      guest)
		    : 0;
}

static int find_spot(struct native *n, const char *guest, bool directory,
		     struct spot *s, struct redoma_error *err)
{
	const char *at = guest;

	if (!root_path_ok(guest))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the grant %.150s: not an absolute path below /",
			       guest);
	s->dir_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->dir_fd < 0)
		return err_sys(err, WHERE, "open the root");
	for (;;) {
		size_t len = strcspn(++at, "/");
		int rc;

		memcpy(s->name, at, len);
		s->name[len] = 0;
		at += len;
		if (!*at)
			return make_last(n, s, guest, directory, err);
		rc = step(n, s, guest, err);
		if (rc)
			return rc;
	}
}

static int show(struct native *n, int mount_fd, const char *guest,
		bool directory, bool writable, struct redoma_error *err);

/* Landlock's right to write in /tmp is one for everything below it.  A granted
 * directory may hold FIFOs, which a read-only mount does not protect: it is
 * shown elsewhere, with a link to it. */
static int show_aside(struct native *n, int mount_fd, const struct spot *s,
		      struct redoma_error *err)
{
	char path[64];

	snprintf(path, sizeof path, ASIDE "/%zu", n->n_grants);
	if (unlinkat(s->dir_fd, s->name, AT_REMOVEDIR) ||
	    symlinkat(path, s->dir_fd, s->name))
		return err_sys(err, WHERE, "make a link to a grant in /tmp");
	return show(n, mount_fd, path, true, false, err);
}

static int check_kind(const struct native *n, int mount_fd, const char *guest,
		      bool directory, struct redoma_error *err)
{
	struct stat st;

	if (n->n_grants == NATIVE_GRANTS_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "more than %d grants", NATIVE_GRANTS_MAX);
	if (fstat(mount_fd, &st))
		return err_sys(err, WHERE, "look at the grant %.150s", guest);
	if (directory ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the grant %.150s is not a %s", guest,
			       directory ? "directory" : "regular file");
	return 0;
}

static int show(struct native *n, int mount_fd, const char *guest,
		bool directory, bool writable, struct redoma_error *err)
{
	CLEANUP(close_spot) struct spot s = {.dir_fd = -1};
	struct stat at;
	uint64_t id;
	int rc = check_kind(n, mount_fd, guest, directory, err);

	if (rc)
		return rc;
	if (mount_id(mount_fd, &id))
		return err_sys(err, WHERE, "look at the mount of %.150s",
			       guest);
	rc = find_spot(n, guest, directory, &s, err);
	if (rc)
		return rc;
	if (s.in_scratch)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the grant %.150s lies in a directory that is "
			       "granted for writing; choose another place",
			       guest);
	if (fstat(s.dir_fd, &at))
		return err_sys(err, WHERE, "look at the place of %.150s",
			       guest);
	if (directory && !writable && at.st_dev == n->tmp)
		return show_aside(n, mount_fd, &s, err);
	if (move_mount(mount_fd, "", s.dir_fd, s.name, MOVE_MOUNT_F_EMPTY_PATH))
		return err_sys(err, WHERE, "attach the grant %.150s", guest);
	n->writable[n->n_grants] = writable;
	n->grants[n->n_grants++] = id;
	return 0;
}

int native_attach(struct native *n, int mount_fd, const char *guest,
		  bool directory, struct redoma_error *err)
{
	return show(n, mount_fd, guest, directory, false, err);
}

/* More room for all scratch places together; a page more for each file. */
static const char *widen(struct native *n, uint64_t bytes, uint64_t files)
{
	CLEANUP_FD int fs = -1;
	uint64_t most = UINT64_MAX / 4 / NATIVE_PAGE;
	char size[24], inodes[24];

	errno = EOVERFLOW;
	if (files > most || bytes > most || n->stage_bytes > most)
		return "make room for scratch places";
	n->stage_bytes += bytes + files * NATIVE_PAGE;
	n->stage_inodes += files + 4;
	snprintf(size, sizeof size, "%llu",
		 (unsigned long long)n->stage_bytes);
	snprintf(inodes, sizeof inodes, "%llu",
		 (unsigned long long)n->stage_inodes);
	fs = fspick(n->stage_fd, "", FSPICK_EMPTY_PATH | FSPICK_CLOEXEC);
	if (fs < 0 || fsconfig(fs, FSCONFIG_SET_STRING, "size", size, 0) ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "nr_inodes", inodes, 0) ||
	    fsconfig(fs, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0))
		return "make room for scratch places";
	return NULL;
}

/* What an early payload may write to has been made by it: D0, D1... and F0,
 * F1...; `early` then is the number of the next, else -1.  REDOMA_E_BUSY: none
 * is left. */
static int find_early(struct native *n, bool directory, int *ret_number,
		      struct redoma_error *err)
{
	struct stat st;

	*ret_number = -1;
	if (fstatat(n->stage_fd, "D0", &st, AT_SYMLINK_NOFOLLOW)) {
		if (errno == ENOENT)
			return 0;
		return err_sys(err, WHERE, "look at the scratch places");
	}
	if (n->n_early[directory] == NATIVE_LATE_PLACES)
		return err_set(err, REDOMA_E_BUSY, WHERE,
			       "more than %d granted %s to write: the program "
			       "was started before; start it afterwards",
			       NATIVE_LATE_PLACES,
			       directory ? "directories" : "files");
	*ret_number = (int)n->n_early[directory]++;
	return 0;
}

static int make_file(int stage_fd, const char *place, int early)
{
	CLEANUP_FD int fd = -1;
	char name[16];

	if (early >= 0) {
		snprintf(name, sizeof name, "F%d", early);
		return renameat(stage_fd, name, stage_fd, place);
	}
	fd = openat(stage_fd, place, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC,
		    0600);
	return fd < 0 ? -1 : 0;
}

/* *ret_dir: the directory that will be collected; *ret_place (owned): what is
 * shown of the stage. */
static const char *make_place(struct native *n, const char *last, int early,
			      int *ret_dir, char **ret_place)
{
	char dir[24];
	bool directory = !last;

	snprintf(dir, sizeof dir, early >= 0 && directory ? "D%zu" : "p%zu",
		 early >= 0 && directory ? (size_t)early : n->n_places);
	if (!(early >= 0 && directory) && mkdirat(n->stage_fd, dir, 0700))
		return "make a scratch directory";
	if (asprintf(ret_place, directory ? "%s" : "%s/%s", dir, last) < 0) {
		*ret_place = NULL;
		return "remember a scratch place";
	}
	if (last && make_file(n->stage_fd, *ret_place, early))
		return "make a scratch file";
	*ret_dir = openat(n->stage_fd, dir,
			  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *ret_dir < 0 ? "open a scratch directory" : NULL;
}

static int show_place(struct native *n, const char *place, const char *guest,
		      bool directory, struct redoma_error *err)
{
	CLEANUP_FD int fd = openat(n->stage_fd, place,
				   O_PATH | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP_FD int tree = -1;

	if (fd >= 0)
		tree = open_tree(fd, "",
				 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
					 AT_EMPTY_PATH);
	if (tree < 0)
		return err_sys(err, WHERE, "copy the mount of a scratch place");
	return show(n, tree, guest, directory, true, err);
}

int native_scratch(struct native *n, const char *guest, bool directory,
		   uint64_t bytes, uint64_t files, int *ret_dir,
		   struct redoma_error *err)
{
	CLEANUP_FD int dir = -1;
	CLEANUP_FREE char *place = NULL;
	const char *what;
	int early, rc;

	if (!root_path_ok(guest) || n->n_places == NATIVE_GRANTS_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "nothing can be granted for writing at %.80s: "
			       "name a place below /, with names of at most "
			       "255 bytes", guest);
	what = widen(n, bytes, directory ? files : 1);
	if (what)
		return err_sys(err, WHERE, "%s", what);
	rc = find_early(n, directory, &early, err);
	if (rc)
		return rc;
	what = make_place(n, directory ? NULL : strrchr(guest, '/') + 1, early,
			  &dir, &place);
	if (what)
		return err_sys(err, WHERE, "%s", what);
	rc = show_place(n, place, guest, directory, err);
	if (rc)
		return rc;
	n->places[n->n_places++] = TAKE_PTR(place);
	*ret_dir = TAKE_FD(dir);
	return 0;
}

char *const *native_places(const struct native *n, size_t *ret_n)
{
	*ret_n = n->n_places;
	return n->places;
}

int native_settle(struct native *n, struct redoma_error *err)
{
	struct jail *j = &n->j;
	int rc = jail_judge(j, JAIL_CAPS, caps_drop(), err);

	if (!rc)
		rc = jail_judge(j, JAIL_NNP, caps_no_new_verify(), err);
	if (!rc && !(j->lacks & 1u << JAIL_SECCOMP))
		rc = jail_judge(j, JAIL_SECCOMP,
				seccomp_install(JAIL_FILTER_INIT), err);
	return rc;
}
