#include "core/usher.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/access.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "broker/ask.h"
#include "pool/spawn.h"
#include "wire/failed.h"

#define WHERE "core"
#define PROGRAM "redoma-usher"
#define BOARD_BYTES (sizeof(struct board) + sizeof(struct ask_rights))
#define CAP_VERSION 0x20080522u /* _LINUX_CAPABILITY_VERSION_3, capget(2) */
/* What was asked is done, whether or not there is memory just now to hear of
 * it. */
#define SHORTAGES_MAX 100
#define SHORTAGE_US 10000u
/* Looks at the board in one time of quiet. */
#define LOOKS 8

static void look_at_rights(struct usher_rights *r)
{
	uint32_t header[2] = {CAP_VERSION, 0};
	uint32_t caps[2][3] = {{0}};
	struct stat root = {0};

	memset(r, 0, sizeof *r);
	getresuid(&r->uid[0], &r->uid[1], &r->uid[2]);
	getresgid(&r->gid[0], &r->gid[1], &r->gid[2]);
	r->fsuid = (uid_t)setfsuid((uid_t)-1);
	r->fsgid = (gid_t)setfsgid((gid_t)-1);
	if (!syscall(SYS_capget, header, caps))
		for (int i = 0; i < 2; i++)
			r->caps[i] = caps[i][0];
	r->n_groups = getgroups(sizeof r->groups / sizeof *r->groups,
				r->groups);
	if (!stat("/", &root)) {
		r->root_dev = root.st_dev;
		r->root_ino = root.st_ino;
	}
	r->mask = access_mask();
	if (readlink("/proc/thread-self/ns/mnt", r->mounts,
		     sizeof r->mounts - 1) < 0)
		r->mounts[0] = '\0';
}

static bool same_rights(const struct usher_rights *a,
			const struct usher_rights *b)
{
	return a->n_groups >= 0 && !memcmp(a, b, sizeof *a);
}

static bool is_gone(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	siginfo_t si;

	if (poll(&p, 1, 0) <= 0)
		return false;
	/* Ours to reap if it came to us: a host that is pid 1. */
	waitid(P_PIDFD, (id_t)pidfd, &si, WEXITED | WNOHANG | __WALL);
	return true;
}

static void sweep_lost(struct usher *u)
{
	size_t kept = 0;

	for (size_t i = 0; i < u->n_lost; i++) {
		if (is_gone(u->lost[i]))
			close(u->lost[i]);
		else
			u->lost[kept++] = u->lost[i];
	}
	u->n_lost = kept;
}

/* What the process leaves with us. */
static void drop(struct usher *u)
{
	channel_done(&u->channel);
	if (u->channel.fd >= 0)
		close(u->channel.fd);
	channel_init(&u->channel, -1);
	if (u->board)
		munmap(u->board, BOARD_BYTES);
	u->board = NULL;
	u->cpu = UINT32_MAX;
	u->closing = false;
}

void usher_lose(struct redoma *h)
{
	struct usher *u = h->usher;

	if (u->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, u->pidfd, SIGKILL, NULL, 0);
	drop(u);
	/* There is room: nobody starts one when there is none. */
	if (u->pidfd >= 0)
		u->lost[u->n_lost++] = TAKE_FD(u->pidfd);
	sweep_lost(u);
}

void usher_free(struct usher *u)
{
	if (!u)
		return;
	if (u->channel.fd >= 0)
		shutdown(u->channel.fd, SHUT_RDWR);
	drop(u);
	if (u->pidfd >= 0)
		spawn_end(TAKE_FD(u->pidfd), (int)(USHER_CLOSE_US / 1000));
	usher_forget(u);
}

void usher_forget(struct usher *u)
{
	if (!u)
		return;
	drop(u);
	if (u->pidfd >= 0)
		close(u->pidfd);
	sweep_lost(u);
	while (u->n_lost)
		close(u->lost[--u->n_lost]);
	free(u);
}

static int make_board(struct usher *u, int *ret_fd, struct redoma_error *err)
{
	struct ask_rights most = {{u->rights.caps[0], u->rights.caps[1]},
				  u->rights.fsuid, u->rights.fsgid};
	CLEANUP_FD int fd = fd_lift(memfd_create("redoma-board", MFD_CLOEXEC));
	void *p;

	if (fd < 0 || ftruncate(fd, (off_t)BOARD_BYTES))
		return err_sys(err, WHERE, "make a board for " PROGRAM);
	p = mmap(NULL, BOARD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return err_sys(err, WHERE, "make a board for " PROGRAM);
	u->board = p;
	memcpy(u->board + 1, &most, sizeof most);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int start(struct redoma *h, struct usher *u, struct redoma_error *err)
{
	static const char *const argv[] = {PROGRAM, NULL};
	char path[PATH_ROOM + sizeof PROGRAM + 1];
	CLEANUP_FD int theirs = -1;
	CLEANUP_FD int board = -1;
	struct spawn_request q = {.path = path,
				  .argv = argv,
				  .n_fds = 2,
				  .own_child = h->single};
	int sv[2];
	int r = make_board(u, &board, err);

	if (r)
		return r;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
		return err_sys(err, WHERE, "make a socket pair");
	channel_init(&u->channel, fd_lift(sv[0]));
	theirs = fd_lift(sv[1]);
	if (u->channel.fd < 0 || theirs < 0)
		return err_sys(err, WHERE, "make a socket pair");
	snprintf(path, sizeof path, "%s/" PROGRAM, h->install);
	q.fds = (const int[2]){theirs, board};
	return spawn_process(&q, &u->pidfd, err);
}

static int check_lost(struct usher *u, struct redoma_error *err)
{
	if (u->n_lost)
		sweep_lost(u);
	if (u->n_lost < USHER_LOST_MAX)
		return 0;
	return err_set(err, REDOMA_E_SYSTEM, WHERE,
		       "%u earlier runs still wait for file systems that do "
		       "not answer: unmount those (umount -f), or run without "
		       "their grants",
		       USHER_LOST_MAX);
}

/* False: it is still at it, or gone. */
static bool is_idle(struct usher *u)
{
	struct frame f;
	const void *body;

	if (!u->closing)
		return true;
	u->closing = false;
	if (u->cpu == (uint32_t)sched_getcpu())
		sched_yield();
	return !channel_recv(&u->channel, USHER_CLOSE_US, &f, &body, NULL) &&
	       f.kind == FRAME_TOLD;
}

int usher_ready(struct redoma *h, bool *ret_new, struct redoma_error *err)
{
	struct usher_rights now;
	struct usher *u = h->usher;
	int r;

	if (!u) {
		u = calloc(1, sizeof *u);
		if (!u)
			return err_nomem(err, WHERE);
		channel_init(&u->channel, -1);
		u->pidfd = -1;
		h->usher = u;
	}
	r = check_lost(u, err);
	if (r)
		return r;
	look_at_rights(&now);
	*ret_new = false;
	if (u->channel.fd >= 0 && same_rights(&u->rights, &now) && is_idle(u))
		return 0;
	if (u->pidfd >= 0)
		usher_lose(h);
	u->rights = now;
	*ret_new = true;
	r = start(h, u, err);
	if (r)
		drop(u);
	return r;
}

/* What is waited for, and since when nothing moved. */
struct patience {
	const struct usher_ask *ask;
	uint64_t beats, moved_us;
};

static bool ran_out(struct patience *p, const struct usher *u, uint64_t now)
{
	uint64_t beats = atomic_load_explicit(&u->board->beats,
					      memory_order_relaxed);

	if (beats != p->beats) {
		p->beats = beats;
		p->moved_us = now;
	}
	return now >= p->ask->until_us ||
	       now - p->moved_us >= p->ask->quiet_us;
}

static uint64_t next_wait(const struct patience *p, uint64_t now)
{
	uint64_t look = p->ask->quiet_us / LOOKS + 1;
	uint64_t left = p->ask->until_us > now ? p->ask->until_us - now : 0;

	return look < left ? look : left;
}

/* An usher on this CPU runs at once. */
static void give_way(struct usher *u)
{
	if (u->cpu == (uint32_t)sched_getcpu())
		turn_give(&u->turn);
}

static int hear(struct usher *u, struct patience *p, struct frame *f,
		const void **ret_body, struct redoma_error *err)
{
	int shortages = 0, r;

	give_way(u);
	for (;;) {
		uint64_t now = clock_monotonic_us();

		r = channel_recv(&u->channel, next_wait(p, now), f, ret_body,
				 err);
		if (r == REDOMA_E_NOMEM && shortages++ < SHORTAGES_MAX)
			usleep(SHORTAGE_US);
		else if (r != REDOMA_E_BUSY ||
			 ran_out(p, u, clock_monotonic_us()))
			return r;
	}
}

static enum usher_end collect(struct usher *u, struct patience *p,
			      struct buf *told, struct redoma_error *err)
{
	struct frame f;
	const void *body;

	told->cap = ASK_MAX;
	do {
		int r = hear(u, p, &f, &body, err);

		if (r == REDOMA_E_BUSY)
			return USHER_SILENT;
		if (r)
			return r == REDOMA_E_WORKER ? USHER_GONE : USHER_BROKEN;
		if (f.kind == FRAME_FAILED)
			return failed_read(body, f.len, err) ? USHER_FAILED
							     : USHER_GONE;
		if (buf_add(told, body, f.len)) {
			err_nomem(err, WHERE);
			return USHER_BROKEN;
		}
	} while (!(f.flags & FRAME_LAST));
	return USHER_TOLD;
}

static int put(struct usher *u, const struct usher_ask *a,
	       struct redoma_error *err)
{
	int r = channel_put(&u->channel, FRAME_ASK, a->body->data, a->body->len,
			    a->n_fds, err);

	/* Only one that is stuck lets a question wait. */
	u->channel.send_by_us = clock_monotonic_us() + a->quiet_us;
	return r ? r : channel_flush(&u->channel, a->fds, a->n_fds, err);
}

enum usher_end usher_ask(struct redoma *h, const struct usher_ask *a,
			 struct buf *told, struct redoma_error *err)
{
	struct usher *u = h->usher;
	struct redoma_error why = {0};
	struct patience p = {
		.ask = a,
		.beats = atomic_load(&u->board->beats),
		.moved_us = clock_monotonic_us(),
	};
	int before = atomic_load(&h->asked), r;
	enum usher_end end;

	buf_clear(told);
	atomic_store(&h->asked, u->channel.fd);
	/* It may have come before there was somebody to be asked. */
	r = atomic_load(&h->cancelled) ? REDOMA_E_WORKER : put(u, a, &why);
	if (!r)
		end = collect(u, &p, told, &why);
	else
		end = r == REDOMA_E_NOMEM ? USHER_BROKEN : USHER_GONE;
	handle_calm(h, &h->asked, before);
	if (end == USHER_GONE && atomic_load(&h->cancelled))
		end = USHER_CANCELLED;
	if (end == USHER_GONE)
		err_set(&why, REDOMA_E_SYSTEM, WHERE,
			PROGRAM " ended before it answered; run again");
	if (end != USHER_TOLD && err)
		*err = why;
	return end;
}

void usher_close_run(struct redoma *h)
{
	struct usher *u = h->usher;
	const char op = ASK_CLOSE;

	u->closing = true;
	u->channel.send_by_us = clock_monotonic_us() + USHER_CLOSE_US;
	if (channel_send(&u->channel, FRAME_ASK, FRAME_LAST, &op, 1, NULL))
		usher_lose(h);
}
