/* cli/formula.h - a table in, formulas, a table out. */
#ifndef CLI_FORMULA_H
#define CLI_FORMULA_H

#include <redoma.h>
#include <stdbool.h>
#include "base/buf.h"
#include "table/arrow_write.h"
#include "table/table.h"

#define FORMULA_CODES 8

struct formula_job {
	const struct redoma_formula *formulas; /* borrowed */
	size_t n_formulas;
	const char *language;
	const struct redoma_policy *narrow; /* borrowed; may be NULL */
	uint64_t row_us;
	int64_t now_us;
	struct table table;
	enum table_format out_format;
	/* Of formulas, for Arrow: CELL_BLANK if nobody states one. */
	enum cell_kind *kinds;       /* owned by who made it */
	struct formula_arrow *arrow; /* owned; formula_arrow_free */
	int out;                     /* descriptor */
	const char *out_name;        /* borrowed; NULL: standard output */
	uint64_t rows;               /* written so far */
	bool begun;                  /* the names of the columns are written */
	/* What cells came to; `first` says the first error. */
	struct formula_errors {
		char codes[FORMULA_CODES][12];
		uint64_t n[FORMULA_CODES], all;
		char first[256];
		char name[64]; /* the first that there is not */
	} errors;
	uint64_t *failed; /* owned by who made it: errors of each formula */
	bool quiet;
};

/* Every block of the table.  The status of the last batch is in *ret, to be
 * freed; NULL: there was no row. */
MUST_CHECK int formula_run(struct formula_job *j, struct redoma *r,
			   struct redoma_sheet **ret, struct redoma_error *err);

/* Bytes of the table that is written. */
MUST_CHECK int formula_put(const struct formula_job *j, const struct buf *b,
			   struct redoma_error *err);

/* formula_say.c: columns that are not what they seem; what went wrong; what
 * there is of a table that `res` ended, `staged` if it has no name yet. */
void formula_say_columns(const struct formula_job *j);
void formula_say_errors(const struct formula_job *j);
void formula_say_end(const struct formula_job *j, struct redoma_result *res,
		     bool staged);
/* formula_point.c: of a formula that is invalid, or that came to nothing, the
 * place that is wrong, as far as it can be told. */
void formula_point_at_error(const struct formula_job *j,
			    struct redoma_result *res);
void formula_point_at_name(const struct formula_job *j, size_t formula);
/* Of each formula that came to something: what may not have been meant. */
void formula_point_at_doubts(const struct formula_job *j);
/* There are rows, and it is an error in each. */
bool formula_is_lost(const struct formula_job *j, size_t formula);

/* formula_form.c: what a table is.  False: the name does not tell. */
bool formula_form_of_path(const char *path, enum table_format *ret);
MUST_CHECK int formula_form_of_word(const char *option, const char *word,
				    enum table_format *ret,
				    struct redoma_error *err);
bool formula_form_is_arrow(enum table_format f);

/* formula_write.c: the names of the columns; the rows of a block. */
MUST_CHECK int formula_write_head(const struct formula_job *j, struct buf *b);
MUST_CHECK int formula_write_row(struct formula_job *j,
				 const struct redoma_sheet *s, uint64_t row,
				 struct buf *b);

/* Counts the cell if it is an error. */
void formula_note(struct formula_job *j, size_t formula,
		  const struct redoma_cell *c);
/* Of the table, as it was read; what a formula came to. */
struct cell formula_cell_at(const struct table_column *c, uint64_t row);
struct cell formula_cell_from(const struct redoma_cell *c);

/* formula_arrow.c: the same for Arrow.  The first block tells the types of
 * columns; `s` NULL: there is no row. */
MUST_CHECK int formula_arrow_write(struct formula_job *j,
				   const struct redoma_sheet *s,
				   struct redoma_error *err);
/* What stands behind the last row. */
MUST_CHECK int formula_arrow_end(struct formula_job *j,
				 struct redoma_error *err);
void formula_arrow_free(struct formula_arrow *a);

#endif
