/* The standard library as frozen modules; the file is written by
 * deps/python_pack.py. */
#include <stdlib.h>
#include <string.h>
#include "guest.h"

enum kind {
	KIND_MODULE,
	KIND_PACKAGE,
	KIND_DATA, /* sorted behind the others */
};

struct row {
	uint32_t at, len, kind, name;
};

/* Aligned for its rows. */
_Alignas(8) static const unsigned char library[] = {
#embed LIBRARY_FILE
};

static const struct row *rows(uint32_t *ret_n)
{
	memcpy(ret_n, library + 4, 4);
	return (const struct row *)(library + 8);
}

static const char *name_of(const struct row *r)
{
	return (const char *)library + r->name;
}

void library_offer(void)
{
	uint32_t n;
	const struct row *r = rows(&n);
	struct _frozen *table = calloc(n + 1, sizeof(*table));

	if (!table || memcmp(library, "RPYL", 4))
		__builtin_trap();
	for (uint32_t i = 0; i < n && r[i].kind != KIND_DATA; i++)
		table[i] = (struct _frozen){
			.name = name_of(&r[i]),
			.code = library + r[i].at,
			.size = (int)r[i].len,
			.is_package = r[i].kind == KIND_PACKAGE,
		};
	PyImport_FrozenModules = table;
}

static const struct row *first_data(uint32_t *ret_n)
{
	const struct row *r = rows(ret_n);

	while (*ret_n && r->kind != KIND_DATA) {
		r++;
		--*ret_n;
	}
	return r;
}

bool library_data(const char *name, const void **ret, size_t *ret_len)
{
	uint32_t n;
	const struct row *r = first_data(&n);

	for (; n; n--, r++) {
		if (strcmp(name_of(r), name))
			continue;
		*ret = library + r->at;
		*ret_len = r->len;
		return true;
	}
	return false;
}

const char *library_data_name(size_t i)
{
	uint32_t n;
	const struct row *r = first_data(&n);

	return i < n ? name_of(&r[i]) : NULL;
}
