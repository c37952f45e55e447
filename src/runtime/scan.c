#include "runtime/scan.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
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

static int scan(struct make *m, const char *dir, int depth,
		struct redoma_error *err);

static int take(struct make *m, const struct dirent *d, const char *path,
		int depth, struct redoma_error *err)
{
	enum build_found found;

	switch (kind_of(d, path)) {
	case DT_DIR:
		return depth < SCAN_DEPTH_MAX && !is_dull(d->d_name)
			       ? scan(m, path, depth + 1, err)
			       : 0;
	case DT_LNK:
		return build_path(&m->build, path, true, &found, NULL, err);
	case DT_REG:
		return is_module(d->d_name)
			       ? needs_module(&m->needs, path, err)
			       : 0;
	default:
		return 0;
	}
}

static int scan(struct make *m, const char *dir, int depth,
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
		if (m->scanned++ >= SCAN_FILES_MAX)
			return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
				       "%s and what is beside it hold more "
				       "than %u files; name a smaller "
				       "directory",
				       SHOW(str_of(dir)), SCAN_FILES_MAX);
		n = snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (n > 0 && n < (int)sizeof(path))
			rc = take(m, e, path, depth, err);
	}
	return rc;
}

int scan_modules(struct make *m, const char *dir, struct redoma_error *err)
{
	return scan(m, dir, 0, err);
}
