#include "cli/tool_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define WHERE "cli"

/* Our ends of its three pipes. */
struct pipes {
	int in, out, noise;
};

static void pipes_done(struct pipes *p)
{
	const int fds[] = {p->in, p->out, p->noise};

	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* In the child: only what is safe between fork and exec. */
__attribute__((noreturn)) static void become(const struct tool_process *p,
					     const int fds[3], pid_t parent)
{
	sigset_t none;

	for (int i = 0; i < 3; i++)
		if (dup2(fds[i], i) < 0)
			_exit(126);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0);
	/* It does not outlive the command that it is a tool of. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(126);
	execve(p->argv[0], p->argv, p->env);
	_exit(127);
}

/* Both ends above the standard streams, so that dup2 hits none of them. */
static int make_pipe(int ret[2])
{
	int raw[2];

	if (pipe2(raw, O_CLOEXEC))
		return -1;
	for (int i = 0; i < 2; i++) {
		ret[i] = fcntl(raw[i], F_DUPFD_CLOEXEC, 3);
		close(raw[i]);
	}
	return ret[0] < 0 || ret[1] < 0 ? -1 : 0;
}

static int start(const struct tool_process *p, struct pipes *ret,
		 pid_t *ret_pid, struct redoma_error *err)
{
	int ends[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
	pid_t parent = getpid(), pid = -1;
	int r = 0;

	for (size_t i = 0; i < 3 && !r; i++)
		r = make_pipe(ends[i]);
	if (!r) {
		const int theirs[] = {ends[0][0], ends[1][1], ends[2][1]};

		pid = fork();
		if (!pid)
			become(p, theirs, parent);
	}
	if (pid < 0)
		r = err_sys(err, WHERE, "start a process for a tool");
	else
		setpgid(pid, pid);
	*ret = (struct pipes){ends[0][1], ends[1][0], ends[2][0]};
	*ret_pid = pid;
	pipes_done(&(struct pipes){ends[0][0], ends[1][1], ends[2][1]});
	if (!r)
		fcntl(ret->in, F_SETFL, O_NONBLOCK);
	return r;
}

/* Closed when all is there, or nobody reads. */
static void feed(const struct tool_process *p, int *fd, size_t *at)
{
	ssize_t n = write(*fd, p->in + *at, p->in_len - *at);

	if (n > 0)
		*at += (size_t)n;
	if (*at == p->in_len || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		close(*fd);
		*fd = -1;
	}
}

/* False: more than `max`, of which so much was kept. */
static bool drain(int *fd, struct buf *b, size_t max)
{
	char room[16384];
	ssize_t n = read(*fd, room, sizeof room);
	size_t keep = n > 0 ? (size_t)n : 0;

	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0) {
		close(*fd);
		*fd = -1;
		return true;
	}
	if (keep > max - b->len)
		keep = max - b->len;
	return !buf_add(b, room, keep) && keep == (size_t)n;
}

static enum tool_ending converse(const struct tool_process *p,
				 struct pipes *at, uint64_t until,
				 struct buf *out, struct buf *noise)
{
	size_t fed = 0;

	if (!p->in_len)
		feed(p, &at->in, &fed);
	while (at->out >= 0) {
		struct pollfd f[] = {{at->out, POLLIN, 0},
				     {at->noise, POLLIN, 0},
				     {at->in, POLLOUT, 0},
				     {p->end_fd, POLLIN, 0}};
		uint64_t now = clock_monotonic_us();

		if (now >= until)
			return TOOL_SLOW;
		if (poll(f, 4, (int)((until - now) / 1000 + 1)) <= 0)
			continue;
		if (f[3].revents)
			return TOOL_CANCELLED;
		if (f[2].revents)
			feed(p, &at->in, &fed);
		/* What is over is read and dropped: it is not a failure. */
		if (f[1].revents)
			(void)drain(&at->noise, noise, TOOL_NOISE_MAX);
		if (f[0].revents && !drain(&at->out, out, TOOL_OUTPUT_MAX))
			return TOOL_LOUD;
	}
	return TOOL_ENDED;
}

/* It closed its output; that it ends is another matter. */
static enum tool_ending await(const struct tool_process *p, pid_t pid,
			      uint64_t until)
{
	CLEANUP_FD int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	for (;;) {
		struct pollfd f[] = {{fd, POLLIN, 0}, {p->end_fd, POLLIN, 0}};
		uint64_t now = clock_monotonic_us();

		if (fd < 0 || now >= until)
			return TOOL_SLOW;
		if (poll(f, 2, (int)((until - now) / 1000 + 1)) <= 0)
			continue;
		return f[0].revents ? TOOL_ENDED : TOOL_CANCELLED;
	}
}

int tool_process_run(const struct tool_process *p, struct buf *out,
		     struct buf *noise, enum tool_ending *ret, int *ret_status,
		     struct redoma_error *err)
{
	CLEANUP(pipes_done) struct pipes at = {-1, -1, -1};
	uint64_t until = clock_monotonic_us() + TOOL_SECONDS * 1000000u;
	pid_t pid;
	int r = start(p, &at, &pid, err);

	if (r)
		return r;
	*ret = converse(p, &at, until, out, noise);
	if (*ret == TOOL_ENDED)
		*ret = await(p, pid, until);
	/* What it started too; it is still there, so the number is its own. */
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
		;
	return 0;
}
