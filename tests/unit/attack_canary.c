/* Each canary sings when it is touched, by this test, and only then. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include "attack/canary.h"
#include "attack/word.h"

static int open_one(const char *dir, const char *name, int flags)
{
	char path[512];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return open(path, flags | O_CLOEXEC, 0644);
}

static void write_file(struct canary *c)
{
	int fd = open(c->secret, O_WRONLY | O_CLOEXEC);

	assert_int_equal(pwrite(fd, "x", 1, 0), 1);
	close(fd);
}

static void make_file(struct canary *c)
{
	close(open_one(c->dir, "new", O_CREAT | O_WRONLY));
}

static void write_granted(struct canary *c)
{
	int fd = open_one(c->dir, "shown/in.txt", O_WRONLY);

	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
}

static void remove_granted(struct canary *c)
{
	char path[512];

	snprintf(path, sizeof path, "%s/shown/in.txt", c->dir);
	assert_int_equal(unlink(path), 0);
}

static void link_out(struct canary *c)
{
	char path[512];

	snprintf(path, sizeof path, "%s/out/x", c->dir);
	assert_int_equal(symlink("../secret", path), 0);
}

static void copy_out(struct canary *c)
{
	int fd = open_one(c->dir, "out/x", O_CREAT | O_WRONLY);

	assert_true(dprintf(fd, "it is %s", c->nonces[0].text) > 0);
	close(fd);
}

static void dial(int type, const void *at, size_t len)
{
	const struct sockaddr *a = at;
	int fd = socket(a->sa_family, type | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, a, (socklen_t)len), 0);
	assert_int_equal(send(fd, "x", 1, MSG_NOSIGNAL), 1);
	close(fd);
}

static void dial_abstract(struct canary *c)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	strcpy(at.sun_path + 1, c->abstract);
	dial(SOCK_STREAM, &at, offsetof(struct sockaddr_un, sun_path) + 1 +
				       strlen(c->abstract));
}

static void dial_path(struct canary *c)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	assert_true(snprintf(at.sun_path, sizeof at.sun_path,
			     "%s/shown/socket",
			     c->dir) < (int)sizeof at.sun_path);
	dial(SOCK_STREAM, &at, sizeof at);
}

static void dial_port(int type, uint16_t port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons(port)};

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	dial(type, &at, sizeof at);
}

static void dial_tcp(struct canary *c)
{
	dial_port(SOCK_STREAM, c->tcp_port);
}

static void dial_udp(struct canary *c)
{
	dial_port(SOCK_DGRAM, c->udp_port);
}

/* By another process: that is what the kernel remembers. */
static void attach_shm(struct canary *c)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(shmat(shmget(c->key, 0, 0), NULL, SHM_RDONLY) ==
		      (void *)-1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void signal_it(struct canary *c)
{
	assert_int_equal(kill(c->target, SIGUSR1), 0);
	for (int i = 0; i < 2000 && !c->word->signals; i++)
		usleep(1000);
}

static void end_it(struct canary *c)
{
	siginfo_t info;

	assert_int_equal(kill(c->target, SIGKILL), 0);
	waitid(P_PID, (id_t)c->target, &info, WEXITED | WNOWAIT);
}

static void write_memory(struct canary *c)
{
	c->word->text[0] ^= 1;
}

static void limit_it(struct canary *c)
{
	struct rlimit l = {8, 8};

	assert_int_equal(prlimit(c->target, RLIMIT_NOFILE, &l, NULL), 0);
}

/* Dies with us, and carries the token for three seconds at most. */
static void stay(struct canary *c)
{
	char script[128];
	pid_t pid = fork();

	snprintf(script, sizeof script, "sleep 3; : %s", c->token);
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", script, NULL);
		_exit(127);
	}
	usleep(200000);
}

static const struct {
	void (*touch)(struct canary *c);
	const char *says;
} rows[] = {
	{write_file, "changed a file"},
	{make_file, "made or removed a file"},
	{write_granted, "may only read"},
	{remove_granted, "may only read"},
	{link_out, "no plain file"},
	{copy_out, "holds a file"},
	{dial_abstract, "an abstract socket"},
	{dial_path, "a named socket"},
	{dial_tcp, "by TCP"},
	{dial_udp, "by UDP"},
	{attach_shm, "shared memory"},
	{signal_it, "signalled"},
	{end_it, "stopped or ended"},
	{write_memory, "changed the memory"},
	{limit_it, "changed the limits"},
	{stay, "stayed behind"},
};

static void each_canary_sings(void **state)
{
	struct redoma_error err;
	struct canary c;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *what;

		if (canary_make(&c, &err))
			fail_msg("%s", err.text);
		assert_null(canary_touched(&c));
		assert_null(canary_touched(&c));
		rows[i].touch(&c);
		what = canary_touched(&c);
		if (!what || !strstr(what, rows[i].says))
			fail_msg("\"%s\", not \"%s\"", what ? what : "",
				 rows[i].says);
		canary_done(&c);
	}
	while (waitpid(-1, NULL, 0) > 0)
		continue;
}

static void nothing_of_them_is_left(void **state)
{
	struct redoma_error err;
	struct canary c;

	(void)state;
	assert_int_equal(canary_make(&c, &err), 0);
	assert_string_equal(getenv("REDOMA_CANARY"), c.nonces[1].text);
	assert_int_equal(fcntl(c.leak, F_GETFD) & FD_CLOEXEC, 0);
	canary_done(&c);
	assert_int_equal(access(c.dir, F_OK), -1);
	assert_int_equal(shmget(c.key, 0, 0), -1);
	assert_int_equal(kill(c.target, 0), -1);
	assert_int_equal(fcntl(c.leak, F_GETFD), -1);
	assert_null(getenv("REDOMA_CANARY"));
}

static void no_directory_is_an_error(void **state)
{
	const char *was = getenv("TMPDIR");
	struct redoma_error err = {0};
	struct canary c;
	char *keep = strdup(was ? was : "/tmp");

	(void)state;
	setenv("TMPDIR", "/nowhere/at/all", 1);
	assert_int_equal(canary_make(&c, &err), REDOMA_E_SYSTEM);
	assert_non_null(strstr(err.text, "temporary files"));
	setenv("TMPDIR", keep, 1);
	free(keep);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_canary_sings),
		cmocka_unit_test(nothing_of_them_is_left),
		cmocka_unit_test(no_directory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
