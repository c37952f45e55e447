#include "runtime/needs.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"

#define WHERE "runtime"

static const char *const musl_dirs[] = {"/lib", "/usr/local/lib", "/usr/lib",
					NULL};

static void drop_from(struct needs *s, size_t n)
{
	while (s->n > n) {
		struct object *o = &s->objects[--s->n];

		free(o->name);
		free(o->dir);
		elf_done(&o->elf);
	}
}

void needs_done(struct needs *s)
{
	drop_from(s, 0);
	free(s->objects);
	for (size_t i = 0; i < s->n_known; i++)
		free(s->known[i]);
	free(s->known);
	s->objects = NULL;
	s->known = NULL;
	s->room = s->n_known = s->room_known = 0;
}

static bool is_known(const struct needs *s, const char *path)
{
	for (size_t i = 0; i < s->n_known; i++)
		if (!strcmp(s->known[i], path))
			return true;
	return false;
}

static int remember(struct needs *s, const char *path, struct redoma_error *err)
{
	if (s->n_known == s->room_known) {
		size_t room = s->room_known ? s->room_known * 2 : 64;
		char **p = reallocarray(s->known, room, sizeof(*p));

		if (!p)
			return err_nomem(err, WHERE);
		s->known = p;
		s->room_known = room;
	}
	s->known[s->n_known] = strdup(path);
	if (!s->known[s->n_known])
		return err_nomem(err, WHERE);
	s->n_known++;
	return 0;
}

static int read_any(const char *path, struct elf *ret, struct redoma_error *err)
{
	CLEANUP_FD int fd =
		fd_lift(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	struct elf_input in = {.fd = fd};
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return err_sys(err, WHERE, "open %s", SHOW(str_of(path)));
	if (!S_ISREG(st.st_mode))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s is not a regular file", SHOW(str_of(path)));
	in.size = (uint64_t)st.st_size;
	return elf_read(&in, path, ret, err);
}

int needs_read(const struct ldso *l, const char *path, struct elf *ret,
	       struct redoma_error *err)
{
	struct elf e;
	int rc = read_any(path, &e, err);

	if (rc)
		return rc;
	if (e.machine == l->machine) {
		*ret = e;
		return 0;
	}
	rc = err_set(err, REDOMA_E_INVALID, WHERE,
		     "%s was built for %s and this machine is %s; take the "
		     "program built for it",
		     SHOW(str_of(path)), ldso_machine(e.machine),
		     ldso_machine(l->machine));
	elf_done(&e);
	return rc;
}

/* Takes elf, also on failure. */
static int push(struct needs *s, const char *name, const char *path,
		struct elf *elf, size_t parent, struct redoma_error *err)
{
	size_t room = s->room ? s->room * 2 : 32;
	const char *slash = strrchr(path, '/');
	struct object o = {.elf = *elf, .parent = parent};
	struct object *p = s->objects;

	*elf = (struct elf){0};
	if (s->n >= NEEDS_OBJECTS_MAX) {
		elf_done(&o.elf);
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "%s needs more than %d libraries",
			       SHOW(str_of(path)), NEEDS_OBJECTS_MAX);
	}
	if (s->n == s->room)
		p = reallocarray(s->objects, room, sizeof(*p));
	if (p && p != s->objects) {
		s->objects = p;
		s->room = room;
	} else if (p && s->n == s->room) {
		s->room = room;
	}
	o.name = strdup(name);
	o.dir = strndup(path, slash == path ? 1 : (size_t)(slash - path));
	if (!p || !o.name || !o.dir) {
		free(o.name);
		free(o.dir);
		elf_done(&o.elf);
		return err_nomem(err, WHERE);
	}
	s->rpath |= o.elf.rpath && !o.elf.runpath;
	s->objects[s->n++] = o;
	return 0;
}

static bool is_loaded(const struct needs *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct object *o = &s->objects[i];

		if (!strcmp(o->name, name) ||
		    (o->elf.soname && !strcmp(o->elf.soname, name)))
			return true;
	}
	return false;
}

struct lookup {
	struct needs *s;
	const char *name;
	char path[PATH_MAX]; /* where it was found */
	struct elf elf;	     /* with `known` as if it needed nothing */
	bool found, known;
};

static int try_file(struct lookup *k, struct redoma_error *err)
{
	struct redoma_error why = {0};
	int rc;

	/* DT_RPATH of a program may lead to other libraries of the same. */
	k->known = !k->s->rpath && is_known(k->s, k->path);
	k->found = k->known;
	if (k->found)
		return 0;
	rc = needs_read(k->s->ldso, k->path, &k->elf, &why);
	if (rc == REDOMA_E_NOMEM ||
	    (rc == REDOMA_E_SYSTEM && err_is_shortage(why.sys))) {
		if (err)
			*err = why;
		return rc;
	}
	/* What cannot be opened or is for another machine is passed over, as
	 * the loader does. */
	k->found = !rc;
	if (k->found && k->elf.type != ET_DYN) {
		elf_done(&k->elf);
		k->found = false;
	}
	return 0;
}

static int try_dir(struct lookup *k, const char *dir, struct redoma_error *err)
{
	int n = snprintf(k->path, sizeof(k->path), "%s/%s", dir, k->name);

	if (!dir[0] || n < 0 || n >= (int)sizeof(k->path))
		return 0;
	return try_file(k, err);
}

static int try_list(struct lookup *k, const char *list, const char *origin,
		    struct redoma_error *err)
{
	char dir[PATH_MAX];
	int rc = 0;

	for (size_t i = 0; !rc && !k->found &&
			   ldso_nth(k->s->ldso, list, i, origin, dir);
	     i++) {
		rc = try_dir(k, dir, err);
		if (!rc && k->found && build_moves(dir) &&
		    !strstr(list, "ORIGIN")) {
			elf_done(&k->elf);
			k->found = false;
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "%s was linked to be found in %s, "
				       "which a jail has of its own; move it",
				       SHOW(str_of(k->name)),
				       SHOW(str_of(dir)));
		}
	}
	return rc;
}

static int try_rpaths(struct lookup *k, size_t by, struct redoma_error *err)
{
	const struct object *o = &k->s->objects[by];
	int rc = 0;

	if (o->elf.runpath)
		return try_list(k, o->elf.runpath, o->dir, err);
	for (size_t guard = 0; guard < k->s->n; guard++) {
		if (o->elf.rpath && !o->elf.runpath)
			rc = try_list(k, o->elf.rpath, o->dir, err);
		if (rc || k->found || o == &k->s->objects[o->parent])
			break;
		o = &k->s->objects[o->parent];
	}
	return rc;
}

static int try_dirs(struct lookup *k, const char *const *dirs,
		    struct redoma_error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && !k->found && dirs[i]; i++)
		rc = try_dir(k, dirs[i], err);
	return rc;
}

static bool is_system(const struct ldso *l, const char *dir)
{
	for (size_t i = 0; l->system[i]; i++)
		if (!strcmp(l->system[i], dir))
			return true;
	return false;
}

static int try_conf(struct lookup *k, struct redoma_error *err)
{
	const struct ldso *l = k->s->ldso;
	int rc = 0;

	for (size_t i = 0; !rc && !k->found && i < l->n_conf; i++) {
		rc = try_dir(k, l->conf[i], err);
		if (!rc && k->found && !is_system(l, l->conf[i]))
			k->s->cache = true;
	}
	return rc;
}

static int look_up(struct lookup *k, size_t by, struct redoma_error *err)
{
	int rc;

	if (strchr(k->name, '/')) {
		if (k->name[0] != '/' || strlen(k->name) >= sizeof(k->path))
			return 0;
		strcpy(k->path, k->name);
		return try_file(k, err);
	}
	rc = try_rpaths(k, by, err);
	if (rc || k->found)
		return rc;
	if (k->s->musl)
		return try_dirs(k, musl_dirs, err);
	rc = try_conf(k, err);
	return rc || k->found ? rc : try_dirs(k, k->s->ldso->system, err);
}

/* Loads `name` for the object `by`; *found false: it is nowhere. */
static int load(struct needs *s, const char *name, size_t by, bool *found,
		struct redoma_error *err)
{
	CLEANUP_FREE struct lookup *k = calloc(1, sizeof(*k));
	enum build_found what = BUILD_NONE;
	int rc;

	if (!k)
		return err_nomem(err, WHERE);
	k->s = s;
	k->name = name;
	rc = look_up(k, by, err);
	*found = !rc && k->found;
	if (rc || !k->found)
		return rc;
	if (!k->known)
		rc = build_path(s->build, k->path, true, &what, NULL, err);
	if (!rc && !k->known && !s->rpath)
		rc = remember(s, k->path, err);
	if (rc) {
		elf_done(&k->elf);
		return rc;
	}
	return push(s, name, k->path, &k->elf, by, err);
}

static int missing(const struct needs *s, const char *by, const char *name,
		   struct redoma_error *err)
{
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "%s needs the library %s, which is %s; install it",
		       SHOW(str_of(by)), SHOW(str_of(name)),
		       s->musl ? "not in /lib or /usr/lib"
			       : "nowhere that ld.so looks");
}

/* Loads what the objects from `first` on need, and what that needs. */
static int load_all(struct needs *s, size_t first, bool must,
		    struct redoma_error *err)
{
	int rc = 0;

	for (size_t i = first; !rc && i < s->n; i++)
		for (size_t j = 0; !rc && j < s->objects[i].elf.n_needed; j++) {
			const char *name = s->objects[i].elf.needed[j];
			bool found = true;

			if (!is_loaded(s, name))
				rc = load(s, name, i, &found, err);
			if (!rc && !found && must)
				rc = missing(s, s->objects[i].name, name, err);
		}
	return rc;
}

/* Libraries that glibc opens by itself when it needs them: to end a thread, to
 * look up users. */
static int load_own(struct needs *s, struct redoma_error *err)
{
	static const char *const names[] = {"libgcc_s.so.1",
					    "libnss_files.so.2"};
	size_t before = s->n;
	int rc = 0;

	if (!is_loaded(s, "libc.so.6"))
		return 0;
	for (size_t i = 0; !rc && i < sizeof(names) / sizeof(*names); i++) {
		bool found;

		if (!is_loaded(s, names[i]))
			rc = load(s, names[i], 0, &found, err);
	}
	return rc ? rc : load_all(s, before, false, err);
}

static int load_interp(struct needs *s, const char *program,
		       const char *interp, struct redoma_error *err)
{
	const char *slash = strrchr(interp, '/');
	enum build_found what = BUILD_NONE;
	char real[PATH_MAX];
	struct elf e;
	int rc;

	if (interp[0] != '/' || build_moves(interp))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s asks for the loader %s, which cannot be "
			       "shown in a jail at that place",
			       SHOW(str_of(program)), SHOW(str_of(interp)));
	rc = build_path(s->build, interp, true, &what, real, err);
	if (!rc && what != BUILD_FILE)
		rc = err_set(err, REDOMA_E_INVALID, WHERE,
			     "%s asks for the loader %s, which is missing; "
			     "install the C library it was built for",
			     SHOW(str_of(program)), SHOW(str_of(interp)));
	if (!rc)
		rc = needs_read(s->ldso, real, &e, err);
	if (rc)
		return rc;
	s->musl = !strncmp(slash + 1, "ld-musl-", 8);
	return push(s, slash + 1, real, &e, 0, err);
}

int needs_program(struct needs *s, const char *real, struct elf *elf,
		  struct redoma_error *err)
{
	enum build_found what;
	CLEANUP_FREE char *interp = elf->interp ? strdup(elf->interp) : NULL;
	bool dynamic = elf->interp;
	int rc;

	drop_from(s, 0);
	s->musl = s->rpath = false;
	rc = push(s, real, real, elf, 0, err);
	if (rc || !dynamic)
		return rc;
	if (!interp)
		return err_nomem(err, WHERE);
	rc = load_interp(s, real, interp, err);
	if (!rc)
		rc = load_all(s, 0, true, err);
	if (!rc)
		rc = load_own(s, err);
	if (!rc && s->cache)
		rc = build_path(s->build, "/etc/ld.so.cache", false, &what,
				NULL, err);
	return rc;
}

int needs_module(struct needs *s, const char *path, struct redoma_error *err)
{
	CLEANUP_FREE struct lookup *k = calloc(1, sizeof(*k));
	enum build_found what;
	size_t before = s->n;
	bool rpath = s->rpath;
	int rc;

	if (!k)
		return err_nomem(err, WHERE);
	k->s = s;
	k->name = path;
	if (!before || strlen(path) >= sizeof(k->path))
		return 0;
	strcpy(k->path, path);
	rc = try_file(k, err);
	if (rc || !k->found)
		return rc;
	rc = push(s, path, path, &k->elf, 0, err);
	if (!rc)
		rc = load_all(s, before, false, err);
	drop_from(s, before);
	s->rpath = rpath;
	if (!rc && s->cache)
		rc = build_path(s->build, "/etc/ld.so.cache", false, &what,
				NULL, err);
	return rc;
}
