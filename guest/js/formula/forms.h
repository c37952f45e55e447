/* forms.h - the special forms, and what rewriting them takes. */
#ifndef FORMULA_FORMS_H
#define FORMULA_FORMS_H

#include "formula.h"

#define ARGS_MAX 256

struct out { /* a text that grows */
	char *p;
	size_t len, room;
};

struct rewriter {
	const char *p;
	size_t at, len;
	const struct formula_scope *scope;
	struct formula_text *ret;
	char names[FORMULA_PARAMS_MAX][64]; /* of the parameters */
	bool operand; /* what came last: a slash divides */
	bool member;  /* a name here is a property's */
	bool assigns; /* an expression here does */
	int depth;
	bool no_memory;
};

/* The rewritten arguments of a call. */
struct args {
	struct out list[ARGS_MAX];
	size_t n;
};

void rewrite_put(struct rewriter *w, struct out *o, const char *p, size_t n);
void rewrite_say(struct rewriter *w, struct out *o, const char *s);

struct form {
	const char *name;
	/* NULL, or why these arguments will not do. */
	const char *(*put)(struct rewriter *w, struct out *o, struct args *a);
};
const struct form *form_find(const char *p, size_t n); /* NULL: none */

#endif
