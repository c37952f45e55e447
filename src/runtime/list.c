#include "runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "runtime/make.h"
#include "runtime/program.h"
#include "runtime/python.h"
#include "runtime/user.h"

#define WHERE "runtime"

void runtime_list_free(struct runtime_info *list, size_t n)
{
	for (size_t i = 0; list && i < n; i++) {
		free(list[i].name);
		free(list[i].program);
		free(list[i].version_hint);
		free(list[i].origin);
		free(list[i].why_not);
	}
	free(list);
}

/* What the file's name tells, without starting it: "3.11", "dash". */
static int hint_version(const struct row *row, const char *path,
			struct runtime_info *ret, struct redoma_error *err)
{
	char prefix[PATH_MAX], version[PYTHON_VERSION_MAX];
	CLEANUP_FREE char *real = realpath(path, NULL);
	const char *name = real ? strrchr(real, '/') + 1 : NULL;

	if (!name)
		return 0;
	if (row->python)
		name = python_find(real, prefix, version, NULL) ? NULL
								: version;
	else if (rows_means(row, name))
		name = NULL;
	ret->version_hint = name ? strdup(name) : NULL;
	return !name == !ret->version_hint ? 0 : err_nomem(err, WHERE);
}

/* Fills program, available and why_not. */
static int probe(const struct row *row, const char *path,
		 struct runtime_info *ret, struct redoma_error *err)
{
	CLEANUP(root_cleanup) struct root r = {0};
	struct redoma_error why = {0};
	int rc = runtime_root(path, NULL, &r, &why);

	ret->available = !rc;
	ret->program = strdup(path);
	ret->why_not = rc ? strdup(why.text) : NULL;
	if (!ret->program || (rc && !ret->why_not))
		return err_nomem(err, WHERE);
	return row && !rc ? hint_version(row, path, ret, err) : 0;
}

static int fill_built_in(const struct row *row, struct runtime_info *ret,
			 struct redoma_error *err)
{
	struct redoma_error why = {0};
	char path[PATH_MAX];

	ret->name = strdup(row->name);
	ret->origin = strdup("built in");
	if (!ret->name || !ret->origin)
		return err_nomem(err, WHERE);
	if (!make_find(row, path, &why))
		return probe(row, path, ret, err);
	ret->why_not = strdup(why.text);
	return ret->why_not ? 0 : err_nomem(err, WHERE);
}

static int fill_user(const char *dir, const char *name,
		     struct runtime_info *ret, struct redoma_error *err)
{
	CLEANUP(user_row_done) struct user_row row = {0};
	struct redoma_error why = {0};
	char origin[PATH_MAX + USER_NAME_MAX + 8];
	bool found = false;
	int rc = user_read(dir, name, &row, &found, &why);

	snprintf(origin, sizeof(origin), "%s/%s.yaml", dir, name);
	ret->name = strdup(name);
	ret->origin = strdup(origin);
	if (!ret->name || !ret->origin)
		return err_nomem(err, WHERE);
	if (!rc && found)
		return probe(rows_of_program(row.program), row.program, ret,
			     err);
	ret->why_not = strdup(rc ? why.text : "its file is gone");
	return ret->why_not ? 0 : err_nomem(err, WHERE);
}

static void names_cleanup(char ***names)
{
	for (size_t i = 0; *names && (*names)[i]; i++)
		free((*names)[i]);
	free(*names);
}

int runtime_list(struct runtime_info **ret, size_t *ret_n,
		 struct redoma_error *err)
{
	CLEANUP(names_cleanup) char **names = NULL;
	struct runtime_info *list;
	size_t n_rows = 0, n_user = 0, n = 0;
	char dir[PATH_MAX];
	int rc = user_dir(dir, err);

	if (!rc)
		rc = user_names(dir, &names, err);
	if (rc)
		return rc;
	while (rows[n_rows].name)
		n_rows++;
	while (names[n_user])
		n_user++;
	list = calloc(n_rows + n_user, sizeof(*list));
	if (!list)
		return err_nomem(err, WHERE);
	for (; !rc && n < n_rows; n++)
		rc = fill_built_in(&rows[n], &list[n], err);
	for (; !rc && n < n_rows + n_user; n++)
		rc = fill_user(dir, names[n - n_rows], &list[n], err);
	if (rc) {
		runtime_list_free(list, n);
		return rc;
	}
	*ret = list;
	*ret_n = n;
	return 0;
}

static int check_row(const char *name, const struct user_row *row,
		     struct redoma_error *err)
{
	CLEANUP(make_done) struct make m = {0};
	const char *flaw = user_name_flaw(name);
	int rc = 0;

	if (flaw)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the name %s of a runtime %s",
			       SHOW(str_of(name)), flaw);
	for (size_t i = 0; rows[i].name; i++)
		if (!strcmp(rows[i].name, name) || rows_means(&rows[i], name))
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "the runtime %s is built in; choose "
				       "another name",
				       name);
	rc = make_init(&m, err);
	if (!rc)
		rc = make_program(&m, row->program, NULL, err);
	for (size_t i = 0; !rc && i < row->n_files; i++)
		rc = make_path(&m, row->files[i], err);
	return rc;
}

int runtime_add(const char *name, const char *program,
		const char *const *more, struct redoma_error *err)
{
	CLEANUP(user_row_done) struct user_row row = {0};
	char path[PATH_MAX], dir[PATH_MAX];
	size_t n = 0;
	int rc = program_find(program, program_dirs, path, err);

	while (more && more[n])
		n++;
	if (!rc && n > USER_FILES_MAX)
		rc = err_set(err, REDOMA_E_INVALID, WHERE,
			     "more than %d files; name directories",
			     USER_FILES_MAX);
	if (rc)
		return rc;
	row.program = strdup(path);
	row.files = calloc(n + 1, sizeof(*row.files));
	if (!row.program || !row.files)
		return err_nomem(err, WHERE);
	for (size_t i = 0; i < n; i++) {
		rc = program_absolute(more[i], path, err);
		if (rc)
			return rc;
		row.files[i] = strdup(path);
		if (!row.files[i])
			return err_nomem(err, WHERE);
		row.n_files++;
	}
	rc = check_row(name, &row, err);
	if (!rc)
		rc = user_dir(dir, err);
	return rc ? rc : user_write(dir, name, &row, err);
}
