/* The birth of one jail: init, until it stands in its root. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "jail/native_state.h"

#define WHERE "jail"
#define BIT(c) (1u << (c))
#define KEEP_MAX 64

static const struct {
	enum jail_control control;
	uint64_t flag;
} spaces[] = {
	{JAIL_USER, CLONE_NEWUSER}, {JAIL_MOUNT, CLONE_NEWNS},
	{JAIL_PID, CLONE_NEWPID},   {JAIL_NET, CLONE_NEWNET},
	{JAIL_IPC, CLONE_NEWIPC},   {JAIL_UTS, CLONE_NEWUTS},
};

bool native_can_fork(uint64_t flags)
{
	CLEANUP_FD int pidfd = -1;
	siginfo_t info;
	pid_t pid = fork_raw(flags, 0, &pidfd);

	if (!pid)
		_exit(0);
	if (pid < 0)
		return false;
	while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | __WALL) &&
	       errno == EINTR)
		continue;
	return true;
}

/* Together they were refused: finds out which, and goes on without those that
 * may lack. */
static int find_lacking(struct native *n, struct redoma_error *err)
{
	uint64_t user = n->namespaces & CLONE_NEWUSER;
	int rc = 0;

	for (size_t i = 0; i < sizeof spaces / sizeof *spaces && !rc; i++) {
		char words[64];

		if (!(n->namespaces & spaces[i].flag) ||
		    native_can_fork(spaces[i].flag | user))
			continue;
		snprintf(words, sizeof words, "clone3 of a jail with a %s "
			 "namespace", jail_control_name(spaces[i].control));
		n->namespaces &= ~spaces[i].flag;
		if (spaces[i].control == JAIL_USER)
			user = 0;
		rc = jail_judge(&n->j, (int)spaces[i].control, words, err);
	}
	return rc;
}

static pid_t birth(struct native *n, const struct group *group, int *ret_pidfd,
		   struct redoma_error *err)
{
	int into = group ? group_birth_fd(group) : -1;
	uint64_t had = n->namespaces;
	pid_t pid = fork_into(n->namespaces, into, ret_pidfd);
	int sys = errno, rc;

	if (pid >= 0)
		return pid;
	if (!err_is_shortage(sys)) {
		rc = find_lacking(n, err);
		if (rc)
			return rc;
		if (n->namespaces != had)
			return birth(n, group, ret_pidfd, err);
	}
	errno = sys;
	return err_sys(err, WHERE, "clone3 of a jail%s",
		       into >= 0 ? " in its control group" : "");
}

/* In the child: waits for its ids, or writes them itself. */
static const char *take_ids(struct native *n, int gate_fd)
{
	const char *what;
	char byte;

	if (!(n->namespaces & CLONE_NEWUSER))
		return NULL;
	if (n->maps) {
		errno = ECHILD;
		return read(gate_fd, &byte, 1) == 1
			       ? NULL
			       : "wait for the id maps of a jail";
	}
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
		return "become dumpable to write the id maps";
	what = idmap_write(n->j.proc_fd, "self", n->uid, n->gid);
	if (!what && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		what = "become non-dumpable again";
	return what;
}

static void be_child(struct native *n, const struct group *group, int gate_fd)
{
	n->birth = group ? group_join(group) : NULL;
	n->birth_sys = errno;
	if (group)
		group_leave_fds(group);
	n->grouped = group;
	if (n->birth)
		return;
	n->birth = take_ids(n, gate_fd);
	n->birth_sys = errno;
}

/* In the spawner: ids of its own for this jail. */
static int give_ids(struct native *n, pid_t pid, int gate_fd,
		    struct redoma_error *err)
{
	unsigned uid = n->uid, gid = n->gid;
	const char *what = idmap_choose(&n->ids, (unsigned)pid, &uid, &gid);
	char name[16];

	snprintf(name, sizeof name, "%d", pid);
	if (!what)
		what = idmap_write(n->j.proc_fd, name, uid, gid);
	if (what)
		return jail_refuse(JAIL_USER, what, err);
	if (write(gate_fd, "", 1) == 1)
		return 0;
	return err_sys(err, WHERE, "tell a jail that it has its ids");
}

static void end_child(int *pidfd)
{
	siginfo_t info;

	(void)syscall(SYS_pidfd_send_signal, *pidfd, SIGKILL, NULL, 0);
	while (waitid(P_PIDFD, (id_t)*pidfd, &info, WEXITED | __WALL) &&
	       errno == EINTR)
		continue;
	close(*pidfd);
	*pidfd = -1;
}

/* Where no user namespace maps them: an id of the host for the next jail. */
static int choose_ids(struct native *n, struct redoma_error *err)
{
	unsigned number = (unsigned)getpid() + ++n->births;
	const char *what = idmap_choose(&n->ids, number, &n->uid, &n->gid);

	return what ? jail_refuse(JAIL_USER, what, err) : 0;
}

pid_t native_fork(struct native *n, const struct group *group, int *ret_pidfd,
		  struct redoma_error *err)
{
	CLEANUP_FD int in = -1;
	CLEANUP_FD int out = -1;
	int both[2], rc, pidfd = -1;
	pid_t pid;

	if (!group) {
		errno = ENOENT;
		rc = jail_judge(&n->j, JAIL_CGROUP,
				"find a control group for a jail", err);
		if (rc)
			return rc;
	}
	rc = n->namespaces & CLONE_NEWUSER ? 0 : choose_ids(n, err);
	if (rc)
		return rc;
	if (pipe2(both, O_CLOEXEC))
		return err_sys(err, WHERE, "make a pipe for a jail");
	in = both[0];
	out = both[1];
	pid = birth(n, group, &pidfd, err);
	if (pid < 0)
		return pid;
	if (!pid) {
		close(out);
		out = -1;
		be_child(n, group, in);
		*ret_pidfd = -1;
		return 0;
	}
	if (n->maps && n->namespaces & CLONE_NEWUSER) {
		rc = give_ids(n, pid, out, err);
		if (rc) {
			end_child(&pidfd);
			return rc;
		}
	}
	*ret_pidfd = pidfd;
	return pid;
}

static const char *become(struct native *n)
{
	if (n->birth) {
		errno = n->birth_sys;
		return n->birth;
	}
	if (n->namespaces & CLONE_NEWUSER)
		return idmap_become_inside();
	/* Locked securebits keep the capabilities by themselves. */
	return idmap_become(n->uid, n->gid, n->j.lacks & BIT(JAIL_CAPS));
}

/* Ascending, without doubles: what the caller keeps and what we hold. */
static const char *close_others(const struct native *n, const int *keep,
				size_t n_keep)
{
	const int mine[] = {n->j.inert_fd, n->stage_fd, n->space_fd};
	int all[KEEP_MAX + 3];
	size_t len = 0;

	errno = EINVAL;
	if (n_keep > KEEP_MAX)
		return "keep that many descriptors";
	if (n_keep)
		memcpy(all, keep, n_keep * sizeof *keep);
	len = n_keep;
	for (size_t i = 0; i < sizeof mine / sizeof *mine; i++) {
		size_t at = len;

		if (mine[i] < 0)
			continue;
		for (; at && all[at - 1] > mine[i]; at--)
			all[at] = all[at - 1];
		all[at] = mine[i];
		len++;
	}
	return fds_close(all, len, n->j.inert_fd);
}

int native_take_space(struct native *n)
{
	return TAKE_FD(n->space_fd);
}

static const char *hold_space(struct native *n)
{
	n->space_fd = openat(n->j.proc_fd, "self/ns/mnt", O_RDONLY | O_CLOEXEC);
	return n->space_fd < 0 ? "open the mount namespace of a jail" : NULL;
}

static int enter_spaces(struct native *n, struct redoma_error *err)
{
	struct jail *j = &n->j;
	int rc = jail_judge(j, JAIL_ALWAYS, session_tie(j->self_fd), err);

	errno = EPERM;
	if (!rc)
		rc = jail_judge(j, JAIL_PID,
				getpid() == 1 ? NULL
					      : "be pid 1 of a pid namespace",
				err);
	if (!rc)
		rc = jail_judge(j, JAIL_CGROUPNS, ns_enter(BIT(JAIL_CGROUPNS)),
				err);
	if (!rc && n->namespaces & CLONE_NEWUTS)
		rc = jail_judge(j, JAIL_UTS, ns_hostname(), err);
	if (!rc)
		rc = jail_judge(j, JAIL_MOUNT, root_own(n), err);
	return rc ? rc : jail_judge(j, JAIL_MOUNT, hold_space(n), err);
}

int native_enter(struct native *n, const int *keep, size_t n_keep,
		 struct jail_report *report, struct redoma_error *err)
{
	struct jail *j = &n->j;
	int rc = jail_judge(j, JAIL_USER, become(n), err);

	(void)prctl(PR_SET_NAME, "redoma-init", 0, 0, 0);
	if (!rc && n->birth) /* never without what was asked of its birth */
		rc = jail_refuse(JAIL_USER, n->birth, err);
	if (!rc)
		rc = enter_spaces(n, err);
	if (!rc)
		rc = jail_judge(j, JAIL_ALWAYS, session_leave(), err);
	if (!rc)
		rc = jail_judge(j, JAIL_CAPS, caps_shrink(), err);
	if (!rc)
		rc = jail_judge(j, JAIL_NNP, caps_no_new_verify(), err);
	if (!rc)
		rc = jail_judge(j, JAIL_ALWAYS, session_tied(), err);
	if (!rc)
		rc = jail_judge(j, JAIL_ALWAYS, close_others(n, keep, n_keep),
				err);
	if (rc || !report)
		return rc;
	jail_tell(j, ~0u, report);
	report->sys[JAIL_MOUNT] = n->proc_sys;
	return 0;
}
