#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/exits.h"
#include "cli/grants.h"
#include "cli/print.h"
#include "cli/verb.h"

static void text_cleanup(char **p)
{
	redoma_free(*p);
}

static int show(const struct args *a, struct redoma_error *err)
{
	CLEANUP(grants_done) struct grants g = {0};
	CLEANUP(text_cleanup) char *text = NULL;
	const char *path = a->n_words > 1 ? a->words[1] : NULL;
	int rc = grants_build(a, path, &g, err);

	/* What no run would be given is not shown either. */
	if (!rc && g.request)
		rc = redoma_policy_contains(g.policy, g.request, err);
	if (!rc)
		rc = redoma_policy_show(g.request ? g.request : g.policy,
					&text, err);
	return rc ? rc : print_bytes(1, text, strlen(text), err);
}

static void policy_cleanup(struct redoma_policy **p)
{
	redoma_policy_free(*p);
}

/* What a text cannot prove, of what stands in it; beginnings of the lines that
 * policy show has, and of those that it has where there is nothing. */
static void say_not_checked(const char *text)
{
	static const struct {
		const char *line, *nothing, *says;
	} rows[] = {
		{"\nread:", "\nread: []",
		 "read: whether the files are there is seen when a run begins"},
		{"\nwrite:", "\nwrite: []",
		 "write: whether the directories are there and may be written "
		 "to is seen when a run begins"},
		{"\nnet:", "\nnet: []",
		 "net: every run under this policy is refused by this release, "
		 "until it is taken out"},
		{"\ntools:", "\ntools: []",
		 "tools: who answers is said when a run begins, by --tool"},
		{"\nnative: {root: [", "\nnative: {root: []",
		 "native.root: whether it can be made here is seen when a run "
		 "begins"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strstr(text, rows[i].line) &&
		    !strstr(text, rows[i].nothing))
			print_line("not checked: %s", rows[i].says);
}

static int check(const struct args *a, struct redoma_error *err)
{
	CLEANUP(policy_cleanup) struct redoma_policy *p = NULL;
	CLEANUP(text_cleanup) char *text = NULL;
	CLEANUP(buf_done) struct buf b = {0};
	int rc;

	if (a->n_words < 2)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "policy check needs a file: redoma policy "
			       "check FILE");
	rc = redoma_policy_read(a->words[1], &p, err);
	if (!rc)
		rc = redoma_policy_show(p, &text, err);
	if (rc)
		return rc;
	if (buf_addf(&b, "%s: ok\n", a->words[1]))
		return err_nomem(err, "cli");
	rc = print_bytes(1, b.data, b.len, err);
	if (!rc)
		say_not_checked(text);
	return rc;
}

/* EXIT_OK if the second is within the first; EXIT_GUEST, 1, if it is wider. */
static int diff(const struct args *a)
{
	CLEANUP(policy_cleanup) struct redoma_policy *one = NULL;
	CLEANUP(policy_cleanup) struct redoma_policy *two = NULL;
	CLEANUP(text_cleanup) char *text = NULL;
	struct redoma_error err;
	int rc;

	if (a->n_words != 3)
		rc = err_set(&err, REDOMA_E_INVALID, "cli",
			     "policy diff needs two files: redoma policy diff "
			     "A B says what B allows that A does not");
	else
		rc = redoma_policy_read(a->words[1], &one, &err);
	if (!rc)
		rc = redoma_policy_read(a->words[2], &two, &err);
	if (!rc)
		rc = redoma_policy_diff(one, two, &text, &err);
	if (!rc)
		rc = print_bytes(1, text, strlen(text), &err);
	if (rc)
		return print_refused(&err, false);
	return *text ? EXIT_GUEST : EXIT_OK;
}

static int run(const struct args *a)
{
	const char *what = a->n_words ? a->words[0] : "";
	struct redoma_error err;
	int rc;

	if (a->n_words > 2 && strcmp(what, "diff"))
		rc = err_set(&err, REDOMA_E_INVALID, "cli",
			     "policy takes one file: redoma policy check FILE");
	else if (!strcmp(what, "check"))
		rc = check(a, &err);
	else if (!strcmp(what, "show"))
		rc = show(a, &err);
	else if (!strcmp(what, "diff"))
		return diff(a);
	else
		rc = err_set(&err, REDOMA_E_INVALID, "cli",
			     "policy needs check, show or diff: redoma policy "
			     "check FILE");
	return rc ? print_refused(&err, false) : EXIT_OK;
}

const struct verb verb_policy_row = {
	.name = "policy",
	.synopsis = "check FILE | show [FILE] [options] | diff A B",
	.summary = "prove a policy file, print it in full, or compare two",
	.detail =
		"check reads the file and says ok, or what is wrong with line "
		"and column. show prints the effective policy, options of the "
		"command line included, in the form policy files have. diff "
		"says what B allows that A does not, a line each, and exits "
		"with 1 if there is something. check looks at the text alone; "
		"what it cannot see (files, tools, this machine) it names on "
		"stderr, and the first run proves it.",
	.words = "check show diff",
	.options = {bounds_options, grants_options, verb_options},
	.run = run,
};
