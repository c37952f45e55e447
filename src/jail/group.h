/* jail/group.h - control groups of native jails and of zygotes: made with their
 * limits before a process is inside, killed as a whole, read, removed.
 *
 * Where they can be made is found by doing, once.  v2: our own directory is
 * delegated to us.  Hybrid: limits in the v1 hierarchies (memory, pids, cpu,
 * cpuacct), birth and kill in the unified one, which needs no controller for
 * that.  v1 alone: limits there, kill by killing every pid until it is empty.
 *
 * A maker has a directory "redoma-<pid namespace>-<pid>-<start time>-<k>" in
 * each hierarchy that is used, its groups are directories in that one.  So what
 * a killed maker left is known, and swept by the next one (groups_open).
 *
 * v2 has the rule that a directory with controlled children holds no process.
 * Our own directory is used, and the processes in it moved to a child of it
 * "redoma-self-<pid>", only if it is delegated and they are this process, its
 * parent, and their children.  Else the directory above must be delegated and
 * without processes (systemd: DelegateSubgroup=).
 *
 * Sources: cgroups(7), Documentation/admin-guide/cgroup-v2.rst and
 * cgroup-v1/memory.rst of the kernel.  Functions return 0 or REDOMA_E_*. */
#ifndef JAIL_GROUP_H
#define JAIL_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"
#include "jail/jail.h"

struct groups; /* the place; one per process that makes groups */
struct group;  /* one control group; owned by who made it */

enum group_can { /* bits: what groups made here enforce */
	GROUP_MEMORY = 1,
	GROUP_PIDS = 2,
	GROUP_CPU_USAGE = 4, /* CPU time of all its processes can be read */
	GROUP_CPU_WEIGHT = 8,
	GROUP_KILL = 16, /* cgroup.kill: everything at once */
	GROUP_BIRTH = 32 /* clone3 CLONE_INTO_CGROUP works */
};

struct group_limits { /* 0: leave as it is */
	uint64_t memory_bytes; /* memory + swap */
	uint64_t pids;
	uint64_t cpu_weight; /* 1-10000, v2's scale: 100 is the default */
};

struct group_usage {
	uint64_t cpu_us; /* UINT64_MAX, also below: not told here */
	uint64_t memory_peak_bytes;
	uint64_t oom_kills;
	uint64_t pids_refused; /* forks that pids.max stopped */
};

/* REDOMA_E_UNSUPPORTED with the remedy if no group with a memory limit can be
 * made here.  Also removes the groups of makers that are gone, and kills what
 * lives in them.  Reads /proc; what comes later needs no path of the host. */
MUST_CHECK int groups_open(struct groups **ret, struct redoma_error *err);
/* The same for a maker of one group that has no time and wants the limits of
 * memory and pids alone: what is left of others stays until groups_sweep, and
 * no process was born to try.  So GROUP_BIRTH is a hope: see group_fork.
 * Without the cpu controller, since processes of two groups that talk to each
 * other wait for each other's turn. */
MUST_CHECK int groups_open_quick(struct groups **ret,
				 struct redoma_error *err);
void groups_sweep(const struct groups *g);
uint32_t groups_can(const struct groups *g); /* enum group_can */
enum jail_cgroups groups_kind(const struct groups *g);
/* v1: the maker, and what it forks from then on without a group, goes to a leaf
 * of its directory in the cpu hierarchy: its own work then counts with that of
 * its groups (groups_weigh), not beside it.  Before it is
 * done it steps out again, and what it forked has ended, or holds up
 * groups_clear.  Meanwhile the process opens no other groups.  It is no wall:
 * where it cannot be done, all works. */
MUST_CHECK int groups_step_in(struct groups *g, struct redoma_error *err);
void groups_step_out(struct groups *g);
/* Kills what lives in any group of this maker and removes all of them: by the
 * maker when it is done, or, when the maker has ended, by a process that was
 * forked from it before it stepped in, which also kills what is in the leaf of
 * the maker.  Waits at most wait_ms: REDOMA_E_BUSY. */
MUST_CHECK int groups_clear(struct groups *g, int wait_ms,
			    struct redoma_error *err);
void groups_close(struct groups *g); /* removes nothing; NULL is fine */

MUST_CHECK int group_make(struct groups *g, const struct group_limits *l,
			  struct group **ret, struct redoma_error *err);
/* CPU weight of all groups of this maker together, against what is beside them;
 * needs GROUP_CPU_WEIGHT. */
MUST_CHECK int groups_weigh(const struct groups *g, uint64_t weight,
			    struct redoma_error *err);
/* New limits for a group that is in use; read back and compared. */
MUST_CHECK int group_limit(struct group *c, const struct group_limits *l,
			   struct redoma_error *err);
/* For struct clone_args.cgroup; -1 without GROUP_BIRTH.  Borrowed. */
int group_birth_fd(const struct group *c);
/* Like fork(2), into the group where that works; the child then calls
 * group_join.  -1 with errno. */
MUST_CHECK pid_t group_fork(struct group *c);
/* In the child, first of all: joins the hierarchies that birth did not.  NULL,
 * or the words for what failed with errno; allocates nothing. */
MUST_CHECK const char *group_join(const struct group *c);
/* In the maker, once the child lives: closes what only its joining needed. */
void group_joined(struct group *c);
/* Is that process a member, as the spawner counts them? */
bool group_holds(const struct group *c, pid_t pid);
/* In the child, when it has joined: closes its copies of our descriptors. */
void group_leave_fds(const struct group *c);
/* Readable at any time: "cpu.stat" (v2) or "cpuacct.usage" (v1); the core reads
 * it with group_cpu_read.  The caller owns it; -1: no such file here. */
int group_cpu_fd(const struct group *c);
/* Microseconds, from that descriptor; UINT64_MAX if it cannot be read. */
uint64_t group_cpu_read(int fd);
/* Readable at any time, and with no right to change a thing: the file that
 * counts what was killed because the group's memory ran out, for
 * group_oom_count.  The caller owns it; -1: no such file here. */
int group_oom_count_fd(const struct group *c);
uint64_t group_oom_count(int fd); /* 0 if it cannot be read */
/* Becomes readable when the group's memory ran out (memory.events or
 * memory.oom_control); borrowed; -1: not told here.  The maker then kills the
 * group: v1 leaves survivors. */
int group_oom_fd(const struct group *c);
/* True if memory really ran out since the last call. */
bool group_oom_seen(struct group *c);
MUST_CHECK int group_usage(const struct group *c, struct group_usage *ret,
			   struct redoma_error *err);
/* Kills everything in it and waits until it is empty, at most wait_ms:
 * REDOMA_E_BUSY if something still lives then. */
MUST_CHECK int group_kill(struct group *c, int wait_ms,
			  struct redoma_error *err);
/* Kills everything in it by one call of the kernel, and does not wait: when it
 * returns true, no process of it will execute an instruction of its own.
 * False: not here (GROUP_KILL and GROUP_BIRTH), nothing was done. */
bool group_strike(struct group *c);
/* Removes the directories of a group that is empty, and frees c in any case. */
MUST_CHECK int group_end(struct group *c, struct redoma_error *err);

#endif
