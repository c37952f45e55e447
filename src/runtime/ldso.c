#include "runtime/ldso.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"

#define WHERE "runtime"
#define INCLUDES_MAX 8 /* one file within another */

struct machine {
	const char *name; /* as uname(2) calls it */
	const char *shown;
	uint16_t number;
	const char *system[5], *plain[5]; /* with multiarch, without */
	const char *lib;		  /* $LIB with multiarch */
};

static const struct machine machines[] = {
	{"x86_64", "x86-64", EM_X86_64,
	 {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib",
	  "/usr/lib", NULL},
	 {"/lib64", "/usr/lib64", "/lib", "/usr/lib", NULL},
	 "lib/x86_64-linux-gnu"},
	{"aarch64", "AArch64", EM_AARCH64,
	 {"/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib",
	  "/usr/lib", NULL},
	 {"/lib64", "/usr/lib64", "/lib", "/usr/lib", NULL},
	 "lib/aarch64-linux-gnu"},
	{"riscv64", "RISC-V", EM_RISCV,
	 {"/lib/riscv64-linux-gnu", "/usr/lib/riscv64-linux-gnu", "/lib",
	  "/usr/lib", NULL},
	 {"/lib64/lp64d", "/usr/lib64/lp64d", "/lib", "/usr/lib", NULL},
	 "lib/riscv64-linux-gnu"},
	{"i686", "x86", EM_386, {NULL}, {NULL}, NULL},
	{"arm", "ARM", EM_ARM, {NULL}, {NULL}, NULL},
	{"ppc64le", "POWER", EM_PPC64, {NULL}, {NULL}, NULL},
	{"s390x", "IBM Z", EM_S390, {NULL}, {NULL}, NULL},
};
#define MACHINES (sizeof(machines) / sizeof(*machines))

const char *ldso_machine(uint16_t machine)
{
	for (size_t i = 0; i < MACHINES; i++)
		if (machines[i].number == machine)
			return machines[i].shown;
	return "another machine";
}

static void choose(struct ldso *l)
{
	struct utsname u;
	struct stat st;

	if (uname(&u))
		return;
	for (size_t i = 0; i < MACHINES; i++) {
		const struct machine *m = &machines[i];
		bool multi = m->lib && !stat(m->system[0], &st);

		if (strcmp(m->name, u.machine) || !m->lib)
			continue;
		l->machine = m->number;
		l->platform = m->name;
		l->lib = multi ? m->lib : "lib64";
		memcpy(l->system, multi ? m->system : m->plain,
		       sizeof(l->system));
	}
}

static int read_conf(struct ldso *l, const char *path, int depth,
		     struct redoma_error *err);

/* Every file of a directory whose name matches, in order of names.  (glob(3) of
 * glibc frees twice when memory runs out.) */
static int include_matching(struct ldso *l, const char *dir,
			    const char *pattern, int depth,
			    struct redoma_error *err)
{
	struct dirent **names = NULL;
	int n = scandir(dir, &names, NULL, alphasort);
	char path[PATH_MAX];
	int rc = 0;

	if (n < 0 && err_is_shortage(errno))
		return err_sys(err, WHERE, "read %s", SHOW(str_of(dir)));
	for (int i = 0; i < n; i++) {
		int len = snprintf(path, sizeof(path), "%s/%s", dir,
				   names[i]->d_name);

		if (!rc && len > 0 && len < (int)sizeof(path) &&
		    !fnmatch(pattern, names[i]->d_name, FNM_PERIOD))
			rc = read_conf(l, path, depth + 1, err);
		free(names[i]);
	}
	free(names);
	return rc;
}

static int include(struct ldso *l, const char *from, const char *pattern,
		   int depth, struct redoma_error *err)
{
	const char *slash = strrchr(from, '/');
	char path[PATH_MAX], *last;
	int n;

	n = pattern[0] == '/' || !slash
		    ? snprintf(path, sizeof(path), "%s", pattern)
		    : snprintf(path, sizeof(path), "%.*s/%s",
			       (int)(slash - from), from, pattern);
	last = strrchr(path, '/');
	if (n < 0 || n >= (int)sizeof(path) || !last)
		return 0;
	*last = '\0';
	return include_matching(l, path, last + 1, depth, err);
}

static int add_dir(struct ldso *l, char *dir, struct redoma_error *err)
{
	size_t n = strcspn(dir, "= \t"); /* "DIR=TYPE" of old times */

	dir[n] = '\0';
	while (n > 1 && dir[n - 1] == '/')
		dir[--n] = '\0';
	if (dir[0] != '/' || n >= PATH_MAX)
		return 0;
	if (l->n_conf == LDSO_DIRS_MAX)
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "ld.so.conf names more than %d directories",
			       LDSO_DIRS_MAX);
	l->conf[l->n_conf] = strdup(dir);
	if (!l->conf[l->n_conf])
		return err_nomem(err, WHERE);
	l->n_conf++;
	return 0;
}

static int read_line(struct ldso *l, const char *path, char *line, int depth,
		     struct redoma_error *err)
{
	char *word, *next = NULL;
	size_t n;
	int rc = 0;

	line[strcspn(line, "#")] = '\0';
	line += strspn(line, " \t\r");
	n = strcspn(line, " \t\r");
	if (n == 7 && !memcmp(line, "include", n)) {
		for (word = strtok_r(line + n, " \t\r", &next); !rc && word;
		     word = strtok_r(NULL, " \t\r", &next))
			rc = include(l, path, word, depth, err);
		return rc;
	}
	if (!strncmp(line, "hwcap", 5))
		return 0;
	for (word = strtok_r(line, ":,\r", &next); !rc && word;
	     word = strtok_r(NULL, ":,\r", &next)) {
		word += strspn(word, " \t");
		rc = add_dir(l, word, err);
	}
	return rc;
}

static int read_conf(struct ldso *l, const char *path, int depth,
		     struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf text = {0};
	CLEANUP_FD int fd = -1;
	char *line, *next = NULL;
	int rc;

	if (depth > INCLUDES_MAX)
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "%s is included too deeply",
			       SHOW(str_of(path)));
	fd = fd_lift(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	if (fd < 0 && err_is_shortage(errno))
		return err_sys(err, WHERE, "open %s", SHOW(str_of(path)));
	if (fd < 0)
		return 0; /* the loader does without it, too */
	rc = fd_read_all(fd, LDSO_TEXT_MAX, path, &text, err);
	if (rc || !text.data)
		return rc;
	for (line = strtok_r(text.data, "\n", &next); !rc && line;
	     line = strtok_r(NULL, "\n", &next))
		rc = read_line(l, path, line, depth, err);
	return rc;
}

int ldso_read(struct ldso *l, const char *path, struct redoma_error *err)
{
	return read_conf(l, path, 0, err);
}

int ldso_init(struct ldso *ret, struct redoma_error *err)
{
	int rc;

	*ret = (struct ldso){0};
	choose(ret);
	if (!ret->machine)
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "native programs do not run on a machine of "
			       "this kind");
	/* What ldconfig did not put into its cache is not found by the loader
	 * either. */
	if (access("/etc/ld.so.cache", R_OK))
		return 0;
	rc = read_conf(ret, "/etc/ld.so.conf", 0, err);
	if (rc)
		ldso_done(ret);
	return rc;
}

void ldso_done(struct ldso *l)
{
	for (size_t i = 0; i < l->n_conf; i++)
		free(l->conf[i]);
	l->n_conf = 0;
}

/* The text that a token at p stands for, or NULL; *ret_n: its length. */
static const char *expand(const struct ldso *l, const char *p,
			  const char *origin, size_t *ret_n)
{
	const struct {
		const char *name, *text;
	} tokens[] = {
		{"$ORIGIN", origin},	   {"${ORIGIN}", origin},
		{"$LIB", l->lib},	   {"${LIB}", l->lib},
		{"$PLATFORM", l->platform}, {"${PLATFORM}", l->platform},
	};

	for (size_t i = 0; i < sizeof(tokens) / sizeof(*tokens); i++) {
		size_t n = strlen(tokens[i].name);

		if (strncmp(p, tokens[i].name, n))
			continue;
		*ret_n = n;
		return tokens[i].text;
	}
	return NULL;
}

static void expand_all(const struct ldso *l, struct str part,
		       const char *origin, char ret[PATH_MAX])
{
	size_t at = 0, i = 0;

	while (i < part.len) {
		size_t n = 1, add = 1;
		const char *text = part.p + i;

		if (part.p[i] == '$') {
			text = expand(l, part.p + i, origin, &n);
			add = text ? strlen(text) : 0;
		}
		if (!text || add >= PATH_MAX - at) {
			at = 0;
			break;
		}
		memcpy(ret + at, text, add);
		at += add;
		i += n;
	}
	ret[at] = '\0';
	if (ret[0] != '/')
		ret[0] = '\0';
}

bool ldso_nth(const struct ldso *l, const char *list, size_t n,
	      const char *origin, char ret[PATH_MAX])
{
	struct str part;

	while (n--) {
		list = strchr(list, ':');
		if (!list)
			return false;
		list++;
	}
	part = (struct str){list, strcspn(list, ":")};
	expand_all(l, part, origin, ret);
	return true;
}
