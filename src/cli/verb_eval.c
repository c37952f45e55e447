#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/grants.h"
#include "cli/job.h"
#include "cli/verb.h"

static const struct {
	const char *name, *source_name;
	enum source_language language;
} languages[] = {
	{"js", "eval.js", SOURCE_JS},
	{"py", "eval.py", SOURCE_PY},
};
#define N_LANGUAGES (sizeof languages / sizeof *languages)

/* N_LANGUAGES: it is none of them. */
static size_t which(const char *name)
{
	size_t i = 0;

	while (i < N_LANGUAGES && strcmp(languages[i].name, name))
		i++;
	return i;
}

static int check(const struct args *a, struct redoma_error *err)
{
	const char *lang = a->n_words ? a->words[0] : "";

	if (a->n_words && !strcmp(lang, "ts"))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "this release evaluates js and py; %s is not in "
			       "it",
			       lang);
	if (a->n_words && !strcmp(lang, "wasm"))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "eval takes source text; a module is run with "
			       "`redoma run FILE.wasm`");
	if (a->n_words == 2 && which(lang) == N_LANGUAGES)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "there is no language %s; this release has js "
			       "and py",
			       SHOW(str_of(lang)));
	if (a->n_words != 2)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "eval needs a language and the code as one "
			       "word: redoma eval js '6 * 7'");
	return 0;
}

static int run(const struct args *a)
{
	CLEANUP(source_done) struct source s = {0};
	struct redoma_error err;
	int rc = check(a, &err);
	size_t i = rc ? 0 : which(a->words[0]);

	if (!rc)
		rc = source_text(a->words[1], languages[i].language, &s, &err);
	return rc ? job_refused(a, &err)
		  : job_run(a, &s, languages[i].source_name);
}

const struct verb verb_eval_row = {
	.name = "eval",
	.synopsis = "js|py 'CODE' [options] [-- args]",
	.summary = "run code given on the command line",
	.detail = "As run, with the code itself in place of a file.",
	.words = "js py",
	.options = {job_options, bounds_options, grants_options,
		    verb_options},
	.run = run,
};
