/* Any bytes as an ELF file: refused with a sentence, or read into names that
 * are whole strings within their caps. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *s)
{
	if (s && (!s[0] || strlen(s) >= ELF_NAME_MAX))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_input in = {.bytes = data, .size = size, .fd = -1};
	struct redoma_error err = {0};
	struct elf e = {0};
	int rc = elf_read(&in, "input", &e, &err);

	if (rc) {
		if (rc != REDOMA_E_INVALID || !err.text[0] || e.needed)
			abort();
		return 0;
	}
	if (e.n_needed > ELF_NEEDED_MAX || (e.n_needed && !e.dynamic))
		abort();
	check(e.interp);
	check(e.soname);
	check(e.rpath);
	check(e.runpath);
	for (size_t i = 0; i < e.n_needed; i++) {
		if (!e.needed[i])
			abort();
		check(e.needed[i]);
	}
	elf_done(&e);
	return 0;
}
