/* formula.h - what the parts of the formula engine offer each other.
 *
 * Formulas run in a realm whose built-in objects are frozen and which has no
 * eval: no row can leave anything for another one. */
#ifndef FORMULA_H
#define FORMULA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "quickjs.h"

#define FORMULA_PARAMS_MAX 256

/* What a name in a formula stands for. */
enum formula_name {
	FORMULA_NONE, /* leave it to the language */
	FORMULA_CELL, /* of the row: column *ret_at */
	FORMULA_ROW,  /* the whole row, by names */
	FORMULA_ROWS, /* whole columns, by names */
	FORMULA_INDEX,
};

/* Asked for every name in the text that stands alone; `quoted`: it stood
 * behind row or col.  Borrowed for the call. */
struct formula_scope {
	enum formula_name (*find)(void *data, const char *p, size_t n,
				  bool quoted, uint32_t *ret_at);
	void *data;
};

struct formula_param {
	enum formula_name what;
	uint32_t at; /* FORMULA_CELL: which column */
};

/* A formula as a function: "(function(a,b){...})". */
struct formula_text {
	char *p; /* malloc; NUL behind it */
	size_t len;
	struct formula_param params[FORMULA_PARAMS_MAX];
	uint32_t n_params;
	bool catches;      /* an error of a cell may be wanted */
	const char *wrong; /* why there is no text; NULL: there is */
};

/* rewrite.c: IF, IFS, IFERROR, IFNA, SWITCH, AND and OR become
 * expressions that evaluate no more than they need; names become parameters.
 * NULL in ret->p and ret->wrong: out of memory. */
void formula_rewrite(const char *text, size_t len,
		     const struct formula_scope *scope,
		     struct formula_text *ret);
void formula_text_done(struct formula_text *t);
/* Words of the language, which name no column. */
bool formula_is_reserved(const char *p, size_t n);

/* quick_realm.c: the language alone, without eval and Function from text; NULL:
 * out of memory. */
JSContext *formula_context_new(JSRuntime *rt);
/* Compiles a script there all the same.  first_line may be 0 (a wrapper's own
 * line). */
JSValue formula_compile(JSContext *ctx, const char *source, size_t len,
			const char *name, int first_line);

/* Where behind at most so many characters of a text its units are; one beyond
 * U+FFFF has two.  -1: an exception. */
int formula_unit_of(JSContext *ctx, JSValueConst s, uint32_t most,
		    uint32_t *ret_chars, uint32_t *ret_units);

/* realm.c */
struct formula_realm {
	JSContext *ctx;   /* NULL before formula_realm_new */
	JSValue helpers;  /* object: names that win over columns */
	JSValue failure;  /* prototype of errors with a code */
	JSClassID column; /* objects that are whole columns */
	JSClassID row;	  /* rows, and the object of all columns */
};
extern struct formula_realm formula_realm;
/* Before the snapshot. */
int formula_realm_new(JSRuntime *rt);

/* start.c: each row of each formula counts up; the host stores that number
 * into the next word to end that row alone.  bits: what it sets in the
 * interrupt word then, nothing here. */
struct formula_count {
	uint32_t row, stop, bits;
};
extern volatile struct formula_count formula_count;
/* Of the row that is being worked on: it is to end.  What is computed for all
 * rows (`aside`) takes no row's time, but no more than this of the batch. */
#define FORMULA_ASIDE_US 2000000
bool formula_row_over(void);
extern bool formula_aside;

/* table.c: of the batch in hand. */
/* Of a column object: its cell at i, or its length. */
JSValue formula_cell(JSContext *ctx, uint32_t column, uint32_t i);
uint32_t formula_rows(void);
uint32_t formula_column_of(JSValueConst object); /* UINT32_MAX: it is none */
/* False: the policy has no clock, of which the host hears that it was asked
 * for. */
bool formula_now_ms(double *ret);

#endif
