#include "native/collect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/fd.h"
#include "native/attach.h"
#include "wire/call.h"

#define WHERE "native"
#define PATHS_MAX ((size_t)16 << 20) /* bytes of directories to look into */

#define NEEDED_MAX ((uint64_t)1 << 62)

/* One write directory being walked. */
struct walk {
	struct collect *c;
	const struct plan_grant *grant;
	uint32_t index;
	int root;
	struct buf todo; /* paths of directories, each with its NUL */
	size_t at;	 /* the next of them */
	uint32_t looks;
	uint64_t files, bytes;
};

int collect_init(struct collect *c, struct redoma_error *err)
{
	c->written = calloc(OUTCOME_WRITTEN_MAX, sizeof *c->written);
	return c->written ? 0 : err_nomem(err, WHERE);
}

void collect_done(struct collect *c)
{
	uint32_t i;

	for (i = 0; i < c->n_written; i++)
		free((char *)c->written[i].path.p);
	for (i = 0; i < c->n_denials; i++)
		free((char *)c->denials[i].path.p);
	free(c->written);
	c->written = NULL;
	c->n_written = c->n_denials = 0;
}

static int open_beneath(int dir, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
			 O_NOFOLLOW,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
			   RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS};

	return fd_lift((int)syscall(SYS_openat2, dir, path, &how, sizeof how));
}

static int over(struct collect *c, uint32_t grant, const char *bound)
{
	if (!c->over) {
		c->over = bound;
		c->over_grant = grant;
	}
	c->stop = true;
	return 0;
}

/* What is over its bytes is looked through to its end: how much would be
 * enough is told. */
static void over_bytes(struct walk *w, uint64_t size)
{
	struct collect *c = w->c;

	if (!c->over) {
		c->over = "max_bytes";
		c->over_grant = w->index;
		c->needed = w->bytes;
	}
	c->needed += size < NEEDED_MAX - c->needed ? size
						   : NEEDED_MAX - c->needed;
	w->files++;
}

/* "guest/path", owned; NULL without memory. */
static char *full_path(const struct plan_grant *g, struct str path)
{
	size_t n = strlen(g->guest);
	bool slash = n && g->guest[n - 1] == '/';
	struct buf b = {0};

	if (!buf_add(&b, g->guest, n) &&
	    (slash || !path.len || !buf_add(&b, "/", 1)) &&
	    !buf_add(&b, path.p, path.len))
		return buf_take(&b);
	buf_done(&b);
	return NULL;
}

/* What is left out; the first ones are told. */
static int leave_out(struct walk *w, const char *op, struct str path)
{
	struct collect *c = w->c;
	char *full;

	if (c->n_denials == OUTCOME_DENIALS_MAX)
		return 0;
	full = full_path(w->grant, path);
	if (!full)
		return REDOMA_E_NOMEM;
	c->denials[c->n_denials++] = (struct outcome_denial){
		.op = {op, (uint32_t)strlen(op)},
		.path = {full, (uint32_t)strlen(full)},
		.count = 1,
		.write = true};
	return 0;
}

static int add_written(struct collect *c, uint32_t grant, uint64_t handle,
		       struct str path)
{
	char *copy_of = malloc(path.len + 1);

	if (!copy_of)
		return REDOMA_E_NOMEM;
	if (path.len)
		memcpy(copy_of, path.p, path.len);
	copy_of[path.len] = '\0';
	c->written[c->n_written++] = (struct outcome_written){
		grant, handle, {copy_of, (uint32_t)path.len}};
	return 0;
}

static int cannot_copy(const struct plan_grant *g, struct redoma_error *err)
{
	return err_sys(err, WHERE, "copy what was written below %s",
		       SHOW(str_of(g->guest)));
}

static int put_stage(struct walk *w, struct str path, int fd,
		     const struct stat *st, struct redoma_error *err)
{
	CLEANUP_FD int stage = -1;
	uint64_t handle;
	int e = w->c->stage(w->c->data, w->index, path, &handle, &stage);

	if (e < 0)
		return err_set(err, (enum redoma_code)e, WHERE,
			       "the core does not take the files of the "
			       "program");
	errno = e;
	/* A run is not ok with files lost for a want of ours. */
	if (err_is_shortage(e))
		return cannot_copy(w->grant, err);
	if (e)
		return leave_out(w, "create", path);
	/* It cannot grow any more, but is not believed. */
	if (fd_copy(fd, stage, (uint64_t)st->st_size))
		return cannot_copy(w->grant, err);
	w->bytes += (uint64_t)st->st_size;
	w->c->bytes += (uint64_t)st->st_size;
	w->files++;
	return add_written(w->c, w->index, handle, path)
		       ? err_nomem(err, WHERE) : 0;
}

static int take_file(struct walk *w, const char *path,
		     struct redoma_error *err)
{
	CLEANUP_FD int fd = open_beneath(w->root, path, O_RDONLY);
	struct str name = str_of(path);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return leave_out(w, "create", name);
	if (w->files >= w->grant->max_files ||
	    w->files >= OUTCOME_WRITTEN_MAX ||
	    w->c->n_written == OUTCOME_WRITTEN_MAX)
		return over(w->c, w->index, "max_files");
	if (w->c->over ||
	    (uint64_t)st.st_size > w->grant->max_bytes - w->bytes) {
		over_bytes(w, (uint64_t)st.st_size);
		return 0;
	}
	return put_stage(w, name, fd, &st, err);
}

static int look_later(struct walk *w, const char *path)
{
	return buf_add(&w->todo, path, strlen(path) + 1);
}

static unsigned char type_of(int dir, const struct dirent *d)
{
	struct stat st;

	if (d->d_type != DT_UNKNOWN)
		return d->d_type;
	if (fstatat(dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW))
		return DT_UNKNOWN;
	return (unsigned char)IFTODT(st.st_mode);
}

static int take_entry(struct walk *w, int dir, const char *above,
		      const struct dirent *d, struct redoma_error *err)
{
	char path[CALL_PATH_MAX + 1];
	size_t na = strlen(above), nd = strlen(d->d_name);
	unsigned char type = type_of(dir, d);

	if (type != DT_REG && ++w->looks > COLLECT_LOOKS_MAX)
		return over(w->c, w->index, "max_files");
	if (na + 1 + nd > CALL_PATH_MAX)
		return leave_out(w, "create", str_of(d->d_name));
	memcpy(path, above, na);
	if (na)
		path[na++] = '/';
	memcpy(path + na, d->d_name, nd + 1);
	if (type == DT_REG)
		return take_file(w, path, err);
	if (type != DT_DIR)
		return leave_out(w, "create", str_of(path));
	/* More directories than could be held: as if there were too many. */
	return look_later(w, path) ? over(w->c, w->index, "max_files") : 0;
}

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

static int take_dir(struct walk *w, const char *path, struct redoma_error *err)
{
	int fd = open_beneath(w->root, *path ? path : ".",
			      O_RDONLY | O_DIRECTORY);
	CLEANUP(close_dir) DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int r = 0;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return leave_out(w, "list", str_of(path));
	}
	while (!r && !w->c->stop && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = take_entry(w, fd, path, e, err);
	return r;
}

static int by_path(const void *a, const void *b)
{
	const struct outcome_written *wa = a, *wb = b;

	return wa->grant != wb->grant ? (wa->grant < wb->grant ? -1 : 1)
				      : strcmp(wa->path.p, wb->path.p);
}

static void walk_done(struct walk *w)
{
	buf_done(&w->todo);
}

int collect_dir(struct collect *c, const struct plan *p, uint32_t grant,
		int dir, struct redoma_error *err)
{
	CLEANUP(walk_done) struct walk w = {.c = c,
					    .grant = &p->grants[grant],
					    .index = grant,
					    .root = dir,
					    .todo = {.cap = PATHS_MAX}};
	char path[CALL_PATH_MAX + 1];
	int r = look_later(&w, "") ? REDOMA_E_NOMEM : 0;

	while (!r && !c->stop && w.at < w.todo.len) {
		/* The buffer moves when it grows. */
		size_t n = strlen(w.todo.data + w.at) + 1;

		memcpy(path, w.todo.data + w.at, n);
		w.at += n;
		r = take_dir(&w, path, err);
	}
	if (r == REDOMA_E_NOMEM)
		return err_nomem(err, WHERE);
	qsort(c->written, c->n_written, sizeof *c->written, by_path);
	return r;
}

static bool touched(const struct stat *st)
{
	return st->st_size || st->st_mtim.tv_sec || st->st_mtim.tv_nsec;
}

int collect_file(struct collect *c, const struct plan *p, uint32_t grant,
		 int dir, struct redoma_error *err)
{
	const struct plan_grant *g = &p->grants[grant];
	CLEANUP_FD int fd = open_beneath(dir, attach_name(g->guest), O_RDONLY);
	struct walk w = {.c = c, .grant = g, .index = grant};
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return leave_out(&w, "create", (struct str){"", 0})
			       ? err_nomem(err, WHERE) : 0;
	if (!touched(&st))
		return 0;
	if ((uint64_t)st.st_size > g->max_bytes) {
		over_bytes(&w, (uint64_t)st.st_size);
		return 0;
	}
	if (c->n_written == OUTCOME_WRITTEN_MAX)
		return over(c, grant, "max_files");
	if (ftruncate(g->fd, 0) || lseek(g->fd, 0, SEEK_SET) ||
	    fd_copy(fd, g->fd, (uint64_t)st.st_size))
		return cannot_copy(g, err);
	c->bytes += (uint64_t)st.st_size;
	return add_written(c, grant, 0, (struct str){"", 0})
		       ? err_nomem(err, WHERE) : 0;
}
