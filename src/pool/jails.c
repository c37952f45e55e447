#include "pool/jails.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "pool/spawner.h"
#include "pool/zygote.h"

#define WHERE "pool"
#define ADMIT_US 10000000u /* a host file system that does not answer */
#define END_US 5000000u

struct jails {
	struct jails_options o;
	struct spawner *spawners;
};

int jails_new(const struct jails_options *o, struct jails **ret,
	      struct redoma_error *err)
{
	struct jails *j = calloc(1, sizeof *j);

	if (!j)
		return err_nomem(err, WHERE);
	j->o = *o;
	*ret = j;
	return 0;
}

static void empty(struct jails *j, void (*each)(struct spawner *s))
{
	struct spawner *s;

	while (j && (s = j->spawners)) {
		j->spawners = s->next;
		each(s);
	}
	free(j);
}

void jails_free(struct jails *j)
{
	empty(j, spawner_end);
}

void jails_count(const struct jails *j, uint64_t *ret_spawners,
		 uint64_t *ret_jails)
{
	*ret_spawners = *ret_jails = 0;
	for (const struct spawner *s = j->spawners; s; s = s->next) {
		++*ret_spawners;
		for (const struct slot *t = s->idle; t; t = t->next)
			++*ret_jails;
	}
}

void jails_forget(struct jails *j)
{
	empty(j, spawner_forget);
}

static void take_out(struct jails *j, const struct spawner *s)
{
	struct spawner **at = &j->spawners;

	while (*at && *at != s)
		at = &(*at)->next;
	if (*at)
		*at = s->next;
}

static void remove_spawner(struct jails *j, struct spawner *s)
{
	take_out(j, s);
	spawner_end(s);
}

/* Ends those that were not used for longest until one more has room. */
static void make_room(struct jails *j)
{
	struct spawner *s = j->spawners;

	for (size_t n = 1; s && n < JAILS_SPAWNERS - 1; n++)
		s = s->next;
	while (s && s->next)
		remove_spawner(j, s->next);
}

static int find(struct jails *j, const struct jails_want *w,
		struct spawner **ret, struct redoma_error *err)
{
	struct spawner *s = j->spawners;
	int r;

	while (s && !spawner_matches(s, w))
		s = s->next;
	if (s) {
		take_out(j, s);
	} else {
		make_room(j);
		r = spawner_start(&j->o, w, &s, err);
		if (r)
			return r;
	}
	/* To the front: the list is in the order of use. */
	s->next = j->spawners;
	j->spawners = s;
	*ret = s;
	return 0;
}

static struct slot *pop(struct spawner *s)
{
	struct slot *slot = s->idle;

	if (slot)
		s->idle = slot->next;
	return slot;
}

static int wait_birth(struct spawner *s, uint64_t wait_until,
		      struct slot **ret, struct redoma_error *err)
{
	uint64_t from = clock_monotonic_us();
	uint64_t most = wait_until > from ? wait_until - from : 0;
	uint64_t until = from + (most < s->birth_us ? most : s->birth_us);
	int r = s->setup.park ? 0 : spawner_ask(s, err);

	while (!r) {
		uint64_t now = clock_monotonic_us();
		uint64_t left = now < until ? until - now : 0;

		*ret = pop(s);
		if (*ret) {
			(*ret)->cold = true;
			return 0;
		}
		r = spawner_failed(s, err);
		if (!r)
			r = spawner_listen(s, left, err);
	}
	if (r == REDOMA_E_BUSY)
		return err_set(err, r, WHERE,
			       "no jail became ready in %" PRIu64 " ms: the "
			       "machine has too much to do; run it again",
			       (until - from) / 1000);
	return r;
}

static int take_from(struct spawner *s, uint64_t wait_until,
		     struct slot **ret, struct redoma_error *err)
{
	struct redoma_error none;
	int r = 0;

	/* What it has said, deaths among it, before one is believed ready. */
	while (!r)
		r = spawner_listen(s, 0, &none);
	if (r != REDOMA_E_BUSY) {
		if (err)
			*err = none;
		return r;
	}
	*ret = pop(s);
	if (!*ret)
		return wait_birth(s, wait_until, ret, err);
	/* Of a birth that this run does not need. */
	s->has_failed = false;
	return 0;
}

int jails_take(struct jails *j, const struct jails_want *w, struct slot **ret,
	       struct redoma_error *err)
{
	uint64_t from = clock_monotonic_us();
	uint64_t until = w->wait_us && w->wait_us < UINT64_MAX - from
				 ? from + w->wait_us : UINT64_MAX;
	int tries = 2, r;

	do {
		struct spawner *s;

		r = find(j, w, &s, err);
		if (r)
			return r;
		r = take_from(s, until, ret, err);
		if (r)
			remove_spawner(j, s);
		else if (!s->used)
			(*ret)->cold = s->used = true;
		/* A spawner that someone killed is replaced once. */
	} while (r == REDOMA_E_WORKER && --tries);
	return r;
}

static struct spawner *owner(const struct jails *j, const struct slot *slot)
{
	struct spawner *s = j->spawners;

	while (s && s != slot->spawner)
		s = s->next;
	return s;
}

static int gone(struct redoma_error *err)
{
	return err_set(err, REDOMA_E_WORKER, WHERE,
		       "redoma-spawner, which holds the jail of this run, has "
		       "ended: something killed it, or the machine ran out of "
		       "memory; the program ended with it and nothing was "
		       "published; run it again");
}

/* All that a channel can say is that its other end is gone, or says nothing; a
 * spawner that had a last word said why. */
static int explain(int r, const struct redoma_error *why, uint64_t waited_us,
		   struct redoma_error *err)
{
	bool wire = !strcmp(why->where, "wire");

	if (r == REDOMA_E_WORKER && wire)
		return gone(err);
	if (r == REDOMA_E_BUSY && wire)
		return err_set(err, r, WHERE,
			       "redoma-spawner, which holds the jail of this "
			       "run, did not answer in %" PRIu64 " s and was "
			       "ended, and the program with it: the machine "
			       "has too much to do, or the file system of a "
			       "grant does not answer; run it again, or "
			       "without that grant",
			       waited_us / 1000000);
	if (r && err)
		*err = *why;
	return r;
}

/* Those of the answer; behind it may wait those of a birth. */
static void close_fds(struct spawner *s)
{
	while (s->admitted_fds--)
		close(channel_take_fd(&s->channel));
}

static int take_fds(struct spawner *s, const struct native_admitted *m,
		    size_t n_grants, int *mounts, int *ret_cpu)
{
	if (s->admitted_fds != n_grants + !!m->has_cpu)
		return -1;
	*ret_cpu = m->has_cpu ? channel_take_fd(&s->channel) : -1;
	for (size_t i = 0; i < n_grants; i++)
		mounts[i] = channel_take_fd(&s->channel);
	return 0;
}

static int ask(struct spawner *s, const struct native_admit *m,
	       const struct jails_admission *a, struct native_admitted *ret,
	       struct redoma_error *err)
{
	int r = channel_send_fds(&s->channel, FRAME_ADMIT, m, sizeof *m,
				 a->grants, a->n_grants, err);

	return r ? r : spawner_wait_admitted(s, ADMIT_US, ret, err);
}

int jails_admit(struct jails *j, struct slot *slot,
		const struct jails_admission *a, int *mounts, int *ret_cpu,
		struct redoma_error *err)
{
	struct spawner *s = owner(j, slot);
	struct native_admit m = a->limits;
	struct native_admitted said;
	struct redoma_error why = {0};
	int r;

	if (!s)
		return gone(err);
	m.slot = slot->number;
	m.n_grants = (uint32_t)a->n_grants;
	r = ask(s, &m, a, &said, &why);
	if (r) {
		/* Its answer could still come, and be taken for another's. */
		remove_spawner(j, s);
		return explain(r, &why, ADMIT_US, err);
	}
	if (said.slot == slot->number && said.rc < 0) {
		close_fds(s);
		if (err)
			*err = said.why;
		return said.rc;
	}
	slot->uid = said.uid;
	if (said.slot == slot->number &&
	    !take_fds(s, &said, a->n_grants, mounts, ret_cpu))
		return 0;
	close_fds(s);
	return err_set(err, REDOMA_E_WORKER, WHERE,
		       "the spawner broke the protocol");
}

int jails_end(struct jails *j, struct slot *slot, bool early,
	      struct native_dead *ret, struct redoma_error *err)
{
	struct spawner *s = owner(j, slot);
	uint64_t until = clock_monotonic_us() + END_US;
	struct native_end m = {slot->number, early};
	struct redoma_error why = {0};
	int r;

	*ret = (struct native_dead){.end = {.slot = slot->number}};
	slot_free(slot);
	if (!s)
		return gone(err);
	r = channel_send(&s->channel, FRAME_END, FRAME_LAST, &m, sizeof m,
			 &why);
	while (!r && !spawner_death(s, m.slot, ret)) {
		uint64_t now = clock_monotonic_us();

		r = spawner_listen(s, now < until ? until - now : 0, &why);
	}
	if (r)
		remove_spawner(j, s);
	return explain(r, &why, END_US, err);
}
