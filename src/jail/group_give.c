/* A maker's directories change hands.  In v2, a process that is not root may
 * place its children only where it could move them: it needs the right to
 * write cgroup.procs of the directory above both (cgroup-v2.rst, "Delegation
 * Containment"), so it lives there too. */
#include "jail/group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "jail/group_steps.h"

static int give(const struct hier *h, const char *path, uid_t uid, gid_t gid)
{
	return fchownat(h->place, path, uid, gid, AT_SYMLINK_NOFOLLOW);
}

/* cgroup-v2.rst, "Model of Delegation": the files to give. */
static int give_files(const struct groups *g, const struct hier *h, uid_t uid,
		      gid_t gid)
{
	static const char *const files[] = {
		"cgroup.procs", "cgroup.threads", "cgroup.subtree_control"};
	char path[GROUP_PATH_MAX];

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		snprintf(path, sizeof path, "%.95s/%s", g->name, files[i]);
		if (give(h, path, uid, gid))
			return -1;
	}
	return 0;
}

static int step_in(const struct groups *g, const struct hier *h)
{
	char path[GROUP_PATH_MAX];

	snprintf(path, sizeof path, "%.95s/self", g->name);
	if (mkdirat(h->place, path, 0755) && errno != EEXIST)
		return -1;
	return gfile_write(h->place, path, "cgroup.procs", "0");
}

int groups_give(struct groups *g, uid_t uid, gid_t gid,
		struct redoma_error *err)
{
	if (geteuid() == uid)
		return 0;
	for (size_t i = 0; i < g->n; i++) {
		const struct hier *h = &g->h[i];

		if (give(h, g->name, uid, gid))
			return err_sys(err, GROUP_WHERE, "give %s away",
				       g->name);
		if (!(h->has & HIER_UNIFIED))
			continue;
		if (give_files(g, h, uid, gid) || step_in(g, h))
			return err_sys(err, GROUP_WHERE,
				       "move into a leaf of %s", g->name);
	}
	return 0;
}
