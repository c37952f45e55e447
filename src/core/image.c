#include "core/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/json.h"
#include "core/image_place.h"

#define WHERE "image"
#define ABOUT_MAX ((size_t)64 << 10)
#define MEMORY_MAX ((uint64_t)2 << 30)

static bool is_path(const char *name)
{
	return strchr(name, '/') != NULL;
}

static int unknown(const char *name, struct redoma_error *err)
{
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "there is no image \"%.60s\": the images are py and "
		       "data",
		       name);
}

static int not_installed(const char *dir, struct redoma_error *err)
{
	return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
		       "the data image is not installed (%.100s): "
		       "redoma image add data",
		       dir);
}

int image_trusted(int fd, const char *what, struct redoma_error *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_sys(err, WHERE, "look at %s", what);
	if ((st.st_uid == geteuid() || !st.st_uid) && !(st.st_mode & 022))
		return 0;
	return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
		       "%.120s may be written by others than you: "
		       "redoma image remove data, then add it again",
		       what);
}

static int read_about(int dir, struct image *ret, struct redoma_error *err)
{
	CLEANUP_FD int fd = openat(dir, IMAGE_ABOUT,
				   O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	CLEANUP(json_cleanup) struct json_doc *doc = NULL;
	CLEANUP(buf_done) struct buf text = {0};
	int r;

	if (fd < 0)
		return err_sys(err, WHERE, "open " IMAGE_ABOUT);
	r = image_trusted(fd, IMAGE_ABOUT, err);
	if (!r)
		r = fd_read_all(fd, ABOUT_MAX, IMAGE_ABOUT, &text, err);
	if (!r)
		r = json_parse(text.data ? text.data : "", text.len, &doc,
			       err);
	if (!r && (!json_u64(json_member(json_root(doc), "memory_bytes"),
			     &ret->memory_bytes) ||
		   ret->memory_bytes > MEMORY_MAX))
		r = err_set(err, REDOMA_E_INVALID, WHERE,
			    "it does not say how much memory it has");
	return r;
}

/* What is wrong with an image that is there says how to have a right one. */
static int damaged(const struct redoma_error *why, struct redoma_error *err)
{
	if (why->code == REDOMA_E_UNSUPPORTED) {
		if (err)
			*err = *why;
		return why->code;
	}
	return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
		       "the data image is damaged (%.110s): redoma image add "
		       "data makes it anew",
		       why->text);
}

static int look(const char *place, struct image *ret, struct redoma_error *err)
{
	CLEANUP_FD int dir = fd_lift(open(place, O_RDONLY | O_DIRECTORY |
						   O_CLOEXEC | O_NOFOLLOW));
	CLEANUP_FD int fd = -1;
	struct redoma_error why = {0};
	int r, n;

	if (dir < 0)
		return not_installed(place, err);
	fd = fd_lift(openat(dir, IMAGE_FILE,
			    O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
	if (fd < 0)
		return not_installed(place, err);
	r = image_trusted(dir, place, &why);
	if (!r)
		r = image_trusted(fd, IMAGE_FILE, &why);
	if (!r)
		r = read_about(dir, ret, &why);
	if (r)
		return damaged(&why, err);
	n = snprintf(ret->path, sizeof ret->path, "%s/" IMAGE_FILE, place);
	if (n < 0 || n >= (int)sizeof ret->path)
		return not_installed(place, err);
	return 0;
}

/* By what the source imports, and silently: without the image the interpreter
 * of the standard one says what there is. */
static int by_imports(const struct lang *lang, struct str source,
		      struct image *ret)
{
	char place[PATH_ROOM];

	if (strcmp(lang->name, "py") || !lang_imports_packages(source) ||
	    image_place("data", place, NULL) || look(place, ret, NULL))
		ret->path[0] = '\0';
	return 0;
}

int image_choose(const char *name, const struct lang *lang, struct str source,
		 struct image *ret, struct redoma_error *err)
{
	char place[PATH_ROOM];
	int r = 0;

	ret->path[0] = '\0';
	if (!name)
		return by_imports(lang, source, ret);
	if (strcmp(lang->name, "py"))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "an image is chosen for py only; leave it out "
			       "for %s",
			       lang->name);
	if (!strcmp(name, "py"))
		return 0;
	if (is_path(name))
		return look(name, ret, err);
	if (strcmp(name, "data"))
		return unknown(name, err);
	r = image_place(name, place, err);
	return r ? r : look(place, ret, err);
}

int image_unfit(void *data, const struct redoma_error *why, int *ret_fd,
		struct redoma_error *err)
{
	(void)data;
	(void)ret_fd;
	return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
		       "the data image was made by another build or for "
		       "another CPU (it %.70s): redoma image add data makes it "
		       "anew",
		       why->text);
}
