/* jail/jail.h - wall 2: the kernel jail of a wasm worker.
 *
 * Two halves.  jail_prepare runs once in the zygote, before a guest byte
 * exists: drop to an unprivileged user, enter user, mount, net, ipc, uts and
 * cgroup namespaces, pivot into an empty read-only root, make the Landlock
 * ruleset.  jail_lock runs in each child (already pid 1 of a pid namespace):
 * rlimits, session, capabilities, no_new_privs, Landlock, descriptors,
 * seccomp.  Every step is fatal unless `may_lack` names its control; what was
 * achieved is in struct jail_report.
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
	JAIL_CGROUP, /* a memory cgroup; preferred for wasm guests */
	JAIL_CONTROLS
};

enum jail_state { JAIL_UNAVAILABLE, JAIL_ENFORCED, JAIL_NOT_REQUESTED };

struct jail_report { /* a plain value: crosses a pipe */
	uint8_t state[JAIL_CONTROLS]; /* enum jail_state */
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
	JAIL_FILTERS
};

struct jail_options {
	uint32_t may_lack; /* bit per enum jail_control: the policy's `walls` */
	enum jail_filter filter;
	uint64_t memory_bytes; /* RLIMIT_DATA: the guest's cap plus our base;
				  0: not set here */
	uint64_t file_bytes;   /* RLIMIT_FSIZE */
	const int *keep;       /* descriptors that survive, besides 0-2 which
				  are closed too unless listed; ascending */
	size_t n_keep;
};

struct jail; /* what jail_prepare holds for its children */

const char *jail_control_name(enum jail_control c);
int jail_control_find(const char *name); /* -1: no such control */

MUST_CHECK int jail_prepare(const struct jail_options *o, struct jail **ret,
			    struct jail_report *report,
			    struct redoma_error *err);
/* In the zygote: a raw clone3 child, pid 1 of a new pid namespace, with a
 * pidfd for the parent.  Returns the pid (as the zygote sees it), 0 in the
 * child, or a negative code. No libc atfork handler runs. */
pid_t jail_fork(const struct jail *j, int *ret_pidfd,
		struct redoma_error *err);
/* In the child. */
MUST_CHECK int jail_lock(const struct jail *j, const struct jail_options *o,
			 struct jail_report *report, struct redoma_error *err);
/* Stacks JAIL_FILTER_WORKER on a process locked with JAIL_FILTER_LOADING. */
MUST_CHECK int jail_seal(struct redoma_error *err);
/* An O_PATH descriptor of the host's /proc taken before the pivot: what
 * worker/ needs to renew its pagemap descriptor before jail_lock closes it. */
int jail_proc_fd(const struct jail *j);
void jail_free(struct jail *j);

/* Each control tried in a throw-away child: what this kernel gives here. */
MUST_CHECK int jail_probe(struct jail_report *ret, struct redoma_error *err);
/* A sentence with the remedy for a control that is missing; static text. */
const char *jail_remedy(enum jail_control c, int sys);

#endif
