#include "pool/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/fd.h"
#include "pool/spawn.h"
#include "wire/failed.h"

#define WHERE "pool"
/* Of the control group: engine and image, what the kernel keeps of them all,
 * and a worker that is parked. */
#define ZYGOTE_BYTES ((uint64_t)64 << 20)
#define PARKED_BYTES ((uint64_t)16 << 20)
#define GROUP_BYTES_MAX ((uint64_t)1 << 46)
/* Killed, and not reaped yet; or reaped, and not yet off its CPU, until when
 * it counts. */
#define DYING 32u

void slot_free(struct slot *s)
{
	if (!s)
		return;
	channel_done(&s->channel);
	close(s->channel.fd);
	close(s->pidfd);
	free(s);
}

void slots_free(struct slot **list)
{
	struct slot *s;

	while ((s = *list)) {
		*list = s->next;
		slot_free(s);
	}
}

void zygote_forget(struct zygote *z)
{
	if (!z)
		return;
	slots_free(&z->idle);
	channel_done(&z->channel);
	if (z->channel.fd >= 0)
		close(z->channel.fd);
	if (z->pidfd >= 0)
		close(z->pidfd);
	if (z->self_fd >= 0)
		close(z->self_fd);
	free(z->tenant);
	free(z->image);
	free(z);
}

void zygote_end(struct zygote *z)
{
	if (!z)
		return;
	/* At the end of this channel it ends its children, reaps them and goes;
	 * a copy of our end in a child of the host's does not hold that up. */
	if (z->channel.fd >= 0)
		shutdown(z->channel.fd, SHUT_RDWR);
	if (z->pidfd >= 0)
		spawn_end(TAKE_FD(z->pidfd), ZYGOTE_END_MS);
	zygote_forget(z);
}

static void cleanup_zygote(struct zygote **z)
{
	zygote_end(*z);
}

bool zygote_matches(const struct zygote *z, const struct pool_want *w)
{
	return z->setup.profile == w->profile &&
	       z->setup.may_lack == w->may_lack &&
	       z->own_bytes >= w->own_bytes &&
	       z->guest_bytes >= w->guest_bytes &&
	       !!z->setup.reuse == w->reuse && !strcmp(z->tenant, w->tenant) &&
	       !strcmp(z->image, w->image_path ? w->image_path : "");
}

/* One set of children for each CPU that this thread may run on: a caller is
 * handed one of its own CPU, since waking another costs far more than a run. */
static void fill_cpus(struct spawn_setup *s, const struct pool_options *o)
{
	cpu_set_t set;
	int cpu;

	s->per_cpu = o->single ? 1 : o->per_cpu;
	if (o->single || sched_getaffinity(0, sizeof set, &set))
		return;
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && s->n_cpus < SPAWN_SLOTS_MAX)
			s->cpus[s->n_cpus++] = (uint16_t)cpu;
}

/* One worker runs at a time.  One that has run keeps some of what it had, if it
 * is used again. */
static void fill_group(struct zygote *z)
{
	struct spawn_setup *s = &z->setup;
	uint64_t n = s->n_cpus ? (uint64_t)s->n_cpus * s->per_cpu : 1;
	uint64_t bytes = ZYGOTE_BYTES + n * PARKED_BYTES;

	bytes += (s->reuse ? n : 1) * z->own_bytes;
	/* That may be as much as a file can have. */
	s->group_bytes = z->guest_bytes < GROUP_BYTES_MAX - bytes
				 ? bytes + z->guest_bytes
				 : GROUP_BYTES_MAX;
	s->group_pids = 1 + n + DYING;
}

static int start_process(struct zygote *z, const struct pool_options *o,
			 struct redoma_error *err)
{
	static const char *const argv[] = {"redoma-zygote", NULL};
	CLEANUP_FD int theirs = -1;
	struct spawn_request q = {
		.path = o->worker_path, .argv = argv, .n_fds = 1,
		.own_child = o->single};
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
		return err_sys(err, WHERE, "make a socket pair");
	channel_init(&z->channel, fd_lift(sv[0]));
	theirs = fd_lift(sv[1]);
	if (z->channel.fd < 0 || theirs < 0)
		return err_sys(err, WHERE, "make a socket pair");
	q.fds = &theirs;
	return spawn_process(&q, &z->pidfd, err);
}

/* Of what is sent, whatever its name stands for now. */
static int send_image(struct zygote *z, int kind, size_t len, int image,
		      struct redoma_error *err)
{
	struct stat st;

	if (fstat(image, &st))
		return err_sys(err, WHERE, "look at the language image %s",
			       z->image);
	z->loaded = (struct pool_image){
		(uint64_t)st.st_dev, (uint64_t)st.st_ino, (uint64_t)st.st_size,
		st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
	return channel_send_fds(&z->channel, kind, len ? &z->setup : NULL, len,
				&image, 1, err);
}

static int send_setup(struct zygote *z, struct redoma_error *err)
{
	CLEANUP_FD int image = -1;

	if (!z->setup.has_image)
		return channel_send(&z->channel, FRAME_SPAWN, FRAME_LAST,
				    &z->setup, sizeof z->setup, err);
	image = open(z->image, O_RDONLY | O_CLOEXEC);
	if (image < 0)
		return err_sys(err, WHERE, "open the language image %s",
			       z->image);
	return send_image(z, FRAME_SPAWN, sizeof z->setup, image, err);
}

static int first_frame(struct zygote *z, struct frame *f, const void **body,
		       struct redoma_error *err)
{
	struct redoma_error why = {0};
	int r = channel_recv(&z->channel, ZYGOTE_START_US, f, body, &why);

	if (r == REDOMA_E_NOMEM || r == REDOMA_E_SYSTEM) {
		if (err)
			*err = why;
		return r;
	}
	if (r)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "redoma-worker did not start: %s", why.text);
	return 0;
}

/* As long as making one takes. */
static int send_other(struct zygote *z, const struct pool_want *w,
		      const struct redoma_error *why, struct redoma_error *err)
{
	CLEANUP_FD int image = -1;
	int r;

	if (!w->other_image) {
		if (err)
			*err = *why;
		return why->code;
	}
	r = w->other_image(w->other_image_data, why, &image, err);
	return r ? r : send_image(z, FRAME_MODULE, 0, image, err);
}

static int wait_ready(struct zygote *z, const struct pool_want *w,
		      struct redoma_error *err)
{
	struct redoma_error why = {0};
	struct frame f;
	const void *body;
	int r = first_frame(z, &f, &body, err);

	if (!r && f.kind == FRAME_UNFIT) {
		(void)!failed_read(body, f.len, &why);
		r = send_other(z, w, &why, err);
		if (!r)
			r = first_frame(z, &f, &body, err);
	}
	if (r)
		return r;
	if (f.kind == FRAME_FAILED)
		return failed_read(body, f.len, err);
	if (f.kind != FRAME_READY || f.len != sizeof z->ready)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "redoma-worker is of another build");
	memcpy(&z->ready, body, sizeof z->ready);
	z->self_fd = channel_take_fd(&z->channel);
	if (z->ready.abi != SPAWN_ABI)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "redoma-worker is of another build");
	return 0;
}

int zygote_start(const struct pool_options *o, const struct pool_want *w,
		 struct zygote **ret, struct redoma_error *err)
{
	CLEANUP(cleanup_zygote) struct zygote *z = calloc(1, sizeof *z);
	int r;

	if (!z)
		return err_nomem(err, WHERE);
	z->pidfd = -1;
	z->self_fd = -1;
	z->off_cpu = -1;
	channel_init(&z->channel, -1);
	z->tenant = strdup(w->tenant);
	z->image = strdup(w->image_path ? w->image_path : "");
	if (!z->tenant || !z->image)
		return err_nomem(err, WHERE);
	z->setup = (struct spawn_setup){
		.abi = SPAWN_ABI,
		.profile = w->profile,
		.has_image = w->image_path != NULL,
		.may_lack = w->may_lack,
		.single = o->single,
		.reuse = w->reuse,
		.runs_per_worker = w->reuse ? o->runs_per_worker : 1,
		.verify = o->verify,
	};
	z->own_bytes = w->own_bytes;
	z->guest_bytes = w->guest_bytes;
	fill_cpus(&z->setup, o);
	fill_group(z);
	r = start_process(z, o, err);
	if (!r)
		r = send_setup(z, err);
	if (!r)
		r = wait_ready(z, w, err);
	if (r)
		return r;
	*ret = TAKE_PTR(z);
	return 0;
}

int zygote_ask(struct zygote *z, struct redoma_error *err)
{
	return channel_send(&z->channel, FRAME_SPAWN, FRAME_LAST, NULL, 0, err);
}

/* Those of the next birth are told apart from those of one that failed. */
static int drop_fds(struct channel *c, int r)
{
	int fd;

	while ((fd = channel_take_fd(c)) >= 0)
		close(fd);
	return r;
}

static int born(struct zygote *z, const void *body, size_t len,
		struct redoma_error *err)
{
	struct spawn_born b;
	struct slot *s, **end = &z->idle;

	if (len != sizeof b || z->channel.n_fds != 2)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "a birth that breaks the protocol");
	memcpy(&b, body, sizeof b);
	s = malloc(sizeof *s);
	if (!s)
		return drop_fds(&z->channel, err_nomem(err, WHERE));
	channel_init(&s->channel, channel_take_fd(&z->channel));
	s->channel.no_fds = true;
	s->pidfd = channel_take_fd(&z->channel);
	s->pid = b.pid;
	s->number = b.slot;
	s->cpu = b.cpu;
	s->ready = b.ready;
	s->cold = s->loaded = false;
	s->runs = 0;
	s->used_faults = b.ready.used_faults;
	s->data_bytes = s->file_bytes = UINT64_MAX;
	s->zygote = z;
	s->next = NULL;
	while (*end)
		end = &(*end)->next;
	*end = s;
	return 0;
}

static void died(struct zygote *z, const struct spawn_dead *d)
{
	struct slot **at = &z->idle;

	z->dead[z->n_dead++ % ZYGOTE_DEAD_KEPT] = *d;
	while (*at && (*at)->number != d->slot)
		at = &(*at)->next;
	if (*at) {
		struct slot *s = *at;

		*at = s->next;
		slot_free(s);
	}
}

bool zygote_death(const struct zygote *z, uint32_t slot, struct spawn_dead *ret)
{
	uint32_t i;

	for (i = 0; i < z->n_dead && i < ZYGOTE_DEAD_KEPT; i++)
		if (z->dead[i].slot == slot ||
		    z->dead[i].slot == SPAWN_SLOT_ALL) {
			*ret = z->dead[i];
			return true;
		}
	return false;
}

int zygote_listen(struct zygote *z, uint64_t timeout_us,
		  struct redoma_error *err)
{
	struct spawn_dead d;
	struct frame f;
	const void *body;
	int r = channel_recv(&z->channel, timeout_us, &f, &body, err);

	if (r)
		return r;
	switch (f.kind) {
	case FRAME_BORN:
		return born(z, body, f.len, err);
	case FRAME_DEAD:
		if (f.len == sizeof d) {
			memcpy(&d, body, sizeof d);
			died(z, &d);
			return 0;
		}
		break;
	case FRAME_FAILED:
		return failed_read(body, f.len, err);
	default:
		break;
	}
	return err_set(err, REDOMA_E_WORKER, WHERE,
		       "the zygote broke the protocol");
}
