#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/escape.h"
#include "cli/exits.h"
#include "cli/print.h"
#include "cli/verb.h"

static const struct option options[] = {
	{.name = "program", .value = "P", .words = "@file",
	 .help = "add: what is started, a path or a name in /usr/bin"},
	{.name = "file", .value = "F", .repeats = true, .words = "@file",
	 .help = "add: a further file or directory it may read"},
	{.name = "json", .help = "list, show: print JSON"},
	{0},
};

static void text_cleanup(char **p)
{
	redoma_free(*p);
}

static const char *text(const struct json_value *v, const char *name)
{
	size_t len;
	const char *s = json_string(json_member(v, name), &len);

	return s ? s : "";
}

static int add_runtime(struct buf *b, const struct json_value *v)
{
	bool ready = json_is_true(json_member(v, "available"));

	if (buf_addf(b, "%-12s %-8s ", text(v, "name"), text(v, "version")))
		return -1;
	if (!ready)
		return buf_addf(b, "unavailable: %s\n", text(v, "why_not"));
	return buf_addf(b, "%s (%s)\n", text(v, "program"), text(v, "origin"));
}

static int add_entry(struct buf *b, const struct json_value *v)
{
	const char *to = text(v, "to"), *host = text(v, "host");
	const char *guest = text(v, "guest");

	if (buf_addf(b, "%-9s %s", text(v, "kind"), guest))
		return -1;
	if (*to && buf_addf(b, " -> %s", to))
		return -1;
	if (*host && strcmp(host, guest) && buf_addf(b, " = %s", host))
		return -1;
	return buf_add(b, "\n", 1);
}

/* The answer as JSON, or a line for each of `list`. */
static int print_answer(const struct args *a, const char *json,
			const char *list,
			int (*add)(struct buf *b, const struct json_value *v),
			struct redoma_error *err)
{
	CLEANUP(json_cleanup) struct json_doc *doc = NULL;
	CLEANUP(buf_done) struct buf b = {0};
	struct json_iter it;
	int rc = json_parse(json, strlen(json), &doc, err);

	if (rc)
		return rc;
	if (args_has(a, "json"))
		rc = buf_addf(&b, "%s\n", json);
	it = json_iter(args_has(a, "json")
			       ? NULL
			       : json_member(json_root(doc), list));
	while (!rc && json_next(&it))
		rc = add(&b, it.value);
	return rc ? err_nomem(err, "cli") : print_bytes(1, b.data, b.len, err);
}

static int list(const struct args *a, struct redoma_error *err)
{
	CLEANUP(text_cleanup) char *json = NULL;
	int rc = redoma_runtime_list(&json, err);

	return rc ? rc : print_answer(a, json, "runtimes", add_runtime, err);
}

static int show(const struct args *a, struct redoma_error *err)
{
	CLEANUP(text_cleanup) char *json = NULL;
	int rc = redoma_runtime_show(a->words[1], &json, err);

	return rc ? rc : print_answer(a, json, "entries", add_entry, err);
}

static int add(const struct args *a, struct redoma_error *err)
{
	CLEANUP_FREE const char **files = calloc(a->n_given + 1,
						 sizeof(*files));
	CLEANUP(buf_done) struct buf b = {0};
	const char *program = args_value(a, "program");
	size_t n = 0;
	int rc;

	if (!files)
		return err_nomem(err, "cli");
	if (!program)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "runtime add needs what to start: redoma "
			       "runtime add NAME --program P");
	for (size_t i = 0; i < a->n_given; i++)
		if (!strcmp(a->given[i].option->name, "file"))
			files[n++] = a->given[i].value;
	rc = redoma_runtime_add(a->words[1], program, files, err);
	if (rc)
		return rc;
	if (buf_addf(&b, "%s: added; use it with --native or native.root "
			 "runtime:%s\n",
		     a->words[1], a->words[1]))
		return err_nomem(err, "cli");
	return print_bytes(1, b.data, b.len, err);
}

/* A row is a file of the user's, who may well keep it elsewhere. */
static int how_to_remove(const struct args *a, struct redoma_error *err)
{
	const struct passwd *pw = getpwuid(geteuid());
	bool home = pw && pw->pw_dir && pw->pw_dir[0] == '/';
	CLEANUP(buf_done) struct buf b = {0};

	if (buf_addf(&b, "%s/.config/redoma/runtimes/%s.yaml",
		     home ? pw->pw_dir : "~", a->words[1]))
		return err_nomem(err, "cli");
	return err_set(err, REDOMA_E_INVALID, "cli",
		       "a runtime that was added is a file; delete %s",
		       SHOW(((struct str){b.data, b.len})));
}

static int no_such_word(const struct args *a, struct redoma_error *err)
{
	if (a->n_words == 2 && !strcmp(a->words[0], "remove"))
		return how_to_remove(a, err);
	return err_set(err, REDOMA_E_INVALID, "cli",
		       "runtime needs list, show or add: redoma runtime list");
}

static int choose(const struct args *a, struct redoma_error *err)
{
	const char *what = a->n_words ? a->words[0] : "";
	bool is_list = !strcmp(what, "list");
	bool is_add = !strcmp(what, "add");

	if (!is_list && !is_add && strcmp(what, "show"))
		return no_such_word(a, err);
	if (a->n_words > (is_list ? 1 : 2))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "runtime %s takes no word such as %s; leave it "
			       "out",
			       what, SHOW(str_of(a->words[is_list ? 1 : 2])));
	if (!is_list && a->n_words < 2)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "runtime %s needs a name: redoma runtime %s "
			       "NAME",
			       what, what);
	if (!is_add && (args_has(a, "program") || args_has(a, "file")))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "--program and --file belong to runtime add; "
			       "leave them out");
	if (is_add)
		return add(a, err);
	return is_list ? list(a, err) : show(a, err);
}

static int run(const struct args *a)
{
	struct redoma_error err;

	return choose(a, &err) ? print_refused(&err, args_has(a, "json"))
			       : EXIT_OK;
}

const struct verb verb_runtime_row = {
	.name = "runtime",
	.synopsis = "list | show NAME | add NAME --program P [--file F]...",
	.summary = "what a native program finds: its files, no others",
	.detail =
		"list names the runtimes and whether this machine has them. "
		"show prints the root that a runtime, or any program named by "
		"its path, would get: the files it is started with, its "
		"libraries, nothing else. add keeps a program and further "
		"files under a name, in ~/.config/redoma/runtimes; remove its "
		"file to remove it.",
	.words = "list show add",
	.options = {options, verb_options},
	.run = run,
};
