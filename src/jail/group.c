/* Making, limiting and joining a group.  Every number is read back: a kernel
 * that rounds or ignores it is an error, never a weaker limit. */
#include "jail/group.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/fd.h"
#include "jail/group_steps.h"

#define WEIGHT_MAX 10000u
#define SHARES(weight) ((weight) * 1024 / 100) /* cpu.shares: 1024 is normal */
#define SHARES_MIN 2u

/* v1 gives back what it can and keeps the old limit; v2 would kill. */
static int set_v1(const struct hier *h, const char *at, const struct gset *s,
		  struct redoma_error *err)
{
	int rc = gfile_set(h->place, at, s, err);

	if (rc && errno == EBUSY)
		return err_set(err, REDOMA_E_INVALID, GROUP_WHERE,
			       "limits.memory is less than is in use before "
			       "the run begins; raise it");
	return rc;
}

static int set_memory_v1(const struct hier *h, const char *at, uint64_t bytes,
			 struct redoma_error *err)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct gset memory = {"memory.limit_in_bytes", bytes, page};
	struct gset both = {"memory.memsw.limit_in_bytes", bytes, page};
	struct gset swappiness = {"memory.swappiness", 0, 1};
	uint64_t now = 0;
	int rc;

	if (!gfile_exists(h->place, at, both.name)) {
		rc = set_v1(h, at, &memory, err);
		return rc ? rc : gfile_set(h->place, at, &swappiness, err);
	}
	/* Memory must not be over both at any moment. */
	if (gfile_number(h->place, at, both.name, NULL, &now))
		return err_sys(err, GROUP_WHERE, "read %s", both.name);
	rc = set_v1(h, at, now < bytes ? &both : &memory, err);
	return rc ? rc : set_v1(h, at, now < bytes ? &memory : &both, err);
}

static int set_memory_v2(const struct hier *h, const char *at, uint64_t bytes,
			 struct redoma_error *err)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const struct gset sets[] = {{"memory.swap.max", 0, 1},
				    {"memory.oom.group", 1, 1},
				    {"memory.max", bytes, page}};
	int rc = 0;

	for (size_t i = 0; i < 3 && !rc; i++) {
		/* A kernel without swap; groups_open has made sure. */
		if (!i && !gfile_exists(h->place, at, sets[i].name))
			continue;
		rc = gfile_set(h->place, at, &sets[i], err);
	}
	return rc;
}

static int set_weight(const struct hier *h, const char *at, uint64_t weight,
		      struct redoma_error *err)
{
	struct gset s = {"cpu.weight", weight, 1};

	if (!(h->has & HIER_UNIFIED)) {
		s.name = "cpu.shares";
		s.value = SHARES(weight);
		if (s.value < SHARES_MIN)
			s.value = SHARES_MIN;
	}
	return gfile_set(h->place, at, &s, err);
}

static int lacks(const char *what, struct redoma_error *err)
{
	return err_set(err, REDOMA_E_UNSUPPORTED, GROUP_WHERE,
		       "no %s controller here; delegate a cgroup that has it",
		       what);
}

static int check_weight(uint64_t weight, struct redoma_error *err)
{
	if (weight <= WEIGHT_MAX)
		return 0;
	return err_set(err, REDOMA_E_INVALID, GROUP_WHERE,
		       "CPU weight %" PRIu64 " is not 1 to %u", weight,
		       WEIGHT_MAX);
}

int groups_weigh(const struct groups *g, uint64_t weight,
		 struct redoma_error *err)
{
	const struct hier *cpu = groups_with(g, HIER_CPU);
	int rc = cpu ? check_weight(weight, err) : lacks("cpu", err);

	return rc ? rc : set_weight(cpu, g->name, weight, err);
}

static int set_limits(struct group *c, const struct group_limits *l,
		      struct redoma_error *err)
{
	const struct hier *memory = groups_with(c->g, HIER_MEMORY);
	const struct hier *pids = groups_with(c->g, HIER_PIDS);
	const struct hier *cpu = groups_with(c->g, HIER_CPU);
	struct gset most = {"pids.max", l->pids, 1};
	int rc = 0;

	if (l->memory_bytes && !memory)
		return lacks("memory", err);
	if (l->pids && !pids)
		return lacks("pids", err);
	if (l->cpu_weight && !cpu)
		return lacks("cpu", err);
	rc = check_weight(l->cpu_weight, err);
	if (rc)
		return rc;
	if (l->memory_bytes)
		rc = memory->has & HIER_UNIFIED
			     ? set_memory_v2(memory, c->at, l->memory_bytes,
					     err)
			     : set_memory_v1(memory, c->at, l->memory_bytes,
					     err);
	if (!rc && l->pids)
		rc = gfile_set(pids->place, c->at, &most, err);
	if (!rc && l->cpu_weight)
		rc = set_weight(cpu, c->at, l->cpu_weight, err);
	return rc;
}

static uint64_t change(uint64_t have, uint64_t want)
{
	return want == have ? 0 : want;
}

/* What is known to be in force is not set again. */
int group_limit(struct group *c, const struct group_limits *l,
		struct redoma_error *err)
{
	struct group_limits *set = &c->set;
	struct group_limits new = {change(set->memory_bytes, l->memory_bytes),
				   change(set->pids, l->pids),
				   change(set->cpu_weight, l->cpu_weight)};
	int rc = set_limits(c, &new, err);

	if (rc) {
		*set = (struct group_limits){0};
		return rc;
	}
	set->memory_bytes = new.memory_bytes ? new.memory_bytes
					     : set->memory_bytes;
	set->pids = new.pids ? new.pids : set->pids;
	set->cpu_weight = new.cpu_weight ? new.cpu_weight : set->cpu_weight;
	return 0;
}

static int make_dirs(const struct group *c, struct redoma_error *err)
{
	for (size_t i = 0; i < c->g->n; i++)
		if (mkdirat(c->g->h[i].place, c->at, 0755))
			return err_sys(err, GROUP_WHERE, "make %s", c->at);
	return 0;
}

static int open_birth(struct group *c, struct redoma_error *err)
{
	if (!(c->g->can & GROUP_BIRTH))
		return 0;
	c->birth_fd = fd_lift(openat(c->g->h[0].place, c->at,
				     O_PATH | O_DIRECTORY | O_CLOEXEC));
	if (c->birth_fd < 0)
		return err_sys(err, GROUP_WHERE, "open %s", c->at);
	return 0;
}

/* A process of one thread that moves itself.  By "tasks", v1 does that without
 * the lock that holds up every fork and exit of the machine until a grace
 * period has passed (cgroup_procs_write_start() of the kernel). */
static int open_joins(struct group *c, struct redoma_error *err)
{
	for (size_t i = 0; i < c->g->n; i++) {
		const struct hier *h = &c->g->h[i];
		const char *name = h->has & HIER_UNIFIED ? "cgroup.procs"
							 : "tasks";

		if (h->born)
			continue;
		c->join_fds[i] = gfile_open(h->place, c->at, name, O_WRONLY);
		if (c->join_fds[i] < 0)
			return err_sys(err, GROUP_WHERE, "open %s of %s", name,
				       c->at);
	}
	return 0;
}

int group_make(struct groups *g, const struct group_limits *l,
	       struct group **ret, struct redoma_error *err)
{
	struct group *c = calloc(1, sizeof *c);
	int rc;

	if (!c)
		return err_nomem(err, GROUP_WHERE);
	*c = (struct group){
		.g = g, .birth_fd = -1, .event_fd = -1, .watch_fd = -1};
	for (size_t i = 0; i < HIER_MAX; i++)
		c->join_fds[i] = -1;
	snprintf(c->at, sizeof c->at, "%.95s/%" PRIu64, g->name, g->next++);
	rc = make_dirs(c, err);
	if (!rc)
		rc = open_birth(c, err);
	if (!rc)
		rc = open_joins(c, err);
	if (!rc)
		rc = group_limit(c, l, err);
	if (!rc)
		rc = group_watch_oom(c, err);
	if (rc) {
		groups_rmdir(g, c->at, NULL);
		group_free(c);
		return rc;
	}
	*ret = c;
	return 0;
}

int group_birth_fd(const struct group *c)
{
	return c->birth_fd;
}

const char *group_join(const struct group *c)
{
	for (size_t i = 0; i < c->g->n; i++)
		if (!c->g->h[i].born && gfile_put(c->join_fds[i], "0"))
			return "join the control group";
	return NULL;
}

void group_joined(struct group *c)
{
	for (size_t i = 0; i < HIER_MAX; i++)
		if (c->join_fds[i] >= 0)
			close(TAKE_FD(c->join_fds[i]));
}
