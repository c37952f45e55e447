#include "runtime/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "runtime/look.h"
#include "runtime/make.h"
#include "runtime/program.h"
#include "runtime/python.h"
#include "runtime/tree_root.h"
#include "runtime/user.h"

#define WHERE "runtime"
#define ROOTS_MAX 32
#define ROOTS_TEXT_MAX 64

struct wish { /* what a root is for */
	const char *command;
	const char *const *roots; /* NULL or empty: chosen by the command */
	const char *language;	  /* with a bootstrap; or NULL */
	const char *bootstrap_dir;
};

/* The row that a plain name means: its runtime, or its command. */
static const struct row *row_of_command(const char *command)
{
	for (size_t i = 0; rows[i].name; i++)
		if (rows_means(&rows[i], command))
			return &rows[i];
	return NULL;
}

/* No root was named: the command is the whole of it. */
static int add_chosen(struct make *m, const char *command,
		      char guest[PATH_MAX], struct redoma_error *err)
{
	CLEANUP(user_row_done) struct user_row user = {0};
	const struct row *row = row_of_command(command);
	char path[PATH_MAX];
	bool found = false;
	int rc;

	if (!row && !strchr(command, '/')) {
		rc = user_dir(path, err);
		if (!rc)
			rc = user_read(path, command, &user, &found, err);
		if (rc)
			return rc;
	}
	if (found)
		return make_runtime(m, command, guest, err);
	if (!row || !program_find(command, program_dirs, path, NULL))
		rc = program_find(command, program_dirs, path, err);
	else
		rc = make_find(row, path, err);
	return rc ? rc : make_program(m, path, guest, err);
}

struct named { /* the runtimes among policy's roots */
	char text[ROOTS_TEXT_MAX]; /* all of them, for sentences */
	char guest[PATH_MAX];	   /* of the one that the command means */
	bool whole;		   /* a directory is the root */
};

/* A user's row is also meant by the commands of what it starts: `python3`, and
 * the language of that, by a virtual environment. */
static bool means(const char *name, const char *guest, const char *command)
{
	const struct row *row = rows_find(name);

	if (!row)
		row = rows_of_program(guest);
	return !strcmp(name, command) || (row && rows_means(row, command));
}

static int add_named(struct make *m, const char *root, const char *command,
		     struct named *n, struct redoma_error *err)
{
	char guest[PATH_MAX];
	int rc;

	if (!strncmp(root, "oci:", 4)) {
		n->whole = true;
		return tree_root_add_oci(&m->build, root + 4, err);
	}
	if (strncmp(root, "runtime:", 8)) {
		n->whole = true;
		return tree_root_add(&m->build, root, err);
	}
	rc = make_runtime(m, root + 8, guest, err);
	if (!rc && !n->guest[0] && means(root + 8, guest, command))
		memcpy(n->guest, guest, sizeof(guest));
	return rc;
}

static int add_all_named(struct make *m, const struct wish *w, struct named *n,
			 struct redoma_error *err)
{
	size_t i, at = 0;
	int rc = 0;

	for (i = 0; !rc && w->roots[i]; i++) {
		int len = snprintf(n->text + at, sizeof(n->text) - at, "%s%s",
				   i ? ", " : "", w->roots[i]);

		at += (size_t)len < sizeof(n->text) - at ? (size_t)len : 0;
		if (i == ROOTS_MAX)
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "native.root names more than %d roots",
				       ROOTS_MAX);
		rc = add_named(m, w->roots[i], w->command, n, err);
	}
	if (!rc && n->whole && i > 1)
		rc = err_set(err, REDOMA_E_INVALID, WHERE,
			     "native.root: a directory is a whole root and "
			     "cannot be joined with others; name it alone");
	return rc;
}

static int add_bootstrap(struct make *m, const struct wish *w,
			 struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf text = {0};
	CLEANUP_FD int fd = -1;
	char path[PATH_MAX], guest[64];
	int rc, n;

	n = snprintf(path, sizeof(path), "%s/bootstrap.%s", w->bootstrap_dir,
		     w->language);
	if (n < 0 || n >= (int)sizeof(path))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the path %s is too long",
			       SHOW(str_of(w->bootstrap_dir)));
	fd = fd_lift(open(path, O_RDONLY | O_CLOEXEC));
	if (fd < 0)
		return err_sys(err, WHERE, "open %s", SHOW(str_of(path)));
	rc = fd_read_all(fd, BUILD_TEXT_MAX, path, &text, err);
	if (rc)
		return rc;
	if (!text.data || strlen(text.data) != text.len)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s is empty or holds a NUL; install it again",
			       SHOW(str_of(path)));
	snprintf(guest, sizeof(guest), "/redoma/bootstrap.%s", w->language);
	return build_add(&m->build, ROOT_TEXT, guest, text.data, err);
}

/* Everything but the choice of the program inside: `guest` is "" where the
 * finished root has to be asked for it. */
static int add_parts(struct make *m, const struct wish *w, struct named *n,
		     struct redoma_error *err)
{
	int rc = w->roots && w->roots[0]
			 ? add_all_named(m, w, n, err)
			 : add_chosen(m, w->command, n->guest, err);

	if (!rc && w->language)
		rc = add_bootstrap(m, w, err);
	/* A whole root has an /etc of its own. */
	return rc || n->whole ? rc : make_etc(m, err);
}

static int set_program(struct root *r, const struct ldso *l,
		       const struct wish *w, const struct named *n,
		       struct redoma_error *err)
{
	char path[PATH_MAX];
	int rc = 0;

	if (n->guest[0])
		memcpy(path, n->guest, sizeof(path));
	else
		rc = look_command(r, l, w->command, n->text, path, err);
	if (rc)
		return rc;
	r->program = strdup(path);
	r->bootstrap = w->language ? strdup(w->language) : NULL;
	return r->program && !w->language == !r->bootstrap
		       ? 0
		       : err_nomem(err, WHERE);
}

static int build_root(const struct wish *w, struct root *ret,
		      struct redoma_error *err)
{
	CLEANUP_FREE struct named *n = calloc(1, sizeof(*n));
	CLEANUP(root_cleanup) struct root r = {0};
	CLEANUP(make_done) struct make m = {0};
	int rc = n ? make_init(&m, err) : err_nomem(err, WHERE);

	if (!rc)
		rc = add_parts(&m, w, n, err);
	if (!rc)
		rc = build_end(&m.build, &r, err);
	if (!rc)
		rc = set_program(&r, &m.ldso, w, n, err);
	if (!rc)
		rc = build_digest(&r, err);
	if (rc)
		return rc;
	*ret = r;
	r = (struct root){0};
	return 0;
}

int runtime_root(const char *command, const char *const *roots,
		 struct root *ret, struct redoma_error *err)
{
	struct wish w = {.command = command, .roots = roots};

	return build_root(&w, ret, err);
}

int runtime_language(const char *language, const char *bootstrap_dir,
		     const char *const *roots, struct root *ret,
		     struct redoma_error *err)
{
	const struct row *row = rows_language(language);
	struct wish w = {.roots = roots,
			 .language = language,
			 .bootstrap_dir = bootstrap_dir};
	char path[PATH_MAX];

	if (!row)
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "no native runtime runs the language %s; there "
			       "are js and py",
			       SHOW(str_of(language)));
	w.command = row->name;
	if (!(roots && roots[0]) && make_find(row, path, NULL))
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "this machine has no %s in /usr/local/bin, "
			       "/usr/bin or /bin; install it",
			       row->name);
	return build_root(&w, ret, err);
}
