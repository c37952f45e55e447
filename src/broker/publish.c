#include "broker/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/access.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "broker/append.h"
#include "broker/copy.h"
#include "broker/manifest.h"
#include "broker/path.h"
#include "broker/resolve.h"
#include "broker/stage.h"

#define WHERE "publish"
#define LINK_TRIES 16

/* One file on its way to its name. */
struct target {
	const struct plan_grant *grant;
	const struct held *held;
	const struct item *item;
	struct published *out;
	struct board *board;
	int dirfd;	    /* the directory that gets the file */
	const char *name;   /* in dirfd */
};

static int refuse(const struct target *t, const char *why,
		  struct redoma_error *err)
{
	return err_set(err, REDOMA_E_INVALID, WHERE, "%s: %s",
		       SHOW(str_of(t->out->path)), why);
}

/* errno of a failed step becomes a sentence. */
static int fail(const struct target *t, struct redoma_error *err)
{
	int sys = errno, e;

	if (sys == ENOENT)
		e = refuse(t, "its directory is gone; nothing was published "
			      "there", err);
	else if (sys == EEXIST)
		e = refuse(t, "exists already and was left as it was; remove "
			      "it, or write `mode: replace`", err);
	else if (sys == ENOSPC || sys == EDQUOT)
		e = refuse(t, "the disk is full; free some space and run "
			      "again", err);
	else if (sys == EFBIG)
		e = refuse(t, "is over the largest file this process may "
			      "make (RLIMIT_FSIZE)", err);
	else if (sys == ELOOP || sys == ENOTDIR)
		e = refuse(t, "a part of its path on the host is a link or a "
			      "file, not a directory", err);
	else
		return err_sys(err, WHERE, "%s", SHOW(str_of(t->out->path)));
	if (err)
		err->sys = sys;
	return e;
}

/* One directory down; made if it is not there. */
static int step_down(int dirfd, const char *name)
{
	int flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

	if (mkdirat(dirfd, name, 0777) && errno != EEXIST)
		return -1;
	return fd_lift(openat(dirfd, name, O_PATH | flags));
}

/* Walks the checked path to the directory of its last component, whose name
 * goes to name.  -1 with errno. */
static int walk(int root, struct str path, char name[PATH_NAME_MAX + 1])
{
	struct str part, rest = path;
	int fd = fd_lift(fcntl(root, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));

	while (fd >= 0 && str_split(rest, '/', &part, &rest)) {
		CLEANUP_FD int up = fd;

		memcpy(name, part.p, part.len);
		name[part.len] = '\0';
		fd = step_down(up, name);
	}
	memcpy(name, rest.p, rest.len);
	name[rest.len] = '\0';
	return fd;
}

/* Never puts a file in the place of what is not a file. */
static int check_place(const struct target *t, struct redoma_error *err)
{
	struct stat st;

	if (fstatat(t->dirfd, t->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : fail(t, err);
	if (S_ISREG(st.st_mode))
		return 0;
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "%s: there is %s at its place, which was left as it "
		       "was",
		       SHOW(str_of(t->out->path)), resolve_kind(st.st_mode));
}

static bool cannot_link(int sys)
{
	return sys == ENOENT || sys == EPERM || sys == EOPNOTSUPP ||
	       sys == EINVAL || sys == EXDEV;
}

/* A nameless file gets a hidden name, then the target's. */
static int link_over(const struct target *t, int fd)
{
	char hidden[STAGE_NAME_MAX];
	int tries, r = -1;

	for (tries = 0; r && tries < LINK_TRIES; tries++) {
		if (stage_name(hidden))
			return -1;
		r = stage_link(fd, t->dirfd, hidden);
		if (r && errno != EEXIST)
			return -1;
	}
	if (!r)
		r = renameat(t->dirfd, hidden, t->dirfd, t->name);
	if (r) {
		int sys = errno;

		unlinkat(t->dirfd, hidden, 0);
		errno = sys;
	}
	return r;
}

static int name_file(const struct target *t, int fd, const char *hidden)
{
	bool replace = t->grant->mode == WRITE_REPLACE;

	if (*hidden && replace)
		return renameat(t->dirfd, hidden, t->dirfd, t->name);
	if (*hidden)
		return renameat2(t->dirfd, hidden, t->dirfd, t->name,
				 RENAME_NOREPLACE);
	if (!stage_link(fd, t->dirfd, t->name))
		return 0;
	return replace && errno == EEXIST ? link_over(t, fd) : -1;
}

/* 0, or -1 with errno; on failure nothing of the new file is left. */
static int put_file(const struct target *t, bool named)
{
	char hidden[STAGE_NAME_MAX];
	CLEANUP_FD int fd = stage_open_target(t->dirfd, named, hidden);
	int sys;

	if (fd < 0)
		return -1;
	if (!copy_exact(t->item->stage, fd, t->item->bytes, t->board,
			t->out->sha256) &&
	    !access_like(fd, t->dirfd, t->name) &&
	    !name_file(t, fd, hidden))
		return 0;
	sys = errno;
	if (*hidden)
		unlinkat(t->dirfd, hidden, 0);
	errno = sys;
	return -1;
}

static int publish_here(const struct target *t, struct redoma_error *err)
{
	int e = check_place(t, err);

	if (e)
		return e;
	if (t->grant->mode == WRITE_APPEND) {
		if (append_exact(t->item->stage, t->item->bytes, t->dirfd,
				 t->name, t->out->sha256))
			return errno == EWOULDBLOCK
				       ? refuse(t, "another process holds its "
						   "lock; nothing was "
						   "appended", err)
				       : fail(t, err);
		return 0;
	}
	if (!put_file(t, false))
		return 0;
	/* Without /proc and the right to link a descriptor. */
	if (cannot_link(errno) && !put_file(t, true))
		return 0;
	return fail(t, err);
}

static int publish_one(struct target *t, struct redoma_error *err)
{
	CLEANUP_FD int below = -1;
	char name[PATH_NAME_MAX + 1];

	if (t->grant->kind == GRANT_WRITE_FILE) {
		t->dirfd = t->held->fd;
		t->name = t->held->name;
		return publish_here(t, err);
	}
	below = walk(t->held->fd, t->item->path, name);
	if (below < 0)
		return fail(t, err);
	t->dirfd = below;
	t->name = name;
	return publish_here(t, err);
}

static char *guest_path(const struct plan_grant *g, struct str path)
{
	size_t n = strlen(g->guest);
	struct buf b = {0};
	char *p;

	if (buf_add(&b, g->guest, n) ||
	    (path.len && g->guest[n - 1] != '/' && buf_add(&b, "/", 1)) ||
	    buf_add(&b, path.p, path.len)) {
		buf_done(&b);
		return NULL;
	}
	p = buf_take(&b);
	return p;
}

void published_done(struct published_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->files[i].path);
	free(l->files);
	*l = (struct published_list){0};
}

int published_names(const struct plan *p, const struct outcome_written *w,
		    size_t n, struct published_list *ret,
		    struct redoma_error *err)
{
	CLEANUP(published_done) struct published_list l = {0};

	l.files = calloc(n + 1, sizeof *l.files);
	if (!l.files)
		return err_nomem(err, WHERE);
	for (; l.n < n; l.n++) {
		struct str path = {w[l.n].path.p, w[l.n].path.len};

		if (w[l.n].grant >= p->n_grants)
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "a file of a grant that there is not");
		l.files[l.n].path = guest_path(&p->grants[w[l.n].grant], path);
		if (!l.files[l.n].path)
			return err_nomem(err, WHERE);
	}
	*ret = l;
	l = (struct published_list){0};
	return 0;
}

static void publish_items(const struct sealed *s, const struct item *items,
			  struct published_list *l)
{
	struct copy_guard guard;
	size_t i;

	copy_guard_begin(&guard);
	for (i = 0; i < l->n; i++) {
		struct published *p = &l->files[i];
		struct target t = {.grant = &s->plan.grants[items[i].grant],
				   .held = &s->held[items[i].grant],
				   .item = &items[i],
				   .out = p,
				   .board = s->board,
				   .dirfd = -1};

		board_at(s->board, items[i].grant);
		p->bytes = items[i].bytes;
		p->published = !publish_one(&t, &p->why);
	}
	copy_guard_end(&guard);
}

int publish_all(struct sealed *s, const struct outcome_written *w, size_t n,
		struct published_list *ret, struct redoma_error *err)
{
	CLEANUP(published_done) struct published_list l = {0};
	CLEANUP_FREE struct item *items = NULL;
	int e = seal_verify(s, err);

	if (e)
		return e;
	if (n) {
		items = calloc(n, sizeof *items);
		if (!items)
			return err_nomem(err, WHERE);
		e = manifest_check(s, w, n, items, err);
		if (!e)
			e = published_names(&s->plan, w, n, &l, err);
		if (e)
			return e;
		publish_items(s, items, &l);
	}
	*ret = l;
	l = (struct published_list){0};
	return 0;
}
