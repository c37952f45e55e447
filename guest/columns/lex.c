#include "columns/lex.h"

#include <string.h>

#define JS (1u << COLUMNS_JS)
#define PY (1u << COLUMNS_PY)
#define DIGITS_MAX 18			/* of an integer of 64 bits */
#define EXACT_MAX ((uint64_t)1 << 53)	/* of a float64 */
#define POWER_MAX 22			/* of ten, likewise */

/* Longest first.  With no level: tokens that must not be taken for two. */
static const struct lex_operator operators[] = {
	{"===", JS, LEVEL_COMPARE, NODE_SAME},
	{"!==", JS, LEVEL_COMPARE, NODE_UNSAME},
	{"**", JS | PY, LEVEL_NONE, NODE_NONE},
	{"//", PY, LEVEL_PRODUCT, NODE_FLOOR_DIVIDE},
	{"//", JS, LEVEL_NONE, NODE_NONE},
	{"/*", JS, LEVEL_NONE, NODE_NONE},
	{"==", JS | PY, LEVEL_COMPARE, NODE_EQUAL},
	{"!=", JS | PY, LEVEL_COMPARE, NODE_UNEQUAL},
	{"<=", JS | PY, LEVEL_ORDER, NODE_LESS_EQUAL},
	{">=", JS | PY, LEVEL_ORDER, NODE_GREATER_EQUAL},
	{"<<", JS | PY, LEVEL_NONE, NODE_NONE},
	{">>", JS | PY, LEVEL_NONE, NODE_NONE},
	{"&&", JS, LEVEL_AND, NODE_AND},
	{"||", JS, LEVEL_OR, NODE_OR},
	{"++", JS, LEVEL_NONE, NODE_NONE},
	{"--", JS, LEVEL_NONE, NODE_NONE},
	{"?.", JS, LEVEL_NONE, NODE_NONE},
	{"??", JS, LEVEL_NONE, NODE_NONE},
	{"=>", JS, LEVEL_NONE, NODE_NONE},
	{"+=", JS | PY, LEVEL_NONE, NODE_NONE},
	{"-=", JS | PY, LEVEL_NONE, NODE_NONE},
	{"*=", JS | PY, LEVEL_NONE, NODE_NONE},
	{"/=", JS | PY, LEVEL_NONE, NODE_NONE},
	{"%=", JS | PY, LEVEL_NONE, NODE_NONE},
	{"<", JS | PY, LEVEL_ORDER, NODE_LESS},
	{">", JS | PY, LEVEL_ORDER, NODE_GREATER},
	{"+", JS | PY, LEVEL_SUM, NODE_ADD},
	{"-", JS | PY, LEVEL_SUM, NODE_SUBTRACT},
	{"*", JS | PY, LEVEL_PRODUCT, NODE_MULTIPLY},
	{"/", JS | PY, LEVEL_PRODUCT, NODE_DIVIDE},
	{"%", JS | PY, LEVEL_PRODUCT, NODE_REMAINDER},
};

static char peek(const struct lexer *x, size_t k)
{
	return k < x->len - x->at ? x->p[x->at + k] : '\0';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool lex_is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       is_digit(c) || c == '_' || c == '$';
}

void lex_blanks(struct lexer *x)
{
	while (x->at < x->len && x->p[x->at] && strchr(" \t\r\n", x->p[x->at]))
		x->at++;
}

bool lex_take(struct lexer *x, char c)
{
	lex_blanks(x);
	if (peek(x, 0) != c || !c)
		return false;
	x->at++;
	return true;
}

size_t lex_name(const struct lexer *x)
{
	size_t n = 0;

	while (lex_is_name(peek(x, n)))
		n++;
	return is_digit(peek(x, 0)) ? 0 : n;
}

bool lex_word(struct lexer *x, const char *word)
{
	size_t n;

	lex_blanks(x);
	n = lex_name(x);
	if (n != strlen(word) || memcmp(x->p + x->at, word, n))
		return false;
	x->at += n;
	return true;
}

const struct lex_operator *lex_operator(struct lexer *x)
{
	const size_t n = sizeof(operators) / sizeof(operators[0]);

	lex_blanks(x);
	for (size_t i = 0; i < n; i++) {
		const struct lex_operator *o = &operators[i];
		size_t len = strlen(o->text);

		if ((o->languages & (1u << x->language)) &&
		    len <= x->len - x->at &&
		    !memcmp(x->p + x->at, o->text, len))
			return o;
	}
	return NULL;
}

/* ---- numbers ---- */

struct digits {
	uint64_t value;
	int n;	   /* that count */
	int power; /* of ten */
	bool real; /* with a point or an exponent */
};

/* False: there are more than are counted. */
static bool take_digits(struct lexer *x, struct digits *d)
{
	for (; is_digit(peek(x, 0)); x->at++) {
		d->value = 10 * d->value + (uint64_t)(peek(x, 0) - '0');
		d->n += d->value > 0;
		d->power -= d->real;
		if (d->n > DIGITS_MAX)
			return false;
	}
	return true;
}

static bool take_exponent(struct lexer *x, struct digits *d)
{
	bool minus;
	int e = 0;

	if (peek(x, 0) != 'e' && peek(x, 0) != 'E')
		return true;
	x->at++;
	minus = peek(x, 0) == '-';
	if (minus || peek(x, 0) == '+')
		x->at++;
	if (!is_digit(peek(x, 0)))
		return false;
	for (; is_digit(peek(x, 0)) && e < 1000; x->at++)
		e = 10 * e + (peek(x, 0) - '0');
	d->power += minus ? -e : e;
	d->real = true;
	return true;
}

/* What is rounded once, by one operation of exact operands, is what any right
 * reader of numbers gives. */
static bool to_number(const struct digits *d, double *ret)
{
	double ten = 1;
	int power = d->power < 0 ? -d->power : d->power;

	if (d->value > EXACT_MAX || power > POWER_MAX)
		return false;
	for (int i = 0; i < power; i++)
		ten *= 10;
	*ret = d->power < 0 ? (double)d->value / ten : (double)d->value * ten;
	return true;
}

bool lex_number(struct lexer *x, struct node *ret)
{
	struct digits d = {0};
	bool whole = is_digit(peek(x, 0));

	if (peek(x, 0) == '0' && is_digit(peek(x, 1)))
		return false;
	if (!take_digits(x, &d))
		return false;
	if (peek(x, 0) == '.') {
		x->at++;
		d.real = true;
		if (!whole && !is_digit(peek(x, 0)))
			return false;
		if (!take_digits(x, &d))
			return false;
	} else if (!whole) {
		return false;
	}
	if (!take_exponent(x, &d) || lex_is_name(peek(x, 0)) ||
	    peek(x, 0) == '.')
		return false;
	if (x->language == COLUMNS_PY && !d.real) {
		ret->kind = NODE_INTEGER;
		ret->is.integer = (int64_t)d.value;
		return true;
	}
	ret->kind = NODE_NUMBER;
	return to_number(&d, &ret->is.number);
}
