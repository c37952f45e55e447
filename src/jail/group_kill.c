/* The end of groups.  v2 kills a group at once (cgroup.kill), also what is
 * being forked just now.  v1 has only lists of pids, and a pid that was read
 * may belong to another process by the time of the signal: a pidfd is opened
 * and the list read again before it is used. */
#include "jail/group_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"

#define RMDIR_TRIES 50
#define SHORT_US 200
#define LONG_US 1000

static void pause_us(long us)
{
	struct timespec t = {.tv_nsec = us * 1000};

	(void)nanosleep(&t, NULL);
}

static bool listed(const struct hier *h, const char *at, pid_t pid)
{
	char text[GROUP_TEXT_MAX], word[16];

	snprintf(word, sizeof word, "%d", pid);
	return !gfile_read(h->place, at, "cgroup.procs", text) &&
	       gtext_lists(text, word, "\n");
}

static void kill_one(const struct hier *h, const char *at, pid_t pid)
{
	CLEANUP_FD int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd >= 0 && listed(h, at, pid))
		(void)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
}

int gkill_round(const struct hier *h, const char *at)
{
	char text[GROUP_TEXT_MAX], *p = text, *end;
	int n = 0;
	long pid;

	if (gfile_read(h->place, at, "cgroup.procs", text))
		return -1;
	for (;; p = end, n++) {
		pid = strtol(p, &end, 10);
		if (end == p)
			return n;
		if (pid > 0 && *end == '\n')
			kill_one(h, at, (pid_t)pid);
	}
}

static bool is_empty(const struct hier *h, const char *at)
{
	char text[GROUP_TEXT_MAX];
	uint64_t populated;

	if (h->has & HIER_UNIFIED &&
	    !gfile_number(h->place, at, "cgroup.events", "populated",
			  &populated))
		return !populated;
	return gfile_read(h->place, at, "cgroup.procs", text)
		       ? errno == ENOENT || errno == ENODEV
		       : !*text;
}

/* One round in every hierarchy; true if nothing lived in any.  What joined the
 * others was born into the unified one, and leaves all of them by its end. */
static bool round_of(const struct groups *g, const char *at, bool gently)
{
	bool empty = true;

	for (size_t i = 0; i < g->n; i++) {
		const struct hier *h = &g->h[i];

		if (is_empty(h, at)) {
			if (h->born)
				return empty;
			continue;
		}
		empty = false;
		if (h->has & HIER_UNIFIED)
			(void)gfile_write(h->place, at, "cgroup.kill", "1");
		if (!gently)
			(void)gkill_round(h, at);
	}
	return empty;
}

int gkill_all(const struct groups *g, const char *at, int wait_ms,
	      struct redoma_error *err)
{
	uint64_t end = clock_monotonic_us() + (uint64_t)wait_ms * 1000;
	const struct hier *pids = groups_with(g, HIER_PIDS);
	bool at_once = g->can & GROUP_KILL;

	/* Without cgroup.kill, forks would outrun the list. */
	if (!at_once && pids)
		(void)gfile_write(pids->place, at, "pids.max", "0");
	for (int round = 0; !round_of(g, at, at_once && round < 20); round++) {
		if (clock_monotonic_us() >= end)
			return err_set(err, REDOMA_E_BUSY, GROUP_WHERE,
				       "processes of %s live %d ms after "
				       "SIGKILL",
				       at, wait_ms);
		pause_us(round < 20 ? SHORT_US : LONG_US);
	}
	return 0;
}

int group_kill(struct group *c, int wait_ms, struct redoma_error *err)
{
	return gkill_all(c->g, c->at, wait_ms, err);
}

bool group_strike(struct group *c)
{
	const struct hier *h = &c->g->h[0];

	return c->g->can & GROUP_KILL && h->born &&
	       !gfile_write(h->place, c->at, "cgroup.kill", "1");
}

bool group_holds(const struct group *c, pid_t pid)
{
	return listed(&c->g->h[0], c->at, pid);
}

int groups_rmdir(const struct groups *g, const char *at,
		 struct redoma_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < g->n; i++) {
		int tries = 0;

		while (unlinkat(g->h[i].place, at, AT_REMOVEDIR)) {
			if (errno == ENOENT)
				break;
			if (errno != EBUSY || tries++ == RMDIR_TRIES) {
				rc = err_sys(err, GROUP_WHERE, "remove %s", at);
				break;
			}
			pause_us(SHORT_US);
		}
	}
	return rc;
}

static void close_group(struct group *c)
{
	cleanup_fd(&c->birth_fd);
	cleanup_fd(&c->event_fd);
	cleanup_fd(&c->watch_fd);
	group_joined(c);
}

void group_free(struct group *c)
{
	close_group(c);
	free(c);
}

int group_end(struct group *c, struct redoma_error *err)
{
	int rc;

	if (!c)
		return 0;
	rc = groups_rmdir(c->g, c->at, err);
	group_free(c);
	return rc;
}

void group_leave_fds(const struct group *c)
{
	struct group copy = *c;

	close_group(&copy);
	for (size_t i = 0; i < c->g->n; i++)
		close(c->g->h[i].place);
}
