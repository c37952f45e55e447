/* pool/spawner.h - one spawner of native jails as the core sees it. */
#ifndef POOL_SPAWNER_H
#define POOL_SPAWNER_H

#include "pool/jails.h"

#define SPAWNER_START_US 10000000u /* from exec to ready: then it failed */
#define SPAWNER_END_MS 2000
#define SPAWNER_BIRTH_US 10000000u /* for one jail, its runtime warm */
#define SPAWNER_DEAD_KEPT 16u

struct spawner {
	struct channel channel;
	int pidfd;
	struct spawn_ready ready;
	struct native_setup setup;
	char *tenant, *digest; /* owned */
	struct slot *idle;     /* parked; owned */
	struct native_dead dead[SPAWNER_DEAD_KEPT]; /* the latest, a ring */
	uint32_t n_dead;
	uint64_t birth_us; /* that a jail is waited for */
	bool used; /* it was not started for the run that is to come */
	bool has_admitted;
	struct native_admitted admitted; /* the answer that came */
	uint32_t admitted_fds; /* that came with it, and wait in the channel */
	/* What it failed at last, when nobody may have waited for that: a jail
	 * that was to be parked, or its own end. */
	bool has_failed;
	struct redoma_error failed;
	struct spawner *next;
};

MUST_CHECK int spawner_start(const struct jails_options *o,
			     const struct jails_want *w, struct spawner **ret,
			     struct redoma_error *err);
bool spawner_matches(const struct spawner *s, const struct jails_want *w);
/* Asks for one jail: nothing is parked. */
MUST_CHECK int spawner_ask(struct spawner *s, struct redoma_error *err);
/* Reads one message; waits up to timeout_us (0: only what is there).
 * REDOMA_E_BUSY: nothing (more) came.  That a birth failed is noted and no
 * error of what is waited for here. */
MUST_CHECK int spawner_listen(struct spawner *s, uint64_t timeout_us,
			      struct redoma_error *err);
/* What was noted of failure: its code once, then 0. */
MUST_CHECK int spawner_failed(struct spawner *s, struct redoma_error *err);
/* Its descriptors wait in the channel. */
MUST_CHECK int spawner_wait_admitted(struct spawner *s, uint64_t timeout_us,
				     struct native_admitted *ret,
				     struct redoma_error *err);
/* True and *ret if the end of that jail was heard of. */
bool spawner_death(const struct spawner *s, uint32_t slot,
		   struct native_dead *ret);
void spawner_end(struct spawner *s); /* with all its jails; frees s */
void spawner_forget(struct spawner *s);

#endif
