/* The maker's own place while it works: a leaf "maker" of its directory, in
 * v1's cpu hierarchy.  In v2 a process is moved by a lock that holds up every
 * fork and exit of the machine until a grace period has passed: see open_joins.
 * That is more than it is worth. */
#include "jail/group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "jail/group_steps.h"

int groups_step_in(struct groups *g, struct redoma_error *err)
{
	const struct hier *cpu = groups_with(g, HIER_CPU);
	char at[GROUP_PATH_MAX];
	int rc;

	if (!cpu || cpu->has & HIER_UNIFIED)
		return err_set(err, REDOMA_E_UNSUPPORTED, GROUP_WHERE,
			       "no v1 cpu controller here");
	snprintf(at, sizeof at, "%.95s/" GROUP_MAKER, g->name);
	if (mkdirat(cpu->place, at, 0755))
		return err_sys(err, GROUP_WHERE, "make %s", at);
	g->inside = !gfile_write(cpu->place, at, "tasks", "0");
	if (g->inside)
		return 0;
	rc = err_sys(err, GROUP_WHERE, "move into %s", at);
	(void)unlinkat(cpu->place, at, AT_REMOVEDIR);
	return rc;
}

void groups_step_out(struct groups *g)
{
	const struct hier *cpu = groups_with(g, HIER_CPU);

	/* If that fails, who clears kills us. */
	if (g->inside)
		(void)gfile_write(cpu->place, ".", "tasks", "0");
	g->inside = false;
}
