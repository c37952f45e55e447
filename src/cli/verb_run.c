#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/grants.h"
#include "cli/job.h"
#include "cli/verb.h"

static const struct option options[] = {
	{.name = "lang", .value = "js|wasm|py", .words = "js wasm py",
	 .help = "the language, if extension and #! line do not tell"},
	{.name = "invoke", .value = "NAME",
	 .help = "call this export of a module instead of _start"},
	{.name = "native",
	 .help = "a program of this machine, kernel jail alone: after --, or "
		 "a js or py source"},
	{.name = "secrets", .value = "FILE", .later = true, .help = "secrets"},
	{.name = "help", .letter = 'h', .help = "say what this verb does"},
	{0},
};

/* Errors of the guest name the file without its directory. */
static const char *shown_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!strcmp(path, "-"))
		return NULL;
	return slash ? slash + 1 : path;
}

/* The program and its arguments are the guest: what follows --. */
static int run_command(const struct args *a)
{
	const struct source none = {.language = SOURCE_COMMAND};
	struct redoma_error err;

	if (a->rest && a->rest[0])
		return job_run(a, &none, NULL);
	err_set(&err, REDOMA_E_INVALID, "cli",
		"--native needs a program: redoma run --native -- node "
		"script.js, or a source: redoma run --native FILE.py");
	return job_refused(a, &err);
}

static bool is_dash(const char *value)
{
	return value && !strcmp(value, "-");
}

static int run(const struct args *a)
{
	bool native = args_has(a, "native");
	CLEANUP(source_done) struct source s = {0};
	struct redoma_error err;
	int rc = 0;

	if (native && !a->n_words)
		return run_command(a);
	if (!a->n_words)
		rc = err_set(&err, REDOMA_E_INVALID, "cli",
			     "run needs a file: redoma run FILE, or - for "
			     "standard input");
	else if (a->n_words > 1)
		rc = err_set(&err, REDOMA_E_INVALID, "cli",
			     "run takes one file; what is for the guest goes "
			     "after --: redoma run %.60s -- %.60s",
			     a->words[0], a->words[1]);
	else if (!strcmp(a->words[0], "-") &&
		 (is_dash(args_value(a, "input")) ||
		  is_dash(args_value(a, "stdin"))))
		rc = err_set(&err, REDOMA_E_INVALID, "cli",
			     "standard input cannot be both the source and "
			     "the input; put one of them in a file");
	if (!rc)
		rc = source_read(a->words[0], args_value(a, "lang"), native, &s,
				 &err);
	if (!rc && s.language != SOURCE_WASM && args_has(a, "invoke"))
		rc = err_set(&err, REDOMA_E_INVALID, "cli",
			     "--invoke is for .wasm modules; a script has no "
			     "exports to call");
	if (rc)
		return job_refused(a, &err);
	return job_run(a, &s, shown_name(a->words[0]));
}

const struct verb verb_run_row = {
	.name = "run",
	.synopsis = "FILE|- [options] [-- args]",
	.summary = "run a script or a .wasm module with what is granted",
	.detail =
		"The language is told by the module's first bytes, the "
		"extension, the #! line or --lang; - reads standard input. "
		"Without grants the guest can compute and print, and nothing "
		"else. What the guest prints comes first, then its value as "
		"JSON on stdout unless it is null; refusals and limits are one "
		"line each on stderr. Ctrl-C cancels the run; twice exits at "
		"once.",
	.words = "@file",
	.options = {options, job_options, bounds_options, grants_options},
	.run = run,
};
