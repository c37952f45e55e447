/* bench_pool_jail INIT TRUE N [COMMAND...]: what a jail costs that was not made
 * ahead.
 *
 * A spawner is started once and keeps no jail ready.  N rounds: one jail is
 * asked for, runs TRUE (a static program), and is ended as a run without write
 * grants is; then TRUE is run without a jail, and COMMAND.  Before each there is a rest, so
 * that what the spawner or the kernel does after an end falls into none of them.
 * A line of nanoseconds a round:
 * the jail, of which until it was parked, until it was admitted, until its
 * outcome was heard; TRUE; COMMAND (0: none). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "plain.h"
#include "jail/native.h"
#include "pool/jails.h"
#include "wire/failed.h"
#include "wire/outcome.h"
#include "wire/plan_wire.h"

#define WAIT_US 10000000u
#define WARM 3
#define MEMORY ((uint64_t)64 << 20)
#define PIDS 16u
#define INSIDE "/true"

struct bench {
	struct jails *jails;
	struct jails_want want;
	struct native_setup setup;
	struct buf root, plan;
};

struct times {
	uint64_t from, parked, admitted, told, gone;
};

static void check(int r, const struct redoma_error *e)
{
	if (!r)
		return;
	fprintf(stderr, "bench_pool_jail: %s\n", e->text);
	exit(1);
}

static void set_up(struct bench *b, const char *init, const char *program)
{
	const struct native_item items[] = {
		{NATIVE_FILE, 1, INSIDE, program}};
	static char *argv[] = {(char *)INSIDE, NULL};
	static char *env[] = {NULL};
	const struct plan p = {.limits = {.wall_us = WAIT_US,
					  .cpu_us = WAIT_US,
					  .memory_bytes = MEMORY,
					  .output_bytes = 4096,
					  .calls = 1,
					  .in_flight = 1,
					  .files = 64},
			       .argv = argv,
			       .env = env,
			       .clock = SOURCE_REAL,
			       .random = SOURCE_REAL};
	struct jails_options o = {.init_path = init, .single = true};
	struct redoma_error e;
	int fds[FRAME_FDS_MAX];
	size_t n = 0;

	b->setup.abi = NATIVE_ABI;
	b->setup.tmp_bytes = (uint64_t)16 << 20;
	b->setup.memory_bytes = MEMORY;
	b->setup.pids = PIDS;
	strcpy(b->setup.program, INSIDE);
	check(native_root_encode(items, 1, &b->root, &e), &e);
	check(plan_encode(&p, &b->plan, fds, &n, &e), &e);
	b->want = (struct jails_want){.tenant = "",
				      .root_digest = "bench",
				      .setup = &b->setup,
				      .root = &b->root};
	check(jails_new(&o, &b->jails, &e), &e);
}

static void send_run(struct channel *c, const struct buf *plan)
{
	uint64_t bounds[3] = {0, 0, 0};
	struct redoma_error e;

	check(channel_put(c, FRAME_BOUND, bounds, sizeof bounds, 0, &e), &e);
	check(channel_put(c, FRAME_PLAN, plan->data, plan->len, 0, &e), &e);
	check(channel_put(c, FRAME_INPUT, NULL, 0, 0, &e), &e);
	check(channel_flush(c, NULL, 0, &e), &e);
}

static void hear_outcome(struct channel *c)
{
	struct outcome o = {0};
	struct redoma_error e = {0};
	struct frame f;
	const void *body;

	check(channel_recv(c, WAIT_US, &f, &body, &e), &e);
	if (f.kind == FRAME_OUTCOME && f.flags & FRAME_LAST)
		check(outcome_decode(body, f.len, &o, &e), &e);
	if (f.kind == FRAME_OUTCOME && o.status == REDOMA_STATUS_OK)
		return;
	if (f.kind == FRAME_FAILED)
		check(failed_read(body, f.len, &e), &e);
	fprintf(stderr, "bench_pool_jail: the program ended with status %u: "
		"%.*s\n", o.status, (int)o.message.len, o.message.p);
	exit(1);
}

static struct times one_jail(struct bench *b)
{
	struct jails_admission a = {
		.limits = {.memory_bytes = MEMORY, .pids = PIDS,
			   .cpu_weight = 100}};
	struct native_dead dead;
	struct redoma_error e;
	struct slot *s = NULL;
	struct times t;
	int cpu = -1;

	rest();
	t.from = now_ns();
	check(jails_take(b->jails, &b->want, &s, &e), &e);
	t.parked = now_ns();
	check(jails_admit(b->jails, s, &a, NULL, &cpu, &e), &e);
	t.admitted = now_ns();
	send_run(&s->channel, &b->plan);
	hear_outcome(&s->channel);
	t.told = now_ns();
	check(jails_end(b->jails, s, true, &dead, &e), &e);
	t.gone = now_ns();
	if (cpu >= 0)
		close(cpu);
	return t;
}

int main(int argc, char **argv)
{
	struct bench b = {.jails = NULL};
	long n = argc > 3 ? atol(argv[3]) : 0;
	char *program[] = {argc > 2 ? argv[2] : NULL, NULL};

	if (n <= 0) {
		fprintf(stderr, "usage: see bench/pool_jail.c\n");
		return 2;
	}
	set_up(&b, argv[1], argv[2]);
	for (long i = 0; i < n + WARM; i++) {
		struct times t = one_jail(&b);
		uint64_t bare = plain(program);
		uint64_t command = argc > 4 ? plain(argv + 4) : 0;

		if (i >= WARM)
			printf("%lu %lu %lu %lu %lu %lu\n", t.gone - t.from,
			       t.parked - t.from, t.admitted - t.from,
			       t.told - t.from, bare, command);
	}
	jails_free(b.jails);
	buf_done(&b.root);
	buf_done(&b.plan);
	return 0;
}
