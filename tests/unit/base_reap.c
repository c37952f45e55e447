/* What a child used is told when it is reaped, with what its own children did. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/reap.h"

#define SPIN_US 60000
#define BYTES ((size_t)24 << 20)

static void spin(void)
{
	uint64_t from = clock_thread_us();

	while (clock_thread_us() - from < SPIN_US)
		;
}

static void child(bool through)
{
	char *p = malloc(BYTES);

	if (p)
		memset(p, 1, BYTES);
	if (through && !fork()) {
		spin();
		_exit(0);
	}
	if (through)
		while (wait(NULL) > 0)
			;
	else
		spin();
	_exit(p && p[BYTES / 2] == 1 ? 7 : 1);
}

static void reaps(bool through)
{
	struct reaped u = {0};
	siginfo_t si;
	pid_t pid = fork();

	if (!pid)
		child(through);
	assert_true(pid > 0);
	while (!reap_any(&si, &u))
		usleep(1000);
	assert_int_equal(si.si_pid, pid);
	assert_int_equal(si.si_code, CLD_EXITED);
	assert_int_equal(si.si_status, 7);
	assert_true(u.cpu_us >= SPIN_US * 9 / 10 && u.cpu_us < 10000000);
	assert_true(u.memory_bytes >= BYTES && u.page_faults > 0);
}

static void what_a_child_used_is_told(void **state)
{
	(void)state;
	reaps(false);
	reaps(true);
}

static void nobody_is_reaped_twice(void **state)
{
	struct reaped u = {.cpu_us = 5};
	siginfo_t si;

	(void)state;
	assert_false(reap_any(&si, &u));
	assert_int_equal(u.cpu_us, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_child_used_is_told),
		cmocka_unit_test(nobody_is_reaped_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
