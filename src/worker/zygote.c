#include "worker/zygote.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/here.h"
#include "engine/module.h"
#include "wire/request.h"
#include "worker/child.h"
#include "worker/deadline.h"
#include "worker/inherit.h"
#include "worker/rehearse.h"
#include "worker/run.h"

#define WHERE "worker"
#define ROOM_US 2000000u
#define ROOM_LOOK_US 500u

struct birth {
	pid_t pid; /* 0: free */
	uint32_t slot;
	int cpu;
	/* The core's ends; -1: closed.  The socket's copy stays here until the
	 * child is dead: whose close is the last pays for the kernel's look for
	 * sockets that are lost in flight, and that is not to be the caller of
	 * a run. */
	int sock, pidfd;
	bool parked;
};

struct nursery {
	struct birth births[SPAWN_SLOTS_MAX];
	uint32_t next_slot;
	int sigfd;
};

static int read_setup(struct channel *c, struct spawn_setup *s, int *ret_image,
		      struct redoma_error *err)
{
	struct frame f;
	const void *body;
	int r = channel_recv(c, UINT64_MAX, &f, &body, err);

	if (r)
		return r;
	if (f.kind != FRAME_SPAWN || f.len != sizeof *s)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "the core is of another build");
	memcpy(s, body, sizeof *s);
	if (s->abi != SPAWN_ABI || s->profile >= PROFILES ||
	    s->n_cpus > SPAWN_SLOTS_MAX)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "the core is of another build");
	if (s->has_image && !profile_is_image((enum profile)s->profile))
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "a foreign module is loaded inside the walls, "
			       "not in the zygote");
	*ret_image = channel_take_fd(c);
	return 0;
}

/* The engine refuses it before it runs a byte of it: it was made for another
 * CPU, or by another build.  The core may have one that fits. */
static int load_other(struct channel *c, struct kit *k,
		      struct redoma_error *err)
{
	CLEANUP_FD int image = -1;
	struct redoma_error why = *err;
	struct frame f;
	const void *body;
	int r = channel_send(c, FRAME_UNFIT, FRAME_LAST, &why, sizeof why, err);

	if (!r)
		r = channel_recv(c, UINT64_MAX, &f, &body, err);
	if (r)
		return r;
	image = channel_take_fd(c);
	if (f.kind != FRAME_MODULE || image < 0)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "the core is of another build");
	r = module_load_file(k->engine, image, &why);
	if (r == REDOMA_E_INVALID)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "the language image that was compiled on this "
			       "machine does not load either (%.100s): install "
			       "Redoma again",
			       why.text);
	if (r)
		*err = why;
	return r;
}

static int load_image(struct channel *c, struct kit *k, int image,
		      struct redoma_error *err)
{
	int r;

	if (image < 0)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "the core sent no image");
	r = module_load_file(k->engine, image, err);
	return r == REDOMA_E_INVALID ? load_other(c, k, err) : r;
}

static int load(struct channel *c, struct kit *k, int image,
		struct redoma_error *err)
{
	int r = engine_new((enum profile)k->setup.profile, &k->engine,
			   err);

	if (!r)
		r = wasi_new(deadline_stop(), &k->wasi, err);
	if (!r)
		r = deadline_install(k->engine, err);
	if (r || !k->setup.has_image)
		return r;
	r = load_image(c, k, image, err);
	if (!r)
		r = module_link(k->engine, k->wasi, err);
	/* An image that was added is large, and no part of the run's limit. */
	if (!r && k->setup.profile == PROFILE_IMAGE_EPOCH)
		k->image_bytes = module_memory_bytes(k->engine);
	if (!r)
		r = exec_new(k->engine, deadline_stop(), &k->exec, err);
	/* For these runs only: timers are not inherited. */
	if (!r)
		r = deadline_create(err);
	if (r)
		return r;
	if (k->setup.single)
		return run_map(k, err);
	r = run_warm(k, err);
	return r ? r : rehearse_write(k, err);
}

static int make_room(struct kit *k, struct redoma_error *err)
{
	k->channel = calloc(1, sizeof *k->channel);
	k->request = malloc(sizeof *k->request);
	k->result = calloc(1, sizeof *k->result);
	return k->channel && k->request && k->result ? 0
						     : err_nomem(err, WHERE);
}

static int set_up(struct channel *c, struct kit *k, struct redoma_error *err)
{
	struct jail_options o = {.filter = JAIL_FILTER_WORKER};
	CLEANUP_FD int image = -1;
	int r = read_setup(c, &k->setup, &image, err);

	if (r)
		return r;
	keeper_enter(c, &k->setup, &k->keeper);
	if (!k->setup.single)
		here_meek(0);
	r = make_room(k, err);
	if (!r)
		r = load(c, k, image, err);
	if (r)
		return r;
	if (!k->setup.single)
		inherit_code();
	o.may_lack = k->setup.may_lack;
	r = jail_prepare(&o, &k->jail, &k->report, err);
	return r ? r : keeper_tie(&k->keeper, err);
}

void zygote_ready(const struct kit *k, uint64_t since_us,
		  struct spawn_ready *ret)
{
	size_t i;

	*ret = (struct spawn_ready){
		.abi = SPAWN_ABI,
		.landlock_abi = k->report.landlock_abi,
		.fast_reset = engine_fast_reset(k->engine),
		.cgroups = k->keeper.cgroups,
		.us = (uint32_t)(clock_monotonic_us() - since_us),
		.pid = getpid(),
	};
	snprintf(ret->engine, sizeof ret->engine, "%s", engine_version());
	for (i = 0; i < JAIL_CONTROLS && i < SPAWN_CONTROLS; i++)
		ret->state[i] = k->report.state[i];
	ret->state[JAIL_CGROUP] = k->keeper.state;
}

static struct birth *find_birth(struct nursery *n, pid_t pid)
{
	size_t i;

	for (i = 0; i < SPAWN_SLOTS_MAX; i++)
		if (n->births[i].pid == pid)
			return &n->births[i];
	return NULL;
}

/* The group's room for processes is taken until those that were reaped are off
 * their CPUs, which on a busy host is not at once. */
static pid_t fork_child(const struct jail *j, int *ret_pidfd,
			struct redoma_error *err)
{
	uint64_t until = clock_monotonic_us() + ROOM_US;
	pid_t pid;

	while ((pid = jail_fork(j, ret_pidfd, err)) < 0 && err &&
	       err->sys == EAGAIN && clock_monotonic_us() < until)
		usleep(ROOM_LOOK_US);
	return pid;
}

static int make_child(struct kit *k, struct nursery *n, int cpu,
		      struct redoma_error *err)
{
	CLEANUP_FD int ours = -1;
	CLEANUP_FD int theirs = -1;
	CLEANUP_FD int pidfd = -1;
	struct birth *b = find_birth(n, 0);
	int sv[2];
	pid_t pid;

	if (!b)
		return err_set(err, REDOMA_E_BUSY, WHERE,
			       "too many workers in one zygote");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
		return err_sys(err, WHERE, "make a socket pair");
	ours = sv[0];
	theirs = sv[1];
	pid = fork_child(k->jail, &pidfd, err);
	if (pid < 0)
		return pid;
	if (pid == 0)
		child_main(k, ours);
	*b = (struct birth){.pid = pid,
			    .slot = ++n->next_slot,
			    .cpu = cpu,
			    .sock = TAKE_FD(theirs),
			    .pidfd = TAKE_FD(pidfd)};
	return 0;
}

static void forget(struct birth *b)
{
	if (b->sock >= 0)
		close(TAKE_FD(b->sock));
	if (b->pidfd >= 0)
		close(TAKE_FD(b->pidfd));
}

static void pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	/* Only speed depends on it. */
	sched_setaffinity(pid, sizeof set, &set);
}

/* A child spoke to us: it is parked and goes to the core, or it failed and the
 * core hears why. */
static int deliver(struct channel *c, struct birth *b,
		   struct redoma_error *err)
{
	struct spawn_born born = {
		.slot = b->slot, .pid = b->pid, .cpu = b->cpu};
	int fds[2] = {b->sock, b->pidfd};
	struct {
		struct frame f;
		char body[sizeof(struct redoma_error)];
	} m;
	ssize_t n = recv(b->sock, &m, sizeof m, MSG_DONTWAIT);
	int r;

	if (n == (ssize_t)(sizeof m.f + sizeof born.ready) &&
	    m.f.kind == FRAME_READY) {
		memcpy(&born.ready, m.body, sizeof born.ready);
		/* They are made wherever there is room, not where a run is
		 * going on. */
		pin(b->pid, b->cpu);
		r = channel_send_fds(c, FRAME_BORN, &born, sizeof born, fds, 2,
				     err);
		close(TAKE_FD(b->pidfd));
		b->parked = true;
		return r;
	}
	forget(b);
	if (n == sizeof m && m.f.kind == FRAME_FAILED)
		return channel_send(c, FRAME_FAILED, FRAME_LAST, m.body,
				    sizeof m.body, err);
	return 0;
}

static int first_children(struct kit *k, struct nursery *n,
			  struct redoma_error *err)
{
	uint32_t i, j;
	int cpu, r = 0;

	if (k->setup.single)
		return 0;
	for (j = 0; j < k->setup.per_cpu; j++)
		for (i = 0; i < k->setup.n_cpus && !r; i++) {
			cpu = k->setup.cpus[i];
			if (find_birth(n, 0))
				r = make_child(k, n, cpu, err);
		}
	return r;
}

static int bury(struct channel *c, struct kit *k, struct nursery *n,
		const siginfo_t *si, const struct reaped *used,
		struct redoma_error *err)
{
	struct birth *b = find_birth(n, si->si_pid);
	struct spawn_dead d;
	int cpu, r;

	if (!b)
		return 0;
	cpu = b->cpu;
	d = (struct spawn_dead){b->slot, si->si_code, si->si_status, 0, *used};
	if (d.code == CLD_KILLED && d.status == SIGKILL)
		d.oom = keeper_oom(&k->keeper);
	if (!b->parked && b->sock >= 0) {
		r = deliver(c, b, err);
		if (r)
			return r;
	}
	forget(b);
	b->pid = 0;
	r = channel_send(c, FRAME_DEAD, FRAME_LAST, &d, sizeof d, err);
	return r || k->setup.single ? r : make_child(k, n, cpu, err);
}

static int reap(struct channel *c, struct kit *k, struct nursery *n,
		struct redoma_error *err)
{
	struct signalfd_siginfo drained;
	struct reaped used;
	siginfo_t si;
	int r = 0;

	if (read(n->sigfd, &drained, sizeof drained) < 0 && errno != EAGAIN)
		return err_sys(err, WHERE, "read the child signal");
	while (!r && reap_any(&si, &used))
		r = bury(c, k, n, &si, &used, err);
	return r;
}

static int serve_core(struct channel *c, struct kit *k, struct nursery *n,
		      struct redoma_error *err)
{
	struct frame f;
	const void *body;
	int r = channel_recv(c, UINT64_MAX, &f, &body, err);

	if (r)
		return r;
	if (f.kind != FRAME_SPAWN)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "the core is of another build");
	return make_child(k, n, -1, err);
}

static nfds_t poll_set(const struct channel *c, struct nursery *n,
		       struct pollfd *p, struct birth **who)
{
	nfds_t len = 2, i;

	p[0] = (struct pollfd){.fd = c->fd, .events = POLLIN};
	p[1] = (struct pollfd){.fd = n->sigfd, .events = POLLIN};
	for (i = 0; i < SPAWN_SLOTS_MAX; i++) {
		struct birth *b = &n->births[i];

		if (!b->pid || b->parked || b->sock < 0)
			continue;
		who[len] = b;
		p[len++] = (struct pollfd){.fd = b->sock, .events = POLLIN};
	}
	return len;
}

static int turn(struct channel *c, struct kit *k, struct nursery *n,
		struct redoma_error *err)
{
	struct pollfd p[SPAWN_SLOTS_MAX + 2];
	struct birth *who[SPAWN_SLOTS_MAX + 2];
	nfds_t len = poll_set(c, n, p, who), i;
	int r = 0;

	if (poll(p, len, -1) < 0)
		return errno == EINTR ?
			0 : err_sys(err, WHERE, "wait for the core");
	for (i = 2; i < len && !r; i++)
		if (p[i].revents)
			r = deliver(c, who[i], err);
	if (!r && p[1].revents)
		r = reap(c, k, n, err);
	if (!r && p[0].revents)
		r = serve_core(c, k, n, err);
	return r;
}

static int watch_children(struct nursery *n, struct redoma_error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return err_sys(err, WHERE, "block the child signal");
	n->sigfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return n->sigfd < 0 ? err_sys(err, WHERE, "watch for children") : 0;
}

/* None outlives us, and none is left for init to reap. */
static void end_children(const struct nursery *n)
{
	for (size_t i = 0; i < SPAWN_SLOTS_MAX; i++)
		if (n->births[i].pid > 0)
			kill(n->births[i].pid, SIGKILL);
	while (waitid(P_ALL, 0, &(siginfo_t){0}, WEXITED) == 0 ||
	       errno == EINTR)
		;
}

/* With a descriptor of ourselves: the keeper has the channel too, so that its
 * end comes later than ours. */
static int tell_ready(struct channel *control, const struct spawn_ready *ready,
		      struct redoma_error *err)
{
	CLEANUP_FD int self = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (self < 0)
		return err_sys(err, WHERE, "open a descriptor of the zygote");
	return channel_send_fds(control, FRAME_READY, ready, sizeof *ready,
				&self, 1, err);
}

int zygote_serve(struct channel *control, char *title)
{
	uint64_t since = clock_monotonic_us();
	struct kit k = {.title = title};
	struct nursery *n = calloc(1, sizeof *n);
	struct redoma_error err = {0};
	struct spawn_ready ready;
	int r;

	prctl(PR_SET_NAME, "redoma-zygote", 0, 0, 0);
	if (!n)
		return CHILD_FAILED;
	r = set_up(control, &k, &err);
	if (!r)
		r = watch_children(n, &err);
	if (!r) {
		zygote_ready(&k, since, &ready);
		r = tell_ready(control, &ready, &err);
	}
	if (!r)
		r = first_children(&k, n, &err);
	while (!r)
		r = turn(control, &k, n, &err);
	end_children(n);
	/* End of file means that the core is done. */
	if (channel_send(control, FRAME_FAILED, FRAME_LAST, &err, sizeof err,
			 NULL))
		return 0;
	return CHILD_FAILED;
}
