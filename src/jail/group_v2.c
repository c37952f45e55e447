/* cgroup v2: which directory takes groups.  Controllers can be turned on for
 * the children of a directory only while it holds no process itself. */
#include "jail/group_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "base/cleanup.h"

#define MOVES 8 /* rounds, in case that more are born meanwhile */
#define REMEDY                                                              \
	"let systemd delegate a directory of its own (Delegate=yes with "   \
	"DelegateSubgroup=host, or systemd-run --user --scope -p Delegate=yes)"

static const struct {
	const char *name;
	uint32_t has;
} controllers[] = {
	{"memory", HIER_MEMORY},
	{"pids", HIER_PIDS},
	{"cpu", HIER_CPU},
};
#define N_CONTROLLERS (sizeof controllers / sizeof *controllers)

static int lists(int place, const char *name, uint32_t *ret)
{
	char text[GROUP_TEXT_MAX];

	if (gfile_read(place, ".", name, text))
		return -1;
	*ret = 0;
	for (size_t i = 0; i < N_CONTROLLERS; i++)
		if (gtext_lists(text, controllers[i].name, " \n"))
			*ret |= controllers[i].has;
	return 0;
}

static int cannot_enable(const char *name, struct redoma_error *err)
{
	if (errno == EACCES || errno == EPERM || errno == EROFS)
		return err_set(err, REDOMA_E_UNSUPPORTED, GROUP_WHERE,
			       "our cgroup is not delegated: its %s controller "
			       "cannot be turned on (%s); " REMEDY,
			       name, strerrorname_np(errno));
	return err_sys(err, GROUP_WHERE, "enable the %s controller", name);
}

int v2_enable(const struct hier *h, const char *at, struct redoma_error *err)
{
	char text[GROUP_TEXT_MAX], word[32];

	for (size_t i = 0; i < N_CONTROLLERS; i++) {
		const char *name = controllers[i].name;

		if (!(h->has & controllers[i].has))
			continue;
		if (gfile_read(h->place, at, "cgroup.subtree_control", text))
			return err_sys(err, GROUP_WHERE,
				       "read cgroup.subtree_control");
		if (gtext_lists(text, name, " \n"))
			continue;
		snprintf(word, sizeof word, "+%s", name);
		if (gfile_write(h->place, at, "cgroup.subtree_control", word))
			return cannot_enable(name, err);
		if (gfile_read(h->place, at, "cgroup.subtree_control", text))
			return err_sys(err, GROUP_WHERE,
				       "read cgroup.subtree_control");
		errno = 0; /* not EBUSY: see try_dir */
		if (!gtext_lists(text, name, " \n"))
			return err_set(err, REDOMA_E_UNSUPPORTED, GROUP_WHERE,
				       "the %s controller was enabled, but the "
				       "kernel did not keep it",
				       name);
	}
	return 0;
}

/* systemd marks what it delegates, and may take back anything else. */
static bool delegated(const struct place *p, int dir)
{
	static const char *const marks[] = {"user.delegate",
					    "trusted.delegate"};
	char value[8];

	if (!p->marked)
		return true;
	for (size_t i = 0; i < 2; i++)
		if (fgetxattr(dir, marks[i], value, sizeof value) == 1 &&
		    *value == '1')
			return true;
	return false;
}

static pid_t parent_of(pid_t pid)
{
	char path[32], text[GROUP_TEXT_MAX];
	const char *at;
	int parent;

	snprintf(path, sizeof path, "%d/stat", pid);
	if (gfile_read(AT_FDCWD, "/proc", path, text))
		return -1;
	at = strrchr(text, ')');
	return at && sscanf(at, ") %*c %d", &parent) == 1 ? parent : -1;
}

static const char *name_of(pid_t pid, char text[GROUP_TEXT_MAX])
{
	char path[32];

	snprintf(path, sizeof path, "%d/comm", pid);
	if (gfile_read(AT_FDCWD, "/proc", path, text))
		return "of another pid namespace, or gone";
	text[strcspn(text, "\n")] = 0;
	return text;
}

static bool is_gone(pid_t pid)
{
	return kill(pid, 0) && errno == ESRCH;
}

/* Ours to move: this process, its parent, and their children. */
static bool is_ours(pid_t pid, pid_t parent)
{
	pid_t self = getpid(), its;

	if (pid == self || (pid == parent && parent > 1))
		return true;
	its = parent_of(pid);
	return its == self || (its == parent && parent > 1) ||
	       (its < 0 && is_gone(pid)); /* since it was listed */
}

/* The first that `text` lists and that is not ours; 0: none. */
static pid_t stranger(const char *text, pid_t parent)
{
	char *end;
	long pid;

	for (;; text = end) {
		pid = strtol(text, &end, 10);
		if (end == text)
			return 0;
		/* 0: of another pid namespace */
		if (pid <= 0 || !is_ours((pid_t)pid, parent))
			return pid > 0 ? (pid_t)pid : -1;
	}
}

static int move(const struct hier *h, const char *leaf, const char *text)
{
	char word[16], *end;
	long pid;

	for (;; text = end) {
		pid = strtol(text, &end, 10);
		if (end == text)
			return 0;
		snprintf(word, sizeof word, "%ld", pid);
		/* ESRCH: it has ended. */
		if (gfile_write(h->place, leaf, "cgroup.procs", word) &&
		    errno != ESRCH)
			return -1;
	}
}

/* Empties our own directory into a leaf, if that harms nobody. */
static int step_aside(const struct hier *h, struct redoma_error *err)
{
	char leaf[64], text[GROUP_TEXT_MAX], name[GROUP_TEXT_MAX];
	pid_t other;

	if (gfile_read(h->place, ".", "cgroup.procs", text))
		return err_sys(err, GROUP_WHERE, "read cgroup.procs");
	other = stranger(text, getppid());
	if (other)
		return err_set(err, REDOMA_E_UNSUPPORTED, GROUP_WHERE,
			       "our cgroup also holds processes that are not "
			       "ours (%d, %s); " REMEDY,
			       other, name_of(other, name));
	snprintf(leaf, sizeof leaf, GROUP_ASIDE "%d", getpid());
	if (mkdirat(h->place, leaf, 0755) && errno != EEXIST)
		return err_sys(err, GROUP_WHERE, "make %s", leaf);
	if (move(h, leaf, text))
		return err_sys(err, GROUP_WHERE, "move into %s", leaf);
	return 0;
}

/* Everything that can be turned on here; memory must be. */
static int try_dir(const struct place *p, struct hier *h, bool own,
		   struct redoma_error *err)
{
	uint32_t on = 0;
	int rc;

	if (lists(h->place, "cgroup.controllers", &h->has) ||
	    lists(h->place, "cgroup.subtree_control", &on))
		return err_sys(err, GROUP_WHERE, "read the controllers");
	if (!(h->has & HIER_MEMORY))
		return err_set(err, REDOMA_E_UNSUPPORTED, GROUP_WHERE,
			       "our cgroup has no memory controller; " REMEDY);
	if (!delegated(p, h->place))
		return err_set(err, REDOMA_E_UNSUPPORTED, GROUP_WHERE,
			       "our cgroup is not delegated; " REMEDY);
	if (p->lean)
		h->has &= ~(uint32_t)HIER_CPU;
	rc = v2_enable(h, ".", err);
	for (int i = 0; own && rc && errno == EBUSY && i < MOVES; i++) {
		rc = step_aside(h, err);
		if (rc)
			return rc;
		rc = v2_enable(h, ".", err);
	}
	h->has |= HIER_UNIFIED;
	return rc;
}

/* Without systemd, root may write everywhere: only what a maker emptied. */
static bool above_fits(const struct place *p)
{
	char text[GROUP_TEXT_MAX];

	/* Empty: else a process there would keep it from being used. */
	return p->above >= 0 &&
	       !faccessat(p->above, "cgroup.procs", W_OK, AT_EACCESS) &&
	       !gfile_read(p->above, ".", "cgroup.procs", text) && !*text &&
	       (p->marked || geteuid() || p->aside);
}

static bool may_hold(const struct place *p, int dir, uint32_t *ret_on)
{
	uint32_t has = 0;

	return !faccessat(dir, "cgroup.subtree_control", W_OK, AT_EACCESS) &&
	       !lists(dir, "cgroup.controllers", &has) &&
	       !lists(dir, "cgroup.subtree_control", ret_on) &&
	       has & HIER_MEMORY && delegated(p, dir);
}

bool v2_fits(const struct place *p)
{
	char text[GROUP_TEXT_MAX];
	uint32_t on = 0;

	if (above_fits(p) && may_hold(p, p->above, &on))
		return true;
	return may_hold(p, p->h[0].place, &on) &&
	       (on & HIER_MEMORY ||
		/* Only the root of the hierarchy has no type. */
		!gfile_exists(p->h[0].place, ".", "cgroup.type") ||
		(!gfile_read(p->h[0].place, ".", "cgroup.procs", text) &&
		 !stranger(text, -1)));
}

int v2_choose(struct place *p, struct redoma_error *err)
{
	struct hier above = {.place = p->above};

	if (above_fits(p) && !try_dir(p, &above, false, NULL)) {
		close(p->h[0].place);
		p->h[0] = above;
		p->above = -1;
		return 0;
	}
	return try_dir(p, &p->h[0], true, err);
}
