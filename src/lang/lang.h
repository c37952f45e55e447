/* lang/lang.h - languages are rows of data: adding one adds no code. */
#ifndef LANG_LANG_H
#define LANG_LANG_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"
#include "policy/profile.h"

#define LANG_SOURCE_MAX ((size_t)1 << 20)  /* text */
#define LANG_MODULE_MAX ((size_t)64 << 20) /* a .wasm module */

struct lang {
	const char *name;	   /* "js" */
	const char *source_name;   /* shown in errors when none was given */
	const char *image;	   /* below images/; NULL: a foreign module */
	const char *image_fuel;	   /* the variant that counts fuel */
	const char *image_wasm;	   /* what both were compiled from */
	const char *const *suffixes; /* NULL-terminated, with the dot */
	const char *interpreter;   /* word of a #! line; NULL: none */
};

/* The image of that profile; only if there is one. */
const char *lang_image(const struct lang *l, enum profile p);
/* By name; NULL: there is none. */
const struct lang *lang_find(const char *name);
/* The same language for formulas, with the image that evaluates batches of
 * them; NULL: it has none. */
const struct lang *lang_formulas(const struct lang *l);
/* What the bytes and the file's name say: the magic of a module wins, then the
 * suffix, then a #! line.  `name` may be NULL.  REDOMA_E_INVALID says which
 * languages there are. */
MUST_CHECK int lang_guess(const char *name, const void *source, size_t len,
			  const struct lang **ret, struct redoma_error *err);
/* Does a line of this Python import a package that only the data image has? */
bool lang_imports_packages(struct str source);
/* Is this source fit to be run: not empty, not too large, text where text is
 * wanted.  REDOMA_E_INVALID. */
MUST_CHECK int lang_check(const struct lang *l, const void *source, size_t len,
			  struct redoma_error *err);

#endif
