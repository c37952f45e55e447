#include "runtime/tree_root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"

#define WHERE "runtime"
#define CONFIG_MAX ((size_t)4 << 20)

static void dir_cleanup(DIR **d)
{
	if (*d)
		closedir(*d);
}

static int refuse(const char *path, const char *why, struct redoma_error *err)
{
	return err_set(err, REDOMA_E_INVALID, WHERE, "native.root: %s %s",
		       SHOW(str_of(path)), why);
}

/* Sticky or not: who may add a name to a root adds it to what runs. */
static int check_mode(const char *path, const struct stat *st,
		      struct redoma_error *err)
{
	if (st->st_mode & 0022)
		return refuse(path,
			      "may be changed by others than its owner, so its "
			      "programs are not to be trusted; chmod go-w",
			      err);
	return 0;
}

static int check_dir(const char *dir, struct redoma_error *err)
{
	struct stat st;

	if (stat(dir, &st) && errno == ENOENT)
		return refuse(dir, "does not exist; name a directory", err);
	if (stat(dir, &st))
		return err_sys(err, WHERE, "native.root: look at %s",
			       SHOW(str_of(dir)));
	if (!S_ISDIR(st.st_mode))
		return refuse(dir, "is not a directory; name one", err);
	return check_mode(dir, &st, err);
}

static int add_link(struct build *b, const char *host, const char *guest,
		    struct redoma_error *err)
{
	char text[PATH_MAX];
	ssize_t n = readlink(host, text, sizeof(text) - 1);

	if (n <= 0)
		return err_sys(err, WHERE, "read the link %s",
			       SHOW(str_of(host)));
	text[n] = '\0';
	return build_add(b, ROOT_LINK, guest, text, err);
}

static int add_name(struct build *b, const char *dir, const char *name,
		    struct redoma_error *err)
{
	char host[PATH_MAX], guest[NAME_MAX + 2];
	struct stat st;
	int rc = 0, n;

	snprintf(guest, sizeof(guest), "/%s", name);
	n = snprintf(host, sizeof(host), "%s%s", dir, guest);
	if (n < 0 || n >= (int)sizeof(host))
		return refuse(dir, "has too long a name in it", err);
	if (build_moves(guest))
		return 0;
	if (lstat(host, &st))
		return err_sys(err, WHERE, "native.root: look at %s",
			       SHOW(str_of(host)));
	if (S_ISLNK(st.st_mode))
		return add_link(b, host, guest, err);
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return 0;
	rc = check_mode(host, &st, err);
	if (!rc)
		rc = build_add(b, S_ISDIR(st.st_mode) ? ROOT_DIR : ROOT_FILE,
			       guest, host, err);
	if (!rc)
		b->entries[b->n - 1].exec = true;
	return rc;
}

int tree_root_add(struct build *b, const char *dir, struct redoma_error *err)
{
	CLEANUP_FREE char *real = NULL;
	CLEANUP(dir_cleanup) DIR *d = NULL;
	size_t before = b->n;
	struct dirent *e;
	int rc = check_dir(dir, err);

	if (rc)
		return rc;
	real = realpath(dir, NULL);
	d = real ? opendir(real) : NULL;
	if (!d)
		return err_sys(err, WHERE, "native.root: open %s",
			       SHOW(str_of(dir)));
	while (!rc && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			rc = add_name(b, real, e->d_name, err);
	if (!rc && b->n == before)
		rc = refuse(dir, "is empty; name a directory that holds a "
				 "root: bin, lib, usr", err);
	return rc;
}

/* root.path of config.json (OCI runtime specification, config.md). */
static int read_root_path(const char *dir, char ret[PATH_MAX],
			  struct redoma_error *err)
{
	CLEANUP(json_cleanup) struct json_doc *doc = NULL;
	CLEANUP(buf_done) struct buf text = {0};
	const struct json_value *root;
	CLEANUP_FD int fd = -1;
	char path[PATH_MAX];
	const char *name;
	struct stat st;
	size_t len = 0;
	int rc, n;

	snprintf(path, sizeof(path), "%s/config.json", dir);
	fd = fd_lift(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	if (fd < 0)
		return err_sys(err, WHERE, "native.root: open %s",
			       SHOW(str_of(path)));
	if (fstat(fd, &st))
		return err_sys(err, WHERE, "native.root: look at %s",
			       SHOW(str_of(path)));
	rc = check_mode(path, &st, err);
	if (!rc)
		rc = fd_read_all(fd, CONFIG_MAX, path, &text, err);
	if (!rc && json_parse(text.data ? text.data : "", text.len, &doc, NULL))
		rc = refuse(path, "is not JSON; unpack the image again", err);
	if (rc)
		return rc;
	root = json_member(json_root(doc), "root");
	name = json_string(json_member(root, "path"), &len);
	if (!name || !len || strlen(name) != len || name[0] == '/' ||
	    strstr(name, ".."))
		return refuse(path, "names no root.path below its bundle; "
				    "unpack the image again", err);
	n = snprintf(ret, PATH_MAX, "%s/%s", dir, name);
	if (n < 0 || n >= PATH_MAX)
		return refuse(dir, "has too long a name in it", err);
	return 0;
}

/* A link in a bundle must not make another directory of the host the root. */
static int check_inside(const char *root, const char *dir,
			struct redoma_error *err)
{
	CLEANUP_FREE char *in = realpath(root, NULL);
	CLEANUP_FREE char *top = in ? realpath(dir, NULL) : NULL;
	size_t n = top ? strlen(top) : 0;

	if (!top && errno == ENOENT)
		return refuse(root, "does not exist; name a directory", err);
	if (!top)
		return err_sys(err, WHERE, "native.root: look at %s",
			       SHOW(str_of(root)));
	if (!strncmp(in, top, n) && in[n] == '/')
		return 0;
	return refuse(root, "is not below its bundle; unpack the image again",
		      err);
}

static bool has(const char *dir, const char *name)
{
	char path[PATH_MAX + 32];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !stat(path, &st);
}

int tree_root_add_oci(struct build *b, const char *dir,
		      struct redoma_error *err)
{
	char root[PATH_MAX];
	int rc;

	if (strlen(dir) > PATH_MAX - 32)
		return refuse(dir, "is too long", err);
	rc = check_dir(dir, err);
	if (rc)
		return rc;
	if (!has(dir, "config.json") && has(dir, "index.json"))
		return refuse(dir, "is an image whose layers are packed; "
				   "unpack it (umoci unpack --image DIR:TAG "
				   "BUNDLE) and name oci:BUNDLE", err);
	if (!has(dir, "config.json"))
		return refuse(dir, "is no bundle: it has no config.json; a "
				   "plain directory is named without oci:",
			      err);
	rc = read_root_path(dir, root, err);
	if (!rc)
		rc = check_inside(root, dir, err);
	return rc ? rc : tree_root_add(b, root, err);
}
