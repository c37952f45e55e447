#include "native/sweeper.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/cleanup.h"

#define WHERE "native"
#define CLEAR_MS 5000
#define NAME "redoma-sweeper"

/* The spawner's signals stay blocked here: only its end counts. */
__attribute__((noreturn)) static void sweep(struct groups *groups, int pipe)
{
	ssize_t n;
	char byte;

	prctl(PR_SET_NAME, NAME, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	do
		n = read(pipe, &byte, 1);
	while (n > 0 || (n < 0 && errno == EINTR));
	_exit(groups_clear(groups, CLEAR_MS, NULL) ? 1 : 0);
}

int sweeper_start(struct groups *groups, int control, struct sweeper *ret,
		  struct redoma_error *err)
{
	CLEANUP_FD int ours = -1;
	CLEANUP_FD int its = -1;
	int p[2];
	pid_t pid;

	if (pipe2(p, O_CLOEXEC))
		return err_sys(err, WHERE, "make a pipe");
	its = p[0];
	ours = p[1];
	pid = fork();
	if (pid < 0)
		return err_sys(err, WHERE, "start the sweeper");
	if (pid == 0) {
		/* The core waits for the end of that one. */
		close(control);
		close(ours);
		sweep(groups, its);
	}
	*ret = (struct sweeper){pid, TAKE_FD(ours)};
	return 0;
}

void sweeper_finish(struct sweeper *s)
{
	if (!s->pid)
		return;
	close(s->pipe);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	s->pid = 0;
}
