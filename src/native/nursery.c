#include "native/nursery.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/here.h"

#define WHERE "native"
#define QUIET_RUN_US 20000u /* of a run, before others are made beside it */
#define QUIET_END_US 1000u  /* after its end */
#define KILL_MS 2000  /* for what is left of a jail whose init is dead */
#define END_MS 400    /* for a run to be dead: who waits for it was promised
			 so, and what waits in the kernel may do so for ever */
#define CLOSE_MS 3000 /* for all of them */
#define IDLE_DEATHS_MAX 8u /* one after the other */
#define MOUNT_MS 2000 /* for a file system to answer */
/* A jail that is being made gives way to those that run. */
#define PARKED_WEIGHT 10u
#define RUNS_WEIGHT 100u
/* A run that is no short one gives way to all that are, whoever's they are. */
#define OLD_WEIGHT 25u
#define OLD_RUN_US 20000u

static struct cot *by_pid(struct nursery *n, pid_t pid)
{
	for (size_t i = 0; i < SPAWN_SLOTS_MAX; i++)
		if (n->cots[i].pid == pid)
			return &n->cots[i];
	return NULL;
}

static struct cot *by_slot(struct nursery *n, uint32_t slot)
{
	for (size_t i = 0; i < SPAWN_SLOTS_MAX; i++)
		if (n->cots[i].pid && n->cots[i].slot == slot)
			return &n->cots[i];
	return NULL;
}

static uint64_t weight(const struct nursery *n, uint64_t w)
{
	return n->groups && groups_can(n->groups) & GROUP_CPU_WEIGHT ? w : 0;
}

/* One that is asked for is waited for. */
static uint64_t birth_weight(const struct nursery *n)
{
	return n->kit.setup->park ? PARKED_WEIGHT : RUNS_WEIGHT;
}

/* Beside what is no jail of ours, all of them have the weight of the heaviest
 * that is at work. */
static void share(struct nursery *n)
{
	uint64_t most = 0;

	for (size_t i = 0; i < SPAWN_SLOTS_MAX; i++) {
		const struct cot *c = &n->cots[i];

		if (c->pid && (c->admitted || c->sock >= 0) && c->weight > most)
			most = c->weight;
	}
	if (!most || !n->weight || most == n->weight)
		return;
	/* It is no wall: where it cannot be done, all works. */
	n->weight = groups_weigh(n->groups, most, NULL) ? 0 : most;
}

void nursery_weigh(struct nursery *n)
{
	if (!weight(n, RUNS_WEIGHT) ||
	    groups_weigh(n->groups, RUNS_WEIGHT, NULL))
		return;
	n->weight = RUNS_WEIGHT;
	/* Who makes jails all the time would else work beside them; where that
	 * cannot be done, all works. */
	if (n->kit.setup->park && groups_step_in(n->groups, NULL))
		return;
}

static void age(struct nursery *n)
{
	const struct group_limits l = {0, 0, weight(n, OLD_WEIGHT)};
	uint64_t now = clock_monotonic_us();

	for (size_t i = 0; i < SPAWN_SLOTS_MAX; i++) {
		struct cot *c = &n->cots[i];

		if (!c->pid || !c->old_at_us || now < c->old_at_us)
			continue;
		c->old_at_us = 0;
		if (!c->group || !l.cpu_weight)
			continue;
		if (!group_limit(c->group, &l, NULL))
			c->weight = OLD_WEIGHT;
	}
}

static int make_group(struct nursery *n, struct group **ret,
		      struct redoma_error *err)
{
	struct group_limits l = {n->kit.setup->memory_bytes,
				 n->kit.setup->pids,
				 weight(n, birth_weight(n))};

	*ret = TAKE_PTR(n->spare);
	return *ret || !n->groups ? 0 : group_make(n->groups, &l, ret, err);
}

/* If that fails, it will again when it is needed, and be told. */
static void make_spare(struct nursery *n)
{
	struct group *g = NULL;

	if (n->kit.setup->park || n->spare || n->calm)
		return;
	if (!make_group(n, &g, NULL))
		n->spare = g;
}

static void end_group(struct group **g)
{
	struct group *gone = TAKE_PTR(*g);

	/* One that is not empty is swept when the next spawner starts. */
	if (!gone || !group_end(gone, NULL))
		return;
}

int nursery_make(struct nursery *n, struct redoma_error *err)
{
	CLEANUP(end_group) struct group *group = NULL;
	CLEANUP_FD int ours = -1;
	CLEANUP_FD int theirs = -1;
	CLEANUP_FD int pidfd = -1;
	struct cot *c = by_pid(n, 0);
	struct here here = {.stays = false};
	int sv[2], r;
	pid_t pid;

	if (!c)
		return err_set(err, REDOMA_E_BUSY, WHERE,
			       "too many jails at once: at most %u",
			       SPAWN_SLOTS_MAX);
	r = make_group(n, &group, err);
	if (r)
		return r;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
		return err_sys(err, WHERE, "make a socket pair");
	ours = sv[0];
	theirs = sv[1];
	here_stay(&here);
	pid = native_fork(n->kit.jail, group, &pidfd, err);
	here_leave(&here);
	if (pid < 0)
		return pid;
	if (pid == 0)
		init_main(&n->kit, ours);
	*c = (struct cot){.pid = pid,
			  .slot = ++n->next_slot,
			  .sock = TAKE_FD(theirs),
			  .pidfd = TAKE_FD(pidfd),
			  .space = -1,
			  .weight = birth_weight(n),
			  .group = TAKE_PTR(group)};
	return 0;
}

static bool is_quiet(const struct nursery *n)
{
	return clock_monotonic_us() < n->quiet_until_us;
}

int nursery_pause_ms(const struct nursery *n)
{
	uint64_t now = clock_monotonic_us(), at = UINT64_MAX;

	if (now < n->quiet_until_us)
		at = n->quiet_until_us;
	for (size_t i = 0; i < SPAWN_SLOTS_MAX; i++)
		if (n->cots[i].pid && n->cots[i].old_at_us &&
		    n->cots[i].old_at_us < at)
			at = n->cots[i].old_at_us;
	if (at == UINT64_MAX)
		return -1;
	return at > now ? (int)((at - now) / 1000) + 1 : 0;
}

static void remove_remains(struct nursery *n)
{
	while (n->n_remains) {
		struct remains *r = &n->remains[--n->n_remains];

		end_group(&r->group);
		if (r->space >= 0)
			close(TAKE_FD(r->space));
	}
}

static void keep_remains(struct nursery *n, struct cot *c)
{
	if (n->n_remains == SPAWN_SLOTS_MAX)
		remove_remains(n);
	n->remains[n->n_remains++] = (struct remains){
		.group = TAKE_PTR(c->group), .space = TAKE_FD(c->space)};
}

static int raise_up(struct cot *c, const struct group_limits *l,
		    struct redoma_error *err)
{
	c->weight = l->cpu_weight;
	return group_limit(c->group, l, err);
}

/* While none is parked, somebody waits or soon will: those that are being made
 * give way no longer. */
static int hurry(struct nursery *n, struct redoma_error *err)
{
	const struct group_limits l = {0, 0, weight(n, RUNS_WEIGHT)};
	int r = 0;

	for (size_t i = 0; i < SPAWN_SLOTS_MAX; i++)
		if (n->cots[i].pid && n->cots[i].sock < 0 &&
		    !n->cots[i].admitted)
			return 0;
	for (size_t i = 0; i < SPAWN_SLOTS_MAX && !r && l.cpu_weight; i++)
		if (n->cots[i].pid && n->cots[i].sock >= 0 && n->cots[i].group)
			r = raise_up(&n->cots[i], &l, err);
	return r;
}

static int fill(struct nursery *n, struct redoma_error *err)
{
	uint32_t waiting = 0;
	int r = 0;

	for (size_t i = 0; i < SPAWN_SLOTS_MAX; i++)
		waiting += n->cots[i].pid && !n->cots[i].admitted;
	if ((waiting || !n->kit.setup->park) && is_quiet(n))
		return 0;
	/* One that was asked for is waited for. */
	if (waiting && !n->kit.setup->park)
		return 0;
	while (!r && !n->calm && waiting++ < n->kit.setup->park &&
	       by_pid(n, 0))
		r = nursery_make(n, err);
	remove_remains(n);
	if (!r)
		make_spare(n);
	return r;
}

int nursery_fill(struct nursery *n, struct redoma_error *err)
{
	int r = fill(n, err);

	if (!r)
		r = hurry(n, err);
	age(n);
	share(n);
	return r;
}

static void forget(struct cot *c)
{
	if (c->sock >= 0)
		close(TAKE_FD(c->sock));
}

static void let_go(struct cot *c)
{
	forget(c);
	if (c->pidfd >= 0)
		close(TAKE_FD(c->pidfd));
}

static int tell_failure(struct nursery *n, const char *what,
			struct redoma_error *err)
{
	struct redoma_error why;

	err_set(&why, REDOMA_E_WORKER, WHERE, "%s: %s", n->kit.setup->program,
		what);
	return channel_send(n->channel, FRAME_FAILED, FRAME_LAST, &why,
			    sizeof why, err);
}

/* One message, with the descriptor that may come with it. */
static ssize_t receive(struct cot *c, void *p, size_t size)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {p, size};
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof control};
	ssize_t len = recvmsg(c->sock, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *h = len < 0 ? NULL : CMSG_FIRSTHDR(&m);

	if (h && h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS &&
	    h->cmsg_len == CMSG_LEN(sizeof(int))) {
		if (c->space >= 0)
			close(c->space);
		memcpy(&c->space, CMSG_DATA(h), sizeof(int));
	}
	return len;
}

/* Once it has been told of, since a run may wait for it, and before it is
 * admitted. */
static int look_at(struct nursery *n, struct cot *c,
		   const struct spawn_ready *says, struct redoma_error *err)
{
	const struct native_look look = {.pid = c->pid,
					 .space_fd = c->space,
					 .group = c->group,
					 .state = says->state,
					 .runs = n->kit.setup->bootstrap};

	c->lies = native_look(n->kit.jail, &look, &c->uid, &n->lie);
	if (!c->lies)
		return 0;
	n->calm = true;
	kill(c->pid, SIGKILL);
	return channel_send(n->channel, FRAME_FAILED, FRAME_LAST, &n->lie,
			    sizeof n->lie, err);
}

int nursery_deliver(struct nursery *n, struct cot *c, struct redoma_error *err)
{
	struct spawn_born born = {.slot = c->slot, .pid = c->pid, .cpu = -1};
	int fds[2] = {c->sock, c->pidfd};
	struct {
		struct frame f;
		char body[sizeof(struct redoma_error)];
	} m;
	ssize_t len = receive(c, &m, sizeof m);
	int r;

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (len == (ssize_t)(sizeof m.f + sizeof born.ready) &&
	    m.f.kind == FRAME_READY) {
		memcpy(&born.ready, m.body, sizeof born.ready);
		r = channel_send_fds(n->channel, FRAME_BORN, &born, sizeof born,
				     fds, 2, err);
		forget(c);
		return r ? r : look_at(n, c, &born.ready, err);
	}
	forget(c);
	if (c->admitted) /* the core wanted its end */
		return 0;
	n->calm = true;
	if (len == sizeof m && m.f.kind == FRAME_FAILED)
		return channel_send(n->channel, FRAME_FAILED, FRAME_LAST,
				    m.body, sizeof m.body, err);
	return tell_failure(n, "a jail ended before it was ready", err);
}

/* Descriptors of one ADMIT: what came, and what goes. */
struct mounts {
	struct channel *channel;
	int out[FRAME_FDS_MAX];
	size_t n;
};

static void mounts_done(struct mounts *m)
{
	int fd;

	while (m->n)
		close(m->out[--m->n]);
	while ((fd = channel_take_fd(m->channel)) >= 0)
		close(fd);
}

static int mount_all(struct nursery *n, uint32_t n_grants, struct mounts *m,
		     struct redoma_error *err)
{
	uint32_t i;
	int r = 0;

	for (i = 0; i < n_grants && !r; i++) {
		CLEANUP_FD int fd = channel_take_fd(n->channel);

		if (fd < 0 || m->n == FRAME_FDS_MAX)
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "more files are granted singly than a "
				       "jail takes: grant a directory instead");
		r = native_mount(n->kit.jail, fd, MOUNT_MS, &m->out[m->n], err);
		m->n += !r;
	}
	return r;
}

static int admit(struct nursery *n, const struct native_admit *a,
		 struct mounts *m, struct redoma_error *err)
{
	struct cot *c = by_slot(n, a->slot);
	struct group_limits l = {a->memory_bytes, a->pids,
				 weight(n, a->cpu_weight ? a->cpu_weight
							 : RUNS_WEIGHT)};
	int fd, r;

	if (c && c->lies) {
		*err = n->lie;
		return err->code;
	}
	if (!c || c->sock >= 0 || c->admitted)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "the jail ended while it was parked");
	c->admitted = true;
	n->quiet_until_us = clock_monotonic_us() + QUIET_RUN_US;
	n->idle_deaths = 0;
	r = c->group ? group_limit(c->group, &l, err) : 0;
	if (r)
		return r;
	if (c->group)
		group_joined(c->group);
	c->weight = l.cpu_weight;
	c->old_at_us = clock_monotonic_us() + OLD_RUN_US;
	share(n);
	fd = c->group ? group_cpu_fd(c->group) : -1;
	if (fd >= 0)
		m->out[m->n++] = fd;
	return mount_all(n, a->n_grants, m, err);
}

static uint32_t uid_of(struct nursery *n, uint32_t slot)
{
	const struct cot *c = by_slot(n, slot);

	return c ? c->uid : 0;
}

int nursery_admit(struct nursery *n, const struct native_admit *a,
		  struct redoma_error *err)
{
	CLEANUP(mounts_done) struct mounts m = {.channel = n->channel};
	struct native_admitted say = {.slot = a->slot,
				      .n_grants = a->n_grants};

	say.rc = admit(n, a, &m, &say.why);
	say.has_cpu = m.n > a->n_grants;
	say.uid = uid_of(n, a->slot);
	n->calm = false;
	if (!say.rc)
		return channel_send_fds(n->channel, FRAME_ADMITTED, &say,
					sizeof say, m.out, m.n, err);
	say.has_cpu = say.n_grants = 0;
	return channel_send(n->channel, FRAME_ADMITTED, FRAME_LAST, &say,
			    sizeof say, err);
}

static void add_usage(struct cot *c, struct native_dead *d)
{
	struct group_usage u;

	if (!c->group || group_usage(c->group, &u, NULL))
		return;
	d->has_usage = true;
	d->cpu_us = u.cpu_us;
	d->memory_peak_bytes = u.memory_peak_bytes;
	d->pids_refused = u.pids_refused;
	d->oom = d->oom || u.oom_kills;
}

static int tell_death(struct nursery *n, struct cot *c, struct native_dead *d,
		      struct redoma_error *err)
{
	d->end.slot = c->slot;
	d->oom = c->oom;
	add_usage(c, d);
	c->told = true;
	return channel_send(n->channel, FRAME_DEAD, FRAME_LAST, d, sizeof *d,
			    err);
}

/* What it left in its group goes with it. */
static int kill_all(struct cot *c, int wait_ms)
{
	if (c->group)
		return group_kill(c->group, wait_ms, NULL);
	kill(c->pid, SIGKILL);
	return 0;
}

/* Those that end while they are parked are not made for ever. */
static int died_idle(struct nursery *n, struct redoma_error *err)
{
	if (++n->idle_deaths < IDLE_DEATHS_MAX)
		return 0;
	n->calm = true;
	n->idle_deaths = 0;
	return tell_failure(n, "it ends by itself before it is given a run",
			    err);
}

static int bury(struct nursery *n, struct cot *c, const siginfo_t *si,
		const struct reaped *used, struct redoma_error *err)
{
	struct native_dead d = {.end = {.code = si->si_code,
					.status = si->si_status,
					.used = *used}};
	int r = 0;

	if (c->sock >= 0)
		r = nursery_deliver(n, c, err);
	let_go(c);
	d.survivors = c->group && kill_all(c, KILL_MS);
	if (!r && !c->told)
		r = tell_death(n, c, &d, err);
	if (!r && !c->admitted)
		r = died_idle(n, err);
	keep_remains(n, c);
	n->quiet_until_us = clock_monotonic_us() + QUIET_END_US;
	c->pid = 0;
	return r;
}

static int end_it(struct nursery *n, struct cot *c, int wait_ms,
		  struct redoma_error *err)
{
	struct native_dead d = {.survivors = true};

	if (!kill_all(c, wait_ms) || c->told)
		return 0;
	c->stuck = true;
	return tell_death(n, c, &d, err);
}

static bool is_over(const struct cot *c, int wait_ms)
{
	struct pollfd p = {.fd = c->pidfd, .events = POLLIN};

	return poll(&p, 1, wait_ms) == 1;
}

/* Told before it is seen dead. */
static int end_early(struct nursery *n, struct cot *c, struct redoma_error *err)
{
	struct native_dead d = {.end = {.code = CLD_KILLED, .status = SIGKILL}};

	n->quiet_until_us = clock_monotonic_us() + QUIET_END_US;
	return tell_death(n, c, &d, err);
}

int nursery_end(struct nursery *n, const struct native_end *e,
		struct redoma_error *err)
{
	struct cot *c = by_slot(n, e->slot);

	n->calm = false;
	if (!c)
		return 0;
	c->admitted = true; /* it did not end by itself */
	/* No birth is told after its death: nobody would end it again. */
	forget(c);
	if (e->early && !c->told && c->group && group_strike(c->group))
		return end_early(n, c, err);
	/* With init everything in its pid namespace ends, and before it. */
	if (!c->told && !kill(c->pid, SIGKILL) && is_over(c, END_MS))
		return nursery_reap(n, err);
	return end_it(n, c, 0, err);
}

int nursery_oom(struct nursery *n, struct cot *c, struct redoma_error *err)
{
	if (!group_oom_seen(c->group))
		return 0;
	c->oom = true;
	return end_it(n, c, END_MS, err);
}

int nursery_reap(struct nursery *n, struct redoma_error *err)
{
	struct reaped used;
	siginfo_t si;
	int r = 0;

	while (!r && reap_any(&si, &used)) {
		struct cot *c = by_pid(n, si.si_pid);

		if (c)
			r = bury(n, c, &si, &used, err);
	}
	return r;
}

/* False: it lives. */
static bool take_down(struct nursery *n, struct cot *c)
{
	bool gone = true;

	if (c->pid <= 0)
		return true;
	if (c->stuck)
		gone = is_over(c, 0);
	else if (c->group)
		gone = !group_kill(c->group, CLOSE_MS, NULL);
	if (gone)
		waitid(P_PID, (id_t)c->pid, &(siginfo_t){0}, WEXITED);
	let_go(c);
	keep_remains(n, c);
	c->pid = 0;
	return gone;
}

bool nursery_close(struct nursery *n)
{
	bool gone = true;
	size_t i;

	for (i = 0; i < SPAWN_SLOTS_MAX; i++)
		if (n->cots[i].pid > 0)
			kill(n->cots[i].pid, SIGKILL);
	for (i = 0; i < SPAWN_SLOTS_MAX; i++)
		gone = take_down(n, &n->cots[i]) && gone;
	remove_remains(n);
	end_group(&n->spare);
	native_free(n->kit.jail);
	n->kit.jail = NULL;
	if (n->groups)
		groups_step_out(n->groups);
	groups_close(n->groups);
	n->groups = NULL;
	return gone;
}
