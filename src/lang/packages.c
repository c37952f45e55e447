#include <string.h>

#include "lang/lang.h"

/* Those of the data image that people write at the top of a program. */
static const char *const packages[] = {
	"numpy", "pandas", "scipy", "sklearn", "statsmodels", "matplotlib",
	"seaborn", "PIL", "openpyxl", "xlsxwriter", "xlrd", "pypdf",
	"reportlab", "lxml", "bs4", "yaml", "sympy", "networkx", NULL,
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

static struct str blanks_off(struct str s)
{
	while (s.len && (*s.p == ' ' || *s.p == '\t'))
		s = str_after(s, 1);
	return s;
}

static struct str word_of(struct str s)
{
	struct str w = {s.p, 0};

	while (w.len < s.len && is_word(s.p[w.len]))
		w.len++;
	return w;
}

static bool is_package(struct str w)
{
	for (size_t i = 0; packages[i]; i++)
		if (str_equal(w, str_of(packages[i])))
			return true;
	return false;
}

/* "a as b, c.d": true if one of the modules is in such a package. */
static bool names_package(struct str s, bool several)
{
	for (;;) {
		s = blanks_off(s);
		if (is_package(word_of(s)))
			return true;
		while (s.len && *s.p != ',')
			s = str_after(s, 1);
		if (!s.len || !several)
			return false;
		s = str_after(s, 1);
	}
}

static bool line_imports(struct str line)
{
	struct str word = word_of(line = blanks_off(line));
	bool import = str_equal(word, STR("import"));

	return (import || str_equal(word, STR("from"))) &&
	       names_package(str_after(line, word.len), import);
}

bool lang_imports_packages(struct str source)
{
	while (source.len) {
		const char *end = memchr(source.p, '\n', source.len);
		size_t n = end ? (size_t)(end - source.p) : source.len;

		if (line_imports((struct str){source.p, n}))
			return true;
		source = str_after(source, end ? n + 1 : n);
	}
	return false;
}
