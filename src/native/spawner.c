#include "native/spawner.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "native/nursery.h"
#include "native/sweeper.h"

#define WHERE "native"
#define FAILED_STATUS 70
#define REST_TRIES 400 /* looks */
#define LOOK_NS 500000L

struct spawner {
	struct native_setup setup;
	struct native_entry *entries; /* owned; texts borrow from root */
	size_t n_entries;
	struct buf root;
	struct nursery nursery;
	struct sweeper sweeper;
	struct jail_report report;
	int sigfd;
	bool asked_to_end; /* by a signal */
};

static int other_build(struct redoma_error *err)
{
	return err_set(err, REDOMA_E_WORKER, WHERE,
		       "the core is of another build");
}

static int read_setup(struct channel *c, struct spawner *s,
		      struct redoma_error *err)
{
	struct native_setup *to = &s->setup;
	struct frame f;
	const void *body;
	int r = channel_recv(c, UINT64_MAX, &f, &body, err);

	if (r)
		return r;
	if (f.kind != FRAME_SPAWN || f.len != sizeof *to)
		return other_build(err);
	memcpy(to, body, sizeof *to);
	if (to->abi != NATIVE_ABI || to->park > SPAWN_SLOTS_MAX ||
	    memchr(to->program, 0, sizeof to->program) == NULL ||
	    memchr(to->script, 0, sizeof to->script) == NULL ||
	    memchr(to->ahead, 0, sizeof to->ahead) == NULL)
		return other_build(err);
	s->root.cap = NATIVE_ROOT_BYTES;
	do {
		r = channel_recv(c, UINT64_MAX, &f, &body, err);
		if (r)
			return r;
		if (f.kind != FRAME_ROOT)
			return other_build(err);
		if (buf_add(&s->root, body, f.len))
			return err_nomem(err, WHERE);
	} while (!(f.flags & FRAME_LAST));
	return 0;
}

_Static_assert(NATIVE_ENTRIES_MAX == NATIVE_ROOT_MAX, "the same bound");

static int read_entries(struct spawner *s, struct redoma_error *err)
{
	CLEANUP_FREE struct native_item *items = NULL;
	size_t n, i;
	int r = native_root_decode(s->root.data, s->root.len, &items, &n, err);

	if (r)
		return r;
	s->entries = calloc(n + 1, sizeof *s->entries);
	if (!s->entries)
		return err_nomem(err, WHERE);
	for (i = 0; i < n; i++)
		s->entries[i] = (struct native_entry){
			.kind = items[i].kind,
			.exec = items[i].exec,
			.guest = items[i].guest,
			.host = items[i].host};
	s->n_entries = n;
	return 0;
}

/* Memory of a native program is bounded by nothing else. */
static int open_groups(struct spawner *s, int control,
		       struct redoma_error *err)
{
	struct jail_report *rep = &s->report;
	struct redoma_error why;
	int r = groups_open(&s->nursery.groups, &why);

	rep->state[JAIL_CGROUP] = r ? JAIL_UNAVAILABLE : JAIL_ENFORCED;
	rep->sys[JAIL_CGROUP] = r ? why.sys : 0;
	rep->cgroups = JAIL_CGROUPS_NONE;
	if (!r) {
		rep->cgroups = (uint8_t)groups_kind(s->nursery.groups);
		return sweeper_start(s->nursery.groups, control, &s->sweeper,
				     err);
	}
	if (s->setup.may_lack & 1u << JAIL_CGROUP)
		return 0;
	if (err)
		*err = why;
	return r;
}

static int watch_signals(struct spawner *s, struct redoma_error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	s->sigfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	sigaddset(&set, SIGPIPE);
	if (s->sigfd < 0 || sigprocmask(SIG_BLOCK, &set, NULL))
		return err_sys(err, WHERE, "watch for children");
	return 0;
}

static int set_up(struct channel *c, struct spawner *s, char *title,
		  struct redoma_error *err)
{
	struct native_options o = {0};
	struct jail_report report = {0};
	struct native *jail = NULL;
	int r = read_setup(c, s, err);

	if (!r)
		r = read_entries(s, err);
	if (!r)
		r = watch_signals(s, err);
	if (!r)
		r = open_groups(s, c->fd, err);
	if (r)
		return r;
	o = (struct native_options){.may_lack = s->setup.may_lack,
				    .entries = s->entries,
				    .n_entries = s->n_entries,
				    .tmp_bytes = s->setup.tmp_bytes,
				    .memory_bytes = s->setup.memory_bytes,
				    .pids = s->setup.pids};
	r = native_prepare(&o, &jail, &report, err);
	if (r)
		return r;
	report.state[JAIL_CGROUP] = s->report.state[JAIL_CGROUP];
	report.sys[JAIL_CGROUP] = s->report.sys[JAIL_CGROUP];
	report.cgroups = s->report.cgroups;
	s->report = report;
	s->nursery.channel = c;
	s->nursery.kit = (struct init_kit){.setup = &s->setup,
					   .jail = jail,
					   .report = report,
					   .cgroups = report.cgroups,
					   .title = title};
	/* Without the sweeper, which ends all others there, and the mounter,
	 * which a file system may hold for ever. */
	nursery_weigh(&s->nursery);
	return 0;
}

static int tell_ready(struct channel *c, const struct spawner *s,
		      uint64_t since_us, struct redoma_error *err)
{
	struct spawn_ready ready = {
		.abi = SPAWN_ABI,
		.landlock_abi = s->report.landlock_abi,
		.cgroups = s->report.cgroups,
		.us = (uint32_t)(clock_monotonic_us() - since_us)};

	for (size_t k = 0; k < JAIL_CONTROLS && k < SPAWN_CONTROLS; k++)
		ready.state[k] = s->report.state[k];
	snprintf(ready.engine, sizeof ready.engine, "native");
	return channel_send(c, FRAME_READY, FRAME_LAST, &ready, sizeof ready,
			    err);
}

/* A birth that fails is told, and does not end us. */
static int tell_failure(struct spawner *s, const struct redoma_error *why,
			struct redoma_error *err)
{
	s->nursery.calm = true;
	return channel_send(s->nursery.channel, FRAME_FAILED, FRAME_LAST, why,
			    sizeof *why, err);
}

static int ask_one(struct spawner *s, struct redoma_error *err)
{
	struct redoma_error why;

	s->nursery.calm = false;
	return nursery_make(&s->nursery, &why) ? tell_failure(s, &why, err) : 0;
}

static int refill(struct spawner *s, struct redoma_error *err)
{
	struct redoma_error why;

	return nursery_fill(&s->nursery, &why) ? tell_failure(s, &why, err) : 0;
}

static int serve_core(struct channel *c, struct spawner *s,
		      struct redoma_error *err)
{
	struct native_admit admit;
	struct native_end end;
	struct frame f;
	const void *body;
	int r = channel_recv(c, UINT64_MAX, &f, &body, err);

	if (r)
		return r;
	if (f.kind == FRAME_SPAWN && !f.len)
		return ask_one(s, err);
	if (f.kind == FRAME_ADMIT && f.len == sizeof admit) {
		memcpy(&admit, body, sizeof admit);
		return admit.n_grants == f.n_fds ?
			nursery_admit(&s->nursery, &admit, err) :
			other_build(err);
	}
	if (f.kind == FRAME_END && f.len == sizeof end) {
		memcpy(&end, body, sizeof end);
		return nursery_end(&s->nursery, &end, err);
	}
	return other_build(err);
}

#define POLL_MAX (SPAWN_SLOTS_MAX + 2)

static nfds_t poll_set(const struct channel *c, struct spawner *s,
		       struct pollfd *p, struct cot **who)
{
	nfds_t len = 2;

	p[0] = (struct pollfd){.fd = c->fd, .events = POLLIN};
	p[1] = (struct pollfd){.fd = s->sigfd, .events = POLLIN};
	for (size_t i = 0; i < SPAWN_SLOTS_MAX; i++) {
		struct cot *b = &s->nursery.cots[i];

		if (!b->pid || (b->sock < 0 && (!b->group || b->oom)))
			continue;
		who[len] = b;
		p[len].fd = b->sock >= 0 ? b->sock : group_oom_fd(b->group);
		p[len].revents = 0;
		p[len++].events = b->sock >= 0 ? POLLIN : POLLIN | POLLPRI;
	}
	return len;
}

static int read_signals(struct spawner *s, struct redoma_error *err)
{
	struct signalfd_siginfo si;

	while (read(s->sigfd, &si, sizeof si) == sizeof si)
		if (si.ssi_signo != SIGCHLD)
			s->asked_to_end = true;
	return nursery_reap(&s->nursery, err);
}

static int heard(struct spawner *s, struct cot *c, struct redoma_error *err)
{
	return c->sock >= 0 ? nursery_deliver(&s->nursery, c, err)
			    : nursery_oom(&s->nursery, c, err);
}

static int turn(struct channel *c, struct spawner *s, struct redoma_error *err)
{
	struct pollfd p[POLL_MAX];
	struct cot *who[POLL_MAX];
	/* Frames that were read together with the last one. */
	bool more = c->at < c->have;
	nfds_t len = poll_set(c, s, p, who), i;
	int r = 0;

	if (poll(p, len, more ? 0 : nursery_pause_ms(&s->nursery)) < 0)
		return errno == EINTR ?
			0 : err_sys(err, WHERE, "wait for the core");
	for (i = 2; i < len && !r; i++)
		if (p[i].revents)
			r = heard(s, who[i], err);
	if (!r && p[1].revents)
		r = read_signals(s, err);
	if (!r && (more || p[0].revents))
		r = serve_core(c, s, err);
	return r ? r : refill(s, err);
}

/* The mounter, which ends with its socket unless a file system holds it. */
static void wait_for_rest(void)
{
	struct timespec look = {0, LOOK_NS};
	siginfo_t si;
	sigset_t child;
	int tries = REST_TRIES;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD); /* blocked: watch_signals */
	while (tries--) {
		si.si_pid = 0;
		if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | __WALL))
			return;
		if (!si.si_pid)
			sigtimedwait(&child, NULL, &look);
	}
}

int spawner_serve(struct channel *control, char *title)
{
	uint64_t since = clock_monotonic_us();
	struct spawner *s = calloc(1, sizeof *s);
	struct redoma_error err = {0};
	int r;

	prctl(PR_SET_NAME, "redoma-spawner", 0, 0, 0);
	if (!s)
		return FAILED_STATUS;
	r = set_up(control, s, title, &err);
	if (!r)
		r = tell_ready(control, s, since, &err);
	if (!r)
		r = refill(s, &err);
	while (!r && !s->asked_to_end)
		r = turn(control, s, &err);
	/* What does not die now is left to the sweeper, which outlives us. */
	if (nursery_close(&s->nursery))
		sweeper_finish(&s->sweeper);
	wait_for_rest();
	free(s->entries);
	buf_done(&s->root);
	/* End of file means that the core is done. */
	r = r ? channel_send(control, FRAME_FAILED, FRAME_LAST, &err,
			     sizeof err, NULL) : REDOMA_E_WORKER;
	free(s);
	return r ? 0 : FAILED_STATUS;
}
