/* A child starts on its parent's CPU, and both may go where they could. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdlib.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_starts_here),
		cmocka_unit_test(one_that_does_not_stay_leaves_nothing),
		cmocka_unit_test(a_turn_that_a_third_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
