#include "native/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"

#define WHERE "native"
/* Directories and what else is not published, in a write directory. */
#define MORE_INODES 64u
#define COPIES_MAX ((uint64_t)1 << 30) /* bytes of one file copied in */

void scratch_init(struct scratch *s)
{
	s->n = PLAN_GRANTS_MAX;
	memset(s->dirs, -1, sizeof s->dirs);
}

void scratch_done(struct scratch *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->dirs[i] >= 0)
			close(TAKE_FD(s->dirs[i]));
}

const char *attach_name(const char *guest)
{
	const char *slash = strrchr(guest, '/');

	return slash ? slash + 1 : guest;
}

/* Nobody in the jail may write to it, whoever owns it. */
static int make_read_only(const char *guest)
{
	struct mount_attr a = {.attr_set = MOUNT_ATTR_RDONLY};

	return (int)syscall(SYS_mount_setattr, AT_FDCWD, guest, 0, &a,
			    sizeof a);
}

/* A file that no mount can show: its bytes, in a file of the jail. */
static int copy_in(struct native *n, const struct plan_grant *g,
		   struct redoma_error *err)
{
	CLEANUP_FD int dir = -1;
	CLEANUP_FD int to = -1;
	struct stat st;
	int r;

	if (fstat(g->fd, &st))
		return err_sys(err, WHERE, "measure %s",
			       SHOW(str_of(g->guest)));
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > COPIES_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s cannot be copied into a jail: over 1GiB or "
			       "not a file",
			       SHOW(str_of(g->guest)));
	r = native_scratch(n, g->guest, false, (uint64_t)st.st_size, 1, &dir,
			   err);
	if (r)
		return r;
	to = openat(dir, attach_name(g->guest),
		    O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (to < 0 || fd_copy(g->fd, to, (uint64_t)st.st_size) ||
	    fchmod(to, 0444) || make_read_only(g->guest))
		return err_sys(err, WHERE, "copy %s into the jail",
			       SHOW(str_of(g->guest)));
	return 0;
}

static int attach_read(struct native *n, struct plan_grant *g,
		       struct redoma_error *err)
{
	CLEANUP_FD int fd = -1;
	int r;

	if (g->fd < 0)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "the core sent nothing to show at %s",
			       SHOW(str_of(g->guest)));
	if (g->via_core && g->kind == GRANT_READ_FILE)
		r = copy_in(n, g, err);
	else if (g->first || g->last != UINT64_MAX ||
		 g->opens != UINT64_MAX || g->max_bytes != UINT64_MAX)
		r = err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			    "%s: a native program reads a file or directory "
			    "as it is: take `bytes`, `opens` and `max_bytes` "
			    "out of its grant",
			    SHOW(str_of(g->guest)));
	else
		r = native_attach(n, g->fd, g->guest,
				  g->kind == GRANT_READ_DIR, err);
	fd = TAKE_FD(g->fd);
	return r;
}

/* A file that was not touched is not published: whoever writes to it changes
 * this time. */
static int mark_untouched(int dir, const char *name)
{
	struct timespec t[2] = {{0, 0}, {0, 0}};

	return utimensat(dir, name, t, AT_SYMLINK_NOFOLLOW);
}

static int attach_write(struct native *n, const struct plan_grant *g,
			int *ret_dir, struct redoma_error *err)
{
	bool directory = g->kind == GRANT_WRITE_DIR;
	uint64_t files = g->max_files < UINT32_MAX
				 ? g->max_files * 2 + MORE_INODES
				 : g->max_files;
	CLEANUP_FD int dir = -1;
	int r = native_scratch(n, g->guest, directory, g->max_bytes,
			       directory ? files : 1, &dir, err);

	if (r)
		return r;
	if (!directory && mark_untouched(dir, attach_name(g->guest)))
		return err_sys(err, WHERE, "make %s", SHOW(str_of(g->guest)));
	*ret_dir = TAKE_FD(dir);
	return 0;
}

static int attach_one(struct native *n, struct plan_grant *g, int *ret_dir,
		      struct redoma_error *err)
{
	if (g->kind == GRANT_READ_FILE || g->kind == GRANT_READ_DIR)
		return attach_read(n, g, err);
	return attach_write(n, g, ret_dir, err);
}

/* What lies above comes first. */
static int by_length(const void *a, const void *b, void *grants)
{
	const struct plan_grant *g = grants;
	size_t la = strlen(g[*(const uint32_t *)a].guest);
	size_t lb = strlen(g[*(const uint32_t *)b].guest);

	return la < lb ? -1 : la > lb;
}

int attach_grants(struct native *n, struct plan *p, struct scratch *ret,
		  struct redoma_error *err)
{
	uint32_t order[PLAN_GRANTS_MAX], i;
	int r = 0;

	for (i = 0; i < p->n_grants; i++)
		order[i] = i;
	qsort_r(order, p->n_grants, sizeof *order, by_length, p->grants);
	for (i = 0; i < p->n_grants && !r; i++) {
		uint32_t k = order[i];

		r = attach_one(n, &p->grants[k], &ret->dirs[k], err);
	}
	return r;
}
