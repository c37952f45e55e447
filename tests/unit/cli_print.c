/* A wait is told on a terminal, goes when it is over, and is silent in a
 * pipe. */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/print.h"

/* What came to `from` of a wait that was told to `to`. */
static size_t told(int from, int to, char *text, size_t size)
{
	struct pollfd p = {.fd = from, .events = POLLIN};
	int was = dup(2);
	ssize_t n = 0;

	assert_true(was >= 0);
	assert_int_equal(dup2(to, 2), 2);
	print_wait(NULL, "compiling a thing");
	print_wait(NULL, NULL);
	assert_int_equal(dup2(was, 2), 2);
	close(was);
	if (poll(&p, 1, 0) > 0)
		n = read(from, text, size - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	return (size_t)n;
}

static void a_terminal_sees_it_come_and_go(void **state)
{
	static const char line[] =
		"\r\033[Kredoma: compiling a thing ...\r\033[K";
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	char text[200];
	int slave;

	(void)state;
	if (master < 0)
		skip();
	assert_int_equal(grantpt(master) | unlockpt(master), 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(slave >= 0);
	told(master, slave, text, sizeof text);
	assert_string_equal(text, line);
	close(slave);
	close(master);
}

static void a_pipe_sees_nothing(void **state)
{
	char text[200];
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(told(fds[0], fds[1], text, sizeof text), 0);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_terminal_sees_it_come_and_go),
		cmocka_unit_test(a_pipe_sees_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
