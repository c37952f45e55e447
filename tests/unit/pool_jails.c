/* What a spawner says when nobody has asked: a birth that failed is no matter
 * of the run in hand, and the descriptors of a birth are not those of an
 * answer.  The spawner is this program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "native/spawner.h"
#include "pool/jails.h"
#include "pool/zygote.h"
#include "wire/native.h"

#define NAME "redoma-spawner"
#define OOM 7 /* to know a death again */
#define SILENT 77 /* pids of a setup: no jail is ever born */
#define BIRTH_US 1000000

static int fail_birth(struct channel *c)
{
	struct redoma_error why;

	err_set(&why, REDOMA_E_SYSTEM, "native", "no birth today");
	return channel_send(c, FRAME_FAILED, FRAME_LAST, &why, sizeof why,
			    NULL);
}

/* A slot that lives as long as we do.  What was put before goes with it. */
static int give_birth(struct channel *c, uint32_t slot)
{
	struct spawn_born b = {.slot = slot, .pid = getpid()};
	int sv[2], fds[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
		return -1;
	fds[0] = sv[0];
	fds[1] = (int)syscall(SYS_pidfd_open, getpid(), 0);
	r = channel_put(c, FRAME_BORN, &b, sizeof b, 2, NULL);
	return r ? r : channel_flush(c, fds, 2, NULL);
}

static int admit(struct channel *c, const struct native_admit *a)
{
	struct native_admitted say = {.slot = a->slot};

	if (a->memory_bytes == 1) {
		say.rc = REDOMA_E_SYSTEM;
		err_set(&say.why, REDOMA_E_SYSTEM, "native", "no mount today");
	}
	if (fail_birth(c) ||
	    channel_put(c, FRAME_ADMITTED, &say, sizeof say, 0, NULL))
		return -1;
	return give_birth(c, a->slot + 1);
}

static int end(struct channel *c, uint32_t slot)
{
	struct native_dead d = {.end.slot = slot, .oom = OOM};

	return fail_birth(c) ||
	       channel_send(c, FRAME_DEAD, FRAME_LAST, &d, sizeof d, NULL);
}

static int answer(struct channel *c, const struct frame *f, const void *body)
{
	struct native_admit a;
	struct native_end e;

	if (f->kind == FRAME_SPAWN) /* no jail today */
		return 0;
	if (f->kind == FRAME_ADMIT) {
		memcpy(&a, body, sizeof a);
		return admit(c, &a);
	}
	memcpy(&e, body, sizeof e);
	return e.early ? 0 : end(c, e.slot); /* no word today */
}

/* With `park` a jail is there at once, else only the word that none can be. */
static int play(struct channel *c)
{
	struct spawn_ready ready = {.abi = SPAWN_ABI};
	struct native_setup setup = {0};
	struct frame f = {0};
	const void *body;
	int r = channel_recv(c, UINT64_MAX, &f, &body, NULL);

	if (!r)
		memcpy(&setup, body, sizeof setup);
	while (!r && f.kind != FRAME_ROOT)
		r = channel_recv(c, UINT64_MAX, &f, &body, NULL);
	if (!r)
		r = channel_send(c, FRAME_READY, FRAME_LAST, &ready,
				 sizeof ready, NULL);
	if (!r && setup.park && setup.pids != SILENT)
		r = give_birth(c, 1);
	if (!r && setup.pids != SILENT)
		r = fail_birth(c);
	while (!r && !channel_recv(c, UINT64_MAX, &f, &body, NULL))
		r = answer(c, &f, body);
	return r;
}

static struct jails *open_jails(uint32_t park, uint64_t birth_us,
				struct jails_want *w)
{
	struct jails_options o = {.init_path = "/proc/self/exe",
				  .birth_us = birth_us};
	static struct native_setup setup;
	static struct buf root;
	struct jails *j = NULL;

	setup = (struct native_setup){.abi = NATIVE_ABI, .park = park};
	*w = (struct jails_want){
		.tenant = "", .root_digest = "", .setup = &setup, .root = &root};
	assert_int_equal(jails_new(&o, &j, NULL), 0);
	return j;
}

static void a_birth_that_fails_ends_no_run(void **state)
{
	struct jails_admission a = {.limits.memory_bytes = 2};
	struct redoma_error err = {0};
	struct native_dead dead;
	struct slot *slot = NULL;
	struct jails_want w;
	struct jails *j = open_jails(1, 0, &w);
	int cpu = 77;

	(void)state;
	for (int run = 0; run < 3; run++) {
		if (jails_take(j, &w, &slot, &err) ||
		    jails_admit(j, slot, &a, NULL, &cpu, &err) ||
		    jails_end(j, slot, false, &dead, &err))
			fail_msg("run %d: %s", run, err.text);
		assert_int_equal(cpu, -1);
		assert_int_equal(dead.oom, OOM);
	}
	jails_free(j);
}

static void a_refusal_leaves_the_next_jail(void **state)
{
	struct jails_admission a = {.limits.memory_bytes = 1};
	struct redoma_error err = {0};
	struct native_dead dead;
	struct slot *slot = NULL;
	struct jails_want w;
	struct jails *j = open_jails(1, 0, &w);
	int cpu = -1;

	(void)state;
	assert_int_equal(jails_take(j, &w, &slot, &err), 0);
	assert_int_equal(jails_admit(j, slot, &a, NULL, &cpu, &err),
			 REDOMA_E_SYSTEM);
	assert_string_equal(err.text, "no mount today");
	assert_int_equal(jails_end(j, slot, false, &dead, &err), 0);
	a.limits.memory_bytes = 2;
	assert_int_equal(jails_take(j, &w, &slot, &err), 0);
	assert_int_equal(jails_admit(j, slot, &a, NULL, &cpu, &err), 0);
	assert_int_equal(jails_end(j, slot, false, &dead, &err), 0);
	jails_free(j);
}

static void a_spawner_that_says_nothing_is_named(void **state)
{
	struct redoma_error err = {0};
	struct native_dead dead;
	struct slot *slot = NULL;
	struct jails_want w;
	struct jails *j = open_jails(1, 0, &w);
	uint64_t n[2];

	(void)state;
	assert_int_equal(jails_take(j, &w, &slot, &err), 0);
	assert_int_equal(jails_end(j, slot, true, &dead, &err), REDOMA_E_BUSY);
	assert_non_null(strstr(err.text, "redoma-spawner"));
	assert_non_null(strstr(err.text, "did not answer in 5 s"));
	assert_non_null(strstr(err.text, "run it again"));
	jails_count(j, &n[0], &n[1]);
	assert_int_equal(n[0] + n[1], 0);
	jails_free(j);
}

static void a_birth_that_is_waited_for_says_why(void **state)
{
	struct redoma_error err = {0};
	struct slot *slot = NULL;
	struct jails_want w;
	struct jails *j = open_jails(0, 0, &w);

	(void)state;
	assert_int_equal(jails_take(j, &w, &slot, &err), REDOMA_E_SYSTEM);
	assert_string_equal(err.text, "no birth today");
	jails_free(j);
}

/* Parked ahead or asked for: who waits is not kept for ever, the spawner that
 * gave nothing is ended, and the next run has another. */
static void a_birth_that_never_comes_is_not_waited_for(void **state)
{
	struct redoma_error err = {0};
	struct slot *slot = NULL;
	struct jails_want w;
	uint64_t n[2], from, took;

	(void)state;
	for (uint32_t park = 0; park < 2; park++) {
		struct native_setup silent, *setup;
		struct jails *j = open_jails(park, BIRTH_US, &w);

		silent = *w.setup;
		silent.pids = SILENT;
		setup = (struct native_setup *)w.setup;
		w.setup = &silent;
		from = clock_monotonic_us();
		assert_int_equal(jails_take(j, &w, &slot, &err),
				 REDOMA_E_BUSY);
		took = clock_monotonic_us() - from;
		assert_in_range(took, BIRTH_US, BIRTH_US + 3000000);
		assert_non_null(strstr(err.text, "no jail became ready"));
		jails_count(j, &n[0], &n[1]);
		assert_int_equal(n[0] + n[1], 0);
		w.setup = setup;
		setup->park = 1;
		assert_int_equal(jails_take(j, &w, &slot, &err), 0);
		slot_free(slot);
		jails_free(j);
	}
}

int main(int argc, char **argv)
{
	static struct channel c;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_birth_that_fails_ends_no_run),
		cmocka_unit_test(a_refusal_leaves_the_next_jail),
		cmocka_unit_test(a_spawner_that_says_nothing_is_named),
		cmocka_unit_test(a_birth_that_is_waited_for_says_why),
		cmocka_unit_test(a_birth_that_never_comes_is_not_waited_for),
	};

	(void)argc;
	channel_init(&c, SPAWNER_CONTROL_FD);
	if (!strcmp(argv[0], NAME))
		return play(&c) ? 1 : 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
