/* The maker's own place while it works: a leaf "self" of its directory, in the
 * hierarchy that shares out the CPU. */
#include "jail/group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "jail/group_steps.h"

/* By "tasks", a process of one thread moves itself at once: see open_joins. */
static const char *members(const struct hier *h)
{
	return h->has & HIER_UNIFIED ? "cgroup.procs" : "tasks";
}

/* Where this process stands, below the place: in it, or in v2, where a place
 * holds no processes, in a leaf of it.  cgroups(7), /proc/PID/cgroup. */
static int find_leaf(const struct hier *h, char leaf[GROUP_PATH_MAX])
{
	char text[GROUP_TEXT_MAX], *line, *name;

	snprintf(leaf, GROUP_PATH_MAX, ".");
	if (!(h->has & HIER_UNIFIED))
		return 0;
	if (gfile_read(AT_FDCWD, "/proc/self", "cgroup", text))
		return -1;
	line = strncmp(text, "0::", 3) ? strstr(text, "\n0::") : text;
	if (!line) {
		errno = ENOENT;
		return -1;
	}
	line += *line == '\n';
	line[strcspn(line, "\n")] = 0;
	name = strrchr(line, '/');
	if (name && name[1])
		snprintf(leaf, GROUP_PATH_MAX, "%.100s", name + 1);
	return 0;
}

void gself_open(struct groups *g)
{
	const struct hier *cpu = groups_with(g, HIER_CPU);
	char leaf[GROUP_PATH_MAX];

	if (cpu && !find_leaf(cpu, leaf))
		g->home = gfile_open(cpu->place, leaf, members(cpu), O_WRONLY);
}

int groups_step_in(struct groups *g, struct redoma_error *err)
{
	const struct hier *cpu = groups_with(g, HIER_CPU);
	char at[GROUP_PATH_MAX];
	int rc;

	if (!cpu || g->home < 0)
		return err_set(err, REDOMA_E_UNSUPPORTED, GROUP_WHERE,
			       "no cpu controller here, or none whose members "
			       "may be moved; delegate a cgroup that has it");
	snprintf(at, sizeof at, "%.95s/self", g->name);
	if (mkdirat(cpu->place, at, 0755))
		return err_sys(err, GROUP_WHERE, "make %s", at);
	g->inside = !gfile_write(cpu->place, at, members(cpu), "0");
	if (g->inside)
		return 0;
	rc = err_sys(err, GROUP_WHERE, "move into %s", at);
	(void)unlinkat(cpu->place, at, AT_REMOVEDIR);
	return rc;
}

void groups_step_out(struct groups *g)
{
	/* It fails if that was removed meanwhile; who clears waits for our end
	 * then. */
	if (g->inside)
		(void)gfile_put(g->home, "0");
	g->inside = false;
}
