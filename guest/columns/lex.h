/* lex.h - the tokens of a formula. */
#ifndef COLUMNS_LEX_H
#define COLUMNS_LEX_H

#include "columns/tree.h"

enum lex_level { /* of operators between two operands, loosest first */
	LEVEL_NONE,
	LEVEL_OR,
	LEVEL_AND,
	LEVEL_COMPARE, /* Python's are of one level, and chained */
	LEVEL_ORDER,
	LEVEL_SUM,
	LEVEL_PRODUCT,
};

struct lexer {
	const char *p;
	size_t at, len;
	enum columns_language language;
};

struct lex_operator {
	char text[4];
	uint8_t languages; /* bits */
	uint8_t level;	   /* LEVEL_NONE: what no program has */
	uint8_t kind;
};

void lex_blanks(struct lexer *x);
/* Takes that character, behind blanks, if it stands there. */
bool lex_take(struct lexer *x, char c);
/* Likewise a word. */
bool lex_word(struct lexer *x, const char *word);
/* The name that begins here; 0: none does. */
size_t lex_name(const struct lexer *x);
bool lex_is_name(char c);
/* The operator that stands here, behind blanks: the longest that the language
 * has.  NULL: none does.  Takes nothing. */
const struct lex_operator *lex_operator(struct lexer *x);
/* A number that is had exactly; takes it. */
bool lex_number(struct lexer *x, struct node *ret);

#endif
