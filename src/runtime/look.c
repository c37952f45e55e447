#include "runtime/look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "runtime/build.h"
#include "runtime/program.h"

#define WHERE "runtime"
#define LINKS_MAX 40

static const char *const inside_dirs[] = {
	"/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin",
	"/sbin", NULL};

struct look {
	const struct root *root;
	char at[PATH_MAX];   /* inside, without links */
	char host[PATH_MAX]; /* where that is; "": a directory the root makes */
	char rest[PATH_MAX];
	int links;
};

static const struct root_entry *find(const struct root *r, const char *guest)
{
	size_t low = 0, high = r->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = strcmp(r->entries[mid].guest, guest);

		if (!c)
			return &r->entries[mid];
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* True if something lies below, so that the directory is made. */
static bool is_parent(const struct root *r, const char *guest)
{
	size_t n = strlen(guest);

	for (size_t i = 0; i < r->n; i++)
		if (!strncmp(r->entries[i].guest, guest, n) &&
		    r->entries[i].guest[n] == '/')
			return true;
	return false;
}

static bool follow(struct look *k, const char *text)
{
	char rest[PATH_MAX];
	int n = snprintf(rest, sizeof(rest), "%s%s%s", text,
			 k->rest[0] ? "/" : "", k->rest);

	if (n < 0 || n >= (int)sizeof(rest) || ++k->links > LINKS_MAX)
		return false;
	memcpy(k->rest, rest, (size_t)n + 1);
	if (text[0] == '/')
		k->at[0] = '\0';
	else
		*strrchr(k->at, '/') = '\0';
	return true;
}

/* Below a directory of the host. */
static bool step_host(struct look *k, const struct root_entry *dir)
{
	char text[PATH_MAX];
	struct stat st;
	ssize_t n = snprintf(k->host, sizeof(k->host), "%s%s", dir->host,
			     k->at + strlen(dir->guest));

	if (n < 0 || n >= (ssize_t)sizeof(k->host) || lstat(k->host, &st))
		return false;
	if (!S_ISLNK(st.st_mode))
		return true;
	n = readlink(k->host, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return follow(k, text);
}

static const struct root_entry *find_dir_above(const struct look *k)
{
	char name[PATH_MAX];
	char *slash;

	snprintf(name, sizeof(name), "%s", k->at);
	while ((slash = strrchr(name, '/')) && slash != name) {
		const struct root_entry *e;

		*slash = '\0';
		e = find(k->root, name);
		if (e && e->kind == ROOT_DIR)
			return e;
	}
	return NULL;
}

static bool step(struct look *k, const char *name)
{
	const struct root_entry *e;
	size_t at = strlen(k->at);
	int n;

	k->host[0] = '\0';
	if (!strcmp(name, "."))
		return true;
	if (!strcmp(name, "..")) {
		char *slash = strrchr(k->at, '/');

		if (slash)
			*slash = '\0';
		return true;
	}
	n = snprintf(k->at + at, PATH_MAX - at, "/%s", name);
	if (n < 0 || (size_t)n >= PATH_MAX - at)
		return false;
	e = find(k->root, k->at);
	if (e && e->kind == ROOT_LINK)
		return follow(k, e->host);
	if (e && (e->kind == ROOT_FILE || e->kind == ROOT_DIR)) {
		snprintf(k->host, sizeof(k->host), "%s", e->host);
		return true;
	}
	if (e)
		return e->kind == ROOT_EMPTY;
	e = find_dir_above(k);
	return e ? step_host(k, e) : is_parent(k->root, k->at);
}

bool look_up(const struct root *r, const char *path, char host[PATH_MAX])
{
	struct look look = {.root = r}, *k = &look;
	char name[NAME_MAX + 1];
	bool ok = path[0] == '/' && strlen(path) < PATH_MAX;

	if (!ok)
		return false;
	strcpy(k->rest, path);
	while (ok) {
		size_t skip = strspn(k->rest, "/");
		size_t n = strcspn(k->rest + skip, "/");

		if (!n)
			break;
		ok = n <= NAME_MAX;
		snprintf(name, sizeof(name), "%.*s", ok ? (int)n : 0,
			 k->rest + skip);
		memmove(k->rest, k->rest + skip + n,
			strlen(k->rest + skip + n) + 1);
		ok = ok && step(k, name);
	}
	if (ok && k->host[0])
		memcpy(host, k->host, PATH_MAX);
	return ok && k->host[0];
}

static int refuse_absent(const char *command, const char *roots,
			 struct redoma_error *err)
{
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "the command %s is not in the root (native.root: %s); "
		       "name one that is, or another root",
		       SHOW(str_of(command)), SHOW(str_of(roots)));
}

static int find_command(const struct root *r, const char *command,
			const char *roots, char ret[PATH_MAX],
			struct redoma_error *err)
{
	char path[PATH_MAX], host[PATH_MAX];

	if (strchr(command, '/')) {
		int rc = program_find(command, inside_dirs, path, err);

		if (rc)
			return rc;
		if (look_up(r, path, host)) {
			memcpy(ret, path, sizeof(path));
			return 0;
		}
		if (!build_guest(path, ret) && look_up(r, ret, host))
			return 0;
		return refuse_absent(command, roots, err);
	}
	for (size_t i = 0; inside_dirs[i]; i++) {
		int n = snprintf(path, sizeof(path), "%s/%s", inside_dirs[i],
				 command);

		if (n > 0 && n < (int)sizeof(path) && look_up(r, path, host)) {
			memcpy(ret, path, sizeof(path));
			return 0;
		}
	}
	return refuse_absent(command, roots, err);
}

/* Whoever may write to the file, or to a directory on its way, decides what
 * runs.  In a sticky directory others can replace nothing that is there. */
static int check_way(const char *host, struct redoma_error *err)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s", host);
	for (char *slash; path[0]; *slash = '\0') {
		if (stat(path, &st))
			return err_sys(err, WHERE, "native.root: look at %s",
				       SHOW(str_of(path)));
		if (st.st_mode & 0002 &&
		    !(S_ISDIR(st.st_mode) && st.st_mode & S_ISVTX))
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "native.root: %s may be changed by "
				       "others, and what is to run depends on "
				       "it; chmod o-w",
				       SHOW(str_of(path)));
		slash = strrchr(path, '/');
	}
	return 0;
}

/* `roots` that is no list of runtimes is one directory of somebody's. */
static int check_host(const char *host, const char *roots,
		      struct redoma_error *err)
{
	return strncmp(roots, "runtime:", 8) ? check_way(host, err) : 0;
}

static int check_script(const struct root *r, const char *path, char *interp,
			const char *roots, struct redoma_error *err)
{
	char host[PATH_MAX];

	interp[strcspn(interp, " \t")] = '\0';
	if (look_up(r, interp, host))
		return check_host(host, roots, err);
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "the script %s asks for the interpreter %s, which is "
		       "not in the root; add its runtime to native.root",
		       SHOW(str_of(path)), SHOW(str_of(interp)));
}

static int check_loader(const struct root *r, const char *path,
			const char *loader, const char *roots,
			struct redoma_error *err)
{
	char host[PATH_MAX];

	if (look_up(r, loader, host))
		return check_host(host, roots, err);
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "%s asks for the loader %s, which is not in the "
		       "root; add the C library it was built for",
		       SHOW(str_of(path)), SHOW(str_of(loader)));
}

int look_command(const struct root *r, const struct ldso *l,
		 const char *command, const char *roots, char ret[PATH_MAX],
		 struct redoma_error *err)
{
	CLEANUP(program_done) struct program p = {0};
	char path[PATH_MAX], host[PATH_MAX];
	int rc = find_command(r, command, roots, path, err);

	if (!rc && !look_up(r, path, host))
		rc = refuse_absent(command, roots, err);
	if (!rc)
		rc = check_host(host, roots, err);
	if (!rc)
		rc = program_read(l, host, &p, err);
	if (!rc && p.interp)
		rc = check_script(r, path, p.interp, roots, err);
	if (!rc && p.elf.interp)
		rc = check_loader(r, path, p.elf.interp, roots, err);
	if (!rc)
		memcpy(ret, path, sizeof(path));
	return rc;
}
