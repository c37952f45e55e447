/* jail/steps.h - the single steps of the jail, for jail.c, probe.c and tests.
 *
 * A step returns NULL, or the words for what failed; errno says why.  No step
 * allocates: they run after a raw clone in a process that may have had
 * threads. */
#ifndef JAIL_STEPS_H
#define JAIL_STEPS_H

#include "jail/jail.h"

struct jail {
	int proc_fd;    /* a copy of the host's /proc */
	int ruleset_fd; /* Landlock; -1: lacking */
	int self_fd;    /* a pidfd of the zygote: has it died? */
	int inert_fd;   /* O_PATH, what 0-2 become */
	int landlock_abi;
	uint32_t may_lack;
	uint32_t lacks; /* what jail_prepare did not get */
	int sys[JAIL_CONTROLS];
};

#define JAIL_CLOSED \
	((struct jail){.proc_fd = -1, .ruleset_fd = -1, .self_fd = -1, \
		       .inert_fd = -1})

/* jail_prepare and jail_free on the caller's storage. */
MUST_CHECK int jail_build(struct jail *j, const struct jail_options *o,
			  struct jail_report *report, struct redoma_error *err);
void jail_close(struct jail *j);
/* REDOMA_E_UNSUPPORTED: the step of that control failed, errno says why; with
 * the remedy. */
int jail_refuse(enum jail_control c, const char *what,
		struct redoma_error *err);

/* A step that no flag can waive. */
#define JAIL_ALWAYS JAIL_CONTROLS
/* Takes note of a failed step (what is not NULL) of a control; 0 if the run may
 * go on without it. */
int jail_judge(struct jail *j, int control, const char *what,
	       struct redoma_error *err);
/* The states of the controls in the bit set `done`, all others as not
 * requested. */
void jail_tell(const struct jail *j, uint32_t done, struct jail_report *ret);

/* idmap.c: the zygote's user.  keep_caps: hold on to the capabilities, for a
 * host without user namespaces. */
MUST_CHECK const char *idmap_drop(bool keep_caps);
/* A user namespace of our own, one id in it. */
MUST_CHECK const char *idmap_enter(void);
/* The maps of this process's user namespace, which never change once they are
 * written; empty if it is not root.  The longest is 340 lines. */
#define IDMAP_BYTES 8192
struct idmaps {
	char uid[IDMAP_BYTES], gid[IDMAP_BYTES];
};
MUST_CHECK const char *idmap_read(struct idmaps *ret);
/* The unprivileged ids that number n stands for here.  *ret_uid stays what it
 * is if this process is not root, or is only called so: its one id is that of
 * an ordinary user outside. */
MUST_CHECK const char *idmap_choose(const struct idmaps *m, unsigned n,
				    unsigned *ret_uid, unsigned *ret_gid);
/* Maps JAIL_ID_INSIDE of a new user namespace to these ids of its parent: that
 * of process `name` ("self" or a number) of a mount of proc. */
MUST_CHECK const char *idmap_write(int proc_fd, const char *name, unsigned uid,
				   unsigned gid);
MUST_CHECK const char *idmap_verify(void); /* inside: all ids are that one */
MUST_CHECK const char *idmap_become(unsigned uid, unsigned gid, bool keep_caps);
/* In that namespace, with capabilities: becomes the one id in it. */
MUST_CHECK const char *idmap_become_inside(void);

/* ns.c */
/* The namespaces of the controls in the bit set `want`, in one call; on
 * failure none of them was entered. */
MUST_CHECK const char *ns_enter(uint32_t want);
MUST_CHECK const char *ns_hostname(void);
/* -1: the control is not a namespace made by ns_enter. */
int ns_flag(enum jail_control c);

/* mount.c */
MUST_CHECK const char *mount_copy_proc(int *ret_fd);
MUST_CHECK const char *mount_empty_root(void);
struct mount_tmpfs {
	uint64_t bytes, inodes; /* never 0: that would be no limit */
	const char *mode;	/* of its root, octal */
	unsigned attrs;		/* MOUNT_ATTR_* */
};
/* A detached mount of a new tmpfs. */
MUST_CHECK const char *mount_tmpfs(const struct mount_tmpfs *o, int *ret_fd);
MUST_CHECK const char *mount_private(void); /* all that there is now */
/* From the root we have to one that is mounted already, read-only; the old one
 * is detached. */
MUST_CHECK const char *mount_pivot(int root_fd);

/* fds.c */
MUST_CHECK const char *fds_inert(int proc_fd, int *ret_fd);
/* Closes everything that is not kept. */
MUST_CHECK const char *fds_close(const int *keep, size_t n_keep, int inert_fd);

/* session.c */
MUST_CHECK const char *session_keyring(void);
MUST_CHECK const char *session_tie(int parent_pidfd); /* dies with it */
MUST_CHECK const char *session_tied(void);
MUST_CHECK const char *session_leave(void); /* setsid, umask, dumpable */

/* rlimit.c */
MUST_CHECK const char *rlimit_apply(const struct jail_options *o);

/* caps.c */
/* All but CAP_SYS_ADMIN, and the bounding and ambient sets, go. */
MUST_CHECK const char *caps_shrink(void);
/* The same for a set of capabilities, of which we must have all. */
MUST_CHECK const char *caps_keep(uint32_t low);
MUST_CHECK const char *caps_drop(void);
MUST_CHECK const char *caps_forbid_new(void);
MUST_CHECK const char *caps_no_new_verify(void);

/* landlock.c */
MUST_CHECK const char *landlock_make(int *ret_fd, int *ret_abi);
struct kernel_ruleset;
/* Everything that the kernel can handle. */
MUST_CHECK const char *landlock_find(struct kernel_ruleset *ret, int *ret_abi);
MUST_CHECK const char *landlock_restrict(int ruleset_fd);

/* seccomp.c */
MUST_CHECK const char *seccomp_check(void);
MUST_CHECK const char *seccomp_install(enum jail_filter f);

/* fork.c: the raw clone3; flags as CLONE_NEWPID.  Like fork(2). */
pid_t fork_raw(uint64_t flags, int exit_signal, int *ret_pidfd);
/* The same with SIGCHLD, born in a control group of version 2; -1: in ours. */
pid_t fork_into(uint64_t flags, int group_fd, int *ret_pidfd);

/* cgroup.c: tried by making a directory, which is removed again; errno in
 * *ret_sys if there is nothing that we may use. */
enum jail_cgroups cgroup_detect(int *ret_sys);

#endif
