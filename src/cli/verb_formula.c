#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/access.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/exits.h"
#include "cli/formula.h"
#include "cli/grants.h"
#include "cli/job.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/verb.h"

#define BLOCK_ROWS 65536u
#define WHOLE_BYTES ((size_t)64 << 20)
#define FORMS "csv|jsonl|arrow|arrows"
#define TYPES "number integer text truth date time"

static const struct option options[] = {
	{.name = "formula",
	 .value = "NAME=EXPR",
	 .repeats = true,
	 .help = "a new column; repeats, and they may use each other"},
	{.name = "as",
	 .value = "NAME",
	 .help = "the new column's name (result)"},
	{.name = "lang",
	 .value = "js|py",
	 .words = "js py",
	 .help = "the language of formulas (py)"},
	{.name = "output",
	 .letter = 'o',
	 .value = "FILE",
	 .words = "@file",
	 .help = "write there, whole or not at all, in the form that the "
		 "name's "
		 "ending tells; -: here"},
	{.name = "format",
	 .value = FORMS,
	 .words = "csv jsonl arrow arrows",
	 .help = "what the table is, if its name does not tell"},
	{.name = "to",
	 .value = FORMS,
	 .words = "csv jsonl arrow arrows",
	 .help = "what is written (the same); arrows is Arrow's stream"},
	{.name = "delimiter",
	 .value = "CHAR",
	 .help = "between fields of CSV (told from the first line)"},
	{.name = "type",
	 .value = "COLUMN=TYPE",
	 .repeats = true,
	 .help = "of a column, or in Arrow of a new one: " TYPES},
	{.name = "row-time",
	 .value = "TIME",
	 .help = "what one row may take (100ms)"},
	{.name = "quiet", .letter = 'q', .help = "no line on stderr"},
	{.name = "json", .help = "a refusal or a failure as JSON"},
	{.name = "help", .letter = 'h', .help = "say what this verb does"},
	{0},
};

/* What the words and options come to. */
struct task {
	struct redoma_formula *formulas; /* owned array */
	char **names; /* owned array of owned names of --formula */
	size_t n;
	const char *path, *out;
	bool told;  /* what is written */
	char *real; /* owned: the file that `out` names, which may be a link */
	char *part; /* owned: where it is written before it has its name */
	struct formula_job job;
};

static void task_done(struct task *t)
{
	for (size_t i = 0; t->names && i < t->n; i++)
		free(t->names[i]);
	free(t->names);
	free(t->formulas);
	free(t->job.kinds);
	formula_arrow_free(t->job.arrow);
	free(t->job.failed);
	if (t->job.table.csv.feed.fd > STDERR_FILENO)
		close(t->job.table.csv.feed.fd);
	table_done(&t->job.table);
	if (t->part) {
		unlink(t->part);
		close(t->job.out);
	} else if (t->job.out > STDERR_FILENO) {
		close(t->job.out);
	}
	free(t->part);
	free(t->real);
}

static bool is_taken(const struct task *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->formulas[i].name, name))
			return true;
	return false;
}

static int add_named(struct task *t, const char *spec, struct redoma_error *err)
{
	const char *equals = strchr(spec, '=');
	char *name;

	if (!equals || equals == spec)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "--formula is NAME=EXPR, as in --formula "
			       "'total=price * qty'");
	name = strndup(spec, (size_t)(equals - spec));
	if (!name)
		return err_nomem(err, "cli");
	if (is_taken(t, name)) {
		err_set(err, REDOMA_E_INVALID, "cli",
			"two formulas are called %s: give each a name of its "
			"own",
			SHOW(str_of(name)));
		free(name);
		return REDOMA_E_INVALID;
	}
	t->names[t->n] = name;
	t->formulas[t->n++] = (struct redoma_formula){name, equals + 1};
	return 0;
}

static int add_plain(const struct args *a, struct task *t,
		     struct redoma_error *err)
{
	const char *as = args_value(a, "as");

	as = as ? as : "result";
	if (is_taken(t, as))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "two formulas are called %s: give each a name "
			       "of its own",
			       SHOW(str_of(as)));
	t->formulas[t->n++] = (struct redoma_formula){as, a->words[0]};
	return 0;
}

static int take_formulas(const struct args *a, struct task *t,
			 struct redoma_error *err)
{
	size_t named = 0;
	int r = 0;

	for (size_t i = 0; i < a->n_given; i++)
		named += !strcmp(a->given[i].option->name, "formula");
	if (a->n_words > 2)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "formula takes an expression and one table, and "
			       "%s is one more",
			       SHOW(str_of(a->words[2])));
	if (a->n_words < (named && !args_has(a, "as") ? 1 : 2))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "formula needs an expression and a table: "
			       "redoma formula 'price * qty' sales.csv, or - "
			       "for standard input");
	t->formulas = calloc(named + 1, sizeof *t->formulas);
	t->names = calloc(named + 1, sizeof *t->names);
	if (!t->formulas || !t->names)
		return err_nomem(err, "cli");
	t->path = a->words[a->n_words - 1];
	for (size_t i = 0; i < a->n_given && !r; i++)
		if (!strcmp(a->given[i].option->name, "formula"))
			r = add_named(t, a->given[i].value, err);
	return r || a->n_words == 1 ? r : add_plain(a, t, err);
}

static bool ends_in(const char *path, const char *suffix)
{
	return str_ends(str_of(path), str_of(suffix));
}

static int take_delimiter(const struct args *a, struct task *t,
			  struct redoma_error *err)
{
	const char *d = args_value(a, "delimiter");

	if (!d && ends_in(t->path, ".tsv"))
		d = "\t";
	if (d && !strcmp(d, "\\t"))
		d = "\t";
	if (d && (strlen(d) != 1 || strchr("\"\r\n", *d)))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "--delimiter is one character, or \\t");
	t->job.table.csv.delimiter = d ? *d : 0;
	return 0;
}

/* A name of another format would lie; one of none is ours to fill. */
static int take_output(const char *out, struct task *t,
		       struct redoma_error *err)
{
	static const char *const other[] = {".xlsx", ".xls",     ".ods",
					    ".json", ".parquet", NULL};

	t->job.out_format = t->job.table.format;
	if (!out || !strcmp(out, "-"))
		return 0;
	for (size_t i = 0; other[i]; i++)
		if (ends_in(out, other[i]))
			return err_set(err, REDOMA_E_INVALID, "cli",
				       "-o %s: what is written is CSV, JSON "
				       "Lines or Arrow: name it .csv, .tsv, "
				       ".jsonl, .arrow or .arrows",
				       SHOW(str_of(out)));
	t->out = out;
	t->told = formula_form_of_path(out, &t->job.out_format);
	return 0;
}

static int take_format(const struct args *a, struct task *t,
		       struct redoma_error *err)
{
	const char *format = args_value(a, "format");
	const char *to = args_value(a, "to");
	const char *lang = args_value(a, "lang");
	int r = 0;

	t->job.language = lang ? lang : "py";
	if (strcmp(t->job.language, "js") && strcmp(t->job.language, "py"))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "formulas are written in js or py, not in %s",
			       SHOW(str_of(lang)));
	t->job.table.format = TABLE_CSV;
	formula_form_of_path(t->path, &t->job.table.format);
	if (format)
		r = formula_form_of_word("format", format, &t->job.table.format,
					 err);
	if (!r)
		r = take_output(args_value(a, "output"), t, err);
	t->told = t->told || to;
	if (!r && to)
		r = formula_form_of_word("to", to, &t->job.out_format, err);
	return r ? r : take_delimiter(a, t, err);
}

static int take_time(const struct args *a, struct task *t,
		     struct redoma_error *err)
{
	const char *time = args_value(a, "row-time");
	const char *bad =
		time ? units_time(str_of(time), &t->job.row_us) : NULL;

	if (bad)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "--row-time %s: %s", SHOW(str_of(time)), bad);
	if (time && (t->job.row_us < 1000 || t->job.row_us > 60000000))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "--row-time lies between 1ms and 60s");
	return 0;
}

/* Of a formula's column; false: it is none. */
static bool state_new(struct task *t, struct str name, enum cell_kind kind)
{
	for (size_t i = 0; i < t->n; i++)
		if (str_equal(str_of(t->formulas[i].name), name)) {
			t->job.kinds[i] = kind;
			return true;
		}
	return false;
}

static int take_type(struct task *t, const char *spec, struct redoma_error *err)
{
	struct str name, type;
	enum cell_kind k = CELL_KINDS;

	if (str_split_last(str_of(spec), '=', &name, &type))
		k = cell_kind_find(type);
	if (k == CELL_KINDS)
		return err_set(
			err, REDOMA_E_INVALID, "cli",
			"--type is COLUMN=TYPE, and a type is one of " TYPES
			", not %s",
			SHOW(str_of(spec)));
	if (formula_form_is_arrow(t->job.out_format) && state_new(t, name, k))
		return 0;
	return table_state(&t->job.table, name, k, err);
}

/* A column that formulas see as a whole needs all rows at once. */
static bool needs_all(const struct task *t)
{
	size_t end;

	for (size_t i = 0; i < t->n; i++)
		if (str_has_word(str_of(t->formulas[i].text), STR("rows"),
				 &end))
			return true;
	return false;
}

static int open_file(struct task *t, struct redoma_error *err)
{
	struct table *table = &t->job.table;
	struct stat st;

	table->csv.feed.fd = STDIN_FILENO;
	if (strcmp(t->path, "-"))
		table->csv.feed.fd = open(t->path, O_RDONLY | O_CLOEXEC);
	if (table->csv.feed.fd < 0)
		return err_sys(err, "cli", "open the table %s",
			       SHOW(str_of(t->path)));
	if (!fstat(table->csv.feed.fd, &st) && S_ISDIR(st.st_mode))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "%s is a directory, not a table",
			       SHOW(str_of(t->path)));
	return 0;
}

static int open_table(const struct args *a, struct task *t,
		      struct redoma_error *err)
{
	struct table *table = &t->job.table;
	bool all = needs_all(t);
	int r;

	r = open_file(t, err);
	if (r)
		return r;
	t->job.kinds = calloc(t->n, sizeof *t->job.kinds);
	if (!t->job.kinds)
		return err_nomem(err, "cli");
	r = table_open(table, err);
	if (!t->told && table_is_stream(table))
		t->job.out_format = TABLE_ARROW_STREAM;
	for (size_t i = 0; i < a->n_given && !r; i++)
		if (!strcmp(a->given[i].option->name, "type"))
			r = take_type(t, a->given[i].value, err);
	if (all)
		table->block_bytes = WHOLE_BYTES;
	if (!r)
		r = table_next(table, all ? UINT64_MAX : BLOCK_ROWS, err);
	if (!r && all && table_bytes(table) >= WHOLE_BYTES)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "a formula names `rows`, which takes the whole "
			       "table at once, and it has more than 64 MiB");
	return r;
}

/* What comes out has each name once. */
static int check_names(struct task *t, struct redoma_error *err)
{
	const struct table *table = &t->job.table;

	t->job.failed = calloc(t->n, sizeof *t->job.failed);
	if (!t->job.failed)
		return err_nomem(err, "cli");
	if (is_taken(t, ""))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "--as needs a name: --as total");
	for (size_t i = 0; i < table->n_columns; i++)
		if (is_taken(t, table->columns[i].name))
			return err_set(err, REDOMA_E_INVALID, "cli",
				       "the table has a column %s already: "
				       "give the new one another name, by --as "
				       "NAME or --formula NAME=EXPR",
				       SHOW(str_of(table->columns[i].name)));
	return 0;
}

/* A pipe or a device would be gone, and a file in its place. */
static bool is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

static int open_special(struct task *t, struct redoma_error *err)
{
	t->job.out = open(t->out, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (t->job.out >= 0)
		return 0;
	if (errno == EISDIR)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "-o %s is a directory: name a file in it",
			       SHOW(str_of(t->out)));
	return err_sys(err, "cli", "open %s", SHOW(str_of(t->out)));
}

/* A link stays one. */
static int find_real(struct task *t, struct redoma_error *err)
{
	struct stat st;

	t->real = realpath(t->out, NULL);
	if (t->real)
		return 0;
	if (errno != ENOENT)
		return err_sys(err, "cli", "write to %s",
			       SHOW(str_of(t->out)));
	if (!lstat(t->out, &st))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "%s is a link to a file that is not there: name "
			       "that file",
			       SHOW(str_of(t->out)));
	t->real = strdup(t->out);
	return t->real ? 0 : err_nomem(err, "cli");
}

static int open_output(struct task *t, struct redoma_error *err)
{
	int r;

	t->job.out = STDOUT_FILENO;
	if (!t->out && formula_form_is_arrow(t->job.out_format) &&
	    isatty(STDOUT_FILENO))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "an Arrow table is nothing for a terminal: -o "
			       "FILE writes it there, --to csv shows it");
	if (!t->out)
		return 0;
	t->job.out_name = t->out;
	if (!*t->out)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "-o needs a name: -o total.csv");
	if (is_special(t->out))
		return open_special(t, err);
	r = find_real(t, err);
	if (r)
		return r;
	if (asprintf(&t->part, "%s.part", t->real) < 0) {
		t->part = NULL;
		return err_nomem(err, "cli");
	}
	t->job.out =
		open(t->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (t->job.out >= 0)
		return 0;
	if (errno == EEXIST)
		err_set(err, REDOMA_E_INVALID, "cli",
			"%s is there: another command writes it, or one that "
			"was killed left it; if so, delete it",
			SHOW(str_of(t->part)));
	else if (errno == ENOENT)
		err_set(err, REDOMA_E_INVALID, "cli",
			"-o %s: the directory is not there; make it first",
			SHOW(str_of(t->out)));
	else
		err_sys(err, "cli", "write to %s", SHOW(str_of(t->out)));
	r = err->code;
	free(TAKE_PTR(t->part));
	return r;
}

static int publish(struct task *t, struct redoma_error *err)
{
	if (!t->part)
		return 0;
	if (access_like(t->job.out, AT_FDCWD, t->real))
		return err_sys(err, "cli", "give %s the mode of a file",
			       SHOW(str_of(t->part)));
	if (rename(t->part, t->real))
		return err_sys(err, "cli", "name the output %s",
			       SHOW(str_of(t->out)));
	close(t->job.out);
	t->job.out = STDOUT_FILENO;
	free(TAKE_PTR(t->part));
	return 0;
}

/* Answers are as long as the table: unless somebody said otherwise. */
static int more_output(const struct args *a, struct grants *g,
		       struct redoma_error *err)
{
	struct redoma_policy *p;
	int r;

	if (args_has(a, "policy"))
		return 0;
	for (size_t i = 0; i < a->n_given; i++)
		if (!strcmp(a->given[i].option->name, "limit") &&
		    !strncmp(a->given[i].value, "output=", 7))
			return 0;
	r = redoma_policy_with(g->policy, "limit", "output=64MiB", NULL, &p,
			       err);
	if (r)
		return r;
	redoma_policy_free(g->policy);
	g->policy = p;
	return 0;
}

/* As JSON where no row is mixed with it. */
static int tell(const struct args *a, const struct task *t,
		struct redoma_result *res, struct redoma_error *err)
{
	bool mixed = t->job.begun && !t->part;
	const char *json;
	size_t len;
	int r;

	if (!args_has(a, "json")) {
		if (t->job.quiet)
			return 0;
		report_lines(res);
		formula_point_at_error(&t->job, res);
		formula_say_end(&t->job, res, t->part);
		return 0;
	}
	json = redoma_result_json(res, &len);
	if (!json)
		return err_nomem(err, "cli");
	r = print_bytes(mixed ? STDERR_FILENO : STDOUT_FILENO, json, len, err);
	return r ? r
		 : print_bytes(mixed ? STDERR_FILENO : STDOUT_FILENO, "\n", 1,
			       err);
}

static void redoma_cleanup(struct redoma **r)
{
	job_watch(NULL);
	redoma_close(*r);
}

static void sheet_cleanup(struct redoma_sheet **s)
{
	redoma_sheet_free(*s);
}

static int go(const struct args *a, struct task *t, struct redoma_error *err,
	      enum redoma_status *ret)
{
	CLEANUP(grants_done) struct grants g = {0};
	CLEANUP(redoma_cleanup) struct redoma *r = NULL;
	CLEANUP(sheet_cleanup) struct redoma_sheet *s = NULL;
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_result *res;
	int rc = grants_build(a, NULL, &g, err);

	if (!rc)
		rc = more_output(a, &g, err);
	/* One block needs one worker; more of them a pool. */
	o.single = t->job.table.rows < BLOCK_ROWS &&
		   table_bytes(&t->job.table) < (size_t)4 << 20;
	/* No block of a table comes twice. */
	o.formula_cache = 1;
	if (!rc)
		rc = redoma_open(g.policy, &o, &r, err);
	if (rc)
		return rc;
	job_watch(r);
	t->job.narrow = g.request;
	rc = formula_run(&t->job, r, &s, err);
	res = s ? redoma_sheet_result(s) : NULL;
	*ret = res ? redoma_result_status(res) : REDOMA_STATUS_OK;
	if (!rc && *ret == REDOMA_STATUS_OK)
		rc = publish(t, err);
	if (!rc && res && *ret != REDOMA_STATUS_OK)
		rc = tell(a, t, res, err);
	return rc;
}

/* Nothing came of a formula: more is wrong than a cell here and there. */
static bool is_lost(const struct formula_job *j)
{
	for (size_t i = 0; i < j->n_formulas; i++)
		if (formula_is_lost(j, i))
			return true;
	return false;
}

static int ended(const struct args *a, const struct redoma_error *err)
{
	if (!job_is_cancelled())
		return job_refused(a, err);
	if (!args_has(a, "quiet"))
		fputs("redoma: cancelled\n", stderr);
	return EXIT_CANCELLED;
}

static int run(const struct args *a)
{
	CLEANUP(task_done) struct task t = {0};
	enum redoma_status status = REDOMA_STATUS_OK;
	struct redoma_error err;
	int rc = take_formulas(a, &t, &err);

	if (!rc)
		rc = take_format(a, &t, &err);
	if (!rc)
		rc = take_time(a, &t, &err);
	if (!rc)
		rc = open_table(a, &t, &err);
	if (!rc)
		rc = check_names(&t, &err);
	if (!rc)
		rc = open_output(&t, &err);
	if (rc)
		return job_refused(a, &err);
	t.job.formulas = t.formulas;
	t.job.n_formulas = t.n;
	t.job.now_us = (int64_t)clock_realtime_us();
	t.job.quiet = args_has(a, "quiet");
	rc = go(a, &t, &err, &status);
	if (rc)
		return ended(a, &err);
	if (!t.job.quiet && status == REDOMA_STATUS_OK)
		formula_say_columns(&t.job);
	if (!t.job.quiet)
		formula_say_errors(&t.job);
	return status == REDOMA_STATUS_OK && is_lost(&t.job)
		       ? EXIT_GUEST
		       : (int)exits_of_status(status);
}

const struct verb verb_formula_row = {
	.name = "formula",
	.synopsis = "'EXPR' TABLE.csv|.jsonl|.arrow|- [options]",
	.summary = "a formula over each row of a table, as a new column",
	.detail =
		"Columns are names in the formula; col[\"Unit price\"] reaches "
		"any of them, rows.price a whole one, index the row's number. "
		"IF, SUM, VLOOKUP and others are there as spreadsheets have "
		"them. A row that fails has an error code (#DIV/0!, #VALUE!, "
		"#N/A, #NAME?, #NUM!, #REF!, #TIME!) in its cell and stops no "
		"other; stderr says how many did, and the exit code is 1 if "
		"every row of a formula did. All other cells are written as "
		"they were.",
	.words = "@file",
	.options = {options, bounds_options},
	.run = run,
};
