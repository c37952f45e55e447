/* A child starts on its parent's CPU, and both may go where they could. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/here.h"

static int child(const struct here *h, const cpu_set_t *all)
{
	cpu_set_t now;

	if (sched_getaffinity(0, sizeof now, &now) || CPU_COUNT(&now) != 1 ||
	    !CPU_ISSET(sched_getcpu(), &now))
		return 1;
	here_leave(h);
	return sched_getaffinity(0, sizeof now, &now) || !CPU_EQUAL(&now, all);
}

static void a_child_starts_here(void **state)
{
	cpu_set_t all, now;
	struct here h;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
	here_stay(&h);
	assert_true(h.stays);
	pid = fork();
	if (!pid)
		_exit(child(&h, &all));
	here_leave(&h);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
	assert_true(CPU_EQUAL(&now, &all));
}

static void one_that_does_not_stay_leaves_nothing(void **state)
{
	struct here h = {.stays = false};
	cpu_set_t before, after;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	here_leave(&h); /* its set is empty */
	assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
}

static pid_t spin(void)
{
	pid_t pid = fork();

	if (!pid)
		alarm(30);
	while (!pid)
		continue;
	return pid;
}

/* A third on this CPU takes milliseconds when it is let go first: that is tried
 * once, and then not for a while, in which nothing is given up. */
static void a_turn_that_a_third_takes(void **state)
{
	struct turn t = {0};
	struct here h;
	uint32_t before;
	pid_t pid;

	(void)state;
	here_stay(&h);
	assert_true(h.stays);
	pid = spin();
	assert_true(pid > 0);
	for (int i = 0; i < 1000 && !t.asleep; i++)
		turn_give(&t);
	before = t.asleep;
	assert_true(before >= 100);
	turn_give(&t);
	assert_int_equal(t.asleep, before - 1);
	t.asleep = 0;
	for (int i = 0; i < 1000 && !t.asleep; i++)
		turn_give(&t);
	assert_true(t.asleep >= before);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	here_leave(&h);
}

/* The length of the turns a process asked for; 0: this kernel does not tell. */
static uint64_t turn_of(pid_t pid)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} a = {0};

	assert_int_equal(syscall(SYS_sched_getattr, pid, &a, sizeof a, 0), 0);
	return a.runtime;
}

static void a_process_that_nobody_waits_for(void **state)
{
	int nice_before = getpriority(PRIO_PROCESS, 0);
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		pause();
		_exit(0);
	}
	assert_int_equal(sched_getscheduler(pid), SCHED_OTHER);
	here_meek(pid);
	assert_int_equal(sched_getscheduler(pid), SCHED_BATCH);
	if (turn_of(pid))
		assert_int_equal(turn_of(pid), 100000000);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)pid), nice_before);
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* As a parked worker, whose zygote is meek. */
static int brisk_child(void)
{
	uint64_t turn;

	here_meek(0);
	here_brisk();
	turn = turn_of(0);
	return sched_getscheduler(0) != SCHED_OTHER || (turn && turn != 100000);
}

static void one_that_is_waited_for(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (!pid)
		_exit(brisk_child());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_starts_here),
		cmocka_unit_test(one_that_does_not_stay_leaves_nothing),
		cmocka_unit_test(a_turn_that_a_third_takes),
		cmocka_unit_test(a_process_that_nobody_waits_for),
		cmocka_unit_test(one_that_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
