/* What init tells the child that will become the program. */
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

#include "jail/native_state.h"
#include "native/order.h"

#define LONG_TEXT 100000u /* more than a pipe holds */

static char *places[] = {(char *)"p0/out.txt", (char *)"p1"};
static char *no_text[] = {NULL};
static struct native jail;

static int begin(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	jail.places[0] = places[0];
	jail.places[1] = places[1];
	jail.n_places = 2;
	return 0;
}

static char *long_text(void)
{
	char *text = malloc(LONG_TEXT + 1);

	assert_non_null(text);
	memset(text, 'x', LONG_TEXT);
	text[LONG_TEXT] = '\0';
	return text;
}

static struct payload_start start(char **argv)
{
	return (struct payload_start){.jail = &jail,
				      .program = "/x",
				      .argv = argv,
				      .env = no_text,
				      .file_bytes = 1,
				      .max_fds = 2,
				      .cpu_s = 3,
				      .memory_bytes = 4,
				      .pids = 5,
				      .early = true};
}

static bool is_all(const struct order *o, const char *text)
{
	return o->lock.file_bytes == 1 && o->lock.max_fds == 2 &&
	       o->lock.cpu_s == 3 && o->lock.memory_bytes == 4 &&
	       o->lock.pids == 5 && o->lock.early && !o->lock.gate_fd &&
	       o->lock.n_places == 2 && o->lock.places == o->places &&
	       !strcmp(o->places[0], places[0]) &&
	       !strcmp(o->places[1], places[1]) && !o->env[0] &&
	       !strcmp(o->argv[0], "a") && !strcmp(o->argv[1], "") &&
	       !strcmp(o->argv[2], text) && !o->argv[3];
}

static void all_of_it_arrives(void **state)
{
	char *text = long_text();
	char *argv[] = {(char *)"a", (char *)"", text, NULL};
	const struct payload_start s = start(argv);
	struct order o;
	int p[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(order_take(p[0], &o) || !is_all(&o, text));
	assert_int_equal(order_send(p[1], &s, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(p[0]);
	close(p[1]);
	free(text);
}

static void a_part_is_none(void **state)
{
	char *argv[] = {(char *)"a", NULL};
	const struct payload_start s = start(argv);
	char bytes[4096];
	struct order o;
	ssize_t len;
	int p[2];

	(void)state;
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	assert_int_equal(order_send(p[1], &s, NULL), 0);
	len = read(p[0], bytes, sizeof bytes);
	assert_true(len > 0);
	close(p[0]);
	close(p[1]);
	for (ssize_t cut = 0; cut < len; cut++) {
		assert_int_equal(pipe2(p, O_CLOEXEC), 0);
		assert_int_equal(write(p[1], bytes, (size_t)cut), cut);
		close(p[1]);
		assert_int_equal(order_take(p[0], &o), -1);
		close(p[0]);
	}
}

static void nobody_takes_it(void **state)
{
	char *argv[] = {(char *)"a", NULL};
	const struct payload_start s = start(argv);
	int p[2];

	(void)state;
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	close(p[0]);
	assert_int_equal(order_send(p[1], &s, NULL), 0);
	close(p[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_arrives),
		cmocka_unit_test(a_part_is_none),
		cmocka_unit_test(nobody_takes_it),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
