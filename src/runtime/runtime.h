/* runtime/runtime.h - which files make the minimal root of a native program.
 *
 * A runtime is a row of data: names of the program, of what it needs beside
 * its own ELF needs (directories of modules, CA bundle, time zones), and its
 * bootstrap.  There is no shell or compiler in a root unless a row names it.
 * Rows of the user live in ~/.config/redoma/runtimes/NAME.yaml (the home as the
 * user database has it: the library reads no environment variable).
 *
 * Libraries are found by reading ELF headers (DT_NEEDED, DT_RPATH, DT_RUNPATH,
 * PT_INTERP) and ld.so.conf, as ld.so(8) does; nothing is executed. */
#ifndef RUNTIME_RUNTIME_H
#define RUNTIME_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include "base/buf.h"
#include "base/err.h"

enum root_kind { ROOT_FILE, ROOT_DIR, ROOT_LINK, ROOT_TEXT, ROOT_EMPTY };

struct root_entry { /* the same meaning as struct native_entry of jail/ */
	enum root_kind kind;
	bool exec;
	char *guest, *host; /* owned */
};

struct root {
	struct root_entry *entries; /* sorted by guest, no duplicates */
	size_t n;
	char *program;	  /* owned: absolute path inside of what to run */
	char *bootstrap;  /* owned; "js", "py" or NULL: it has none */
	char digest[65];  /* sha256 over all entries, hex */
};

/* The root for `command` (argv[0] of `--native -- cmd`): a known runtime by the
 * command's name, else the program file itself with what its ELF headers name.
 * A name is looked up in /usr/local/bin, /usr/bin and /bin; a path is taken
 * from the current directory; a program of a runtime's name at another path
 * gets the same files beside it.  A file has the same path inside, but for what
 * lies in /tmp and other places of the jail's own: that is below /redoma/host.
 * With roots nothing is added for the command: it must be in them.  A directory
 * is a root alone: its bin, lib, usr ... become those of the guest.
 * `bootstrap` of the result is NULL.
 * `roots` are policy's native.root entries ("runtime:node", "oci:DIR", or a
 * host directory), NULL-terminated; NULL or empty: chosen by the command.
 * Errors are sentences: program missing, not executable, wrong architecture, a
 * script whose interpreter is not in the root, root directory missing or
 * writable by others. */
MUST_CHECK int runtime_root(const char *command, const char *const *roots,
			    struct root *ret, struct redoma_error *err);
/* The root of a language with a bootstrap: "js", "py"; REDOMA_E_UNSUPPORTED if
 * the host has no such interpreter.  `bootstrap_dir` holds bootstrap.js and
 * bootstrap.py. */
MUST_CHECK int runtime_language(const char *language, const char *bootstrap_dir,
				const char *const *roots, struct root *ret,
				struct redoma_error *err);
void root_done(struct root *r);
static inline void root_cleanup(struct root *r)
{
	root_done(r);
}

/* For `redoma runtime list|show|add`. */
struct runtime_info {
	char *name, *program, *version_hint, *origin; /* owned */
	bool available;
	char *why_not; /* owned; NULL if available */
};
MUST_CHECK int runtime_list(struct runtime_info **ret, size_t *ret_n,
			    struct redoma_error *err);
void runtime_list_free(struct runtime_info *list, size_t n);
/* Adds a row of the user's: program and further files or directories. */
MUST_CHECK int runtime_add(const char *name, const char *program,
			   const char *const *more, struct redoma_error *err);

#endif
