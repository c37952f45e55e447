#include "cli/verb.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/nearest.h"
#include "base/str.h"
#include "cli/exits.h"
#include "cli/help.h"
#include "cli/print.h"

#define LATER(n) static const struct verb later_##n = {.name = #n}

LATER(tool);
LATER(mcp);
LATER(serve);
LATER(bench);
LATER(audit);

const struct option verb_options[] = {
	{.name = "help", .letter = 'h', .help = "say what this verb does"},
	{0},
};

const struct verb *const verb_table[] = {
	&verb_run_row,	 &verb_eval_row,    &verb_policy_row,
	&verb_doctor_row, &verb_version_row, &verb_help_row,
	&verb_formula_row, &later_tool,	    &later_mcp,
	&later_serve,	 &verb_image_row,   &verb_runtime_row,
	&later_bench,	 &later_audit,	    NULL,
};

const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; verb_table[i]; i++)
		if (!strcmp(verb_table[i]->name, name))
			return verb_table[i];
	return NULL;
}

const char *verb_nearest(const char *word)
{
	const char *names[sizeof(verb_table) / sizeof(*verb_table)] = {NULL};
	size_t n = 0;

	for (size_t i = 0; verb_table[i]; i++)
		if (verb_table[i]->summary)
			names[n++] = verb_table[i]->name;
	return nearest_name(str_of(word), names);
}

int verb_run(const struct verb *v, char **argv)
{
	CLEANUP(args_done) struct args a = {0};
	struct redoma_error err;

	if (!v->summary) {
		err_set(&err, REDOMA_E_INVALID, "cli",
			"redoma %s is not in this release (" REDOMA_VERSION
			"); `redoma help` lists what is",
			v->name);
		return print_refused(&err, false);
	}
	if (args_parse(v->options, argv, &a, &err)) {
		bool json = false;

		for (char **w = argv; *w && strcmp(*w, "--"); w++)
			json = json || !strcmp(*w, "--json");
		return print_refused(&err, json);
	}
	if (args_has(&a, "help"))
		return help_verb(v);
	if (v->takes_none && a.n_words) {
		err_set(&err, REDOMA_E_INVALID, "cli",
			"%s takes no word such as %s; leave it out",
			v->name, SHOW(str_of(a.words[0])));
		return print_refused(&err, args_has(&a, "json"));
	}
	return v->run(&a);
}

int verb_unknown(const char *word)
{
	const char *near = verb_nearest(word);
	struct redoma_error err;

	if (near)
		err_set(&err, REDOMA_E_INVALID, "cli",
			"there is no verb %s; did you mean `redoma %s`?",
			SHOW(str_of(word)), near);
	else if (strchr(word, '.') || strchr(word, '/'))
		err_set(&err, REDOMA_E_INVALID, "cli",
			"there is no verb %s; a file is run with `redoma run "
			"FILE`",
			SHOW(str_of(word)));
	else
		err_set(&err, REDOMA_E_INVALID, "cli",
			"there is no verb %s; `redoma help` lists them",
			SHOW(str_of(word)));
	return print_refused(&err, false);
}
