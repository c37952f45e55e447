#include "runtime/user.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"
#include "policy/read.h"
#include "policy/tree.h"
#include "runtime/rows.h"

#define WHERE "runtime"
#define SUFFIX ".yaml"
#define ROWS_MAX 4096

int user_dir(char ret[PATH_MAX], struct redoma_error *err)
{
	struct passwd pw, *found = NULL;
	char room[4096];
	int sys, n;

	do {
		sys = getpwuid_r(geteuid(), &pw, room, sizeof(room), &found);
	} while (sys == EINTR);
	errno = sys;
	if (err_is_shortage(sys))
		return err_sys(err, WHERE, "look up the home of the user");
	ret[0] = '\0';
	if (!found || !found->pw_dir || found->pw_dir[0] != '/')
		return 0;
	n = snprintf(ret, PATH_MAX, "%s/.config/redoma/runtimes",
		     found->pw_dir);
	if (n < 0 || n >= PATH_MAX)
		ret[0] = '\0';
	return 0;
}

const char *user_name_flaw(const char *name)
{
	size_t n = strlen(name);

	if (!n || n > USER_NAME_MAX)
		return "must have 1 to 64 characters";
	if (name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
			      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")] ||
	    name[0] == '.' || name[0] == '-')
		return "must be letters, digits, and - _ . but not first";
	return NULL;
}

void user_row_done(struct user_row *row)
{
	for (size_t i = 0; i < row->n_files; i++)
		free(row->files[i]);
	free(row->files);
	free(row->program);
	*row = (struct user_row){0};
}

static int read_path(const struct tree *v, const char *what, char **ret,
		     struct redoma_error *err)
{
	struct str s;
	int rc = read_scalar(v, what, &s, err);

	if (rc)
		return rc;
	if (s.p[0] != '/' || s.len >= PATH_MAX)
		return tree_refuse(v, err, "%s %s: write a whole path, from /",
				   what, SHOW(s));
	return read_copy(s, ret, err);
}

static int read_program(void *into, const struct tree *v,
			struct redoma_error *err)
{
	struct user_row *row = into;

	return read_path(v, "program", &row->program, err);
}

static int read_file(void *into, const struct tree *v,
		     struct redoma_error *err)
{
	struct user_row *row = into;
	char **p = row->files;
	int rc;

	if (row->n_files >= USER_FILES_MAX)
		return tree_refuse(v, err, "more than %d files; name "
				   "directories", USER_FILES_MAX);
	p = reallocarray(p, row->n_files + 2, sizeof(*p));
	if (!p)
		return err_nomem(err, WHERE);
	row->files = p;
	p[row->n_files + 1] = p[row->n_files] = NULL;
	rc = read_path(v, "files", &p[row->n_files], err);
	row->n_files += !rc;
	return rc;
}

static int read_files(void *into, const struct tree *v,
		      struct redoma_error *err)
{
	return read_list(v, "files", read_file, into, err);
}

static int parse(const char *path, const struct buf *text,
		 struct user_row *row, struct redoma_error *err)
{
	static const struct field fields[] = {{"program", read_program},
					      {"files", read_files},
					      {0}};
	CLEANUP(tree_cleanup) struct tree *tree = NULL;
	struct redoma_error why = {0};
	int rc = tree_parse(text->data ? text->data : "", text->len, &tree,
			    &why);

	if (!rc && (!tree || tree->kind != TREE_MAP))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s holds no program: NAME", SHOW(str_of(path)));
	if (!rc)
		rc = read_map(tree, "runtime", fields, row, &why);
	if (rc)
		return err_set(err, rc, WHERE, "%s: %.130s",
			       SHOW(str_of(path)), why.text);
	if (!row->program)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s names no program", SHOW(str_of(path)));
	return 0;
}

static int open_row(const char *path, int *ret_fd, struct redoma_error *err)
{
	CLEANUP_FD int fd = fd_lift(
		open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
	struct stat st;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0 || fstat(fd, &st))
		return err_sys(err, WHERE, "open %s", SHOW(str_of(path)));
	if (!S_ISREG(st.st_mode) || st.st_mode & 0022 ||
	    (st.st_uid != geteuid() && st.st_uid != 0))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s is not a file that only you may change; "
			       "chmod go-w, or remove it",
			       SHOW(str_of(path)));
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int user_read(const char *dir, const char *name, struct user_row *ret,
	      bool *found, struct redoma_error *err)
{
	CLEANUP(user_row_done) struct user_row row = {0};
	CLEANUP(buf_done) struct buf text = {0};
	CLEANUP_FD int fd = -1;
	char path[PATH_MAX];
	int rc, n = snprintf(path, sizeof(path), "%s/%s" SUFFIX, dir, name);

	*found = false;
	if (!dir[0] || user_name_flaw(name) || n < 0 ||
	    n >= (int)sizeof(path))
		return 0;
	rc = open_row(path, &fd, err);
	if (rc || fd < 0)
		return rc;
	rc = fd_read_all(fd, TREE_TEXT_MAX, path, &text, err);
	if (!rc)
		rc = parse(path, &text, &row, err);
	if (rc)
		return rc;
	*found = true;
	*ret = row;
	row = (struct user_row){0};
	return 0;
}

static int print_row(const struct user_row *row, struct buf *b)
{
	int bad = buf_add(b, "program: ", 9) ||
		  json_put_string(b, row->program, strlen(row->program)) ||
		  buf_add(b, "\n", 1);

	if (row->n_files)
		bad = bad || buf_add(b, "files:\n", 7);
	for (size_t i = 0; !bad && i < row->n_files; i++)
		bad = buf_add(b, "  - ", 4) ||
		      json_put_string(b, row->files[i],
				      strlen(row->files[i])) ||
		      buf_add(b, "\n", 1);
	return bad;
}

static int make_dirs(const char *dir, struct redoma_error *err)
{
	char path[PATH_MAX];
	char *slash = path;

	snprintf(path, sizeof(path), "%s/", dir);
	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			return err_sys(err, WHERE,
				       "make the directory %s, where runtimes "
				       "are kept (the home is that of the user "
				       "database, HOME is not read)",
				       SHOW(str_of(path)));
		*slash = '/';
	}
	return 0;
}

/* Whole or not at all: it is linked to its name when it is written. */
static int put(const char *dir, const char *path, const struct buf *b,
	       struct redoma_error *err)
{
	char from[64];
	CLEANUP_FD int fd = fd_lift(
		open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));

	if (fd < 0)
		return err_sys(err, WHERE, "write into %s", SHOW(str_of(dir)));
	snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	if (fd_write_all(fd, b->data, b->len) || fsync(fd))
		return err_sys(err, WHERE, "write %s", SHOW(str_of(path)));
	if (!linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW))
		return 0;
	if (errno == EEXIST)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "there is such a runtime: remove %s first",
			       SHOW(str_of(path)));
	return err_sys(err, WHERE, "write %s", SHOW(str_of(path)));
}

int user_write(const char *dir, const char *name, const struct user_row *row,
	       struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	char path[PATH_MAX];
	int n, rc;

	n = snprintf(path, sizeof(path), "%s/%s" SUFFIX, dir, name);
	if (!dir[0] || n < 0 || n >= (int)sizeof(path))
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "this user has no home to keep runtimes in");
	rc = make_dirs(dir, err);
	if (rc)
		return rc;
	if (print_row(row, &b))
		return err_nomem(err, WHERE);
	return put(dir, path, &b, err);
}

static int is_row(const struct dirent *d)
{
	struct str s = str_of(d->d_name);

	return s.len > strlen(SUFFIX) && str_ends(s, STR(SUFFIX));
}

int user_names(const char *dir, char ***ret, struct redoma_error *err)
{
	struct dirent **found = NULL;
	int n = dir[0] ? scandir(dir, &found, is_row, alphasort) : 0;
	char **names;
	size_t kept = 0;

	if (n < 0 && err_is_shortage(errno))
		return err_sys(err, WHERE, "read %s", SHOW(str_of(dir)));
	n = n < 0 ? 0 : n;
	names = calloc((size_t)n + 1, sizeof(*names));
	for (int i = 0; i < n; i++) {
		char *name = found[i]->d_name;

		name[strlen(name) - strlen(SUFFIX)] = '\0';
		if (names && kept < ROWS_MAX && !user_name_flaw(name) &&
		    !rows_find(name))
			names[kept] = strdup(name);
		kept += names && names[kept];
		free(found[i]);
	}
	free(found);
	if (!names)
		return err_nomem(err, WHERE);
	*ret = names;
	return 0;
}
