#include "runtime/make.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "runtime/program.h"
#include "runtime/python.h"
#include "runtime/scan.h"
#include "runtime/user.h"

#define WHERE "runtime"
#define DEPTH_MAX 4 /* scripts whose interpreter is a script, as the kernel */

/* The command that env(1) starts is looked up by execvp(3), which without a
 * PATH has these. */
static const char *const env_dirs[] = {"/bin", "/usr/bin", NULL};

int make_init(struct make *m, struct redoma_error *err)
{
	*m = (struct make){0};
	m->needs.build = &m->build;
	m->needs.ldso = &m->ldso;
	return ldso_init(&m->ldso, err);
}

void make_done(struct make *m)
{
	needs_done(&m->needs);
	build_done(&m->build);
	ldso_done(&m->ldso);
}

static int add_program(struct make *m, const char *path, int depth,
		       char guest[PATH_MAX], struct redoma_error *err);

/* What env starts: the first word that is no option and no variable. */
static int add_by_env(struct make *m, const char *script, char *words,
		      int depth, struct redoma_error *err)
{
	char path[PATH_MAX], *word, *next = NULL;
	struct redoma_error why;

	word = strtok_r(words, " \t", &next);
	while (word && (word[0] == '-' || strchr(word, '=')))
		word = strtok_r(NULL, " \t", &next);
	if (!word)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the script %s names env but nothing to start",
			       SHOW(str_of(script)));
	if (program_find(word, env_dirs, path, &why))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the script %s is started by env with %s, which "
			       "is not in /bin or /usr/bin, where env looks",
			       SHOW(str_of(script)), SHOW(str_of(word)));
	return add_program(m, path, depth + 1, NULL, err);
}

static int add_script(struct make *m, const char *path, char *interp,
		      int depth, struct redoma_error *err)
{
	size_t n = strcspn(interp, " \t");
	bool more = interp[n] != '\0';
	const char *slash;
	int rc;

	interp[n] = '\0';
	if (depth >= DEPTH_MAX || build_moves(interp))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the script %s asks for the interpreter %s, "
			       "which cannot be shown in a jail at that place",
			       SHOW(str_of(path)), SHOW(str_of(interp)));
	if (access(interp, F_OK) && (errno == ENOENT || errno == ENOTDIR))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "there is no program %s, which the script %s "
			       "asks for in its first line; install it, or "
			       "change that line",
			       SHOW(str_of(interp)), SHOW(str_of(path)));
	rc = add_program(m, interp, depth + 1, NULL, err);
	slash = strrchr(interp, '/');
	if (!rc && !strcmp(slash, "/env"))
		rc = add_by_env(m, path, interp + n + more, depth, err);
	return rc;
}

static int add_tools(struct make *m, const struct row *row, int depth,
		     struct redoma_error *err)
{
	char path[PATH_MAX];
	int rc = 0;

	for (size_t i = 0; !rc && row->tools[i]; i++) {
		struct redoma_error why;

		if (program_find(row->tools[i], program_dirs, path, NULL))
			continue;
		rc = add_program(m, path, depth + 1, NULL, &why);
		/* One that cannot run here is not there. */
		if (rc == REDOMA_E_INVALID || rc == REDOMA_E_UNSUPPORTED)
			rc = 0;
		else if (rc && err)
			*err = why;
	}
	return rc;
}

static int add_row(struct make *m, const struct row *row, int depth,
		   struct redoma_error *err)
{
	unsigned bit = 1u << (row - rows);
	enum build_found found;
	int rc = 0;

	if (m->rows_made & bit)
		return 0;
	m->rows_made |= bit;
	for (size_t i = 0; !rc && row->paths[i]; i++)
		rc = build_path(&m->build, row->paths[i], false, &found, NULL,
				err);
	return rc ? rc : add_tools(m, row, depth, err);
}

static int add_needs(struct make *m, struct program *p, const char *real,
		     int depth, struct redoma_error *err)
{
	const struct row *row = rows_of_program(p->path);
	int rc;

	if (p->interp)
		return add_script(m, p->path, p->interp, depth, err);
	if (!row)
		row = rows_of_program(real);
	rc = needs_program(&m->needs, real, &p->elf, err);
	if (!rc && row && row->python)
		rc = python_add(m, p->path, real, err);
	return rc || !row ? rc : add_row(m, row, depth, err);
}

static int add_program(struct make *m, const char *path, int depth,
		       char guest[PATH_MAX], struct redoma_error *err)
{
	CLEANUP(program_done) struct program p = {0};
	enum build_found found;
	char real[PATH_MAX];
	int rc = program_read(&m->ldso, path, &p, err);

	if (!rc)
		rc = build_path(&m->build, p.path, true, &found, real, err);
	if (rc)
		return rc;
	if (found != BUILD_FILE || (guest && build_guest(p.path, guest)))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s cannot be reached by its name",
			       SHOW(str_of(p.path)));
	return add_needs(m, &p, real, depth, err);
}

int make_program(struct make *m, const char *path, char guest[PATH_MAX],
		 struct redoma_error *err)
{
	return add_program(m, path, 0, guest, err);
}

int make_find(const struct row *row, char ret[PATH_MAX],
	      struct redoma_error *err)
{
	for (size_t i = 0; row->commands[i]; i++)
		if (!program_find(row->commands[i], program_dirs, ret, NULL))
			return 0;
	return program_find(row->name, program_dirs, ret, err);
}

int make_path(struct make *m, const char *path, struct redoma_error *err)
{
	enum build_found found = BUILD_NONE;
	char real[PATH_MAX];
	int rc = build_path(&m->build, path, true, &found, real, err);

	if (rc)
		return rc;
	if (found == BUILD_FILE)
		return needs_module(&m->needs, real, err);
	if (found == BUILD_DIR)
		return scan_modules(m, real, real, err);
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "%s is not a file or directory that exists",
		       SHOW(str_of(path)));
}

static int make_user(struct make *m, const char *name, char guest[PATH_MAX],
		     struct redoma_error *err)
{
	CLEANUP(user_row_done) struct user_row row = {0};
	char dir[PATH_MAX];
	bool found = false;
	int rc = user_dir(dir, err);

	if (!rc)
		rc = user_read(dir, name, &row, &found, err);
	if (rc)
		return rc;
	if (!found)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "there is no runtime %s; `redoma runtime list` "
			       "names those there are",
			       SHOW(str_of(name)));
	rc = make_program(m, row.program, guest, err);
	for (size_t i = 0; !rc && i < row.n_files; i++)
		rc = make_path(m, row.files[i], err);
	return rc;
}

int make_runtime(struct make *m, const char *name, char guest[PATH_MAX],
		 struct redoma_error *err)
{
	const struct row *row = rows_find(name);
	char path[PATH_MAX];
	int rc;

	if (!row)
		return make_user(m, name, guest, err);
	rc = make_find(row, path, err);
	return rc ? rc : make_program(m, path, guest, err);
}

int make_etc(struct make *m, struct redoma_error *err)
{
	static const struct {
		const char *name, *text;
	} files[] = {
		{"/etc/passwd",
		 "guest:x:1000:1000:guest:/tmp:/bin/sh\n"
		 "nobody:x:65534:65534:nobody:/tmp:/bin/false\n"},
		{"/etc/group", "guest:x:1000:\nnogroup:x:65534:\n"},
		{"/etc/nsswitch.conf",
		 "passwd: files\ngroup: files\nhosts: files\n"},
		{"/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"},
	};
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(files) / sizeof(*files); i++)
		rc = build_add(&m->build, ROOT_TEXT, files[i].name,
			       files[i].text, err);
	return rc;
}
