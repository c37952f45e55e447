#include "cli/formula_hint.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Spellings, longest first where one begins with another. */
static const struct sign {
	const char *sign, *py, *js;
} signs[] = {
	{"<>", "`!=` compares for not equal", "`!==` compares for not equal"},
	{"=>", "greater or equal is `>=`", NULL},
	{"=<", "less or equal is `<=`", "less or equal is `<=`"},
	{"&&", "write `and`, or AND(a, b)", NULL},
	{"||", "write `or`, or OR(a, b)", NULL},
	{"&", "texts are joined by CONCAT(a, b)",
	 "texts are joined by CONCAT(a, b), or by `+`"},
	{"^", "a power is `**`, or POWER(a, b)",
	 "a power is `**`, or POWER(a, b)"},
	{"\xc3\x97", "times is `*`", "times is `*`"},
	{"\xc3\xb7", "divided by is `/`", "divided by is `/`"},
	{"\xe2\x88\x92", "minus is `-`", "minus is `-`"},
	{"\xe2\x80\x93", "minus is `-`", "minus is `-`"},
	{"\xe2\x89\xa4", "less or equal is `<=`", "less or equal is `<=`"},
	{"\xe2\x89\xa5", "greater or equal is `>=`",
	 "greater or equal is `>=`"},
	{"\xe2\x89\xa0", "not equal is `!=`", "not equal is `!==`"},
	{"\xe2\x80\x9c", "a text stands in \"...\" or '...'",
	 "a text stands in \"...\" or '...'"},
	{"\xe2\x80\x9d", "a text stands in \"...\" or '...'",
	 "a text stands in \"...\" or '...'"},
	{"\xe2\x80\x9e", "a text stands in \"...\" or '...'",
	 "a text stands in \"...\" or '...'"},
	{"\xe2\x80\x98", "a text stands in \"...\" or '...'",
	 "a text stands in \"...\" or '...'"},
	{"\xe2\x80\x99", "a text stands in \"...\" or '...'",
	 "a text stands in \"...\" or '...'"},
};

/* Words, in any case; call: how it stands, with a bracket behind it; python: in
 * small letters it is one of Python's. */
static const struct word {
	const char *word;
	bool call, python;
	const char *py, *js;
} words[] = {
	{"if", true, false, "IF is written in capitals",
	 "IF is written in capitals"},
	{"if", false, true, "write IF(condition, value, otherwise)",
	 "write IF(condition, value, otherwise)"},
	{"then", false, false, "write IF(condition, value, otherwise)",
	 "write IF(condition, value, otherwise)"},
	{"and", false, true, "write `and`, or AND(a, b)",
	 "write `&&`, or AND(a, b)"},
	{"or", false, true, "write `or`, or OR(a, b)",
	 "write `||`, or OR(a, b)"},
	{"not", false, true, "write `not`, or NOT(a)",
	 "write `!`, or NOT(a)"},
};

/* What begins a statement and no expression, as the first word. */
static const char *const js_statements[] = {
	"break", "const", "continue", "do",  "export", "for",	"if",	"let",
	"return", "switch", "throw", "try", "var", "while", NULL};
static const char *const py_statements[] = {
	"assert", "break", "class", "continue", "def", "del", "for", "from",
	"global", "if", "import", "pass", "raise", "return", "try", "while",
	"with", NULL};

#define LIST_LEN(list) (sizeof(list) / sizeof *(list))

struct look {
	struct str text;
	size_t at;
	size_t from; /* the first word, behind a spreadsheet's `=` */
	size_t last; /* what is no blank, no text and no comment */
	bool js;
	char open[64]; /* the outermost brackets, and where each stands */
	size_t where[64], depth; /* which there are more of perhaps */
};

static size_t known(const struct look *k)
{
	return k->depth < sizeof k->open ? k->depth : sizeof k->open;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c > 127;
}

static char at(const struct look *k, size_t i)
{
	return i < k->text.len ? k->text.p[i] : '\0';
}

static bool says(struct formula_hint *h, size_t where, const char *what)
{
	*h = (struct formula_hint){where, what};
	return what != NULL;
}

/* A text or a comment, as a whole.  True: it does not end. */
static bool skip_text(struct look *k, bool *ret_skipped)
{
	char c = at(k, k->at);
	bool quote = c == '"' || c == '\'' || (c == '`' && k->js);
	size_t i = k->at + 1;

	*ret_skipped = quote;
	if (!quote) {
		bool comment = k->js ? c == '/' && at(k, i) == '/' : c == '#';

		*ret_skipped = comment;
		while (comment && k->at < k->text.len && at(k, k->at) != '\n')
			k->at++;
		return false;
	}
	while (i < k->text.len && at(k, i) != c)
		i += at(k, i) == '\\' ? 2 : 1;
	if (i >= k->text.len)
		return true;
	k->at = i + 1;
	k->last = k->text.len;
	return false;
}

static bool is_statement(const struct look *k, struct str word)
{
	const char *const *w = k->js ? js_statements : py_statements;

	while (*w && !str_equal(word, str_of(*w)))
		w++;
	return *w;
}

static bool look_at_word(struct look *k, struct formula_hint *h)
{
	size_t from = k->at, end = from, next;
	bool call;

	while (end < k->text.len && is_word(at(k, end)))
		end++;
	k->at = end;
	for (next = end; at(k, next) == ' ';)
		next++;
	call = at(k, next) == '(';
	for (size_t i = 0; i < LIST_LEN(words); i++) {
		const char *w = words[i].word;
		struct str is = {k->text.p + from, end - from};

		if (is.len != strlen(w) || strncasecmp(is.p, w, is.len) ||
		    words[i].call != call)
			continue;
		/* As the language itself has it. */
		if (call ? isupper((unsigned char)*is.p)
			 : !k->js && words[i].python &&
				   !strncmp(is.p, w, is.len))
			continue;
		return says(h, from, k->js ? words[i].js : words[i].py);
	}
	return from == k->from &&
	       is_statement(k, (struct str){k->text.p + from, end - from}) &&
	       says(h, from, "a statement is no expression, which a formula "
			     "is");
}

static bool look_at_bracket(struct look *k, char c, struct formula_hint *h)
{
	static const char opens[] = "([{", closes[] = ")]}";
	const char *o = memchr(opens, c, 3), *e = memchr(closes, c, 3);

	if (o && k->depth < sizeof k->open) {
		k->where[k->depth] = k->at;
		k->open[k->depth] = closes[o - opens];
	}
	k->depth += o != NULL;
	if (!e)
		return false;
	if (!k->depth ||
	    (k->depth <= sizeof k->open && k->open[k->depth - 1] != c))
		return says(h, k->at, "nothing opens this bracket, or another "
				      "one stands between");
	k->depth--;
	return false;
}

/* `=` that is part of no other sign, `%` with nothing behind it, `$A`. */
static bool look_at_single(struct look *k, char c, struct formula_hint *h)
{
	size_t next = k->at + 1;
	char before = k->at ? at(k, k->at - 1) : ' ';

	if (c == '=' && at(k, next) != '=' &&
	    !memchr("=!<>:", before, 5))
		return says(h, k->at,
			    k->js ? "`===` compares" : "`==` compares");
	if (c == '$' && isalpha((unsigned char)at(k, next)))
		return says(h, k->at, "a cell is named by its column, as in "
				      "price");
	if (c != '%')
		return false;
	while (at(k, next) == ' ')
		next++;
	return (!at(k, next) || strchr("+-*/),;<>=", at(k, next))) &&
	       says(h, k->at, "a percentage is divided by 100: price * 0.1");
}

/* `;`, but between the statements of a function of JavaScript's. */
static bool look_at_semicolon(struct look *k, struct formula_hint *h)
{
	if (memchr(k->open, '}', known(k)))
		return false;
	return says(h, k->at,
		    k->depth ? "a comma separates arguments"
			     : "a formula is one expression, without `;`");
}

static bool look_at_sign(struct look *k, struct formula_hint *h)
{
	char c = at(k, k->at);

	for (size_t i = 0; i < LIST_LEN(signs); i++) {
		const char *what = k->js ? signs[i].js : signs[i].py;
		size_t n = strlen(signs[i].sign);

		if (!str_starts(str_after(k->text, k->at),
				str_of(signs[i].sign)))
			continue;
		if (what)
			return says(h, k->at, what);
		k->at += n - 1; /* right in this language */
		return false;
	}
	return look_at_bracket(k, c, h) || look_at_single(k, c, h);
}

static bool look_once(struct look *k, struct formula_hint *h)
{
	bool skipped;

	if (skip_text(k, &skipped))
		return says(h, k->at, "nothing closes this quote");
	if (skipped)
		return false;
	if (!strchr(" \t\r\n", at(k, k->at)))
		k->last = k->at;
	if (isalpha((unsigned char)at(k, k->at)) || at(k, k->at) == '_')
		return look_at_word(k, h);
	if (at(k, k->at) == ';' ? look_at_semicolon(k, h) : look_at_sign(k, h))
		return true;
	k->at++;
	return false;
}

bool formula_hint(struct str text, bool js, struct formula_hint *ret)
{
	struct look k = {.text = text, .last = text.len, .js = js};

	while (k.at < text.len && strchr(" \t\r\n", text.p[k.at]))
		k.at++;
	/* Spreadsheets begin a formula so, and it may. */
	k.at += at(&k, k.at) == '=' && at(&k, k.at + 1) != '=';
	while (k.at < text.len && strchr(" \t\r\n", text.p[k.at]))
		k.at++;
	k.from = k.at;
	while (k.at < text.len)
		if (look_once(&k, ret))
			return true;
	if (k.depth)
		return says(ret, k.where[known(&k) - 1],
			    "nothing closes this bracket");
	return k.last < text.len && text.p[k.last] &&
	       strchr("+-*/<>=!&|,.:", text.p[k.last]) &&
	       says(ret, k.last, "something is missing behind this");
}

/* ---- what is right, and may not be what was meant ---- */

/* False: none begins here. */
static bool skip_pattern(struct look *k)
{
	size_t i = k->at + 1;
	bool list = false;

	if (at(k, i) == '/')
		return false;
	while (i < k->text.len && (list || at(k, i) != '/')) {
		list = at(k, i) == '[' || (list && at(k, i) != ']');
		i += at(k, i) == '\\' ? 2 : 1;
	}
	if (i >= k->text.len)
		return false;
	k->at = i + 1;
	return true;
}

static const char *doubt(const struct look *k, char c)
{
	if (c == '^')
		return "`^` is exclusive or: a power is `**`, or POWER(a, b)";
	if (c == '&' && at(k, k->at + 1) != '&')
		return k->js ? "`&` is and, of bits: texts are joined by "
			       "CONCAT(a, b), or by `+`"
			     : "`&` is and, of bits: texts are joined by "
			       "CONCAT(a, b)";
	return NULL;
}

bool formula_doubt(struct str text, bool js, struct formula_hint *ret)
{
	struct look k = {.text = text, .js = js};
	bool operand = false, skipped;

	while (k.at < text.len) {
		char c = at(&k, k.at);

		if (js && c == '/' && !operand && skip_pattern(&k)) {
			operand = true;
			continue;
		}
		if (skip_text(&k, &skipped))
			return false;
		operand = operand || skipped;
		if (skipped)
			continue;
		if (operand && doubt(&k, c))
			return says(ret, k.at, doubt(&k, c));
		if (!strchr(" \t\r\n", c))
			operand = is_word(c) || strchr(")]}", c);
		k.at += c == '&' && at(&k, k.at + 1) == '&' ? 2 : 1;
	}
	return false;
}
