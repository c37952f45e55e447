/* A child starts on its parent's CPU, and both may go where they could. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_starts_here),
		cmocka_unit_test(one_that_does_not_stay_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
