#include "lang/lang.h"

#include <string.h>
#include "base/str.h"

#define WHERE "lang"

static const char *const js_suffixes[] = {".js", ".mjs", ".cjs", NULL};
static const char *const py_suffixes[] = {".py", ".pyw", NULL};
static const char *const wasm_suffixes[] = {".wasm", NULL};

static const struct lang table[] = {
	{"js", "agent.js", "js.cwasm", "js.fuel.cwasm", "js.wasm", js_suffixes,
	 "node"},
	{"py", "agent.py", "py.cwasm", "py.fuel.cwasm", "py.wasm", py_suffixes,
	 "python"},
	{"wasm", "tool.wasm", NULL, NULL, NULL, wasm_suffixes, NULL},
};

/* Languages of formulas, by the same names. */
static const struct lang formulas[] = {
	{"js", "formula", "js-formula.cwasm", "js-formula.fuel.cwasm",
	 "js-formula.wasm", js_suffixes, "node"},
	{"py", "formula", "py-formula.cwasm", "py-formula.fuel.cwasm",
	 "py-formula.wasm", py_suffixes, "python"},
};

#define N_LANGS (sizeof table / sizeof *table)
#define LANGS                                                           \
	"this release runs js (.js, .mjs, .cjs), py (.py) and wasm (.wasm)"

const struct lang *lang_find(const char *name)
{
	size_t i;

	for (i = 0; i < N_LANGS; i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

const struct lang *lang_formulas(const struct lang *l)
{
	size_t i;

	for (i = 0; i < sizeof formulas / sizeof *formulas; i++)
		if (!strcmp(formulas[i].name, l->name))
			return &formulas[i];
	return NULL;
}

const char *lang_image(const struct lang *l, enum profile p)
{
	return profile_has_fuel(p) ? l->image_fuel : l->image;
}

static bool is_module(const void *source, size_t len)
{
	return len >= 4 && !memcmp(source, "\0asm", 4);
}

static const struct lang *by_suffix(const char *name)
{
	struct str s = str_of(name);
	size_t i, j;

	for (i = 0; i < N_LANGS; i++)
		for (j = 0; table[i].suffixes[j]; j++)
			if (str_ends(s, str_of(table[i].suffixes[j])))
				return &table[i];
	return NULL;
}

/* "#!/usr/bin/env node" or "#!/usr/local/bin/node --flag" */
static const struct lang *by_interpreter(const char *p, size_t len)
{
	const char *end;
	size_t i;

	if (len < 2 || p[0] != '#' || p[1] != '!')
		return NULL;
	end = memchr(p, '\n', len);
	len = end ? (size_t)(end - p) : len;
	for (i = 0; i < N_LANGS; i++) {
		const char *word = table[i].interpreter;

		if (word && memmem(p, len, word, strlen(word)))
			return &table[i];
	}
	return NULL;
}

int lang_guess(const char *name, const void *source, size_t len,
	       const struct lang **ret, struct redoma_error *err)
{
	const struct lang *l = NULL;

	if (is_module(source, len))
		l = lang_find("wasm");
	if (!l && name)
		l = by_suffix(name);
	if (!l)
		l = by_interpreter(source, len);
	if (!l && name)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "cannot tell the language of %s: name it with "
			       "--lang (" LANGS ")",
			       SHOW(str_of(name)));
	if (!l)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "no language was named (" LANGS ")");
	*ret = l;
	return 0;
}

static int check_text(const char *p, size_t len, struct redoma_error *err)
{
	const char *nul = memchr(p, '\0', len);
	size_t at = 0;

	if (nul)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the source has a NUL byte at offset %zu: it is "
			       "not text; give a program's text, or a .wasm "
			       "module",
			       (size_t)(nul - p));
	while (at < len) {
		size_t n = str_utf8(p + at, len - at);

		if (!n)
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "the source is not UTF-8 at offset %zu: "
				       "save it as UTF-8",
				       at);
		at += n;
	}
	return 0;
}

int lang_check(const struct lang *l, const void *source, size_t len,
	       struct redoma_error *err)
{
	size_t max = l->image ? LANG_SOURCE_MAX : LANG_MODULE_MAX;

	if (!len)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the source is empty: there is nothing to run");
	if (len > max)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the source has %zu bytes and may have %zu: "
			       "pass data as input or as a granted file",
			       len, max);
	if (!l->image && !is_module(source, len))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "this is not a WebAssembly module: it does not "
			       "begin with \\0asm");
	if (l->image)
		return check_text(source, len, err);
	return 0;
}
