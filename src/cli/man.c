#include <string.h>

#include "cli/help.h"
#include "cli/topics.h"

static const char head[] =
	".TH REDOMA 1 \"\" \"redoma " REDOMA_VERSION "\" \"User Commands\"\n"
	".SH NAME\n"
	"redoma \\- run code nobody has reviewed; it gets only what you "
	"grant\n"
	".SH SYNOPSIS\n";

static const char tail[] =
	".SH ENVIRONMENT\n"
	".TP\n.B NO_COLOR\nno colour on a terminal.\n"
	".PP\nNothing else is read, and the guest sees no variable but those "
	"of \\-\\-env.\n";

/* roff: a hyphen is \-, a backslash \e, and a line must not begin with a
 * control character. */
static int add_text(struct buf *out, const char *s)
{
	int rc = *s == '.' || *s == '\'' ? buf_add(out, "\\&", 2) : 0;

	for (; *s && !rc; s++) {
		if (*s == '-')
			rc = buf_add(out, "\\-", 2);
		else if (*s == '\\')
			rc = buf_add(out, "\\e", 2);
		else if (*s == '\'')
			rc = buf_add(out, "\\(aq", 4);
		else
			rc = buf_add(out, s, 1);
	}
	return rc;
}

static int add_synopsis(struct buf *out, const struct verb *v)
{
	if (buf_addf(out, ".B redoma %s\n", v->name) ||
	    add_text(out, v->synopsis))
		return -1;
	return buf_addf(out, *v->synopsis ? "\n.br\n" : ".br\n");
}

static int add_option(struct buf *out, const struct option *o)
{
	if (o->later)
		return 0;
	if (buf_addf(out, ".TP\n.B "))
		return -1;
	if (o->letter && buf_addf(out, "\\-%c, ", o->letter))
		return -1;
	if (buf_addf(out, "\\-\\-") || add_text(out, o->name))
		return -1;
	if (o->value && (buf_add(out, " ", 1) || add_text(out, o->value)))
		return -1;
	if (buf_add(out, "\n", 1) || add_text(out, o->help))
		return -1;
	return buf_add(out, "\n", 1);
}

static int add_verb(struct buf *out, const struct verb *v)
{
	int rc = buf_addf(out, ".SS redoma %s\n", v->name);

	if (!rc)
		rc = add_text(out, v->summary);
	if (!rc)
		rc = buf_addf(out, ".\n");
	if (!rc && v->detail)
		rc = buf_addf(out, ".PP\n") || add_text(out, v->detail) ||
		     buf_addf(out, "\n");
	for (size_t i = 0; v->options[i] && !rc; i++)
		for (const struct option *o = v->options[i]; o->name; o++)
			rc = rc ? rc : add_option(out, o);
	return rc;
}

int man_add(struct buf *out)
{
	int rc = buf_add(out, head, sizeof(head) - 1);

	for (size_t i = 0; verb_table[i] && !rc; i++)
		if (verb_table[i]->summary)
			rc = add_synopsis(out, verb_table[i]);
	if (!rc)
		rc = buf_addf(out, ".SH VERBS\n");
	for (size_t i = 0; verb_table[i] && !rc; i++)
		if (verb_table[i]->summary)
			rc = add_verb(out, verb_table[i]);
	if (!rc)
		rc = buf_addf(out, ".SH EXIT STATUS\n");
	if (!rc)
		rc = topics_add_exits(out, true);
	return rc ? rc : buf_add(out, tail, sizeof(tail) - 1);
}
