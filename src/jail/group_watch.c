/* Word that memory ran out.  v1 has an eventfd for it (cgroup-v1/memory.rst,
 * section 10).  A v2 file tells a poll by POLLPRI once it was read, and is
 * readable always: an epoll that waits for POLLPRI alone becomes readable
 * itself. */
#include "jail/group_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/fd.h"

#define KILL_TRIES 40 /* of a millisecond: from the notice to the kill */

static int arm(int fd)
{
	char text[GROUP_TEXT_MAX];

	return pread(fd, text, sizeof text, 0) < 0 ? -1 : 0;
}

int group_watch(int place, const char *at, const char *name, int *ret_file)
{
	CLEANUP_FD int file = gfile_open(place, at, name, O_RDONLY);
	CLEANUP_FD int epoll = -1;
	struct epoll_event e = {.events = EPOLLPRI};

	if (file < 0 || arm(file))
		return -1;
	epoll = fd_lift(epoll_create1(EPOLL_CLOEXEC));
	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, file, &e))
		return -1;
	*ret_file = TAKE_FD(file);
	return TAKE_FD(epoll);
}

static int watch_v1(const struct hier *h, struct group *c)
{
	CLEANUP_FD int event = fd_lift(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	CLEANUP_FD int file =
		gfile_open(h->place, c->at, "memory.oom_control", O_RDONLY);
	char text[32];

	if (event < 0 || file < 0)
		return -1;
	snprintf(text, sizeof text, "%d %d", event, file);
	if (gfile_write(h->place, c->at, "cgroup.event_control", text))
		return -1;
	c->event_fd = TAKE_FD(event);
	return 0;
}

int group_watch_oom(struct group *c, struct redoma_error *err)
{
	const struct hier *h = groups_with(c->g, HIER_MEMORY);
	int fd;

	if (!h)
		return 0;
	if (!(h->has & HIER_UNIFIED)) {
		if (watch_v1(h, c))
			return err_sys(err, GROUP_WHERE,
				       "watch memory.oom_control");
		return 0;
	}
	fd = group_watch(h->place, c->at, "memory.events", &c->watch_fd);
	if (fd < 0)
		return err_sys(err, GROUP_WHERE, "watch memory.events");
	c->event_fd = fd;
	return 0;
}

int group_oom_fd(const struct group *c)
{
	return c->event_fd;
}

static uint64_t count(const struct group *c)
{
	const struct hier *h = groups_with(c->g, HIER_MEMORY);
	uint64_t n = 0;

	if (h)
		(void)gfile_number(h->place, c->at,
				   h->has & HIER_UNIFIED ? "memory.events"
							 : "memory.oom_control",
				   "oom_kill", &n);
	return n;
}

/* Takes the word; false if there was none. */
static bool drain(const struct group *c)
{
	struct pollfd p = {.fd = c->event_fd, .events = POLLIN};
	uint64_t n;

	if (c->event_fd < 0 || poll(&p, 1, 0) != 1)
		return false;
	if (c->watch_fd >= 0)
		return !arm(c->watch_fd);
	return read(c->event_fd, &n, sizeof n) == (ssize_t)sizeof n;
}

/* The word comes before the kill, and also when some other process freed
 * enough in the last moment; the counter is the truth. */
bool group_oom_seen(struct group *c)
{
	bool told = drain(c);
	uint64_t n = count(c);

	for (int i = 0; told && n <= c->oom_seen && i < KILL_TRIES; i++) {
		(void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		n = count(c);
	}
	told = n > c->oom_seen;
	c->oom_seen = n;
	return told;
}
