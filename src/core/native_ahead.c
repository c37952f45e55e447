#include "core/native_ahead.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)

/* What one needs of the others is in its list, so that few kinds of jails are
 * kept.  The first that is named and fits counts. */
static const struct {
	const char *language, *word, *ahead;
	uint64_t memory_bytes; /* that all of them take */
} rows[] = {
	{"py", "sklearn", "numpy,pandas,scipy,sklearn", 128 * MIB},
	{"py", "scipy", "numpy,pandas,scipy,sklearn", 128 * MIB},
	{"py", "pandas", "numpy,pandas", 96 * MIB},
	{"py", "numpy", "numpy", 48 * MIB},
};

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c > 127;
}

/* As a word of its own. */
static bool names(const char *text, size_t len, const char *word)
{
	const char *at = text, *end = text + len;
	size_t n = strlen(word);

	while ((at = memmem(at, (size_t)(end - at), word, n))) {
		if ((at == text || !is_of_word(at[-1])) &&
		    (at + n == end || !is_of_word(at[n])))
			return true;
		at += n;
	}
	return false;
}

const char *native_ahead(const char *language, const void *source, size_t len,
			 uint64_t memory_bytes)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(language, rows[i].language) &&
		    memory_bytes >= rows[i].memory_bytes &&
		    names(source, len, rows[i].word))
			return rows[i].ahead;
	return "";
}
