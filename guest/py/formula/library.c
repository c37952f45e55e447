/* The modules that the helpers import, before the snapshot; the file is that of
 * ../library.c.  Nothing is imported afterwards, and the file leaves. */
#include <stdlib.h>
#include <string.h>
#include "formula.h"

#define KIND_PACKAGE 1
#define KIND_DATA 2

struct row {
	uint32_t at, len, kind, name;
};

_Alignas(8) static unsigned char library[] = {
#embed LIBRARY_FILE
};

static struct _frozen *offered;

void library_offer(void)
{
	const struct row *r = (const struct row *)(library + 8);
	uint32_t n;

	memcpy(&n, library + 4, 4);
	offered = calloc(n + 1, sizeof(*offered));
	if (!offered || memcmp(library, "RPYL", 4))
		__builtin_trap();
	for (uint32_t i = 0; i < n && r[i].kind != KIND_DATA; i++)
		offered[i] = (struct _frozen){
			.name = (const char *)library + r[i].name,
			.code = library + r[i].at,
			.size = (int)r[i].len,
			.is_package = r[i].kind == KIND_PACKAGE,
		};
	PyImport_FrozenModules = offered;
}

void library_drop(void)
{
	PyImport_FrozenModules = NULL;
	free(offered);
	memset(library, 0, sizeof(library));
}
