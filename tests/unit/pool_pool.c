/* Taking, giving back and killing workers, with a zygote that only speaks the
 * protocol (tests/hostile/forger.c). */
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "pool/pool.h"
#include "pool/zygote.h"

static const uint8_t one[32] = {1}, two[32] = {2};

static struct pool *make(uint32_t runs)
{
	static const struct pool_options o = {
		.worker_path = TEST_BUILD "/tests/hostile/forger",
		.single = true};
	struct pool_options with = o;
	struct pool *p = NULL;

	with.runs_per_worker = runs;
	assert_int_equal(pool_new(&with, &p, NULL), 0);
	return p;
}

static struct pool_want want(void)
{
	return (struct pool_want){.tenant = "a",
				  .profile = PROFILE_MODULE,
				  .digest = one,
				  .reuse = true,
				  .data_bytes = 100,
				  .file_bytes = 10};
}

static struct slot *take(struct pool *p, const struct pool_want *w)
{
	struct redoma_error err = {0};
	struct slot *s = NULL;

	if (pool_take(p, w, &s, &err))
		fail_msg("%s", err.text);
	return s;
}

/* Takes one, says that it holds module `one`, and gives it back. */
static int keep_one(struct pool *p, struct slot **ret)
{
	struct pool_want w = want();
	struct slot *s = take(p, &w);

	assert_true(s->cold);
	memcpy(s->digest, one, sizeof s->digest);
	s->loaded = true;
	pool_give(p, s);
	*ret = s;
	return s->pid;
}

static void one_given_back_is_taken_again(void **state)
{
	struct pool *p = make(10);
	struct pool_want w = want();
	struct slot *s;
	int pid = keep_one(p, &s);

	(void)state;
	s = take(p, &w);
	assert_int_equal(s->pid, pid);
	assert_false(s->cold);
	assert_true(s->loaded);
	pool_give(p, s);
	pool_free(p);
}

/* What may not share a worker gets another one. */
static void others_get_their_own(void **state)
{
	struct pool_want rows[8];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		rows[i] = want();
	rows[0].tenant = "b";
	rows[1].digest = two;
	rows[2].data_bytes++;
	rows[3].file_bytes++;
	rows[4].may_lack = 1;
	rows[5].profile = PROFILE_MODULE_FUEL;
	rows[6].own_bytes++; /* its zygote's group has no room for it */
	rows[7].guest_bytes++;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct pool *p = make(10);
		struct slot *s;
		int pid = keep_one(p, &s);

		s = take(p, &rows[i]);
		assert_int_not_equal(s->pid, pid);
		assert_true(s->cold);
		pool_kill(p, s, false, NULL);
		pool_free(p);
	}
}

static void less_fits_into_more(void **state)
{
	struct pool *p = make(10);
	struct pool_want w = want();
	struct slot *s;
	int pid = keep_one(p, &s);

	(void)state;
	w.data_bytes--;
	w.file_bytes--;
	s = take(p, &w);
	assert_int_equal(s->pid, pid);
	pool_kill(p, s, false, NULL);
	pool_free(p);
}

static void a_worn_one_is_retired(void **state)
{
	struct pool *p = make(2);
	struct pool_want w = want();
	struct slot *s;
	int pid = keep_one(p, &s);

	(void)state;
	s = take(p, &w);
	assert_int_equal(s->pid, pid);
	pool_give(p, s);
	s = take(p, &w);
	assert_int_not_equal(s->pid, pid);
	pool_kill(p, s, false, NULL);
	pool_free(p);
}

/* Ended, whether its parent has asked for it or not. */
static bool is_dead(int pid)
{
	char path[64], text[256] = "";
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return true;
	if (!fgets(text, sizeof text, f))
		text[0] = '\0';
	fclose(f);
	return !text[0] || strstr(text, ") Z ");
}

static bool gone(int pid)
{
	for (int i = 0; i < 200; i++) {
		if (is_dead(pid))
			return true;
		poll(NULL, 0, 10);
	}
	return false;
}

static void poison_ends_the_whole_zygote(void **state)
{
	struct pool *p = make(10);
	struct pool_want w = want(), other = want();
	struct slot *kept = NULL, *s;
	int pid = keep_one(p, &kept);

	(void)state;
	other.digest = two; /* the same zygote, another child */
	s = take(p, &other);
	assert_ptr_equal(s->zygote, kept->zygote);
	pool_kill(p, s, true, NULL);
	assert_true(gone(pid));
	s = take(p, &w);
	assert_int_not_equal(s->pid, pid);
	pool_kill(p, s, false, NULL);
	pool_free(p);
}

/* What it may have said of others is lost as well. */
static void a_zygote_that_is_not_heard_is_ended(void **state)
{
	struct pool *p = make(10);
	struct pool_want w = want();
	struct spawn_dead d;
	uint64_t zygotes, parked;
	struct slot *s = take(p, &w);

	(void)state;
	shutdown(s->zygote->channel.fd, SHUT_RD);
	pool_kill(p, s, false, &d);
	pool_count(p, &zygotes, &parked);
	assert_int_equal(zygotes, 0);
	pool_free(p);
}

static void without_poison_the_others_stay(void **state)
{
	struct pool *p = make(10);
	struct pool_want w = want(), other = want();
	struct slot *kept = NULL, *s;
	int pid = keep_one(p, &kept);

	(void)state;
	other.digest = two;
	s = take(p, &other);
	pool_kill(p, s, false, NULL);
	s = take(p, &w);
	assert_int_equal(s->pid, pid);
	pool_give(p, s);
	pool_free(p);
}

static void one_dropped_does_not_stay(void **state)
{
	struct pool *p = make(10);
	struct pool_want w = want();
	struct slot *s = take(p, &w);
	int pid = s->pid;

	(void)state;
	pool_drop(s);
	assert_true(gone(pid));
	pool_free(p);
}

static pid_t sleeper(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Of a process that is not even a zombie any more. */
static int reaped_pidfd(void)
{
	pid_t pid = sleeper();
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	assert_true(fd >= 0);
	end(pid);
	return fd;
}

/* What sched(7) says of a child of ours whose number that of a dropped worker
 * has become. */
static int dropped_as(bool reaped)
{
	struct pool *p = make(10);
	struct pool_want w = want();
	struct slot *s = take(p, &w);
	pid_t other = sleeper();
	int policy;

	if (reaped) {
		kill(s->pid, SIGKILL);
		close(s->pidfd);
		s->pidfd = reaped_pidfd();
	}
	s->pid = other;
	pool_drop(s);
	policy = sched_getscheduler(other);
	end(other);
	pool_free(p);
	return policy;
}

static void the_number_of_one_that_is_gone_is_left_alone(void **state)
{
	(void)state;
	assert_int_equal(dropped_as(false), SCHED_BATCH);
	assert_int_equal(dropped_as(true), SCHED_OTHER);
}

static void a_program_that_is_no_zygote(void **state)
{
	struct pool_options o = {.worker_path = "/bin/true", .single = true};
	struct pool_want w = want();
	struct redoma_error err = {0};
	struct slot *s = NULL;
	struct pool *p = NULL;

	(void)state;
	assert_int_equal(pool_new(&o, &p, NULL), 0);
	assert_int_equal(pool_take(p, &w, &s, &err), REDOMA_E_WORKER);
	assert_null(s);
	assert_non_null(strstr(err.text, "did not start"));
	pool_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_given_back_is_taken_again),
		cmocka_unit_test(others_get_their_own),
		cmocka_unit_test(less_fits_into_more),
		cmocka_unit_test(a_worn_one_is_retired),
		cmocka_unit_test(poison_ends_the_whole_zygote),
		cmocka_unit_test(without_poison_the_others_stay),
		cmocka_unit_test(a_zygote_that_is_not_heard_is_ended),
		cmocka_unit_test(one_dropped_does_not_stay),
		cmocka_unit_test(
			the_number_of_one_that_is_gone_is_left_alone),
		cmocka_unit_test(a_program_that_is_no_zygote),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
