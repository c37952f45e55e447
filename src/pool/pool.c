#include "pool/pool.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/here.h"
#include "pool/zygote.h"

#define NUDGE_US 120u /* longer than a short run */
#define WHERE "pool"
#define DEATH_US 1000000u /* a killed process that is not gone by then */
#define DEATH_SOON_US 250000u /* or is only asked what it used */

struct pool {
	struct pool_options o;
	struct zygote *zygotes;
};

int pool_new(const struct pool_options *o, struct pool **ret,
	     struct redoma_error *err)
{
	struct pool *p = calloc(1, sizeof *p);

	if (!p)
		return err_nomem(err, WHERE);
	p->o = *o;
	if (!p->o.per_cpu)
		p->o.per_cpu = 1;
	*ret = p;
	return 0;
}

static void empty(struct pool *p, void (*each)(struct zygote *z))
{
	struct zygote *z;

	while (p && (z = p->zygotes)) {
		p->zygotes = z->next;
		each(z);
	}
	free(p);
}

void pool_free(struct pool *p)
{
	empty(p, zygote_end);
}

void pool_count(const struct pool *p, uint64_t *ret_zygotes,
		uint64_t *ret_parked)
{
	*ret_zygotes = *ret_parked = 0;
	for (const struct zygote *z = p->zygotes; z; z = z->next) {
		++*ret_zygotes;
		for (const struct slot *s = z->idle; s; s = s->next)
			++*ret_parked;
	}
}

static bool has_image(const struct zygote *z, const char *tenant,
		      const char *image_path)
{
	return !strcmp(z->image, image_path) && !strcmp(z->tenant, tenant);
}

bool pool_image(const struct pool *p, const char *tenant,
		const char *image_path, struct pool_image *ret)
{
	const struct zygote *first = NULL;

	for (const struct zygote *z = p->zygotes; z; z = z->next) {
		if (!has_image(z, tenant, image_path))
			continue;
		if (first && memcmp(&first->loaded, &z->loaded,
				    sizeof z->loaded))
			return false;
		first = first ? first : z;
	}
	if (first)
		*ret = first->loaded;
	return first != NULL;
}

void pool_forget(struct pool *p)
{
	empty(p, zygote_forget);
}

static void remove_zygote(struct pool *p, struct zygote *z)
{
	struct zygote **at = &p->zygotes;

	while (*at && *at != z)
		at = &(*at)->next;
	if (*at)
		*at = z->next;
	zygote_end(z);
}

/* Ends those that were not used for longest until one more has room. */
static void make_room(struct pool *p)
{
	struct zygote *z = p->zygotes;
	size_t n;

	for (n = 1; z && n < POOL_ZYGOTES - 1; n++)
		z = z->next;
	while (z && z->next)
		remove_zygote(p, z->next);
}

/* To the front: the list is in the order of use. */
static void use(struct pool *p, struct zygote *z)
{
	struct zygote **at = &p->zygotes;

	while (*at != z)
		at = &(*at)->next;
	*at = z->next;
	z->next = p->zygotes;
	p->zygotes = z;
}

static int find_zygote(struct pool *p, const struct pool_want *w,
		       struct zygote **ret, struct redoma_error *err)
{
	struct zygote *z = p->zygotes;
	int r;

	while (z && !zygote_matches(z, w))
		z = z->next;
	if (z) {
		use(p, z);
	} else {
		make_room(p);
		r = zygote_start(&p->o, w, &z, err);
		if (r)
			return r;
		z->next = p->zygotes;
		p->zygotes = z;
	}
	*ret = z;
	return 0;
}

/* How well a parked worker fits: its module is loaded, it sits on this CPU.  0:
 * not at all, an earlier run bound it to less or left another module in it. */
static int fitness(const struct slot *s, const struct pool_want *w, int cpu)
{
	int n = s->cpu < 0 || s->cpu == cpu;

	if (s->data_bytes < w->data_bytes || s->file_bytes < w->file_bytes)
		return 0;
	if (!w->digest)
		return n + 1;
	if (!s->loaded)
		return n + 1;
	return memcmp(s->digest, w->digest, sizeof s->digest) ? 0 : n + 3;
}

/* On any CPU but that one; -1: on any.  Only speed depends on it.  False: they
 * are not its any more, or it may not. */
static bool spread(const struct zygote *z, pid_t pid, int but)
{
	const struct spawn_setup *setup = &z->setup;
	cpu_set_t set;

	CPU_ZERO(&set);
	for (uint32_t i = 0; i < setup->n_cpus; i++)
		if (setup->cpus[i] != but)
			CPU_SET((size_t)setup->cpus[i], &set);
	return !sched_setaffinity(pid, sizeof set, &set);
}

static struct slot *pick(struct zygote *z, const struct pool_want *w)
{
	struct slot **at, **best = NULL;
	int cpu = sched_getcpu(), most = 0;
	struct slot *s;

	for (at = &z->idle; *at; at = &(*at)->next) {
		int n = fitness(*at, w, cpu);

		if (n > most) {
			most = n;
			best = at;
		}
	}
	if (!best)
		return NULL;
	s = *best;
	*best = s->next;
	s->next = NULL;
	return s;
}

/* One that may not be killed (root without CAP_KILL) ends with its socket, of
 * which its zygote has a copy. */
static void end_worker(const struct slot *s)
{
	if (syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0))
		shutdown(s->channel.fd, SHUT_RDWR);
}

/* No parked worker fits: the oldest makes room, its zygote
 * replaces it. */
static void evict(struct zygote *z)
{
	struct slot *s = z->idle;

	if (!s)
		return;
	z->idle = s->next;
	end_worker(s);
	slot_free(s);
}

/* One that is may have left its number to a process that is none of ours. */
static bool is_reaped(int pidfd)
{
	return syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) != 0;
}

/* The next workers are made on the CPUs but that one: where a run goes on they
 * would take turns of its caller's. */
static void clear(struct zygote *z, int cpu)
{
	if (z->setup.n_cpus < 2 || z->off_cpu == cpu || z->ready.pid <= 0 ||
	    is_reaped(z->self_fd))
		return;
	if (spread(z, z->ready.pid, cpu))
		z->off_cpu = cpu;
}

static int wait_birth(struct zygote *z, const struct pool_want *w,
		      struct slot **ret, struct redoma_error *err)
{
	uint64_t until = clock_monotonic_us() + ZYGOTE_BIRTH_US;
	int r = 0;

	if (z->setup.single)
		r = zygote_ask(z, err);
	else
		evict(z);
	clear(z, -1);
	while (!r) {
		uint64_t now = clock_monotonic_us();

		r = zygote_listen(z, now < until ? until - now : 0, err);
		if (r)
			break;
		*ret = pick(z, w);
		if (*ret) {
			(*ret)->cold = true;
			return 0;
		}
	}
	return r;
}

/* Everything that the zygote has said. */
static int hear_all(struct zygote *z, struct redoma_error *err)
{
	struct redoma_error none;
	int r = 0;

	while (!r)
		r = zygote_listen(z, 0, &none);
	if (r == REDOMA_E_BUSY)
		return 0;
	if (err)
		*err = none;
	return r;
}

static int take_from(struct zygote *z, const struct pool_want *w,
		     struct slot **ret, struct redoma_error *err)
{
	struct slot *s;
	bool dead;
	int r = 0;

	do {
		struct pollfd p[4] = {{.fd = z->channel.fd, .events = POLLIN},
				      {.fd = -1, .events = POLLIN},
				      {.fd = z->pidfd, .events = POLLIN},
				      {.fd = z->self_fd, .events = POLLIN}};

		/* One look for all: is there news, does it live, and will it?
		 * The zygote tells of a death only after it reaped; it dies
		 * with its keeper, and its children with it, but not at
		 * once. */
		s = pick(z, w);
		if (s)
			p[1].fd = s->pidfd;
		while (poll(p, 4, 0) < 0 && errno == EINTR)
			;
		dead = p[1].revents != 0;
		if (dead)
			slot_free(TAKE_PTR(s));
		if (p[0].revents || !s)
			r = hear_all(z, err);
		if (!r && (p[2].revents || p[3].revents))
			r = err_set(err, REDOMA_E_WORKER, WHERE,
				    "the zygote is gone");
	} while (!r && dead);
	if (r) {
		slot_free(s);
		return r;
	}
	*ret = s ? s : pick(z, w);
	return *ret ? 0 : wait_birth(z, w, ret, err);
}

/* The run's conversation stays on the caller's CPU. */
static void follow(struct slot *s)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	if (s->zygote->setup.single || cpu < 0 || s->cpu == cpu)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (!sched_setaffinity(s->pid, sizeof set, &set))
		s->cpu = cpu;
}

void pool_loosen(struct slot *s)
{
	if (s->cpu >= 0 && spread(s->zygote, s->pid, -1))
		s->cpu = -1;
}

static bool is_well_stocked(const struct zygote *z)
{
	uint32_t n = 0;

	for (const struct slot *s = z->idle; s; s = s->next)
		n++;
	return 2 * n >= z->setup.n_cpus * z->setup.per_cpu;
}

static void settle(struct slot *s, const struct pool_want *w)
{
	follow(s);
	if (is_well_stocked(s->zygote))
		clear(s->zygote, sched_getcpu());
	/* Where one worker serves many runs the timer costs a tenth of one. */
	s->channel.nudge_us = w->reuse ? 0 : NUDGE_US;
	s->data_bytes = w->data_bytes;
	s->file_bytes = w->file_bytes;
}

int pool_take(struct pool *p, const struct pool_want *w, struct slot **ret,
	      struct redoma_error *err)
{
	int tries = 2, r;

	do {
		struct zygote *z;

		r = find_zygote(p, w, &z, err);
		if (r)
			return r;
		r = take_from(z, w, ret, err);
		if (!r)
			settle(*ret, w);
		else
			remove_zygote(p, z);
		/* A zygote that someone killed is replaced once. */
	} while (r == REDOMA_E_WORKER && --tries);
	return r;
}

void pool_give(struct pool *p, struct slot *s)
{
	if (++s->runs >= s->zygote->setup.runs_per_worker) {
		pool_kill(p, s, false, NULL);
		return;
	}
	s->cold = false;
	s->next = s->zygote->idle;
	s->zygote->idle = s;
}

void pool_drop(struct slot *s)
{
	/* Its memory is taken down when the caller has gone on. */
	if (!is_reaped(s->pidfd)) {
		if (s->zygote->off_cpu >= 0)
			spread(s->zygote, s->pid, s->zygote->off_cpu);
		here_meek(s->pid);
	}
	end_worker(s);
	slot_free(s);
}

static int learn_end(struct zygote *z, uint32_t number, uint64_t wait_us,
		     struct spawn_dead *ret)
{
	uint64_t until = clock_monotonic_us() + wait_us;
	int r = 0;

	*ret = (struct spawn_dead){.slot = number};
	while (!zygote_death(z, number, ret) && !r) {
		uint64_t now = clock_monotonic_us();

		r = zygote_listen(z, now < until ? until - now : 0, NULL);
	}
	return r;
}

void pool_kill(struct pool *p, struct slot *s, bool poison,
	       struct spawn_dead *ret)
{
	struct zygote *z = s->zygote;
	struct spawn_dead d = {0};
	int r = 0;

	end_worker(s);
	if (ret || poison) {
		r = learn_end(z, s->number, poison ? DEATH_US : DEATH_SOON_US,
			      &d);
		if (ret)
			*ret = d;
	}
	slot_free(s);
	/* One whose words were lost may have told of a worker that would wait
	 * for ever. */
	if (poison || (r && r != REDOMA_E_BUSY))
		remove_zygote(p, z);
}
