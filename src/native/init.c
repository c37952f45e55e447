#include "native/init.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"
#include "native/ask.h"
#include "native/attach.h"
#include "native/boot.h"
#include "native/collect.h"
#include "native/judge.h"
#include "native/payload.h"
#include "native/relay.h"
#include "native/stray.h"
#include "native/watch.h"
#include "wire/request.h"

#define WHERE "native"
#define TITLE "redoma-init"

#define FILE_BYTES_MAX ((uint64_t)1 << 62) /* until a run sets less */
#define WARM_UP_US 30000000u
/* A program may queue as many descriptors in its own sockets, and 253 more by
 * one message; the kernel counts them by user, who may be the caller's.  With
 * the usual limit of 1024 the caller can still send its own. */
#define PARKED_FDS 512u
#define FDS_LEAST 64u  /* runtimes need some of their own */
#define FDS_MORE 16u
#define SEND_MORE_US 2000000u /* beyond the run's time, for the core to take
				 what is sent */

/* One jail; large: from the heap. */
struct init {
	const struct init_kit *kit;
	struct channel channel;
	struct request request;
	struct payload payload;
	struct boot boot;
	struct relay relay;
	struct scratch scratch;
	struct collect collect;
	struct judged judged;
	struct watch watch;
	char *boot_argv[4];
	int sigfd;
};

static void set_title(const struct init *i)
{
	size_t room = strlen(i->kit->title);

	prctl(PR_SET_NAME, TITLE, 0, 0, 0);
	if (room < sizeof TITLE - 1)
		return;
	memset(i->kit->title, 0, room);
	memcpy(i->kit->title, TITLE, sizeof TITLE - 1);
}

static int watch_children(struct init *i, struct redoma_error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	i->sigfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return i->sigfd < 0 ? err_sys(err, WHERE, "watch for children") : 0;
}

static struct payload_start start_of(struct init *i)
{
	return (struct payload_start){.jail = i->kit->jail,
				      .program = i->kit->setup->program,
				      .file_bytes = FILE_BYTES_MAX,
				      .max_fds = PARKED_FDS};
}

/* Whole seconds are all the kernel counts; the watch is finer. */
static uint64_t cpu_seconds(uint64_t us)
{
	return us / 1000000 + 1;
}

/* The bounds of this run. */
static void bound_start(const struct init *i, struct payload_start *s)
{
	const struct plan *p = &i->request.plan;
	uint64_t most = i->kit->setup->tmp_bytes;
	uint64_t files = p->limits.files;

	for (uint32_t k = 0; k < p->n_grants; k++)
		if (p->grants[k].kind >= GRANT_WRITE_FILE &&
		    p->grants[k].max_bytes > most)
			most = p->grants[k].max_bytes;
	s->file_bytes = most < FILE_BYTES_MAX ? most : FILE_BYTES_MAX;
	files = files < FDS_LEAST ? FDS_LEAST : files;
	s->max_fds = (files < PARKED_FDS ? files : PARKED_FDS) + FDS_MORE;
	if (i->kit->cgroups == JAIL_CGROUPS_NONE) {
		s->memory_bytes = p->limits.memory_bytes;
		s->pids = i->kit->setup->run_pids;
	}
	s->cpu_s = cpu_seconds(p->limits.cpu_us +
			       payload_cpu_us(&i->payload));
	if (s->max_fds > PARKED_FDS)
		s->max_fds = PARKED_FDS;
}

/* Says why a bootstrap never became ready, with its own first words. */
static int not_warm(struct init *i, const char *why, struct redoma_error *err)
{
	const struct payload_fault *f = i->payload.fault;
	char head[160];

	if (f->what)
		return err_set(err, f->at_exec ? REDOMA_E_INVALID
					       : REDOMA_E_UNSUPPORTED,
			       WHERE, "%s cannot %s: %s",
			       i->kit->setup->program, f->what,
			       strerror(f->sys));
	pump_drop(i->payload.err, head, sizeof head);
	return err_set(err, REDOMA_E_WORKER, WHERE, "%s %s: %s",
		       i->kit->setup->program, why,
		       *head ? SHOW(str_of(head)) : "it said nothing");
}

static void bury(struct init *i)
{
	watch_clear(i->sigfd);
	while (payload_reap(&i->payload))
		;
}

/* Until the payload is ready, has ended, or the time is over. */
static int warm_up(struct init *i, struct redoma_error *err)
{
	uint64_t until = clock_monotonic_us() + WARM_UP_US;

	while (!i->boot.ready) {
		struct pollfd p[2] = {
			{.fd = i->payload.boot, .events = POLLIN},
			{.fd = i->sigfd, .events = POLLIN}};
		uint64_t now = clock_monotonic_us();

		if (now >= until)
			return not_warm(i, "did not get ready in 30s", err);
		if (poll(p, 2, (int)((until - now) / 1000) + 1) < 0)
			continue;
		if (p[0].revents)
			boot_read(&i->boot);
		if (p[1].revents)
			bury(i);
		if (i->boot.state != BOOT_TALKS || i->payload.dead) {
			bury(i);
			return not_warm(i, "ended before it was ready", err);
		}
	}
	return 0;
}

/* Packages are not ours: what one started goes on, and sees the run. */
static int check_alone(struct init *i, struct redoma_error *err)
{
	const char *left = i->kit->setup->ahead[0] ? stray_find(i->payload.pid)
						   : NULL;

	if (!left)
		return 0;
	return err_set(err, REDOMA_E_WORKER, WHERE,
		       "%s %s when it imported %s", i->kit->setup->program,
		       left, i->kit->setup->ahead);
}

static int start_bootstrap(struct init *i, struct redoma_error *err)
{
	static char *no_env[] = {NULL};
	const struct native_setup *setup = i->kit->setup;
	struct payload_start s = start_of(i);
	size_t n = 0;
	int r;

	i->boot_argv[n++] = (char *)setup->program;
	if (setup->script[0])
		i->boot_argv[n++] = (char *)setup->script;
	if (setup->ahead[0])
		i->boot_argv[n++] = (char *)setup->ahead;
	s.argv = i->boot_argv;
	s.env = no_env;
	s.boot = s.early = true;
	r = payload_fork(&s, &i->payload, err);
	boot_init(&i->boot, &i->payload.boot);
	if (!r)
		r = payload_order(&s, &i->payload, err);
	if (!r)
		r = payload_release(&i->payload, err);
	if (!r)
		r = warm_up(i, err);
	if (!r)
		r = check_alone(i, err);
	if (!r)
		payload_open_stat(&i->payload);
	return r;
}

static int prepare(struct init *i, int sock, struct jail_report *report,
		   struct redoma_error *err)
{
	int r;

	*report = i->kit->report;
	set_title(i);
	r = native_enter(i->kit->jail, &sock, 1, report, err);
	if (!r)
		r = watch_children(i, err);
	if (!r && i->kit->setup->bootstrap)
		r = start_bootstrap(i, err);
	return r;
}

static int park(struct init *i, const struct jail_report *report,
		uint64_t since_us, struct redoma_error *err)
{
	CLEANUP_FD int space = -1;
	struct spawn_ready ready = {
		.abi = SPAWN_ABI,
		.landlock_abi = report->landlock_abi,
		.cgroups = i->kit->cgroups,
		.no_proc = report->sys[JAIL_MOUNT] != 0,
		.us = (uint32_t)(clock_monotonic_us() - since_us)};

	for (size_t k = 0; k < JAIL_CONTROLS && k < SPAWN_CONTROLS; k++)
		ready.state[k] = report->state[k];
	snprintf(ready.engine, sizeof ready.engine, "native");
	space = native_take_space(i->kit->jail);
	return channel_send_fds(&i->channel, FRAME_READY, &ready, sizeof ready,
				&space, 1, err);
}

/* A parked bootstrap that dies takes its jail with it. */
static int wait_for_run(struct init *i, struct redoma_error *err)
{
	for (;;) {
		struct pollfd p[2] = {
			{.fd = i->channel.fd, .events = POLLIN},
			{.fd = i->sigfd, .events = POLLIN}};

		if (poll(p, 2, -1) < 0)
			continue;
		if (p[0].revents)
			return request_read(&i->channel, &i->request, err);
		bury(i);
		if (i->payload.dead)
			return not_warm(i, "ended while it was parked", err);
	}
}

/* While the core decides what becomes of this jail. */
static int fork_command(struct init *i, struct redoma_error *err)
{
	const struct payload_start s = start_of(i);

	if (i->kit->setup->bootstrap)
		return 0;
	return payload_fork(&s, &i->payload, err);
}

static int order_command(struct init *i, struct redoma_error *err)
{
	struct payload_start s = start_of(i);

	bound_start(i, &s);
	s.argv = i->request.plan.argv;
	s.env = i->request.plan.env;
	s.output_bytes = i->request.plan.limits.output_bytes;
	return payload_order(&s, &i->payload, err);
}

static int ready_bootstrap(struct init *i, struct redoma_error *err)
{
	struct payload_start s = start_of(i);
	int r;

	bound_start(i, &s);
	r = payload_bound(&i->payload, &s, err);
	/* What it printed before its run is nobody's. */
	pump_drop(i->payload.out, NULL, 0);
	pump_drop(i->payload.err, NULL, 0);
	i->boot.value_max = i->request.plan.limits.output_bytes;
	return r ? r : boot_ask(&i->boot, &i->request, err);
}

static bool may_write(const struct plan *p)
{
	for (uint32_t k = 0; k < p->n_grants; k++)
		if (p->grants[k].kind >= GRANT_WRITE_FILE)
			return true;
	return false;
}

/* What it wrote is collected when nothing can write any more; what it used is
 * known without a control group only when it is dead. */
static bool may_leave_early(const struct init *i)
{
	return !may_write(&i->request.plan) &&
	       i->kit->cgroups != JAIL_CGROUPS_NONE;
}

static void open_relay(struct init *i)
{
	const struct limits *l = &i->request.plan.limits;

	i->relay = (struct relay){.channel = &i->channel,
				  .boot = &i->boot,
				  .pump = &i->watch.pump,
				  .in_flight = l->in_flight};
	i->boot.call = relay_call;
	i->boot.call_data = &i->relay;
	i->watch.relay = &i->relay;
}

static void make_watch(struct init *i)
{
	bool boot = i->kit->setup->bootstrap;
	struct watch *w = &i->watch;

	*w = (struct watch){
		.payload = &i->payload,
		.boot = boot ? &i->boot : NULL,
		.sigfd = i->sigfd,
		.core = i->channel.fd,
		.early = boot && may_leave_early(i),
		.pump = {.channel = &i->channel,
			 .out = &i->payload.out,
			 .err = &i->payload.err,
			 .in = &i->payload.in,
			 .input = i->request.input.data,
			 .input_left = boot ? 0 : i->request.input.len,
			 .left = i->request.plan.limits.output_bytes}};
	if (boot && i->request.plan.tools && i->request.plan.tools[0])
		open_relay(i);
	watch_begin(w, &i->request.plan.limits);
	i->channel.send_by_us = w->wall_at_us < UINT64_MAX - SEND_MORE_US
					? w->wall_at_us + SEND_MORE_US
					: UINT64_MAX;
}

static int run(struct init *i, struct redoma_error *err)
{
	bool boot = i->kit->setup->bootstrap;
	int r = attach_grants(i->kit->jail, &i->request.plan, &i->scratch, err);

	if (!r)
		r = boot ? ready_bootstrap(i, err) : order_command(i, err);
	if (!r)
		r = native_settle(i->kit->jail, err);
	if (r)
		return r;
	make_watch(i);
	if (!boot)
		r = payload_release(&i->payload, err);
	if (!r)
		r = watch_run(&i->watch, err);
	return r ? r : watch_finish(&i->watch, err);
}

static int collect_all(struct init *i, struct redoma_error *err)
{
	const struct plan *p = &i->request.plan;
	int r;

	if (!may_write(p))
		return 0;
	i->collect.stage = ask_stage;
	i->collect.data = &i->channel;
	r = collect_init(&i->collect, err);
	for (uint32_t k = 0; k < p->n_grants && !r && !i->collect.over; k++) {
		int dir = i->scratch.dirs[k];

		if (dir >= 0)
			r = p->grants[k].kind == GRANT_WRITE_DIR
				    ? collect_dir(&i->collect, p, k, dir, err)
				    : collect_file(&i->collect, p, k, dir, err);
	}
	if (!r)
		judge_files(&i->collect, p, &i->judged);
	return r;
}

/* Not the program's fault but the jail's: no outcome. */
static int lock_failed(const struct init *i, struct redoma_error *err)
{
	const struct payload_fault *f = i->payload.fault;

	if (f->at_exec)
		return 0;
	if (!f->what && i->watch.end == WATCH_DIED)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "the process that was to become the program "
			       "was ended before it did: nothing of it ran; "
			       "run it again");
	if (!f->what)
		return 0;
	return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
		       "the program could not be locked in: %s: %s", f->what,
		       strerror(f->sys));
}

static int reply(struct init *i, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	const struct judged *j = &i->judged;
	int r = 0;

	if (j->value_len)
		r = channel_put(&i->channel, FRAME_VALUE, j->value,
				j->value_len, 0, err);
	if (!r)
		r = outcome_encode(&j->outcome, &b, err);
	if (!r)
		r = channel_put(&i->channel, FRAME_OUTCOME, b.data, b.len, 0,
				err);
	return r ? r : channel_flush(&i->channel, NULL, 0, err);
}

/* A value counts as output. */
static void count_value(struct init *i)
{
	struct judged *j = &i->judged;

	if (j->value_len <= i->watch.pump.left)
		return;
	j->value_len = 0;
	j->outcome.status = REDOMA_STATUS_OUTPUT_LIMIT;
	j->outcome.exit_code = 1;
}

static int serve(struct init *i, struct redoma_error *err)
{
	int r = fork_command(i, err);

	if (!r)
		r = wait_for_run(i, err);

	if (!r)
		r = run(i, err);
	if (!r)
		r = lock_failed(i, err);
	if (r)
		return r;
	judge_end(&i->watch, &i->judged);
	count_value(i);
	if (i->judged.outcome.status == REDOMA_STATUS_OK)
		r = collect_all(i, err);
	return r ? r : reply(i, err);
}

void init_main(const struct init_kit *k, int sock)
{
	uint64_t since = clock_monotonic_us();
	struct init *i = calloc(1, sizeof *i);
	struct redoma_error err = {0};
	struct jail_report report;
	int r;

	if (!i)
		_exit(INIT_FAILED);
	i->kit = k;
	i->payload = PAYLOAD_NONE;
	channel_init(&i->channel, sock);
	request_init(&i->request);
	scratch_init(&i->scratch);
	r = prepare(i, sock, &report, &err);
	if (!r)
		r = park(i, &report, since, &err);
	if (!r)
		r = serve(i, &err);
	/* The core waits for the spawner's word that all of this is gone: the
	 * sooner the better. */
	if (!r)
		_exit(0);
	/* The core may be gone, or wait for this. */
	r = channel_send(&i->channel, FRAME_FAILED, FRAME_LAST, &err,
			 sizeof err, NULL);
	_exit(r ? 0 : INIT_FAILED);
}
