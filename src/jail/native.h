/* jail/native.h - wall 2 for native programs: a minimal read-only root, a jail
 * for each run, and the lock on what runs in it.
 *
 * Four processes, one after the other: the spawner (native_prepare, once), the
 * mounter (native_mounter, forked from the spawner before it gives the host
 * up), init (native_fork: pid 1 of one jail), and the payload (native_payload:
 * between fork and exec).  Every step is fatal unless `may_lack` names its
 * control, as in jail/jail.h.
 *
 * The root: a tmpfs made by us, directories made by us, read-only mounts of
 * single files and directories of the host, nothing else; mounted by
 * descriptor, no path of the host is looked up after the descriptors were
 * opened.  /dev: null, zero, full, urandom (random is the same).  /proc: a new
 * mount, hidepid and subset=pid, where the kernel allows it.  /sys: never.
 *
 * Sources: open_tree(2), move_mount(2), mount_setattr(2), fsopen(2),
 * pivot_root(2), user_namespaces(7), landlock(7), seccomp(2). */
#ifndef JAIL_NATIVE_H
#define JAIL_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"
#include "jail/group.h"
#include "jail/jail.h"

#define NATIVE_ROOT_MAX 4096u /* entries of one root */

enum native_kind {
	NATIVE_FILE, /* `host` shown at `guest`, read-only */
	NATIVE_DIR,  /* likewise, with everything below */
	NATIVE_LINK, /* a symbolic link at `guest` with the text `host` */
	NATIVE_TEXT, /* a file 0444 that holds the text `host` */
	NATIVE_EMPTY /* an empty directory */
};

struct native_entry {
	uint32_t kind;	   /* enum native_kind */
	bool exec;	   /* FILE, DIR: programs in it may be started and
			      libraries in it be mapped; else mounted noexec */
	const char *guest; /* absolute, normal form; parents are made */
	const char *host;  /* FILE, DIR: absolute, through no symbolic link
			      (REDOMA_E_INVALID): one that was put there since
			      it was looked at would lead elsewhere */
};

struct native_options {
	uint32_t may_lack; /* bit per enum jail_control */
	const struct native_entry *entries;
	size_t n_entries;
	uint64_t tmp_bytes; /* of /tmp */
	uint64_t memory_bytes, pids; /* until native limits are set: a parked
					jail's */
};

struct native; /* what the spawner holds */

/* In the spawner, which must have one thread.  Changes it for good, also when
 * it fails.  It forks the mounter, which native_mount talks to and which ends
 * with the spawner.  The report holds what is known so far. */
MUST_CHECK int native_prepare(const struct native_options *o,
			      struct native **ret, struct jail_report *report,
			      struct redoma_error *err);
/* In the spawner: a detached mount, read-only, nosuid, nodev, noexec, of an
 * open file or directory of the host; the identity of what is mounted is that
 * of fd.  The caller owns *ret_fd.  Bounded: REDOMA_E_BUSY after wait_ms (a
 * file system that does not answer). */
MUST_CHECK int native_mount(struct native *n, int fd, int wait_ms, int *ret_fd,
			    struct redoma_error *err);
/* In the spawner: clone3 of init into `group` and all namespaces.  Returns the
 * pid with a pidfd (owned, CLOEXEC), 0 in the child, or a negative code.  In
 * the child everything but the late mounts is done: it stands in its root, as
 * pid 1, with the one capability it needs for native_attach. */
pid_t native_fork(struct native *n, const struct group *group, int *ret_pidfd,
		  struct redoma_error *err);
/* What the spawner is to look at, once a jail says that it is ready. */
struct native_look {
	pid_t pid;		 /* of its init */
	int space_fd;		 /* what it sent: its mount namespace */
	const struct group *group; /* NULL: none */
	const uint8_t *state;	 /* what it says: enum jail_state of each
				    control */
	bool runs;		 /* it has started a payload, which is locked */
};
/* In the spawner: is what a jail says of itself so, as the kernel shows it
 * outside (/proc/PID)?  Of init the ids, capabilities, no_new_privs, pid, user,
 * network and mount namespace, and the control group; of what it has started
 * the filter too.  REDOMA_E_WORKER names the control for which it is not: the
 * jail must not be given a run.  What /proc does not show (hidepid, for an
 * ordinary user) is not looked at.  *ret_uid: the uid that only this jail has
 * outside; 0: there is none, or it is not known. */
MUST_CHECK int native_look(const struct native *n, const struct native_look *q,
			   uint32_t *ret_uid, struct redoma_error *err);
/* In the child, next: the steps that may fail, with a report.  `keep` are the
 * descriptors that survive, ascending; and what n holds. */
MUST_CHECK int native_enter(struct native *n, const int *keep,
			    size_t n_keep, struct jail_report *report,
			    struct redoma_error *err);
/* In init, after native_enter: a descriptor of its mount namespace, for the
 * spawner; the caller owns it.  The end of a mount namespace waits for the
 * kernel's readers, and the end of init would wait for it, if it was the last
 * that has it. */
int native_take_space(struct native *n);
/* In init, before native_settle: shows a detached mount at `guest`.  Missing
 * parents and the mount point are made, on a tmpfs that is laid over a
 * read-only directory of the root where that takes it.  What the root has at
 * `guest` is never hidden (REDOMA_E_INVALID), what an earlier grant has there
 * is: a grant comes after those that lie above it.  A directory in /tmp is
 * shown elsewhere, with a link to it there; nothing may lie in a directory of
 * native_scratch (REDOMA_E_INVALID): its place would hide the scratch, and the
 * right to write there would be one to the FIFOs in it. */
MUST_CHECK int native_attach(struct native *n, int mount_fd, const char *guest,
			     bool directory, struct redoma_error *err);
/* In init, before native_settle: an empty, writable file or directory at
 * `guest`; nosuid, nodev, noexec.  All of a jail lie in one tmpfs with room for
 * the sum of `bytes` and `files`.  *ret_dir (owned) is a descriptor of the
 * directory that holds what will be collected: the directory itself, or one
 * with the one file, by the last name of `guest`.  REDOMA_E_BUSY: no place is
 * left that a payload which runs already may write to
 * (NATIVE_LATE_PLACES). */
MUST_CHECK int native_scratch(struct native *n, const char *guest,
			      bool directory, uint64_t bytes, uint64_t files,
			      int *ret_dir, struct redoma_error *err);
/* In init: what native_scratch has made so far, for the payload's lock; until
 * the next call of native_scratch. */
char *const *native_places(const struct native *n, size_t *ret_n);
/* In init: no mount comes after this; capabilities go, JAIL_FILTER_INIT is
 * installed: no fork or exec either.  So every payload is forked before, and
 * one that will run a hostile byte at once waits for a byte of a pipe until
 * init is settled, before it calls native_payload.  (Not for the end of the
 * pipe: the end of init is one too, and comes before that of its jail.) */
MUST_CHECK int native_settle(struct native *n, struct redoma_error *err);

#define NATIVE_LATE_PLACES 64 /* of files, and as many of directories */

struct native_payload {
	const int *keep; /* descriptors that survive the exec; ascending: the
			    first three become 0, 1, 2, a fourth 3; a fifth
			    becomes 4 and is closed by the exec, to tell that
			    there was none.  Missing ones are inert. */
	size_t n_keep;
	int gate_fd; /* above all of keep; becomes number n_keep, and is closed
			by the exec; 0: none */
	uint64_t file_bytes; /* RLIMIT_FSIZE */
	uint64_t max_fds;    /* RLIMIT_NOFILE */
	uint64_t cpu_s;	     /* RLIMIT_CPU; 0: not set here */
	/* RLIMIT_DATA and RLIMIT_NPROC, where no control group is that holds
	 * them; 0: a parked jail's. */
	uint64_t memory_bytes, pids;
	bool early;	     /* it is started before native_scratch was called
				for everything that it may write */
	/* Of init, which native_scratch may have been called in since the
	 * fork: native_places; NULL: those of n. */
	char *const *places;
	size_t n_places;
};

/* In the child that init forked, before exec: session, rlimits, capabilities,
 * no_new_privs, Landlock, descriptors, JAIL_FILTER_NATIVE.  NULL, or the words
 * for what failed with errno.  Allocates nothing. */
MUST_CHECK const char *native_payload(const struct native *n,
				      const struct native_payload *p);
void native_free(struct native *n); /* closes; NULL is fine */

#endif
