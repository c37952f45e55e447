/* Names of makers, and what makers that have ended left. */
#include "jail/group_steps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"

#define SWEEP_MS 1000

struct maker { /* the ids mean something in one pid namespace only */
	uint64_t ns;
	int pid;
	uint64_t start;
};

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* proc_pid_stat(5): state is field 3, num_threads 20, starttime 22. */
static int read_start(int pid, uint64_t *ret, bool *ret_dead)
{
	char name[32], text[GROUP_TEXT_MAX], state;
	const char *at;
	long threads;

	snprintf(name, sizeof name, "%d/stat", pid);
	if (gfile_read(AT_FDCWD, "/proc", name, text))
		return -1;
	at = strrchr(text, ')');
	if (!at || sscanf(at,
			  ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			  "%*s %*s %*s %*s %*s %ld %*s %" SCNu64,
			  &state, &threads, ret) != 3) {
		errno = EPROTO;
		return -1;
	}
	*ret_dead = (state == 'Z' || state == 'X') && threads <= 1;
	return 0;
}

static int read_self(struct maker *ret)
{
	struct stat st;
	bool dead;

	if (stat("/proc/self/ns/pid", &st))
		return -1;
	ret->ns = st.st_ino;
	ret->pid = getpid();
	return read_start(ret->pid, &ret->start, &dead);
}

int maker_name(char name[96], int k, struct redoma_error *err)
{
	struct maker m;

	if (read_self(&m))
		return err_sys(err, GROUP_WHERE,
			       "read this process's start time in /proc");
	snprintf(name, 96, "redoma-%" PRIu64 "-%d-%" PRIu64 "-%d", m.ns, m.pid,
		 m.start, k);
	return 0;
}

static bool parse(const char *name, struct maker *ret)
{
	int k, used = 0;

	return sscanf(name, "redoma-%" SCNu64 "-%d-%" SCNu64 "-%d%n", &ret->ns,
		      &ret->pid, &ret->start, &k, &used) == 4 &&
	       !name[used] && ret->pid > 0;
}

/* A maker of another pid namespace cannot be judged from here. */
static bool is_gone(const struct maker *m, uint64_t my_ns)
{
	uint64_t start = 0;
	bool dead = false;

	if (m->ns != my_ns)
		return false;
	if (read_start(m->pid, &start, &dead))
		return errno == ENOENT && kill(m->pid, 0) && errno == ESRCH;
	return dead || start != m->start;
}

static bool is_child(const struct dirent *d)
{
	return d->d_type == DT_DIR && d->d_name[0] != '.';
}

static DIR *list(const struct hier *h, const char *at)
{
	int fd = openat(h->place, at,
			O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

/* Kills and removes what is below one maker's directory in one hierarchy. */
static void wreck(const struct hier *h, const char *name)
{
	struct groups one = {.h = {*h}, .n = 1};
	CLEANUP(close_dir) DIR *d = list(h, name);
	char at[GROUP_PATH_MAX];
	struct dirent *e;

	one.can = gfile_exists(h->place, name, "cgroup.kill") ? GROUP_KILL : 0;
	while (d && (e = readdir(d))) {
		if (!is_child(e) || strlen(e->d_name) > 32)
			continue;
		snprintf(at, sizeof at, "%.96s/%.32s", name, e->d_name);
		if (!gkill_all(&one, at, SWEEP_MS, NULL))
			groups_rmdir(&one, at, NULL);
	}
	groups_rmdir(&one, name, NULL);
}

static void sweep_one(const struct hier *h, uint64_t my_ns)
{
	CLEANUP(close_dir) DIR *d = list(h, ".");
	struct dirent *e;
	struct maker m;

	while (d && (e = readdir(d))) {
		if (!is_child(e))
			continue;
		if (!strncmp(e->d_name, GROUP_ASIDE, strlen(GROUP_ASIDE)))
			(void)unlinkat(h->place, e->d_name, AT_REMOVEDIR);
		else if (parse(e->d_name, &m) && is_gone(&m, my_ns) &&
			 !faccessat(h->place, e->d_name, W_OK, AT_EACCESS))
			wreck(h, e->d_name);
	}
}

void groups_sweep(const struct groups *g)
{
	struct maker self;

	if (read_self(&self))
		return;
	for (size_t i = 0; i < g->n; i++)
		sweep_one(&g->h[i], self.ns);
}

/* Ends every group in this maker's directory of one hierarchy. */
static int clear_one(const struct groups *g, size_t i, int wait_ms,
		     struct redoma_error *err)
{
	struct groups one = {.h = {g->h[i]}, .n = 1};
	CLEANUP(close_dir) DIR *d = list(&g->h[i], g->name);
	char at[GROUP_PATH_MAX];
	struct dirent *e;
	int rc = 0;

	one.can = g->h[i].has & HIER_UNIFIED ? g->can : 0;
	while (!rc && d && (e = readdir(d))) {
		if (!is_child(e) || strlen(e->d_name) > 32)
			continue;
		snprintf(at, sizeof at, "%.96s/%.32s", g->name, e->d_name);
		/* The leaf that the maker may stand in itself. */
		if (getpid() != g->maker || strcmp(e->d_name, GROUP_MAKER))
			rc = gkill_all(&one, at, wait_ms, err);
		if (!rc)
			rc = groups_rmdir(&one, at, err);
	}
	if (!rc && unlinkat(g->h[i].place, g->name, AT_REMOVEDIR) &&
	    errno != ENOENT)
		rc = err_sys(err, GROUP_WHERE, "remove %s", g->name);
	return rc;
}

int gclear_all(const struct groups *g, int wait_ms, struct redoma_error *err)
{
	uint64_t start = clock_monotonic_us();
	int rc = 0;

	for (size_t i = 0; i < g->n && !rc; i++) {
		uint64_t used = (clock_monotonic_us() - start) / 1000;

		rc = clear_one(g, i,
			       used < (uint64_t)wait_ms ? wait_ms - (int)used
							: 0,
			       err);
	}
	return rc;
}

int groups_clear(struct groups *g, int wait_ms, struct redoma_error *err)
{
	return gclear_all(g, wait_ms, err);
}
