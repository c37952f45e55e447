/* runtime/program.h - from the name of a command to a file that can be
 * started: an ELF program of this machine or a script with "#!". */
#ifndef RUNTIME_PROGRAM_H
#define RUNTIME_PROGRAM_H

#include <limits.h>
#include "runtime/elf.h"
#include "runtime/ldso.h"

struct program {
	char *path;   /* owned; absolute, as it was named */
	char *interp; /* owned; a script: what follows "#!".  NULL: ELF */
	struct elf elf;
};

/* Where commands without a slash are looked up, in this order; ends with
 * NULL.  The environment has no say. */
extern const char *const program_dirs[];
/* The absolute path of a command: a name is looked up in program_dirs, a path
 * is made absolute.  REDOMA_E_INVALID: there is none. */
MUST_CHECK int program_find(const char *command, const char *const *dirs,
			    char ret[PATH_MAX], struct redoma_error *err);
/* A path made absolute, from the current directory. */
MUST_CHECK int program_absolute(const char *path, char ret[PATH_MAX],
				struct redoma_error *err);
/* Reads what is at an absolute path; a shim of pyenv is replaced by what it
 * stands for.  Errors are sentences: missing, a directory, not executable (for
 * a root: by the others that the jail runs as), another machine, no program. */
MUST_CHECK int program_read(const struct ldso *l, const char *path,
			    struct program *ret, struct redoma_error *err);
void program_done(struct program *p);

#endif
