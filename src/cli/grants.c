#include "cli/grants.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/tools.h"

const struct option bounds_options[] = {
	{.name = "policy", .value = "FILE", .words = "@file",
	 .help = "run under this policy; the options below can only narrow it"},
	{.name = "limit", .value = "K=V", .repeats = true,
	 .words = "wall= cpu= fuel= memory= output= calls= files=",
	 .help = "wall, cpu, fuel, memory, output, calls, in_flight or files"},
	{.name = "clock", .value = "real|none|fixed:TIME",
	 .words = "real none fixed:", .help = "the clock the guest sees"},
	{.name = "random", .value = "real|none|seed:N",
	 .words = "real none seed:", .help = "where randomness comes from"},
	{.name = "on-denied", .value = "error|end", .words = "error end",
	 .help = "a refusal is an error in the guest, or ends the run"},
	{.name = "walls", .value = "NAME,...",
	 .help = "kernel controls that may be missing here (default: none)"},
	{.name = "reuse", .value = "never|tenant", .words = "never tenant",
	 .help = "keep the worker process for the next run of this tenant"},
	{0},
};

const struct option grants_options[] = {
	{.name = "read", .value = "HOST[=GUEST]", .repeats = true,
	 .words = "@file",
	 .help = "let the guest read one file, or a directory (trailing /)"},
	{.name = "write", .value = "HOST[=GUEST]:SIZE", .repeats = true,
	 .words = "@file",
	 .help = "let it write one file, or new files in a directory"},
	{.name = "env", .value = "K=V", .repeats = true,
	 .help = "one environment variable; nothing else is visible"},
	{.name = "jail", .value = "K=V", .repeats = true,
	 .words = "root=runtime: tmp= pids=",
	 .help = "of a native program: root=runtime:NAME or DIR, tmp, pids"},
	{.name = "allow", .value = "'GET URL'", .repeats = true,
	 .help = "network requests: read and shown, refused in this release"},
	{.name = "tool", .value = "NAME='COMMAND ARGS'", .repeats = true,
	 .help = "let the guest call tools.NAME: a process of this machine, "
		 "JSON in and out"},
	{0},
};

static bool is_of(const struct option *list, const struct option *o)
{
	while (list->name && list != o)
		list++;
	return list->name;
}

static bool is_mine(const struct option *o)
{
	return is_of(grants_options, o) ||
	       (is_of(bounds_options, o) && strcmp(o->name, "policy"));
}

static const char *key_of(const struct option *o)
{
	if (!strcmp(o->name, "jail"))
		return "native";
	return strcmp(o->name, "on-denied") ? o->name : "on_denied";
}

static void policy_cleanup(struct redoma_policy **p)
{
	redoma_policy_free(*p);
}

/* Which of two is meant cannot be told: as for a key of a policy. */
static int check_once(const struct args *a, size_t i, struct redoma_error *err)
{
	const struct arg *g = &a->given[i];
	struct str key, earlier, rest;

	if ((strcmp(g->option->name, "limit") &&
	     strcmp(g->option->name, "env")) ||
	    !str_split(str_of(g->value), '=', &key, &rest))
		return 0;
	for (size_t k = 0; k < i; k++)
		if (a->given[k].option == g->option &&
		    str_split(str_of(a->given[k].value), '=', &earlier,
			      &rest) &&
		    str_equal(key, earlier))
			return err_set(err, REDOMA_E_INVALID, "cli",
				       "--%s %s is given twice; give it once",
				       g->option->name, SHOW(key));
	return 0;
}

/* A policy grants the name of a tool; its command is ours (cli/tools.h). */
static int with(const struct redoma_policy *p, const struct option *o,
		const char *value, struct redoma_policy **ret,
		struct redoma_error *err)
{
	CLEANUP_FREE char *name = NULL;
	const char *command;
	struct str s;

	if (strcmp(o->name, "tool"))
		return redoma_policy_with(p, key_of(o), value, NULL, ret, err);
	s = tools_name(value, &command);
	name = strndup(s.p, s.len);
	return name ? redoma_policy_with(p, "tool", name, NULL, ret, err)
		    : err_nomem(err, "cli");
}

/* Replaces *p by *p with every option of the command line, in order. */
static int add_options(const struct args *a, struct redoma_policy **p,
		       struct redoma_error *err)
{
	for (size_t i = 0; i < a->n_given; i++) {
		struct redoma_policy *next = NULL;
		const struct option *o = a->given[i].option;
		int rc;

		if (!is_mine(o))
			continue;
		rc = check_once(a, i, err);
		if (rc)
			return rc;
		rc = with(*p, o, a->given[i].value, &next, err);
		if (rc)
			return rc;
		redoma_policy_free(*p);
		*p = next;
	}
	return 0;
}

static bool any_option(const struct args *a)
{
	for (size_t i = 0; i < a->n_given; i++)
		if (is_mine(a->given[i].option))
			return true;
	return false;
}

static int make(const char *path, struct redoma_policy **ret,
		struct redoma_error *err)
{
	static const char empty[] = "redoma: 1\n";

	if (path)
		return redoma_policy_read(path, ret, err);
	return redoma_policy_parse(empty, sizeof(empty) - 1, NULL, ret, err);
}

int grants_build(const struct args *a, const char *policy_path,
		 struct grants *ret, struct redoma_error *err)
{
	CLEANUP(policy_cleanup) struct redoma_policy *policy = NULL;
	CLEANUP(policy_cleanup) struct redoma_policy *request = NULL;
	const char *path = policy_path ? policy_path : args_value(a, "policy");
	int rc = make(path, &policy, err);

	if (!rc && !path)
		rc = add_options(a, &policy, err);
	else if (!rc && any_option(a)) {
		rc = make(path, &request, err);
		if (!rc)
			rc = add_options(a, &request, err);
	}
	if (rc)
		return rc;
	ret->policy = TAKE_PTR(policy);
	ret->request = TAKE_PTR(request);
	return 0;
}

void grants_done(struct grants *g)
{
	redoma_policy_free(g->policy);
	redoma_policy_free(g->request);
	*g = (struct grants){0};
}
