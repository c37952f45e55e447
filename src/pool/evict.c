#include "pool/entry.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

#define FILES_MAX 65536
#define LEAVINGS_AFTER 3600 /* seconds */
#define DIGITS (2 * ENTRY_NAME)

struct file {
	char name[DIGITS + 1];
	uint64_t bytes;
	struct timespec used;
};

struct list {
	struct file *files;
	size_t n, room;
	uint64_t bytes;
};

static void list_done(struct list *l)
{
	free(l->files);
}

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

static bool add(struct list *l, const char *name, const struct stat *st)
{
	struct file *f;

	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 64;

		f = room > FILES_MAX ? NULL
				     : realloc(l->files, room * sizeof(*f));
		if (!f)
			return false;
		l->files = f;
		l->room = room;
	}
	f = &l->files[l->n++];
	memcpy(f->name, name, DIGITS + 1);
	f->bytes = (uint64_t)st->st_size;
	f->used = st->st_mtim;
	l->bytes += f->bytes;
	return true;
}

static bool is_entry(const char *name)
{
	return strlen(name) == DIGITS &&
	       strspn(name, "0123456789abcdef") == DIGITS;
}

static bool is_leaving(const char *name, const struct stat *st)
{
	size_t n = strlen(name);
	bool temporary = !strncmp(name, "tmp-", 4);
	bool lock = n > 5 && !strcmp(name + n - 5, ".lock");

	return (temporary || lock) &&
	       st->st_mtim.tv_sec + LEAVINGS_AFTER < time(NULL);
}

static void scan(const struct entry_dir *d, struct list *l)
{
	int fd = openat(d->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(close_dir) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	struct stat st;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (e = readdir(dir))) {
		if (fstatat(d->fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (is_leaving(e->d_name, &st))
			unlinkat(d->fd, e->d_name, 0);
		else if (is_entry(e->d_name) && !add(l, e->d_name, &st))
			return;
	}
}

static int by_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct file *)a)->used;
	const struct timespec *y = &((const struct file *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

void entry_evict(const struct entry_dir *d)
{
	CLEANUP(list_done) struct list l = {0};

	scan(d, &l);
	if (l.bytes <= d->max_bytes)
		return;
	qsort(l.files, l.n, sizeof(*l.files), by_use);
	for (size_t i = 0; i < l.n && l.bytes > d->max_bytes; i++)
		if (!unlinkat(d->fd, l.files[i].name, 0))
			l.bytes -= l.files[i].bytes;
}
