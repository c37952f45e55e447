#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cli/escape.h"
#include "cli/exits.h"
#include "cli/print.h"
#include "cli/verb.h"

static const struct option options[] = {
	{.name = "json", .help = "print the findings as JSON"},
	{.name = "attack", .later = true, .help = "run the escape corpus"},
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

	if (buf_addf(b, "%-18s %s", text(v, "name"), text(v, "state")))
		return -1;
	if (*detail && buf_addf(b, ": %s", detail))
		return -1;
	if (*remedy && buf_addf(b, "\n%-18s %s", "", remedy))
		return -1;
	return buf_add(b, "\n", 1);
}

static int add_image(struct buf *b, const struct json_value *v)
{
	size_t len;
	const char *name = json_string(v, &len);

	if (name)
		return buf_addf(b, "%-18s ready\n", name);
	return add_control(b, v);
}

static int sentences(const char *json, struct buf *b, struct redoma_error *err)
{
	CLEANUP(json_cleanup) struct json_doc *doc = NULL;
	int rc = json_parse(json, strlen(json), &doc, err);
	const struct json_value *root;
	struct json_iter it;

	if (rc)
		return rc;
	root = json_root(doc);
	rc = buf_addf(b, "What this machine can enforce:\n");
	it = json_iter(json_member(root, "controls"));
	while (!rc && json_next(&it))
		rc = add_control(b, it.value);
	if (!rc && json_count(json_member(root, "images")))
		rc = buf_addf(b, "\nWhat this install can run:\n");
	it = json_iter(json_member(root, "images"));
	while (!rc && json_next(&it))
		rc = add_image(b, it.value);
	return rc ? err_nomem(err, "cli") : 0;
}

static int run(const struct args *a)
{
	CLEANUP(text_cleanup) char *json = NULL;
	CLEANUP(buf_done) struct buf b = {0};
	struct redoma_error err;
	int rc = redoma_doctor(NULL, &json, &err);

	if (!rc && args_has(a, "json"))
		rc = buf_addf(&b, "%s\n", json) ? err_nomem(&err, "cli") : 0;
	else if (!rc)
		rc = sentences(json, &b, &err);
	if (!rc)
		rc = print_bytes(1, b.data, b.len, &err);
	return rc ? print_refused(&err, args_has(a, "json")) : EXIT_OK;
}

const struct verb verb_doctor_row = {
	.name = "doctor",
	.synopsis = "[--json]",
	.summary = "say what this kernel and install can enforce",
	.detail = "One line for each control of the sandbox, with the remedy "
		  "where one is missing.",
	.options = {options, verb_options},
	.takes_none = true,
	.run = run,
};
