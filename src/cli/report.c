#include "cli/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cli/print.h"

static struct json_doc *open_result(struct redoma_result *r)
{
	struct json_doc *doc = NULL;
	struct redoma_error err;
	uint64_t len = 0;
	const char *json = redoma_result_json(r, &len);

	if (!json)
		print_line("the result does not fit in memory");
	else if (json_parse(json, len, &doc, &err))
		print_line("the result cannot be read: %s", err.text);
	return doc;
}

static const char *text(const struct json_value *v, const char *name)
{
	size_t len;
	const char *s = json_string(json_member(v, name), &len);

	return s ? s : "";
}

static uint64_t number(const struct json_value *v, const char *name)
{
	uint64_t n = 0;

	return json_u64(json_member(v, name), &n) ? n : 0;
}

/* The calls that led there, when there are more than the one that the line
 * with the error told already.  Engines begin a stack with the error's own
 * text, which may have lines of its own. */
static void report_stack(const char *stack)
{
	const char *frames = strstr(stack, "\n    at ");

	if (!frames || !strchr(frames + 1, '\n'))
		return;
	stack = frames + 1;
	while (*stack) {
		size_t len = strcspn(stack, "\n");

		if (len)
			print_line("%.*s", (int)(len > 200 ? 200 : len),
				   stack);
		stack += len + (stack[len] == '\n');
	}
}

static void report_error(const char *status, const struct json_value *error)
{
	const char *name = text(error, "name");
	const char *stack = text(error, "stack");
	uint64_t line = number(error, "line");
	const char *colon = *name ? ": " : "";

	if (line)
		print_line("%s: %s%s%s (line %" PRIu64 ", column %" PRIu64 ")",
			   status, name, colon, text(error, "message"), line,
			   number(error, "column"));
	else
		print_line("%s: %s%s%s", status, name, colon,
			   text(error, "message"));
	report_stack(stack);
}

static void report_limit(const char *status, const struct json_value *limit)
{
	const char *value = text(limit, "value");
	const char *used = text(limit, "used");
	const char *hint = text(limit, "hint");

	print_line("%s: %s%s%s%s%s%s%s", status, text(limit, "name"),
		   *value ? " limit of " : " limit", value,
		   *used ? ", used " : "", used, *hint ? "; " : "", hint);
}

static void report_denials(const struct json_value *denials)
{
	struct json_iter it = json_iter(denials);

	while (json_next(&it)) {
		const char *allow = text(it.value, "allow");
		const char *why = text(it.value, "why");
		const char *path = text(it.value, "path");
		uint64_t count = number(it.value, "count");

		print_line("denied: %s%s%s (%" PRIu64 "x)%s%s%s%s",
			   text(it.value, "op"), *path ? " " : "", path, count,
			   *why ? ": " : "", why,
			   *allow ? "; the policy line that allows it: " : "",
			   allow);
	}
}

/* A shell and env end so when they find no program, and a jail has few. */
static const char *exit_hint(const struct json_value *root, int code)
{
	bool native = json_member(json_member(root, "walls"), "proc");

	return native && (code == 126 || code == 127)
		       ? ": if it looked for a program, its root holds only "
			 "what `redoma runtime show NAME` lists; name that "
			 "program after --, or add it: redoma runtime add "
			 "NAME --program P, with --file for each file that "
			 "is missing"
		       : "";
}

void report_lines(struct redoma_result *r)
{
	CLEANUP(json_cleanup) struct json_doc *doc = open_result(r);
	const struct json_value *root = json_root(doc);
	const char *status = redoma_status_name(redoma_result_status(r));
	const struct json_value *limit = json_member(root, "limit");
	const struct json_value *error = json_member(root, "error");
	int exit_code = redoma_result_exit_code(r);

	if (!doc)
		return;
	if (limit)
		report_limit(status, limit);
	else if (error)
		report_error(status, error);
	else if (redoma_result_status(r) == REDOMA_STATUS_ERROR)
		print_line("%s: exit code %d%s", status, exit_code,
			   exit_hint(root, exit_code));
	else if (redoma_result_status(r) != REDOMA_STATUS_OK)
		print_line("%s", status);
	if (redoma_result_status(r) != REDOMA_STATUS_OUTPUT_LIMIT &&
	    json_is_true(json_member(root, "truncated")))
		print_line("output was cut at its limit; raise limits.output, "
			   "or write to a granted file");
	report_denials(json_member(root, "denials"));
}

void report_stats(struct redoma_result *r)
{
	CLEANUP(json_cleanup) struct json_doc *doc = open_result(r);
	const struct json_value *root = json_root(doc);
	const struct json_value *usage = json_member(root, "usage");

	if (!doc)
		return;
	print_line("stats: %s, wall %" PRIu64 " us, cpu %" PRIu64
		   " us, queue %" PRIu64 " us, reset %" PRIu64
		   " us, memory %" PRIu64 " KiB, read %" PRIu64
		   " B, written %" PRIu64 " B%s%s",
		   redoma_status_name(redoma_result_status(r)),
		   number(usage, "wall_us"), number(usage, "cpu_us"),
		   number(usage, "queue_us"), number(usage, "reset_us"),
		   number(usage, "memory_bytes") / 1024,
		   number(usage, "read_bytes"), number(usage, "written_bytes"),
		   json_is_true(json_member(usage, "cold")) ? ", cold" : "",
		   json_is_true(json_member(root, "pure")) ? ", pure" : "");
	if (number(usage, "fuel"))
		print_line("stats: fuel %" PRIu64, number(usage, "fuel"));
}
