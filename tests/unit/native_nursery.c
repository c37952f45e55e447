/* The jails of a spawner, one at a time: what the core hears of each. */
#include <sys/socket.h>
#include "group_world.h"
#include "jail/native_state.h"
#include "native/nursery.h"

struct rig {
	struct nursery n;
	struct channel ours, core;
	struct cot *cot;
	int init; /* the jail's end of its socket */
};

/* A jail that has been made, and of which nothing was heard. */
static void give_birth(struct rig *r)
{
	struct cot *c = &r->n.cots[0];
	int sv[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv),
			 0);
	r->init = sv[1];
	*c = (struct cot){.slot = 7, .sock = sv[0], .space = -1};
	c->group = make_or_fail(r->n.groups, 64 * MIB, 20);
	c->pid = member_start(c->group, sleep_long, NULL);
	assert_true(c->pid > 0);
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	assert_true(c->pidfd >= 0);
	r->cot = c;
}

static struct rig *begin(void)
{
	static const struct native_setup setup = {.abi = NATIVE_ABI};
	struct rig *r = calloc(1, sizeof *r);
	int sv[2];

	assert_non_null(r);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv),
			 0);
	channel_init(&r->ours, sv[0]);
	channel_init(&r->core, sv[1]);
	r->n.channel = &r->ours;
	r->n.kit.setup = &setup;
	r->n.kit.jail = calloc(1, sizeof *r->n.kit.jail);
	assert_non_null(r->n.kit.jail);
	r->n.kit.jail->j = JAIL_CLOSED;
	r->n.kit.jail->j.proc_fd = open("/proc", O_PATH | O_CLOEXEC);
	r->n.kit.jail->mounter_fd = r->n.kit.jail->stage_fd = -1;
	r->n.kit.jail->space_fd = -1;
	open_or_fail(&r->n.groups);
	give_birth(r);
	return r;
}

static void end(struct rig *r)
{
	struct groups *g = r->n.groups;

	r->n.groups = NULL;
	nursery_close(&r->n);
	done(g);
	close(r->init);
	close(r->ours.fd);
	close(r->core.fd);
	channel_done(&r->ours);
	channel_done(&r->core);
	free(r);
}

/* It says so; whether anybody listens any more is not its business. */
static void say_ready(const struct rig *r, const struct spawn_ready *ready)
{
	struct channel *c = calloc(1, sizeof *c);

	assert_non_null(c);
	channel_init(c, r->init);
	(void)!channel_send(c, FRAME_READY, FRAME_LAST, ready, sizeof *ready,
			    NULL);
	channel_done(c);
	free(c);
}

static void get_ready(const struct rig *r)
{
	say_ready(r, &(struct spawn_ready){.abi = SPAWN_ABI});
}

/* What the core hears next; 0: nothing. */
static unsigned heard(struct rig *r)
{
	struct frame f;
	const void *body;
	int e = channel_recv(&r->core, 0, &f, &body, NULL);

	if (e == REDOMA_E_BUSY)
		return 0;
	assert_int_equal(e, 0);
	while (f.n_fds--)
		close(channel_take_fd(&r->core));
	return f.kind;
}

/* To an ADMIT: its code and its words. */
static int answer(struct rig *r, char *why)
{
	struct native_admitted said;
	struct frame f;
	const void *body;

	assert_int_equal(channel_recv(&r->core, 0, &f, &body, NULL), 0);
	assert_int_equal(f.kind, FRAME_ADMITTED);
	assert_int_equal(f.len, sizeof said);
	memcpy(&said, body, sizeof said);
	strcpy(why, said.why.text);
	return said.rc;
}

/* As the spawner does when a socket of a jail is readable. */
static void listen_to_it(struct rig *r)
{
	if (r->cot->pid && r->cot->sock >= 0)
		assert_int_equal(nursery_deliver(&r->n, r->cot, NULL), 0);
}

static void bury_it(struct rig *r)
{
	for (int i = 0; i < 2000 && r->cot->pid; i++) {
		assert_int_equal(nursery_reap(&r->n, NULL), 0);
		nap_ms(1);
	}
	assert_int_equal(r->cot->pid, 0);
}

static void parked_and_ended(void **state)
{
	struct spawn_ready ready = {.abi = SPAWN_ABI};
	struct native_end e = {.slot = 7};
	struct rig *r = begin();

	(void)state;
	ready.state[JAIL_CGROUP] = JAIL_ENFORCED;
	say_ready(r, &ready);
	listen_to_it(r);
	assert_int_equal(heard(r), FRAME_BORN);
	assert_int_equal(nursery_end(&r->n, &e, NULL), 0);
	bury_it(r);
	assert_int_equal(heard(r), FRAME_DEAD);
	assert_int_equal(heard(r), 0);
	end(r);
}

/* What it says of itself is looked at from outside before it is given away. */
static void one_that_lies_is_ended(void **state)
{
	struct spawn_ready ready = {.abi = SPAWN_ABI};
	struct native_admit a = {.slot = 7};
	struct rig *r = begin();
	char why[sizeof((struct redoma_error){0}.text)] = "";

	(void)state;
	ready.state[JAIL_CGROUP] = JAIL_ENFORCED; /* that is true */
	ready.state[JAIL_PID] = JAIL_ENFORCED;
	say_ready(r, &ready);
	listen_to_it(r);
	assert_int_equal(heard(r), FRAME_BORN);
	assert_int_equal(heard(r), FRAME_FAILED);
	/* Nor is it given away if that was asked for meanwhile. */
	assert_int_equal(nursery_admit(&r->n, &a, NULL), 0);
	assert_int_equal(answer(r, why), REDOMA_E_WORKER);
	assert_non_null(strstr(why, "\"pid\""));
	bury_it(r);
	assert_int_equal(heard(r), FRAME_DEAD);
	assert_int_equal(heard(r), 0);
	end(r);
}

/* A birth that was told after the death would be of a jail that nobody ends:
 * the core would take it for a run, and wait for the answer to its end. */
static void no_birth_after_its_death(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct native_end e = {.slot = 7, .early = !i};
		struct rig *r = begin();

		/* Just before, and nobody has looked yet. */
		get_ready(r);
		assert_int_equal(nursery_end(&r->n, &e, NULL), 0);
		listen_to_it(r);
		bury_it(r);
		assert_int_equal(heard(r), FRAME_DEAD);
		assert_int_equal(heard(r), 0);
		end(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parked_and_ended),
		cmocka_unit_test(one_that_lies_is_ended),
		cmocka_unit_test(no_birth_after_its_death),
	};
	struct groups *g = NULL;
	int r = groups_open(&g, NULL);

	if (r == REDOMA_E_UNSUPPORTED && geteuid()) {
		puts("1..0 # skip no cgroup that this process may use");
		return 0;
	}
	assert_int_equal(r, 0);
	done(g);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
