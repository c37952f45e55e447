/* Our own programs are started so that the host program does not notice. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "pool/spawn.h"

static volatile sig_atomic_t heard;

static void on_child(int sig)
{
	(void)sig;
	heard = 1;
}

/* What the shell says on descriptor 3, to its end. */
static size_t shell(const char *script, char *said, size_t size)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	int p[2], pidfd = -1;
	size_t n = 0;
	ssize_t got;
	struct redoma_error err = {0};

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	struct spawn_request q = {.path = "/bin/sh",
				  .argv = argv,
				  .fds = &p[1],
				  .n_fds = 1};
	if (spawn_process(&q, &pidfd, &err))
		fail_msg("%s", err.text);
	close(p[1]);
	while ((got = read(p[0], said + n, size - 1 - n)) > 0)
		n += (size_t)got;
	said[n] = '\0';
	close(p[0]);
	spawn_end(pidfd, 0);
	return n;
}

static void runs_with_its_descriptors_only(void **state)
{
	char said[4096];

	(void)state;
	assert_true(dup2(0, 30) == 30); /* leaks without care */
	shell("ls /proc/self/fd >&3", said, sizeof said);
	close(30);
	assert_null(strstr(said, "30"));
	assert_non_null(strstr(said, "3\n"));
}

static void inherits_no_environment(void **state)
{
	char said[4096];

	(void)state;
	assert_int_equal(setenv("CANARY", "1", 1), 0);
	shell("echo \"<$CANARY>\" >&3; readlink /proc/self/fd/0 >&3", said,
	      sizeof said);
	assert_non_null(strstr(said, "<>"));
	assert_non_null(strstr(said, "/dev/null"));
}

static void the_host_hears_nothing(void **state)
{
	struct sigaction sa = {.sa_handler = on_child}, old;
	char said[64];

	(void)state;
	sigaction(SIGCHLD, &sa, &old);
	heard = 0;
	assert_int_equal(shell("echo ok >&3", said, sizeof said), 3);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(heard, 0);
	sigaction(SIGCHLD, &old, NULL);
}

static void a_missing_program_is_said(void **state)
{
	const char *const argv[] = {"nothing", NULL};
	struct spawn_request q = {.path = "/nonexistent/worker", .argv = argv};
	struct redoma_error err;
	int pidfd;

	(void)state;
	assert_int_equal(spawn_process(&q, &pidfd, &err), REDOMA_E_SYSTEM);
	assert_non_null(strstr(err.text, "/nonexistent/worker"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_with_its_descriptors_only),
		cmocka_unit_test(inherits_no_environment),
		cmocka_unit_test(the_host_hears_nothing),
		cmocka_unit_test(a_missing_program_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
