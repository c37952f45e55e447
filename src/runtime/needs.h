/* runtime/needs.h - what the dynamic loader would open for a program: its
 * interpreter and libraries, found in the loader's order (ld.so(8)):
 * DT_RPATH of the object and of those that loaded it, DT_RUNPATH, ld.so.conf,
 * the built-in directories.  A name is loaded once a program, whoever asks. */
#ifndef RUNTIME_NEEDS_H
#define RUNTIME_NEEDS_H

#include "runtime/build.h"
#include "runtime/elf.h"
#include "runtime/ldso.h"

#define NEEDS_OBJECTS_MAX 1024

struct object {
	char *name; /* owned; as it was asked for */
	char *dir;  /* owned; what $ORIGIN stands for */
	struct elf elf;
	size_t parent; /* who loaded it; the program: itself */
};

struct needs { /* all zero but build and ldso is empty */
	struct build *build;	 /* borrowed */
	const struct ldso *ldso; /* borrowed */
	struct object *objects;	 /* owned: of the program at hand */
	size_t n, room;
	char **known; /* owned: libraries whose own needs are in the root */
	size_t n_known, room_known;
	bool rpath; /* an object at hand says where its libraries look */
	bool musl;
	bool cache; /* something was found by ld.so.conf only */
};

/* Reads the file at an absolute path; like elf_read, but REDOMA_E_UNSUPPORTED
 * with a sentence for a machine that this one is not. */
MUST_CHECK int needs_read(const struct ldso *l, const char *path,
			  struct elf *ret, struct redoma_error *err);
/* Adds all that the program needs; it is at `real`, a path without links, and
 * was read into `elf`, which is taken (also on failure).  A library that is
 * missing is REDOMA_E_UNSUPPORTED. */
MUST_CHECK int needs_program(struct needs *s, const char *real,
			     struct elf *elf, struct redoma_error *err);
/* Adds what a module needs that the last program may load while it runs; what
 * is missing, or no library at all, is passed over. */
MUST_CHECK int needs_module(struct needs *s, const char *path,
			    struct redoma_error *err);
void needs_done(struct needs *s);

#endif
