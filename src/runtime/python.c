#include "runtime/python.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "runtime/scan.h"

#define WHERE "runtime"

static bool exists(const char *path)
{
	struct stat st;

	return !stat(path, &st);
}

/* Cuts the last component off; "/" becomes "". */
static bool go_up(char path[PATH_MAX])
{
	char *slash = strrchr(path, '/');

	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

static void dir_cleanup(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* The version is in the name of the directory where the program's own name
 * does not tell: "python3".  Not if there are two. */
static bool guess_version(const char *prefix, const char *lib,
			  char version[PYTHON_VERSION_MAX])
{
	char path[PATH_MAX + NAME_MAX + 64];
	char v[PYTHON_VERSION_MAX] = "";
	CLEANUP(dir_cleanup) DIR *d = NULL;
	struct dirent *e;
	int n = 0;

	snprintf(path, sizeof(path), "%s/%s", prefix, lib);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		const char *from = e->d_name + strlen("python");

		snprintf(path, sizeof(path), "%s/%s/%s/os.py", prefix, lib,
			 e->d_name);
		if (strncmp(e->d_name, "python3.", 8) ||
		    strlen(from) >= sizeof(v) || !exists(path))
			continue;
		strcpy(v, from);
		n++;
	}
	if (n == 1)
		memcpy(version, v, sizeof(v));
	return n == 1;
}

static bool has_library(const char *prefix, const char *lib,
			char version[PYTHON_VERSION_MAX])
{
	char path[PATH_MAX + 64];

	if (!version[0])
		return guess_version(prefix, lib, version);
	snprintf(path, sizeof(path), "%s/%s/python%s/os.py", prefix, lib,
		 version);
	return exists(path);
}

int python_find(const char *real, char prefix[PATH_MAX],
		char version[PYTHON_VERSION_MAX], struct redoma_error *err)
{
	const char *name = strrchr(real, '/') + 1;
	char at[PATH_MAX], v[PYTHON_VERSION_MAX] = "";

	if (!strncmp(name, "python3.", 8))
		snprintf(v, sizeof(v), "%s", name + strlen("python"));
	snprintf(at, sizeof(at), "%s", real);
	while (go_up(at)) {
		if (!has_library(at, "lib", v) && !has_library(at, "lib64", v))
			continue;
		memcpy(prefix, at, sizeof(at));
		memcpy(version, v, sizeof(v));
		return 0;
	}
	return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
		       "the standard library of %s is not in a directory lib "
		       "above it; install Python whole",
		       SHOW(str_of(real)));
}

/* A directory of modules or a single file below `base`; may be missing. */
static int add(struct make *m, const char *path, const char *base,
	       struct redoma_error *err)
{
	enum build_found found;
	char real[PATH_MAX];
	bool stays;
	int rc = scan_stays(path, base, &stays, err);

	if (rc || !stays)
		return rc;
	rc = build_path(&m->build, path, true, &found, real, err);
	if (!rc && found == BUILD_DIR)
		rc = scan_modules(m, real, base, err);
	return rc;
}

static int add_library(struct make *m, const char *prefix, const char *version,
		       struct redoma_error *err)
{
	/* The first two arguments are the prefix and the version. */
	static const char *const own[] = {
		"%s/lib/python%s", "%s/lib64/python%s",
		"%s/lib/python3/dist-packages", "%s/local/lib/python%s",
		"%s/local/lib64/python%s"};
	char path[PATH_MAX + 64], digits[PYTHON_VERSION_MAX];
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(own) / sizeof(*own); i++) {
		/* "local" is a place of the system's Python only. */
		if (strstr(own[i], "local") && strcmp(prefix, "/usr"))
			continue;
		snprintf(path, sizeof(path), own[i], prefix, version);
		rc = add(m, path, prefix, err);
	}
	for (const char *p = version; *p; p++)
		if (*p != '.')
			digits[n++] = *p;
	digits[n] = '\0';
	snprintf(path, sizeof(path), "%s/lib/python%s.zip", prefix, digits);
	return rc ? rc : add(m, path, prefix, err);
}

/* A virtual environment: its packages, and the file that makes it one. */
static int add_environment(struct make *m, const char *path,
			   const char *version, struct redoma_error *err)
{
	char dir[PATH_MAX], at[PATH_MAX + 64];
	int rc;

	snprintf(dir, sizeof(dir), "%s", path);
	if (!go_up(dir) || !go_up(dir))
		return 0;
	snprintf(at, sizeof(at), "%s/pyvenv.cfg", dir);
	if (!exists(at))
		return 0;
	rc = add(m, at, dir, err);
	for (int i = 0; !rc && i < 2; i++) {
		snprintf(at, sizeof(at), "%s/lib%s/python%s/site-packages",
			 dir, i ? "64" : "", version);
		rc = add(m, at, dir, err);
	}
	return rc;
}

int python_add(struct make *m, const char *path, const char *real,
	       struct redoma_error *err)
{
	char prefix[PATH_MAX], version[PYTHON_VERSION_MAX];
	int rc = python_find(real, prefix, version, err);

	if (!rc)
		rc = add_library(m, prefix, version, err);
	return rc ? rc : add_environment(m, path, version, err);
}
