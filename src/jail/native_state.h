/* jail/native_state.h - what the parts of jail/native.h share.
 *
 * Steps return NULL, or the words for what failed; errno says why. */
#ifndef JAIL_NATIVE_STATE_H
#define JAIL_NATIVE_STATE_H

#include <sys/types.h>
#include "jail/kernel.h"
#include "jail/native.h"
#include "jail/steps.h"

#define NATIVE_GRANTS_MAX 256 /* of each kind, in one jail */
#define NATIVE_OWN_MAX 64     /* file systems of one jail */
#define NATIVE_PAGE 4096u
#define NATIVE_LOCKED_ATTRS                                                  \
	(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

struct native {
	struct jail j;	     /* proc_fd, self_fd, inert_fd, what lacks */
	bool maps;	     /* the spawner is root: it maps the ids of each
				jail, to ids of its own */
	unsigned uid, gid;   /* ordinary: its ids.  Without a user namespace:
				what the next jail becomes */
	struct idmaps ids;   /* the spawner's own, if it is root */
	unsigned births;
	uint64_t namespaces; /* flags of clone3 */
	uint64_t tmp_bytes, memory_bytes, pids;
	int mounter_fd;
	uint32_t asked; /* number of the last question to the mounter */
	char **exec;	/* owned: where in the root programs may be started */
	size_t n_exec;
	struct kernel_ruleset handled; /* by Landlock, here */

	/* Of one jail, in it. */
	const char *birth; /* what failed in the child before native_enter */
	int birth_sys;
	bool grouped;
	int proc_sys;			      /* why there is no /proc; 0 */
	int stage_fd;			      /* holds the scratch places */
	int space_fd;			      /* its mount namespace, until it
						 is given to the spawner; -1 */
	uint64_t stage_bytes, stage_inodes;   /* its room */
	dev_t own[NATIVE_OWN_MAX];	      /* writable by us: made here */
	size_t n_own;
	dev_t tmp;			      /* that of /tmp */
	uint64_t grants[NATIVE_GRANTS_MAX];   /* ids of attached mounts */
	bool writable[NATIVE_GRANTS_MAX];
	size_t n_grants;
	char *places[NATIVE_GRANTS_MAX];      /* owned: paths in the stage */
	size_t n_places;
	unsigned n_early[2];		      /* places of an early payload that
						 are taken: files, dirs */
};

/* native_fork.c: whether a child can be made with these flags of clone3; errno
 * if not. */
bool native_can_fork(uint64_t flags);

/* root.c: in the spawner, which has a mount namespace of its own.  The new
 * root becomes "/"; proc_fd is moved to its /proc. */
MUST_CHECK int root_build(const struct native_options *o, int proc_fd,
			  struct redoma_error *err);
/* An absolute path without empty, "." and ".." parts, and not "/". */
bool root_path_ok(const char *guest);

/* root_own.c: in the jail. */
MUST_CHECK const char *root_own(struct native *n);
/* Lays a tmpfs of this jail over a directory, with what was in it. */
MUST_CHECK const char *root_lay(struct native *n, int under_fd, int *ret_fd);
/* Makes an empty file or directory in a directory that this jail made. */
MUST_CHECK const char *root_make(const struct native *n, int dir_fd,
				 const char *name, bool directory);
/* 1: of a file system that this jail made; 0: not; -1. */
int root_is_own(const struct native *n, int fd);

/* native_mounter.c: forks it. */
MUST_CHECK const char *mounter_start(struct native *n);

/* native_rules.c: the payload's ruleset, in the payload. */
MUST_CHECK const char *rules_make(const struct native *n,
				  const struct native_payload *p, int *ret_fd);

/* rlimit.c */
MUST_CHECK const char *rlimit_native(const struct native *n,
				     const struct native_payload *p);

#endif
