/* runtime/elf.h - what a 64-bit little-endian ELF file says it needs.
 *
 * The file is hostile: every offset, size and count is checked against the
 * file's size and a cap before use; nothing is mapped or executed.
 *
 * Sources: elf(5), System V ABI chapters 4 and 5, ld.so(8). */
#ifndef RUNTIME_ELF_H
#define RUNTIME_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

#define ELF_PARTS_MAX 256     /* program headers */
#define ELF_DYNAMIC_MAX 4096u /* entries of the dynamic section */
#define ELF_NEEDED_MAX 256
#define ELF_NAME_MAX 4096 /* bytes of one string, its NUL included */

struct elf {
	uint16_t type;	  /* ET_EXEC, ET_DYN, ... */
	uint16_t machine; /* EM_* */
	bool dynamic;	  /* it has a dynamic section */
	/* All owned; NULL: it has none. */
	char *interp, *soname, *rpath, *runpath;
	char **needed;
	size_t n_needed;
};

/* Where the bytes come from: memory, or with bytes NULL a file. */
struct elf_input {
	const void *bytes; /* borrowed, `size` of them */
	uint64_t size;
	int fd;
};

/* True if the file begins as ELF files do. */
bool elf_is(const void *start, size_t n);
/* REDOMA_E_INVALID: not ELF, not of this class and byte order, or damaged; the
 * sentence calls the file `name`. */
MUST_CHECK int elf_read(const struct elf_input *in, const char *name,
			struct elf *ret, struct redoma_error *err);
void elf_done(struct elf *e);

#endif
