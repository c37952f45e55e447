#include "jail/native.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "jail/native_state.h"

#define WHERE "jail"
#define BIT(c) (1u << (c))
/* Without these two there is no root to run a native program in. */
#define NEEDED (BIT(JAIL_MOUNT) | BIT(JAIL_PID))
#define NAMESPACES                                                           \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |         \
	 CLONE_NEWIPC | CLONE_NEWUTS)
/* Of a spawner that is root: to map the ids of its jails. */
#define SPAWNER_CAPS (BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_KILL))

static void free_all(char **texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
}

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void native_free(struct native *n)
{
	if (!n)
		return;
	free_all(n->exec, n->n_exec);
	free(n->exec);
	free_all(n->places, n->n_places);
	shut(&n->mounter_fd);
	shut(&n->stage_fd);
	shut(&n->space_fd);
	jail_close(&n->j);
	free(n);
}

static void free_native(struct native **n)
{
	native_free(*n);
}

static int keep_exec(struct native *n, const struct native_options *o,
		     struct redoma_error *err)
{
	n->exec = calloc(o->n_entries + 1, sizeof *n->exec);
	if (!n->exec)
		return err_nomem(err, WHERE);
	for (size_t i = 0; i < o->n_entries; i++) {
		const struct native_entry *e = &o->entries[i];

		if (!e->exec)
			continue;
		if (e->kind != NATIVE_FILE && e->kind != NATIVE_DIR)
			continue;
		n->exec[n->n_exec] = strdup(e->guest);
		if (!n->exec[n->n_exec])
			return err_nomem(err, WHERE);
		n->n_exec++;
	}
	return 0;
}

static const char *find_self(struct native *n)
{
	unsigned uid = geteuid(), gid = getegid();
	const char *what;

	n->uid = uid;
	n->gid = gid;
	n->j.self_fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (n->j.self_fd < 0)
		return "open a pidfd of the spawner";
	what = idmap_read(&n->ids);
	if (!what)
		what = idmap_choose(&n->ids, (unsigned)getpid(), &n->uid,
				    &n->gid);
	if (what)
		return what;
	n->maps = n->uid != uid || n->gid != gid;
	return n->maps && setgroups(0, NULL)
		       ? "give up the supplementary groups"
		       : NULL;
}

/* An ordinary user needs a user namespace to mount anything. */
static int enter_user(struct native *n, struct redoma_error *err)
{
	const char *what;

	if (n->maps)
		return 0;
	what = idmap_enter();
	if (!what)
		what = ns_enter(BIT(JAIL_MOUNT));
	if (what)
		return jail_refuse(JAIL_USER, what, err);
	n->uid = n->gid = JAIL_ID_INSIDE;
	return 0;
}

static int enter_root(struct native *n, const struct native_options *o,
		      struct redoma_error *err)
{
	CLEANUP_FD int proc = -1;
	const char *what = mounter_start(n);
	int rc;

	/* The mounter keeps what we had until here. */
	if (!what)
		what = ns_enter(BIT(JAIL_MOUNT));
	if (!what)
		what = mount_copy_proc(&proc);
	if (what)
		return jail_refuse(JAIL_MOUNT, what, err);
	rc = root_build(o, proc, err);
	if (rc)
		return rc;
	n->j.proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (n->j.proc_fd < 0)
		return err_sys(err, WHERE, "open /proc of the new root");
	what = fds_inert(n->j.proc_fd, &n->j.inert_fd);
	return what ? err_sys(err, WHERE, "%s", what) : 0;
}

static const char *ask_seccomp(void)
{
	uint32_t kill = SECCOMP_RET_KILL_PROCESS;

	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &kill))
		return "ask for the actions of system call filters";
	return seccomp_check();
}

static const char *hide(void)
{
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ||
			       prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0
		       ? "make the spawner non-dumpable"
		       : NULL;
}

/* Where the policy does without user namespaces and there are none, what
 * makes a jail is the spawner's own right. */
static uint32_t caps_of(struct native *n)
{
	if (!n->maps)
		return 0;
	if (!(n->j.may_lack & BIT(JAIL_USER)) || native_can_fork(CLONE_NEWUSER))
		return SPAWNER_CAPS;
	n->j.lacks |= BIT(JAIL_USER);
	n->j.sys[JAIL_USER] = errno;
	n->namespaces &= ~(uint64_t)CLONE_NEWUSER;
	return SPAWNER_CAPS | BIT(CAP_SYS_ADMIN);
}

static int give_up(struct native *n, struct redoma_error *err)
{
	struct jail *j = &n->j;
	int rc = jail_judge(j, JAIL_ALWAYS, session_keyring(), err);

	if (!rc)
		rc = jail_judge(j, JAIL_LANDLOCK,
				landlock_find(&n->handled, &j->landlock_abi),
				err);
	if (!rc)
		rc = jail_judge(j, JAIL_CAPS,
				caps_keep(caps_of(n)), err);
	if (!rc)
		rc = jail_judge(j, JAIL_NNP, caps_forbid_new(), err);
	if (!rc)
		rc = jail_judge(j, JAIL_SECCOMP, ask_seccomp(), err);
	return rc ? rc : jail_judge(j, JAIL_ALWAYS, hide(), err);
}

static int build(struct native *n, const struct native_options *o,
		 struct redoma_error *err)
{
	const char *what = find_self(n);
	int rc = what ? jail_refuse(JAIL_USER, what, err) : 0;

	if (!rc)
		rc = keep_exec(n, o, err);
	if (!rc)
		rc = enter_user(n, err);
	if (!rc)
		rc = enter_root(n, o, err);
	return rc ? rc : give_up(n, err);
}

int native_prepare(const struct native_options *o, struct native **ret,
		   struct jail_report *report, struct redoma_error *err)
{
	CLEANUP(free_native) struct native *n = calloc(1, sizeof *n);
	int rc;

	if (!n)
		return err_nomem(err, WHERE);
	n->j = JAIL_CLOSED;
	n->j.may_lack = o->may_lack & ~NEEDED;
	n->mounter_fd = n->stage_fd = n->space_fd = -1;
	n->namespaces = NAMESPACES;
	n->tmp_bytes = o->tmp_bytes;
	n->memory_bytes = o->memory_bytes;
	n->pids = o->pids;
	if (o->n_entries > NATIVE_ROOT_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "a root of %zu entries: at most %u",
			       o->n_entries, NATIVE_ROOT_MAX);
	rc = build(n, o, err);
	if (rc)
		return rc;
	if (report)
		jail_tell(&n->j,
			  BIT(JAIL_MOUNT) | BIT(JAIL_LANDLOCK) |
				  BIT(JAIL_CAPS) | BIT(JAIL_NNP),
			  report);
	*ret = TAKE_PTR(n);
	return 0;
}
