/* jail/jail.h - wall 2: the kernel jail of a wasm worker.
 *
 * Two halves.  jail_prepare runs once in the zygote, before a guest byte
 * exists: drop to an unprivileged user, enter user, mount, net, ipc, uts and
 * cgroup namespaces, pivot into an empty read-only root, take a fresh session
 * keyring, make the Landlock ruleset, give up every capability but the one
 * that clone(CLONE_NEWPID) needs, set no_new_privs.  jail_lock runs in each
 * child (already pid 1 of a pid namespace): death signal, session, rlimits,
 * the last capability, Landlock, descriptors, seccomp.  Every step is fatal
 * unless `may_lack` names its control; what was achieved is in struct
 * jail_report.
 *
 * Who the jail is.  Started as root, the zygote becomes user and group
 * JAIL_ID_BASE + pid % JAIL_ID_COUNT, without supplementary groups, before it
 * makes its user namespace: root and ordinary users then take the same path.
 * (In a user namespace that lacks those ids, the highest id it has.)  Started
 * as an ordinary user it stays that user.  Inside, the one mapped id is
 * JAIL_ID_INSIDE.  Host id 0 is never in the map.
 *
 * Sources: namespaces(7), user_namespaces(7), pivot_root(2), capabilities(7),
 * landlock(7), seccomp(2), prctl(2), pid_namespaces(7). */
#ifndef JAIL_JAIL_H
#define JAIL_JAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"

#define JAIL_ID_BASE 1900000000u /* above every range that systemd hands out */
#define JAIL_ID_COUNT (1u << 22) /* every pid that there can be */
#define JAIL_ID_INSIDE 1000u

enum jail_control {
	JAIL_USER,  /* unprivileged uid in a user namespace */
	JAIL_MOUNT, /* mount namespace, empty read-only root */
	JAIL_PID,
	JAIL_NET,
	JAIL_IPC,
	JAIL_UTS,
	JAIL_CGROUPNS,
	JAIL_CAPS,
	JAIL_NNP,
	JAIL_LANDLOCK,
	JAIL_RLIMITS,
	JAIL_SECCOMP,
	JAIL_CGROUP, /* a memory cgroup; required for native programs alone.
			jail_prepare and jail_lock say nothing about it:
			whoever makes the group does (jail/group.h) */
	JAIL_CONTROLS
};

enum jail_state { JAIL_UNAVAILABLE, JAIL_ENFORCED, JAIL_NOT_REQUESTED };

enum jail_cgroups { /* where a memory cgroup of our own could be made */
	JAIL_CGROUPS_NONE,
	JAIL_CGROUPS_V2,     /* our own v2 directory takes subdirectories */
	JAIL_CGROUPS_HYBRID, /* memory by v1, birth and kill by v2 */
	JAIL_CGROUPS_V1,
	JAIL_CGROUPS_DENIED /* hierarchies exist, but none that we may use */
};

struct jail_report { /* a plain value: crosses a pipe */
	uint8_t state[JAIL_CONTROLS]; /* enum jail_state */
	uint8_t cgroups;              /* enum jail_cgroups; jail_probe only */
	int32_t landlock_abi;
	int32_t sys[JAIL_CONTROLS]; /* errno of what failed */
};

/* Which seccomp program a process gets. */
enum jail_filter {
	JAIL_FILTER_WORKER,  /* after everything is loaded: the final one */
	JAIL_FILTER_LOADING, /* also allows executable mappings, for an artefact
				loaded inside the jail; JAIL_FILTER_WORKER is
				stacked on it afterwards */
	JAIL_FILTER_COMPILER,
	JAIL_FILTER_NATIVE, /* a payload; what is not allowed is ENOSYS, so that
			       runtimes do without */
	JAIL_FILTER_INIT,   /* pid 1 of a native jail, when it is settled */
	JAIL_FILTERS
};

struct jail_options {
	uint32_t may_lack; /* bit per enum jail_control: the policy's `walls` */
	enum jail_filter filter;
	uint64_t memory_bytes; /* RLIMIT_DATA, which bounds private writable
				  memory however it was made: the guest's cap
				  plus our base; 0: not set here */
	uint64_t stack_bytes;  /* RLIMIT_STACK; 0: not set here */
	uint64_t file_bytes;   /* RLIMIT_FSIZE, memfds included; over it a
				  write is SIGXFSZ, or EFBIG if the caller
				  ignores that signal.  0: no file grows */
	uint64_t max_fds;      /* RLIMIT_NOFILE; 0: JAIL_MAX_FDS */
	const int *keep;       /* descriptors that survive; ascending */
	size_t n_keep;
};

#define JAIL_MAX_FDS 1024

struct jail; /* what jail_prepare holds for its children */

const char *jail_control_name(enum jail_control c);
int jail_control_find(const char *name); /* -1: no such control */

/* Changes the calling process for good, also when it fails: the caller then
 * has to end.  It must have one thread.  Of the options only may_lack is
 * looked at.  The report holds the states known so far; PID, RLIMITS and
 * SECCOMP come with jail_lock, which fills a whole report again.
 * The current directory becomes "/" of the empty root, the hostname "redoma".
 * Afterwards the process is not dumpable. */
MUST_CHECK int jail_prepare(const struct jail_options *o, struct jail **ret,
			    struct jail_report *report,
			    struct redoma_error *err);
/* In the zygote: a raw clone3 child, pid 1 of a new pid namespace, with a
 * pidfd for the parent (owned by the caller, CLOEXEC; -1 in the child).
 * Returns the pid (as the zygote sees it), 0 in the child, or a negative
 * code.  No libc atfork handler runs.  The zygote gets SIGCHLD and must reap
 * the child by its pidfd.  Being pid 1, the child ignores every signal from
 * itself that has no handler: abort() ends it by SIGSEGV. */
pid_t jail_fork(const struct jail *j, int *ret_pidfd,
		struct redoma_error *err);
/* In the child.  On failure the child has to end.  Timers are made before
 * (timer_create is not allowed after it); descriptors 0-2 that are not kept
 * become inert ones (every read and write is EBADF), so that none of them is
 * ever a granted file. */
MUST_CHECK int jail_lock(const struct jail *j, const struct jail_options *o,
			 struct jail_report *report, struct redoma_error *err);
/* Stacks JAIL_FILTER_WORKER on a process locked with JAIL_FILTER_LOADING. */
MUST_CHECK int jail_seal(struct redoma_error *err);
/* Lowers, for good, what this locked process may have: private writable memory
 * (RLIMIT_DATA) and the size of a file it writes (RLIMIT_FSIZE).  Nothing that
 * runs in it later can take that back.  REDOMA_E_UNSUPPORTED if it already has
 * less than is asked for. */
MUST_CHECK int jail_bound(uint64_t data_bytes, uint64_t file_bytes,
			  struct redoma_error *err);
/* A detached copy of the host's /proc taken before the pivot (its ".." is
 * itself): what worker/ needs to renew its pagemap descriptor before
 * jail_lock closes it.  The zygote's children are not dumpable:
 * prctl(PR_SET_DUMPABLE, 1) comes before openat(fd, "self/pagemap");
 * jail_lock sets it back. Borrowed. */
int jail_proc_fd(const struct jail *j);
/* Closes what the jail holds; the namespaces stay as they are.  NULL is
 * fine. */
void jail_free(struct jail *j);

/* Each control tried in a throw-away child: what this kernel gives here.
 * Safe in a process with threads; no SIGCHLD, no child that wait() sees.
 * Takes some milliseconds. */
MUST_CHECK int jail_probe(struct jail_report *ret, struct redoma_error *err);
/* A sentence with the remedy for a control that is missing; static text. */
const char *jail_remedy(enum jail_control c, int sys);

#endif
