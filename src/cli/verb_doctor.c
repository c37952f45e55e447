#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cli/attack.h"
#include "cli/escape.h"
#include "cli/exits.h"
#include "cli/help.h"
#include "cli/print.h"
#include "cli/verb.h"

#define LEFT 19 /* columns before what is said of a row */

static const struct option options[] = {
	{.name = "json", .help = "print the findings as JSON"},
	{.name = "attack",
	 .help = "try to break out, with every control on"},
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

static int add_control(struct buf *b, const struct json_value *v)
{
	const char *detail = text(v, "detail");
	const char *remedy = text(v, "remedy");

	if (buf_addf(b, "%-18s %s%s%.40s\n", text(v, "name"),
		     text(v, "state"), *detail ? ": " : "", detail))
		return -1;
	return help_add_filled(b, remedy, LEFT);
}

static int add_image(struct buf *b, const struct json_value *v)
{
	size_t len;
	const char *name = json_string(v, &len);

	if (name)
		return buf_addf(b, "%-18s ready\n", name);
	return add_control(b, v);
}

/* An image that is made after the installation, or not. */
static int add_added(struct buf *b, const struct json_value *v)
{
	const char *name = text(v, "name"), *state = text(v, "state");
	bool missing = !strcmp(state, "missing");

	if (buf_addf(b, "%-18s %s\n", name,
		     missing ? "not installed: numpy, pandas and more"
			     : state))
		return -1;
	if (!strcmp(state, "ready"))
		return 0;
	return buf_addf(b, "%*s`redoma image add %s` makes it, once\n", LEFT,
			"", name);
}

/* One line, also where it is long: it is looked for. */
static int add_tier(struct buf *b, const struct json_value *v)
{
	return buf_addf(b, "tier: %s. js, py, .wasm %s; native programs "
			"%s\n\n",
			text(v, "name"), text(v, "wasm"), text(v, "native"));
}

static int add_runtime(struct buf *b, const struct json_value *v)
{
	bool there = json_is_true(json_member(v, "available"));

	if (buf_addf(b, "%-18s %s\n", text(v, "name"),
		     there ? "found" : "missing"))
		return -1;
	return help_add_filled(b, text(v, "why_not"), LEFT);
}

static int add_list(struct buf *b, const char *title,
		    const struct json_value *list,
		    int (*add)(struct buf *b, const struct json_value *v))
{
	struct json_iter it = json_iter(list);
	int rc = json_count(list) ? buf_addf(b, "%s\n", title) : 0;

	while (!rc && json_next(&it))
		rc = add(b, it.value);
	return rc;
}

static int sentences(const struct json_value *root, struct buf *b)
{
	int rc = add_tier(b, json_member(root, "tier"));

	if (!rc)
		rc = add_list(b, "What this machine can enforce:",
			      json_member(root, "controls"), add_control);
	if (!rc)
		rc = add_list(b, "\nWhat this install can run:",
			      json_member(root, "images"), add_image);
	if (!rc)
		rc = add_list(b, "\nImages that can be added:",
			      json_member(root, "added"), add_added);
	if (!rc)
		rc = add_list(b, "\nWhat native programs need:",
			      json_member(root, "native"), add_control);
	if (!rc)
		rc = add_list(b, "\nRuntimes of native programs:",
			      json_member(root, "runtimes"), add_runtime);
	return rc;
}

static int show(const char *json, const struct args *a)
{
	CLEANUP(json_cleanup) struct json_doc *doc = NULL;
	CLEANUP(buf_done) struct buf b = {0};
	bool as_json = args_has(a, "json"), attack = args_has(a, "attack");
	struct redoma_error err;
	int rc = json_parse(json, strlen(json), &doc, &err);

	if (!rc && as_json && !attack)
		rc = buf_addf(&b, "%s\n", json) ? err_nomem(&err, "cli") : 0;
	else if (!rc && !as_json)
		rc = sentences(json_root(doc), &b) ? err_nomem(&err, "cli") : 0;
	if (!rc && attack)
		return attack_doctor(json_root(doc), &b, as_json);
	if (!rc)
		rc = print_bytes(1, b.data, b.len, &err);
	return rc ? print_refused(&err, as_json) : EXIT_OK;
}

/* Three objects made one: {"controls": ...}, {"runtimes": ...} and, since the
 * first has images too, {"added": ...}. */
static int ask(struct buf *b, struct redoma_error *err)
{
	CLEANUP(text_cleanup) char *json = NULL;
	CLEANUP(text_cleanup) char *runtimes = NULL;
	CLEANUP(text_cleanup) char *added = NULL;
	int rc = redoma_doctor(NULL, &json, err);

	if (!rc)
		rc = redoma_runtime_list(&runtimes, err);
	if (!rc)
		rc = redoma_image_list(&added, err);
	if (!rc && buf_addf(b, "%.*s,%.*s,\"added\":%s", (int)strlen(json) - 1,
			    json, (int)strlen(runtimes) - 2, runtimes + 1,
			    strchr(added, '[')))
		rc = err_nomem(err, "cli");
	return rc;
}

static int run(const struct args *a)
{
	CLEANUP(buf_done) struct buf b = {0};
	struct redoma_error err;

	return ask(&b, &err) ? print_refused(&err, args_has(a, "json"))
			     : show(b.data, a);
}

const struct verb verb_doctor_row = {
	.name = "doctor",
	.synopsis = "[--attack] [--json]",
	.summary = "say what this kernel and install can enforce",
	.detail = "One line for each control of the sandbox, with the remedy "
		  "where one is missing, and what native programs need. "
		  "--attack runs the escape corpus against this kernel: "
		  "scripts, modules and native code that try to get out, each "
		  "with every control on, at files, sockets and a process "
		  "made for the occasion. It says which wall stopped each; "
		  "exit code 0 if all were, 9 if any got through, 6 if a "
		  "control is unavailable.",
	.options = {options, verb_options},
	.takes_none = true,
	.run = run,
};
