#include "core/install.h"

#include <dlfcn.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/image_place.h"

#define WHERE "core"
#define WORKER "redoma-worker"
#define COMPILER "redoma-compile"
#define INIT "redoma-init"

/* Where the programs may lie from the directory of the code that uses them:
 * beside it (a build), or in lib/redoma of the same prefix. */
static const char *const places[] = {"", "/../lib/redoma", "/redoma"};

static int try_dir(struct redoma *h, const char *dir, const char *place)
{
	char path[PATH_ROOM];
	char real[PATH_ROOM];
	int n = snprintf(path, sizeof path, "%s%s", dir, place);

	errno = 0;
	if (n < 0 || n >= (int)sizeof path || !realpath(path, real))
		return -1;
	n = snprintf(h->worker, sizeof h->worker, "%s/" WORKER, real);
	if (n < 0 || n >= (int)sizeof h->worker || access(h->worker, X_OK))
		return -1;
	n = snprintf(h->compiler, sizeof h->compiler, "%s/" COMPILER, real);
	if (n < 0 || n >= (int)sizeof h->compiler)
		return -1;
	n = snprintf(h->init, sizeof h->init, "%s/" INIT, real);
	if (n < 0 || n >= (int)sizeof h->init)
		return -1;
	memcpy(h->install, real, sizeof real);
	return 0;
}

static int try_places(struct redoma *h, char *file)
{
	char *slash = strrchr(file, '/');
	size_t i;

	if (!slash)
		return -1;
	*slash = '\0';
	for (i = 0; i < sizeof places / sizeof *places; i++)
		if (!try_dir(h, file, places[i]))
			return 0;
	return -1;
}

static int own_file(char file[PATH_ROOM])
{
	ssize_t n = readlink("/proc/self/exe", file, PATH_ROOM - 1);

	if (n <= 0)
		return -1;
	file[n] = '\0';
	return 0;
}

int install_find(struct redoma *h, const char *dir, struct redoma_error *err)
{
	char file[PATH_ROOM];
	Dl_info info;

	if (dir) {
		if (!try_dir(h, dir, ""))
			return 0;
		if (err_is_shortage(errno))
			return err_sys(err, WHERE, "look for " WORKER " in %s",
				       dir);
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "no " WORKER " in %s: name the directory it was "
			       "installed in",
			       dir);
	}
	/* A shared library knows its file; in a static program it is ours. */
	if (dladdr((const void *)(uintptr_t)install_find, &info) &&
	    info.dli_fname && info.dli_fname[0] == '/' &&
	    snprintf(file, sizeof file, "%s", info.dli_fname) <
		    (int)sizeof file &&
	    !try_places(h, file))
		return 0;
	if (!own_file(file) && !try_places(h, file))
		return 0;
	if (install_place && !try_dir(h, install_place, ""))
		return 0;
	return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
		       "cannot find " WORKER " beside this program nor in "
		       "%s: install Redoma, or name its directory "
		       "(install_dir)",
		       install_place ? install_place : "../lib/redoma");
}

/* A user that has no home keeps nothing: NULL is no failure. */
static int find_home(struct passwd *pw, char *room, size_t size,
		     const char **ret, struct redoma_error *err)
{
	struct passwd *found = NULL;
	int sys;

	do {
		sys = getpwuid_r(geteuid(), pw, room, size, &found);
	} while (sys == EINTR);
	if (err_is_shortage(sys)) {
		errno = sys;
		return err_sys(err, WHERE, "look up the home of the user");
	}
	*ret = found && found->pw_dir && found->pw_dir[0] == '/'
		       ? found->pw_dir
		       : NULL;
	return 0;
}

int image_place(const char *name, char ret[PATH_ROOM],
		struct redoma_error *err)
{
	const char *home = NULL;
	struct passwd pw;
	char room[4096];
	int n, r = find_home(&pw, room, sizeof room, &home, err);

	if (r)
		return r;
	n = home ? snprintf(ret, PATH_ROOM, "%s/.local/share/redoma/images/%s",
			    home, name)
		 : -1;
	if (n > 0 && n < PATH_ROOM)
		return 0;
	return err_set(err, REDOMA_E_UNSUPPORTED, "image",
		       "this user has no home directory to keep images in: "
		       "name a directory");
}

int install_cache(struct redoma *h, const char *dir, struct redoma_error *err)
{
	const char *home = NULL;
	struct passwd pw;
	char room[4096];
	int a, b, r;

	h->cache_dir[0] = h->cache_key[0] = '\0';
	if (dir) {
		a = snprintf(h->cache_dir, sizeof h->cache_dir, "%s", dir);
		b = snprintf(h->cache_key, sizeof h->cache_key, "%s.key", dir);
	} else {
		r = find_home(&pw, room, sizeof room, &home, err);
		if (r || !home)
			return r;
		a = snprintf(h->cache_dir, sizeof h->cache_dir,
			     "%s/.cache/redoma/modules", home);
		b = snprintf(h->cache_key, sizeof h->cache_key,
			     "%s/.local/state/redoma/cache.key", home);
	}
	if (a < 0 || a >= PATH_ROOM || b < 0 || b >= PATH_ROOM)
		h->cache_dir[0] = h->cache_key[0] = '\0';
	return 0;
}

int install_incidents(struct redoma *h, const char *dir,
		      struct redoma_error *err)
{
	const char *home = NULL;
	struct passwd pw;
	char room[4096];
	int n, r;

	h->incident_dir[0] = '\0';
	if (!dir) {
		r = find_home(&pw, room, sizeof room, &home, err);
		if (r || !home)
			return r;
	}
	n = dir ? snprintf(h->incident_dir, PATH_ROOM, "%s", dir)
		: snprintf(h->incident_dir, PATH_ROOM,
			   "%s/.local/state/redoma/incidents", home);
	if (n < 0 || n >= PATH_ROOM)
		h->incident_dir[0] = '\0';
	return 0;
}

int install_image(struct redoma *h, const char *name, char path[PATH_ROOM],
		  struct redoma_error *err)
{
	int n = snprintf(path, PATH_ROOM, "%s/images/%s", h->install, name);

	if (n > 0 && n < PATH_ROOM &&
	    (h->image_seen == name || !access(path, R_OK))) {
		h->image_seen = name;
		return 0;
	}
	if (n > 0 && n < PATH_ROOM && err_is_shortage(errno))
		return err_sys(err, WHERE, "look for images/%s", name);
	return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
		       "the language image images/%s is missing below %s: "
		       "build or install it",
		       name, h->install);
}
