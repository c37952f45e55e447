#include "runtime/program.h"

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
#include "runtime/needs.h"

#define WHERE "runtime"
#define FIRST_LINE_MAX 256 /* as the kernel's BINPRM_BUF_SIZE */
#define VERSION_MAX 4096

const char *const program_dirs[] = {"/usr/local/bin", "/usr/bin", "/bin",
				    NULL};

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && st.st_mode & 0111;
}

/* Takes "//" and "/./" out, in place. */
static void drop_dots(char *path)
{
	size_t from = 0, to = 0;

	while (path[from]) {
		bool skip = path[from] == '/' &&
			    (path[from + 1] == '/' ||
			     (path[from + 1] == '.' &&
			      (path[from + 2] == '/' || !path[from + 2])));

		if (skip)
			from += path[from + 1] == '/' ? 1 : 2;
		else
			path[to++] = path[from++];
	}
	path[to] = '\0';
}

/* ".." is taken out by asking the kernel for the directory's own name. */
static int drop_parents(char path[PATH_MAX], struct redoma_error *err)
{
	char *slash = strrchr(path, '/');
	CLEANUP_FREE char *real = NULL;
	char name[NAME_MAX + 1];
	int n;

	if (!strstr(path, "/../"))
		return 0;
	snprintf(name, sizeof(name), "%s", slash + 1);
	*slash = '\0';
	real = realpath(path, NULL);
	if (!real)
		return err_sys(err, WHERE, "find the directory %s",
			       SHOW(str_of(path)));
	n = snprintf(path, PATH_MAX, "%s/%s", strcmp(real, "/") ? real : "",
		     name);
	return n < PATH_MAX ? 0
			    : err_set(err, REDOMA_E_INVALID, WHERE,
				      "the path %s is too long",
				      SHOW(str_of(path)));
}

int program_absolute(const char *command, char ret[PATH_MAX],
		     struct redoma_error *err)
{
	CLEANUP_FREE char *cwd = command[0] == '/' ? NULL : getcwd(NULL, 0);
	char path[PATH_MAX];
	int n, rc;

	if (command[0] != '/' && !cwd)
		return err_sys(err, WHERE, "find the current directory");
	n = snprintf(path, sizeof(path), "%s%s%s", cwd ? cwd : "",
		     cwd ? "/" : "", command);
	if (n < 0 || n >= (int)sizeof(path))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the path %s is too long",
			       SHOW(str_of(command)));
	drop_dots(path);
	rc = drop_parents(path, err);
	if (!rc)
		memcpy(ret, path, sizeof(path));
	return rc;
}

int program_find(const char *command, const char *const *dirs,
		 char ret[PATH_MAX], struct redoma_error *err)
{
	char path[PATH_MAX];

	if (!command[0])
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the command is empty; name a program");
	if (strchr(command, '/'))
		return program_absolute(command, ret, err);
	for (size_t i = 0; dirs[i]; i++) {
		int n = snprintf(path, sizeof(path), "%s/%s", dirs[i], command);

		if (n > 0 && n < (int)sizeof(path) && is_program(path)) {
			memcpy(ret, path, (size_t)n + 1);
			return 0;
		}
	}
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "there is no program %s in %s%s%s%s%s; install it or "
		       "name its path",
		       SHOW(str_of(command)), dirs[0], dirs[1] ? ", " : "",
		       dirs[1] ? dirs[1] : "", dirs[1] && dirs[2] ? ", " : "",
		       dirs[1] && dirs[2] ? dirs[2] : "");
}

/* What a process of the jail may do with a file of this user's. */
static const char *find_flaw(const struct stat *st)
{
	bool is_ours = st->st_uid == geteuid() && geteuid() != 0;

	if (S_ISDIR(st->st_mode))
		return "is a directory; name a program";
	if (!S_ISREG(st->st_mode))
		return "is not a regular file; name a program";
	if (!(st->st_mode & 0111))
		return "is not executable; set its mode with chmod +x";
	if (!is_ours && (st->st_mode & 0005) != 0005)
		return "may not be read and executed by others, and in a jail "
		       "it runs as another user; chmod o+rx";
	if (is_ours && (st->st_mode & 0500) != 0500)
		return "may not be read and executed by its owner; chmod u+rx";
	return NULL;
}

static int open_program(const char *path, int *ret_fd, uint64_t *ret_size,
			struct redoma_error *err)
{
	CLEANUP_FD int fd =
		fd_lift(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	const char *flaw;
	struct stat st;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "there is no program %s", SHOW(str_of(path)));
	if (fd < 0 && errno == EACCES)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the program %s may not be read by you; name "
			       "another or change its mode",
			       SHOW(str_of(path)));
	if (fd < 0 || fstat(fd, &st))
		return err_sys(err, WHERE, "open the program %s",
			       SHOW(str_of(path)));
	flaw = find_flaw(&st);
	if (flaw)
		return err_set(err, REDOMA_E_INVALID, WHERE, "%s %s",
			       SHOW(str_of(path)), flaw);
	*ret_fd = TAKE_FD(fd);
	*ret_size = (uint64_t)st.st_size;
	return 0;
}

static int read_script(const char *path, char *line, char **ret,
		       struct redoma_error *err)
{
	size_t n = strcspn(line, "\n");
	char *end = line + n;

	if (n == FIRST_LINE_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the first line of %s is too long for a script",
			       SHOW(str_of(path)));
	*end = '\0';
	line += 2;
	line += strspn(line, " \t");
	line[strcspn(line, "\r")] = '\0';
	while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	if (line[0] != '/')
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the script %s names no interpreter by its "
			       "whole path in its first line",
			       SHOW(str_of(path)));
	*ret = strdup(line);
	return *ret ? 0 : err_nomem(err, WHERE);
}

/* A file that may be missing. */
static int read_file(const char *path, struct buf *out,
		     struct redoma_error *err)
{
	CLEANUP_FD int fd =
		fd_lift(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));

	if (fd < 0 && err_is_shortage(errno))
		return err_sys(err, WHERE, "open %s", SHOW(str_of(path)));
	return fd < 0 ? 0 : fd_read_all(fd, VERSION_MAX, path, out, err);
}

/* DIR/shims/NAME of pyenv is a script that asks pyenv which one to start.
 * DIR/version names it: the first one there that has NAME.  *ret stays "" for
 * any other path. */
static int find_shimmed(const char *path, char ret[PATH_MAX],
			struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf text = {0};
	const char *name = strrchr(path, '/') + 1;
	size_t n = (size_t)(name - 1 - path);
	char at[PATH_MAX], *word, *next = NULL;
	struct stat st;
	int rc, len;

	if (n < 6 || strncmp(path + n - 6, "/shims", 6))
		return 0;
	n -= 6;
	len = snprintf(at, sizeof(at), "%.*s/versions", (int)n, path);
	if (len >= (int)sizeof(at) || stat(at, &st))
		return 0;
	snprintf(at, sizeof(at), "%.*s/version", (int)n, path);
	rc = read_file(at, &text, err);
	if (rc)
		return rc;
	for (word = text.data ? strtok_r(text.data, " \t\r\n", &next) : NULL;
	     word; word = strtok_r(NULL, " \t\r\n", &next)) {
		len = snprintf(at, sizeof(at), "%.*s/versions/%s/bin/%s",
			       (int)n, path, word, name);
		if (len < (int)sizeof(at) && is_program(at)) {
			memcpy(ret, at, (size_t)len + 1);
			return 0;
		}
	}
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "%s is a shim of pyenv, whose chosen version has no "
		       "such program; name the program itself",
		       SHOW(str_of(path)));
}

static int read_program(const struct ldso *l, const char *path,
			struct program *p, struct redoma_error *err)
{
	char start[FIRST_LINE_MAX + 1] = {0};
	struct elf_input in = {.fd = -1};
	CLEANUP_FD int fd = -1;
	ssize_t n;
	int rc = open_program(path, &fd, &in.size, err);

	if (rc)
		return rc;
	n = pread(fd, start, FIRST_LINE_MAX, 0);
	if (n < 0)
		return err_sys(err, WHERE, "read %s", SHOW(str_of(path)));
	if (n >= 2 && !memcmp(start, "#!", 2))
		return read_script(path, start, &p->interp, err);
	if (!elf_is(start, (size_t)n))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s is neither an ELF program nor a script "
			       "that begins with #!",
			       SHOW(str_of(path)));
	rc = needs_read(l, path, &p->elf, err);
	if (!rc && p->elf.type != ET_EXEC && p->elf.type != ET_DYN)
		rc = err_set(err, REDOMA_E_INVALID, WHERE,
			     "%s is an ELF file but not a program",
			     SHOW(str_of(path)));
	return rc;
}

int program_read(const struct ldso *l, const char *path, struct program *ret,
		 struct redoma_error *err)
{
	CLEANUP(program_done) struct program p = {0};
	char other[PATH_MAX] = "";
	int rc = read_program(l, path, &p, err);

	if (!rc && p.interp)
		rc = find_shimmed(path, other, err);
	if (!rc && other[0]) {
		program_done(&p);
		path = other;
		rc = read_program(l, path, &p, err);
	}
	if (rc)
		return rc;
	p.path = strdup(path);
	if (!p.path)
		return err_nomem(err, WHERE);
	*ret = p;
	p = (struct program){0};
	return 0;
}

void program_done(struct program *p)
{
	free(p->path);
	free(p->interp);
	elf_done(&p->elf);
	*p = (struct program){0};
}
