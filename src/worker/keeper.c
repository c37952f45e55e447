#include "worker/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "jail/group.h"

#define WHERE "worker"
#define NAME "redoma-keeper"
#define CLEAR_MS 2000
#define ENDED_BY_SIGNAL 1

struct holding {
	struct groups *groups;
	struct group *group;
};

/* What is left is removed by the next one that makes groups here, as we remove
 * what others left. */
static void let_go(struct holding *h)
{
	int r = groups_clear(h->groups, CLEAR_MS, NULL);

	(void)r;
	groups_sweep(h->groups);
	groups_close(h->groups);
}

static bool make(const struct spawn_setup *s, struct holding *h)
{
	struct group_limits l = {.memory_bytes = s->group_bytes,
				 .pids = s->group_pids};

	if (groups_open_quick(&h->groups, NULL))
		return false;
	if (!(groups_can(h->groups) & GROUP_PIDS))
		l.pids = 0;
	if (!group_make(h->groups, &l, &h->group, NULL))
		return true;
	let_go(h);
	return false;
}

static void wait_for(pid_t zygote, siginfo_t *ret)
{
	while (waitid(P_PID, (id_t)zygote, ret, WEXITED) && errno == EINTR)
		;
}

/* The core and whoever asks it hear why, before the channel ends. */
static void tell_oom(struct channel *control, const siginfo_t *si)
{
	struct spawn_dead d = {.slot = SPAWN_SLOT_ALL,
			       .code = si->si_code,
			       .status = si->si_status,
			       .oom = 1};

	if (channel_send(control, FRAME_DEAD, FRAME_LAST, &d, sizeof d, NULL))
		return; /* there is no core any more */
}

__attribute__((noreturn)) static void keep(struct channel *control,
					   struct holding *h, pid_t zygote)
{
	int oom = group_oom_count_fd(h->group);
	siginfo_t si = {0};

	prctl(PR_SET_NAME, NAME, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	wait_for(zygote, &si);
	if (si.si_code == CLD_KILLED && si.si_status == SIGKILL &&
	    group_oom_count(oom))
		tell_oom(control, &si);
	close(control->fd);
	let_go(h);
	_exit(si.si_code == CLD_EXITED ? si.si_status : ENDED_BY_SIGNAL);
}

/* In the zygote, or in a child that says nothing and ends. */
static void be_born(struct holding *h, int say, struct keeper *ret)
{
	if (group_join(h->group) || write(say, "", 1) != 1)
		_exit(0);
	close(say);
	ret->state = JAIL_ENFORCED;
	ret->cgroups = (uint8_t)groups_kind(h->groups);
	ret->oom_fd = group_oom_count_fd(h->group);
	group_leave_fds(h->group);
}

static bool was_born(int hear)
{
	ssize_t n;
	char byte;

	do
		n = read(hear, &byte, 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

/* True in the zygote. */
static bool give_birth(struct holding *h, struct channel *control,
		       struct keeper *ret)
{
	CLEANUP_FD int hear = -1;
	CLEANUP_FD int say = -1;
	siginfo_t si;
	pid_t self = getpid(), pid;
	int p[2];

	if (pipe2(p, O_CLOEXEC))
		return false;
	hear = p[0];
	say = p[1];
	pid = group_fork(h->group);
	if (pid == 0) {
		be_born(h, TAKE_FD(say), ret);
		ret->pid = self;
		return true;
	}
	close(TAKE_FD(say));
	if (pid > 0 && was_born(hear))
		keep(control, h, pid);
	if (pid > 0)
		wait_for(pid, &si);
	return false;
}

void keeper_enter(struct channel *control, const struct spawn_setup *s,
		  struct keeper *ret)
{
	struct holding h = {NULL, NULL};
	sigset_t all, old;

	*ret = (struct keeper){.state = JAIL_NOT_REQUESTED,
			       .cgroups = JAIL_CGROUPS_NONE,
			       .oom_fd = -1};
	if (!s->group_bytes)
		return;
	ret->state = JAIL_UNAVAILABLE;
	if (!make(s, &h))
		return;
	/* Of the keeper: only the zygote's end counts. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	if (!give_birth(&h, control, ret))
		let_go(&h);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

int keeper_tie(const struct keeper *k, struct redoma_error *err)
{
	if (!k->pid)
		return 0;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		return err_sys(err, WHERE,
			       "tie the zygote's life to its keeper's");
	if (getppid() == k->pid)
		return 0;
	return err_set(err, REDOMA_E_WORKER, WHERE,
		       "the keeper of the zygote was killed");
}

bool keeper_oom(struct keeper *k)
{
	if (k->oom_fd < 0 || group_oom_count(k->oom_fd) <= k->oom_seen)
		return false;
	k->oom_seen++;
	return true;
}
