/* Databases in places that cannot be written.
 *
 * SQLite locks a file by a directory beside it, which a grant to read has no
 * place for.  A database that could be opened for reading alone is nobody's to
 * change in this run, and is taken as immutable, unless there is a journal
 * beside it: SQLite then says what is wrong.  One that is granted as a single
 * file to write is used without a lock. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "guest.h"
#include "sqlite.h"

static struct {
	struct sqlite3_vfs vfs, *real;
	struct sqlite3_io_methods base, lockable, unlocked, immutable;
} ours;

static int no_lock(struct sqlite3_file *f, int level)
{
	(void)f;
	(void)level;
	return SQLITE_OK;
}

static int nobody(struct sqlite3_file *f, int *ret)
{
	(void)f;
	*ret = 0;
	return SQLITE_OK;
}

static int never_changes(struct sqlite3_file *f)
{
	return ours.base.xDeviceCharacteristics(f) | SQLITE_IOCAP_IMMUTABLE;
}

/* A lock that is held is EEXIST; all else is that none can be made. */
static int lock(struct sqlite3_file *f, int level)
{
	int rc;

	errno = 0;
	rc = ours.base.xLock(f, level);
	if (rc != SQLITE_BUSY || !errno || errno == EEXIST)
		return rc;
	f->pMethods = &ours.unlocked;
	return SQLITE_OK;
}

/* All files of a database have the same methods. */
static void learn(const struct sqlite3_io_methods *base)
{
	ours.base = ours.lockable = ours.unlocked = *base;
	ours.unlocked.xLock = ours.unlocked.xUnlock = no_lock;
	ours.unlocked.xCheckReservedLock = nobody;
	ours.immutable = ours.unlocked;
	ours.immutable.xDeviceCharacteristics = never_changes;
	ours.lockable.xLock = lock;
}

/* To look at a name that is not granted is a denial; to list it is none. */
static bool has_journal(const char *name)
{
	const char *last = strrchr(name, '/');
	size_t n = strlen(last + 1);
	char *dir = last > name ? strndup(name, last - name) : strdup("/");
	DIR *d = dir ? opendir(dir) : NULL;
	const struct dirent *e;
	bool there = false;

	while (d && !there && (e = readdir(d)))
		there = !strncmp(e->d_name, last + 1, n) &&
			!strcmp(e->d_name + n, "-journal");
	if (d)
		closedir(d);
	free(dir);
	return there;
}

static int open_file(struct sqlite3_vfs *vfs, const char *name,
		     struct sqlite3_file *f, int flags, int *ret_flags)
{
	int out = 0;
	int rc = ours.real->xOpen(ours.real, name, f, flags, &out);

	(void)vfs;
	if (ret_flags)
		*ret_flags = out;
	if (rc || !name || *name != '/' || !(flags & SQLITE_OPEN_MAIN_DB) ||
	    sqlite3_uri_boolean(name, "nolock", 0))
		return rc;
	learn(f->pMethods);
	if ((flags & SQLITE_OPEN_READONLY) || !(out & SQLITE_OPEN_READONLY))
		f->pMethods = &ours.lockable;
	else
		f->pMethods = has_journal(name) ? &ours.unlocked
						: &ours.immutable;
	return SQLITE_OK;
}

void sqlite_prepare(void)
{
	ours.real = sqlite3_vfs_find(NULL);
	ours.vfs = *ours.real;
	ours.vfs.zName = "redoma";
	ours.vfs.pNext = NULL;
	ours.vfs.xOpen = open_file;
	if (sqlite3_vfs_register(&ours.vfs, 1))
		__builtin_trap();
}
