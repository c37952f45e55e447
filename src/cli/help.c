#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/exits.h"
#include "cli/print.h"

#define COLUMNS 79

static const char examples[] =
	"redoma - run code nobody has reviewed; it gets only what you grant\n"
	"\n"
	"  redoma eval js '6 * 7'\n"
	"  echo 'console.log(\"hello\")' | redoma run - --lang js\n"
	"  redoma eval js 'for (;;);' --limit wall=200ms\n"
	"\n";

static const char grants[] =
	"\n"
	"Grants (none by default), more in `redoma help run`\n"
	"  --read data.csv=/data.csv   one file; a directory ends in /\n"
	"  --write out.md=/out.md:5MiB published only if the run ends well\n"
	"  --limit memory=64MiB        wall, cpu, fuel, memory, output, files\n"
	"  --policy FILE               all of it in one reviewed file\n";

int help_flush(struct buf *out, int failed)
{
	struct redoma_error err;
	int rc = failed ? err_nomem(&err, "cli") : 0;

	if (!rc)
		rc = print_bytes(1, out->data, out->len, &err);
	if (!rc)
		return EXIT_OK;
	print_refused(&err, false);
	return EXIT_INTERNAL;
}

int help_add_screen(struct buf *out)
{
	int rc = buf_add(out, examples, sizeof(examples) - 1);

	for (size_t i = 0; verb_table[i] && !rc; i++)
		if (verb_table[i]->summary)
			rc = buf_addf(out, "  redoma %-8s %s\n",
				      verb_table[i]->name,
				      verb_table[i]->summary);
	return rc ? rc : buf_add(out, grants, sizeof(grants) - 1);
}

int help_screen(void)
{
	CLEANUP(buf_done) struct buf b = {0};

	return help_flush(&b, help_add_screen(&b));
}

int help_add_filled(struct buf *out, const char *text, int left)
{
	size_t room = (size_t)(COLUMNS - left);
	int rc = 0;

	while (*text && !rc) {
		size_t n = strlen(text);

		if (n > room) {
			n = room;
			while (n && text[n] != ' ')
				n--;
			n = n ? n : room; /* one long word is cut */
		}
		rc = buf_addf(out, "%*s%.*s\n", left, "", (int)n, text);
		text += n;
		text += *text == ' ';
	}
	return rc;
}

static int add_option(struct buf *out, const struct option *o)
{
	char left[64];

	if (o->later)
		return 0;
	snprintf(left, sizeof(left), "%s--%s%s%s", o->letter ? "-h, " : "",
		 o->name, o->value ? " " : "", o->value ? o->value : "");
	if (o->letter)
		left[1] = o->letter;
	if (strlen(left) > 25)
		return buf_addf(out, "  %s\n  %-25s %s\n", left, "", o->help);
	return buf_addf(out, "  %-25s %s\n", left, o->help);
}

int help_verb(const struct verb *v)
{
	CLEANUP(buf_done) struct buf b = {0};
	int rc = buf_addf(&b, "redoma %s %s\n\n%s.\n", v->name, v->synopsis,
			  v->summary);

	if (!rc && v->detail)
		rc = help_add_filled(&b, v->detail, 0);
	if (!rc)
		rc = buf_add(&b, "\n", 1);
	for (size_t i = 0; v->options[i] && !rc; i++)
		for (const struct option *o = v->options[i]; o->name; o++)
			rc = rc ? rc : add_option(&b, o);
	return help_flush(&b, rc);
}
