#include "pool/spawner.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "pool/spawn.h"
#include "pool/zygote.h"
#include "wire/failed.h"

#define WHERE "pool"
#define PROGRAM "redoma-init"

void spawner_forget(struct spawner *s)
{
	struct slot *slot;

	if (!s)
		return;
	while ((slot = s->idle)) {
		s->idle = slot->next;
		slot_free(slot);
	}
	channel_done(&s->channel);
	if (s->channel.fd >= 0)
		close(s->channel.fd);
	if (s->pidfd >= 0)
		close(s->pidfd);
	free(s->tenant);
	free(s->digest);
	free(s);
}

void spawner_end(struct spawner *s)
{
	if (!s)
		return;
	/* At the end of this channel it ends its jails and removes their
	 * groups. */
	if (s->channel.fd >= 0)
		shutdown(s->channel.fd, SHUT_RDWR);
	if (s->pidfd >= 0)
		spawn_end(TAKE_FD(s->pidfd), SPAWNER_END_MS);
	spawner_forget(s);
}

static void cleanup_spawner(struct spawner **s)
{
	spawner_end(*s);
}

bool spawner_matches(const struct spawner *s, const struct jails_want *w)
{
	return !memcmp(&s->setup, w->setup, sizeof s->setup) &&
	       !strcmp(s->tenant, w->tenant) &&
	       !strcmp(s->digest, w->root_digest);
}

static int start_process(struct spawner *s, const struct jails_options *o,
			 struct redoma_error *err)
{
	static const char *const argv[] = {"redoma-spawner", NULL};
	CLEANUP_FD int theirs = -1;
	struct spawn_request q = {.path = o->init_path,
				  .argv = argv,
				  .n_fds = 1,
				  .own_child = o->single};
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
		return err_sys(err, WHERE, "make a socket pair");
	channel_init(&s->channel, fd_lift(sv[0]));
	theirs = fd_lift(sv[1]);
	if (s->channel.fd < 0 || theirs < 0)
		return err_sys(err, WHERE, "make a socket pair");
	q.fds = &theirs;
	return spawn_process(&q, &s->pidfd, err);
}

static int send_setup(struct spawner *s, const struct buf *root,
		      struct redoma_error *err)
{
	int r = channel_put(&s->channel, FRAME_SPAWN, &s->setup,
			    sizeof s->setup, 0, err);

	if (!r)
		r = channel_put(&s->channel, FRAME_ROOT, root->data, root->len,
				0, err);
	return r ? r : channel_flush(&s->channel, NULL, 0, err);
}

static int wait_ready(struct spawner *s, struct redoma_error *err)
{
	struct redoma_error why = {0};
	struct frame f;
	const void *body;
	int r = channel_recv(&s->channel, SPAWNER_START_US, &f, &body, &why);

	if (r)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       PROGRAM " did not start: %s", why.text);
	if (f.kind == FRAME_FAILED)
		return failed_read(body, f.len, err);
	if (f.kind == FRAME_READY && f.len == sizeof s->ready)
		memcpy(&s->ready, body, sizeof s->ready);
	if (s->ready.abi == SPAWN_ABI)
		return 0;
	return err_set(err, REDOMA_E_WORKER, WHERE,
		       PROGRAM " is of another build");
}

int spawner_start(const struct jails_options *o, const struct jails_want *w,
		  struct spawner **ret, struct redoma_error *err)
{
	CLEANUP(cleanup_spawner) struct spawner *s = calloc(1, sizeof *s);
	int r;

	if (!s)
		return err_nomem(err, WHERE);
	s->pidfd = -1;
	channel_init(&s->channel, -1);
	s->tenant = strdup(w->tenant);
	s->digest = strdup(w->root_digest);
	if (!s->tenant || !s->digest)
		return err_nomem(err, WHERE);
	s->setup = *w->setup;
	s->birth_us = o->birth_us ? o->birth_us : SPAWNER_BIRTH_US;
	r = start_process(s, o, err);
	if (!r)
		r = send_setup(s, w->root, err);
	if (!r)
		r = wait_ready(s, err);
	if (r)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

int spawner_ask(struct spawner *s, struct redoma_error *err)
{
	return channel_send(&s->channel, FRAME_SPAWN, FRAME_LAST, NULL, 0, err);
}

static int born(struct spawner *s, const void *body, size_t len,
		struct redoma_error *err)
{
	struct spawn_born b;
	struct slot *slot, **end = &s->idle;

	if (len != sizeof b || s->channel.n_fds != 2)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "a birth that breaks the protocol");
	memcpy(&b, body, sizeof b);
	slot = malloc(sizeof *slot);
	if (!slot)
		return err_nomem(err, WHERE);
	*slot = (struct slot){.pidfd = -1};
	channel_init(&slot->channel, channel_take_fd(&s->channel));
	slot->channel.no_fds = true;
	slot->pidfd = channel_take_fd(&s->channel);
	slot->pid = b.pid;
	slot->number = b.slot;
	slot->cpu = -1;
	slot->ready = b.ready;
	slot->spawner = s;
	while (*end)
		end = &(*end)->next;
	*end = slot;
	return 0;
}

static void died(struct spawner *s, const struct native_dead *d)
{
	struct slot **at = &s->idle;

	s->dead[s->n_dead++ % SPAWNER_DEAD_KEPT] = *d;
	while (*at && (*at)->number != d->end.slot)
		at = &(*at)->next;
	if (*at) {
		struct slot *slot = *at;

		*at = slot->next;
		slot_free(slot);
	}
}

bool spawner_death(const struct spawner *s, uint32_t slot,
		   struct native_dead *ret)
{
	for (uint32_t i = 0; i < s->n_dead && i < SPAWNER_DEAD_KEPT; i++)
		if (s->dead[i].end.slot == slot) {
			*ret = s->dead[i];
			return true;
		}
	return false;
}

static int broken(struct redoma_error *err)
{
	return err_set(err, REDOMA_E_WORKER, WHERE,
		       "the spawner broke the protocol");
}

int spawner_failed(struct spawner *s, struct redoma_error *err)
{
	if (!s->has_failed)
		return 0;
	s->has_failed = false;
	if (err)
		*err = s->failed;
	return s->failed.code;
}

int spawner_listen(struct spawner *s, uint64_t timeout_us,
		   struct redoma_error *err)
{
	struct native_dead d;
	struct frame f;
	const void *body;
	int why, r = channel_recv(&s->channel, timeout_us, &f, &body, err);

	/* The last word of one that is gone says why it is. */
	if (r == REDOMA_E_WORKER) {
		why = spawner_failed(s, err);
		return why ? why : r;
	}
	if (r)
		return r;
	switch (f.kind) {
	case FRAME_BORN:
		return born(s, body, f.len, err);
	case FRAME_DEAD:
		if (f.len != sizeof d)
			return broken(err);
		memcpy(&d, body, sizeof d);
		died(s, &d);
		return 0;
	case FRAME_ADMITTED:
		if (f.len != sizeof s->admitted || s->has_admitted)
			return broken(err);
		memcpy(&s->admitted, body, sizeof s->admitted);
		s->has_admitted = true;
		s->admitted_fds = f.n_fds;
		return 0;
	case FRAME_FAILED:
		s->has_failed = failed_read(body, f.len, &s->failed) != 0;
		return 0;
	default:
		return broken(err);
	}
}

int spawner_wait_admitted(struct spawner *s, uint64_t timeout_us,
			  struct native_admitted *ret,
			  struct redoma_error *err)
{
	uint64_t until = clock_monotonic_us() + timeout_us;
	int r = 0;

	while (!r && !s->has_admitted) {
		uint64_t now = clock_monotonic_us();

		r = spawner_listen(s, now < until ? until - now : 0, err);
	}
	if (r)
		return r;
	s->has_admitted = false;
	*ret = s->admitted;
	ret->why.text[sizeof ret->why.text - 1] = '\0';
	ret->why.where[sizeof ret->why.where - 1] = '\0';
	return 0;
}
