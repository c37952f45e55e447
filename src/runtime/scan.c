#include "runtime/scan.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/str.h"

#define WHERE "runtime"

static void dir_cleanup(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* "_ssl.cpython-311-x86_64-linux-gnu.so", "libblas.so.3" */
static bool is_module(const char *name)
{
	const char *at = strstr(name, ".so");

	return at && (!at[3] || at[3] == '.');
}

static unsigned char kind_of(const struct dirent *d, const char *path)
{
	struct stat st;

	if (d->d_type != DT_UNKNOWN)
		return d->d_type;
	return lstat(path, &st) ? DT_UNKNOWN : IFTODT(st.st_mode);
}

/* Half of the directories of an installed Python, and no modules in them. */
static bool is_dull(const char *name)
{
	return !strcmp(name, "__pycache__") ||
	       str_ends(str_of(name), STR(".dist-info"));
}

static const char *const system_dirs[] = {
	"/usr", "/lib", "/lib64", "/nix/store", "/gnu/store", NULL};

static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return n && !strncmp(path, dir, n) && (path[n] == '/' || !path[n]);
}

int scan_stays(const char *path, const char *base, bool *ret,
	       struct redoma_error *err)
{
	char real[PATH_MAX], top[PATH_MAX];
	bool stays = false;

	if (!realpath(path, real) || !realpath(base, top)) {
		if (err_is_shortage(errno))
			return err_sys(err, WHERE, "look at %s",
				       SHOW(str_of(path)));
		*ret = false;
		return 0;
	}
	if (strcmp(top, "/"))
		stays = is_below(real, top);
	for (size_t i = 0; !stays && system_dirs[i]; i++)
		stays = is_below(real, system_dirs[i]);
	*ret = stays;
	return 0;
}

static int take_link(struct make *m, const char *path, const char *base,
		     struct redoma_error *err)
{
	enum build_found found;
	bool stays;
	int rc = scan_stays(path, base, &stays, err);

	return rc || !stays ? rc
			    : build_path(&m->build, path, true, &found, NULL,
					 err);
}

struct scan {
	struct make *make;
	const char *base; /* of scan_stays */
};

static int scan(const struct scan *s, const char *dir, int depth,
		struct redoma_error *err);

static int take(const struct scan *s, const struct dirent *d, const char *path,
		int depth, struct redoma_error *err)
{
	switch (kind_of(d, path)) {
	case DT_DIR:
		return depth < SCAN_DEPTH_MAX && !is_dull(d->d_name)
			       ? scan(s, path, depth + 1, err)
			       : 0;
	case DT_LNK:
		return take_link(s->make, path, s->base, err);
	case DT_REG:
		return is_module(d->d_name)
			       ? needs_module(&s->make->needs, path, err)
			       : 0;
	default:
		return 0;
	}
}

static int scan(const struct scan *s, const char *dir, int depth,
		struct redoma_error *err)
{
	CLEANUP(dir_cleanup) DIR *d = opendir(dir);
	char path[PATH_MAX];
	struct dirent *e;
	int n, rc = 0;

	if (!d && err_is_shortage(errno))
		return err_sys(err, WHERE, "read the directory %s",
			       SHOW(str_of(dir)));
	while (!rc && d && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (s->make->scanned++ >= SCAN_FILES_MAX)
			return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
				       "%s and what is beside it hold more "
				       "than %u files; name a smaller "
				       "directory",
				       SHOW(str_of(dir)), SCAN_FILES_MAX);
		n = snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (n > 0 && n < (int)sizeof(path))
			rc = take(s, e, path, depth, err);
	}
	return rc;
}

int scan_modules(struct make *m, const char *dir, const char *base,
		 struct redoma_error *err)
{
	struct scan s = {m, base};

	return scan(&s, dir, 0, err);
}
