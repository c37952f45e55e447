/* The zygote is killed at a random moment of its start or while it makes
 * children, 2,000 times, by root and by an ordinary user: no child outlives
 * it.  Each child holds a pipe; all of them are gone when it closes.
 * test-seconds: 300 */
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "jail/jail.h"

#define ROUNDS 2000
#define ORDINARY_ID 65534
#define WITHIN_NS 5000000u

static _Noreturn void be_zygote(int out)
{
	struct jail_options o = {.keep = &out, .n_keep = 1};
	struct jail_report report;
	struct redoma_error err;
	struct jail *j = NULL;
	int pidfd;
	pid_t pid;

	if (jail_prepare(&o, &j, &report, &err))
		_exit(1);
	for (;;) {
		pid = jail_fork(j, &pidfd, &err);
		if (pid < 0)
			_exit(2);
		if (pid)
			continue;
		if (jail_lock(j, &o, &report, &err))
			_exit(3);
		for (;;)
			poll(NULL, 0, 1000);
	}
}

/* True if nobody holds the pipe soon after the kill, and the zygote did not
 * end by itself. */
static bool one_round(void)
{
	struct timespec wait = {0, (long)((unsigned)rand() % WITHIN_NS)};
	struct pollfd p = {.events = POLLIN};
	int both[2], status;
	bool good;
	pid_t pid;

	if (pipe2(both, O_CLOEXEC))
		return false;
	pid = fork();
	if (pid == 0) {
		close(both[0]);
		be_zygote(both[1]);
	}
	close(both[1]);
	nanosleep(&wait, NULL);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	p.fd = both[0];
	good = poll(&p, 1, 2000) == 1 && (p.revents & POLLHUP) &&
	       WIFSIGNALED(status);
	close(both[0]);
	return good;
}

/* A child that does not lock itself does outlive its zygote: what the rounds
 * show is the tie, and that they would see a survivor. */
static bool survivor_is_seen(void)
{
	struct pollfd p = {.events = POLLIN};
	int both[2];
	pid_t pid, child = 0;
	bool seen;

	if (pipe2(both, O_CLOEXEC))
		return false;
	pid = fork();
	if (pid == 0) {
		child = fork();
		if (child && write(both[1], &child, sizeof child) < 0)
			_exit(1);
		alarm(10);
		for (;;)
			pause();
	}
	close(both[1]);
	if (read(both[0], &child, sizeof child) != (ssize_t)sizeof child)
		child = 0;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	p.fd = both[0];
	seen = poll(&p, 1, 200) == 0;
	if (child > 0)
		kill(child, SIGKILL);
	close(both[0]);
	return seen;
}

static int all_rounds(const char *as)
{
	int bad = !survivor_is_seen();

	printf("1..2\n%sok 1 - %s: an untied child survives\n",
	       bad ? "not " : "", as);
	srand(20261130);
	for (int i = 0; i < ROUNDS / 2; i++)
		bad += !one_round();
	printf("%sok 2 - %s: %d zygotes killed, %d left children\n",
	       bad ? "not " : "", as, ROUNDS / 2, bad);
	fflush(stdout);
	return bad != 0;
}

int main(void)
{
	int status = 0;
	pid_t pid;

	if (geteuid() != 0)
		return all_rounds("user");
	pid = fork();
	if (pid == 0) {
		if (setgroups(0, NULL) ||
		    setresgid(ORDINARY_ID, ORDINARY_ID, ORDINARY_ID) ||
		    setresuid(ORDINARY_ID, ORDINARY_ID, ORDINARY_ID))
			_exit(99);
		exit(all_rounds("user"));
	}
	waitpid(pid, &status, 0);
	return all_rounds("root") || status;
}
