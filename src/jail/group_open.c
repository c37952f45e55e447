/* groups_open: the maker's directories, and a first group that tells what this
 * kernel really does. */
#include "jail/group.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clone.h"
#include "jail/group_steps.h"
#include "jail/steps.h"

#define PROBE_BYTES ((uint64_t)64 << 20)
#define PROBE_PIDS 16
#define PROBE_MS 2000
#define MAKERS_MAX 64 /* of one process */

uint32_t groups_can(const struct groups *g)
{
	return g->can;
}

enum jail_cgroups groups_kind(const struct groups *g)
{
	return g->kind;
}

void groups_close(struct groups *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->n; i++)
		close(g->h[i].place);
	free(g);
}

static void close_groups(struct groups **g)
{
	groups_close(*g);
}

static int refuse(int sys, const char *what, struct redoma_error *err)
{
	errno = sys;
	return jail_refuse(JAIL_CGROUP, what, err);
}

static void drop(struct groups *g, size_t i)
{
	close(g->h[i].place);
	g->n--;
	memmove(&g->h[i], &g->h[i + 1], (g->n - i) * sizeof *g->h);
}

static bool is_taken(const struct groups *g, const char *name)
{
	for (size_t i = 0; i < g->n; i++)
		if (gfile_exists(g->h[i].place, ".", name))
			return true;
	return false;
}

static int choose_name(struct groups *g, struct redoma_error *err)
{
	char name[sizeof g->name];

	for (int k = 0; k < MAKERS_MAX; k++) {
		int rc = maker_name(name, k, err);

		if (rc)
			return rc;
		if (is_taken(g, name))
			continue;
		memcpy(g->name, name, sizeof name);
		return 0;
	}
	return err_set(err, REDOMA_E_BUSY, GROUP_WHERE,
		       "this process already has %d makers of cgroups",
		       MAKERS_MAX);
}

/* Our directory in each hierarchy; one that does not take it is not used. */
static int make_own(struct groups *g, struct redoma_error *err)
{
	int sys = ENOENT, rc = choose_name(g, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < g->n;) {
		if (!mkdirat(g->h[i].place, g->name, 0755)) {
			i++;
			continue;
		}
		sys = errno;
		drop(g, i);
	}
	if (groups_with(g, HIER_MEMORY))
		return 0;
	return refuse(sys, "make a cgroup with the memory controller", err);
}

static pid_t clone_into(const struct group *c, int *ret_pidfd)
{
	struct clone_args a = {
		.flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
		.pidfd = (uintptr_t)ret_pidfd,
	};

	if (c->birth_fd >= 0) {
		a.flags |= CLONE_INTO_CGROUP;
		a.cgroup = (uint64_t)c->birth_fd;
	}
	return clone_child(&a);
}

/* A child that is born into the group and joins the rest of it. */
static int try_child(const struct group *c, struct redoma_error *err)
{
	CLEANUP_FD int pidfd = -1;
	siginfo_t info = {0};
	pid_t pid = clone_into(c, &pidfd);

	if (!pid)
		_exit(group_join(c) ? (errno & 0xff) : 0);
	if (pid < 0)
		return err_sys(err, GROUP_WHERE, "clone3 into a cgroup");
	while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | __WALL) &&
	       errno == EINTR)
		continue;
	if (info.si_code == CLD_EXITED && !info.si_status)
		return 0;
	errno = info.si_code == CLD_EXITED ? info.si_status : EINTR;
	return err_sys(err, GROUP_WHERE, "join a cgroup");
}

static int try_group(struct groups *g, struct redoma_error *err)
{
	struct group_limits l = {.memory_bytes = PROBE_BYTES};
	struct group *c = NULL;
	int rc;

	if (groups_with(g, HIER_PIDS))
		l.pids = PROBE_PIDS;
	rc = group_make(g, &l, &c, err);
	if (rc)
		return rc;
	rc = try_child(c, err);
	if (!rc) {
		rc = group_kill(c, PROBE_MS, err);
	} else {
		gkill_all(g, c->at, PROBE_MS, NULL);
	}
	if (!rc)
		return group_end(c, err);
	groups_rmdir(g, c->at, NULL);
	group_free(c);
	return rc;
}

static void find_abilities(struct groups *g)
{
	static const struct {
		uint32_t has, can;
	} rows[] = {
		{HIER_MEMORY, GROUP_MEMORY},
		{HIER_PIDS, GROUP_PIDS},
		{HIER_CPU, GROUP_CPU_WEIGHT},
		{HIER_CPUACCT, GROUP_CPU_USAGE},
		{HIER_UNIFIED, GROUP_CPU_USAGE},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (groups_with(g, rows[i].has))
			g->can |= rows[i].can;
	if (g->h[0].has & HIER_UNIFIED &&
	    gfile_exists(g->h[0].place, g->name, "cgroup.kill"))
		g->can |= GROUP_KILL;
	g->kind = g->h[0].has & HIER_UNIFIED
			  ? g->h[0].has & HIER_MEMORY ? JAIL_CGROUPS_V2
						      : JAIL_CGROUPS_HYBRID
			  : JAIL_CGROUPS_V1;
}

static void set_birth(struct groups *g, bool on)
{
	g->h[0].born = on;
	g->can &= ~(uint32_t)GROUP_BIRTH;
	if (on)
		g->can |= GROUP_BIRTH;
}

/* Best first: birth, then joining; a unified hierarchy without controllers
 * that takes neither is left out. */
static int try_ways(struct groups *g, struct redoma_error *err)
{
	bool unified = g->h[0].has & HIER_UNIFIED;
	int rc;

	if (unified) {
		set_birth(g, true);
		if (!try_group(g, NULL))
			return 0;
		set_birth(g, false);
	}
	rc = try_group(g, err);
	if (!rc || !unified || g->h[0].has & HIER_MEMORY)
		return rc;
	(void)unlinkat(g->h[0].place, g->name, AT_REMOVEDIR);
	drop(g, 0);
	g->can = 0;
	find_abilities(g);
	return try_group(g, err);
}

/* Where v1 limits and lets join, the unified hierarchy only adds the kill. */
static void drop_but_limits(struct groups *g)
{
	for (size_t i = g->n; i-- > 0;)
		if (!(g->h[i].has & (HIER_MEMORY | HIER_PIDS)))
			drop(g, i);
}

/* The unified hierarchy counts CPU time as well: one directory less a group. */
static void drop_spare(struct groups *g)
{
	for (size_t i = g->n; i-- > 1;) {
		if (!(g->h[0].has & HIER_UNIFIED) ||
		    g->h[i].has != HIER_CPUACCT)
			continue;
		(void)unlinkat(g->h[i].place, g->name, AT_REMOVEDIR);
		drop(g, i);
	}
}

/* With swap in use, memory alone is no limit. */
static int check_swap(const struct groups *g, struct redoma_error *err)
{
	const struct hier *h = groups_with(g, HIER_MEMORY);
	char text[GROUP_TEXT_MAX];
	const char *line;

	if (gfile_exists(h->place, g->name,
			 h->has & HIER_UNIFIED ? "memory.swap.max"
					       : "memory.memsw.limit_in_bytes"))
		return 0;
	if (gfile_read(AT_FDCWD, "/proc", "swaps", text))
		return 0; /* a kernel without swap */
	line = strchr(text, '\n');
	if (!line || !line[1])
		return 0;
	return err_set(err, REDOMA_E_UNSUPPORTED, GROUP_WHERE,
		       "swap is in use, and cgroups here do not count it; turn "
		       "it off, or boot with swapaccount=1");
}

static int set_up(struct groups *g, bool tried, struct redoma_error *err)
{
	int rc;

	if (!tried)
		drop_but_limits(g);
	rc = make_own(g, err);

	if (rc)
		return rc;
	if (g->h[0].has & HIER_UNIFIED && g->h[0].has & HIER_MEMORY)
		rc = v2_enable(&g->h[0], g->name, err);
	if (rc)
		return rc;
	find_abilities(g);
	rc = check_swap(g, err);
	if (!rc && !tried)
		set_birth(g, g->h[0].has & HIER_UNIFIED);
	if (rc || !tried)
		return rc;
	rc = try_ways(g, err);
	if (!rc)
		drop_spare(g);
	return rc;
}

static bool has_v1(const struct place *p, uint32_t has)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->h[i].has & has && !(p->h[i].has & HIER_UNIFIED))
			return true;
	return false;
}

static int open_at(struct place *p, bool tried, struct groups **ret,
		   struct redoma_error *err)
{
	CLEANUP(place_close) struct place mine = *p;
	CLEANUP(close_groups) struct groups *g = calloc(1, sizeof *g);
	int rc = 0;

	*p = (struct place){.above = -1};
	if (!g)
		return err_nomem(err, GROUP_WHERE);
	if (!mine.n)
		return refuse(mine.sys ? mine.sys : ENOENT,
			      "find a cgroup of our own", err);
	if (!has_v1(&mine, HIER_MEMORY) && mine.h[0].has & HIER_UNIFIED)
		rc = v2_choose(&mine, err);
	if (rc)
		return rc;
	g->n = mine.n;
	memcpy(g->h, mine.h, sizeof g->h);
	mine.n = 0; /* they are g's now */
	g->maker = getpid();
	if (tried)
		groups_sweep(g);
	rc = set_up(g, tried, err);
	if (rc) {
		if (g->name[0])
			gclear_all(g, PROBE_MS, NULL);
		return rc;
	}
	*ret = TAKE_PTR(g);
	return 0;
}

int groups_open_at(struct place *p, struct groups **ret,
		   struct redoma_error *err)
{
	return open_at(p, true, ret, err);
}

int groups_open(struct groups **ret, struct redoma_error *err)
{
	struct place p;

	place_find(&p);
	return open_at(&p, true, ret, err);
}

int groups_open_quick(struct groups **ret, struct redoma_error *err)
{
	struct place p;

	place_find(&p);
	p.lean = true;
	return open_at(&p, false, ret, err);
}
