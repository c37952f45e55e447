/* tree.h - one formula as the language's own tree.  Needs Py_BUILD_CORE. */
#ifndef FORMULA_TREE_H
#define FORMULA_TREE_H

#include "formula.h"
#include "internal/pycore_asdl.h"
#include "internal/pycore_ast.h"
#include "internal/pycore_compile.h"
#include "internal/pycore_parser.h"
#include "internal/pycore_pyarena.h"

struct tree {
	struct formula *f;
	uint32_t index;
	PyArena *arena;
	const char *wrong; /* why there is no function */
	int depth;
};

/* forms.c: a call of a special form becomes an expression in its place.  NULL,
 * or what is wrong with it. */
const char *form_put(struct tree *t, expr_ty call);
/* A product becomes a call of what repeats texts. */
void form_repeat(struct tree *t, expr_ty product);

#endif
