#include "cli/topics.h"

#include <string.h>

#include "cli/exits.h"

static const char limits[] =
	"Limits, as --limit K=V or under `limits:` in a policy\n"
	"\n"
	"  wall     10s       time from start to end; ms, s or m\n"
	"  cpu      = wall    time on a processor\n"
	"  memory   128MiB    what the guest may hold; KiB, MiB or GiB\n"
	"  output   1MiB      stdout, stderr and value together\n"
	"  fuel     not set   instructions counted; makes cost repeatable\n"
	"  files    64        open handles; one more fails in the guest\n"
	"  calls    256       calls of tools in one run\n"
	"  in_flight 32       of these under way at once; more wait\n"
	"\n"
	"The last two are without effect where no tool is granted.\n"
	"A limit ends the run with exit code 3 and says which one it was. An\n"
	"allocation over memory may instead fail in the guest.\n";

static const struct topic topics[] = {
	{"limits", limits},
	{"exit-codes", NULL},
	{NULL, NULL},
};

const struct topic *topics_find(const char *name)
{
	for (const struct topic *t = topics; t->name; t++)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}

int topics_add_exits(struct buf *out, bool man)
{
	int rc = 0;

	for (const struct exit_row *e = exits_table; e->text && !rc; e++)
		rc = man ? buf_addf(out, ".TP\n.B %d\n%s\n", e->code, e->text)
			 : buf_addf(out, "  %3d  %s\n", e->code, e->text);
	return rc;
}

int topics_add(struct buf *out, const struct topic *t)
{
	if (t->text)
		return buf_add(out, t->text, strlen(t->text));
	if (buf_addf(out, "Exit codes\n\n"))
		return -1;
	return topics_add_exits(out, false);
}
