#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/exits.h"
#include "cli/help.h"
#include "cli/print.h"
#include "cli/topics.h"
#include "cli/verb.h"

static const struct option options[] = {
	{.name = "man", .help = "print the manual page redoma(1)"},
	{.name = "completions", .value = "bash|zsh|fish",
	 .words = "bash zsh fish", .help = "print completions for a shell"},
	{0},
};

static int print_completions(const char *shell)
{
	CLEANUP(buf_done) struct buf b = {0};
	struct redoma_error err;

	if (strcmp(shell, "bash") && strcmp(shell, "zsh") &&
	    strcmp(shell, "fish")) {
		err_set(&err, REDOMA_E_INVALID, "cli",
			"completions are for bash, zsh or fish, not %s",
			SHOW(str_of(shell)));
		return print_refused(&err, false);
	}
	return help_flush(&b, completions_add(&b, shell));
}

static int print_topic(const char *word)
{
	CLEANUP(buf_done) struct buf b = {0};
	const struct verb *v = verb_find(word);
	const struct topic *t = topics_find(word);

	if (v && v->summary)
		return help_verb(v);
	if (v)
		return verb_run(v, (char *[]){NULL});
	if (!t)
		return verb_unknown(word);
	return help_flush(&b, topics_add(&b, t));
}

static int run(const struct args *a)
{
	CLEANUP(buf_done) struct buf b = {0};

	if (args_has(a, "man"))
		return help_flush(&b, man_add(&b));
	if (args_value(a, "completions"))
		return print_completions(args_value(a, "completions"));
	if (a->n_words > 1) {
		struct redoma_error err;

		err_set(&err, REDOMA_E_INVALID, "cli",
			"help takes one word: redoma help %s",
			SHOW(str_of(a->words[0])));
		return print_refused(&err, false);
	}
	return a->n_words ? print_topic(a->words[0]) : help_screen();
}

const struct verb verb_help_row = {
	.name = "help",
	.synopsis = "[VERB|limits|exit-codes] [--man]",
	.summary = "explain a verb, `limits` or `exit-codes`",
	.words = "run eval policy doctor version limits exit-codes",
	.options = {options, verb_options},
	.run = run,
};
