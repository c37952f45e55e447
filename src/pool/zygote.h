/* pool/zygote.h - one zygote process as the core sees it. */
#ifndef POOL_ZYGOTE_H
#define POOL_ZYGOTE_H

#include "pool/pool.h"

#define ZYGOTE_START_US 10000000u /* from exec to ready: then it failed */
#define ZYGOTE_END_MS 2000 /* its children, and their control group */
#define ZYGOTE_BIRTH_US 5000000u  /* for one child */

#define ZYGOTE_DEAD_KEPT 16u

struct zygote {
	struct channel channel;
	int pidfd;   /* of its keeper, where there is one */
	int self_fd; /* its own pidfd; -1: not heard of yet */
	int off_cpu; /* it keeps off that CPU; -1: off none */
	struct spawn_ready ready;
	struct spawn_setup setup;
	char *tenant, *image; /* owned; image "" for foreign modules */
	struct pool_image loaded; /* what the name stood for */
	struct slot *idle;    /* parked; owned */
	uint64_t own_bytes, guest_bytes; /* that its group has room for */
	struct spawn_dead dead[ZYGOTE_DEAD_KEPT]; /* the latest, a ring */
	uint32_t n_dead;
	struct zygote *next;
};

MUST_CHECK int zygote_start(const struct pool_options *o,
			    const struct pool_want *w, struct zygote **ret,
			    struct redoma_error *err);
bool zygote_matches(const struct zygote *z, const struct pool_want *w);
/* Reads what the zygote has to say; waits up to timeout_us for one message
 * (0: only what is there).  REDOMA_E_BUSY: nothing (more) came. */
MUST_CHECK int zygote_listen(struct zygote *z, uint64_t timeout_us,
			     struct redoma_error *err);
/* True and *ret if the end of that child was heard of, or of the zygote with
 * all of them. */
bool zygote_death(const struct zygote *z, uint32_t slot,
		  struct spawn_dead *ret);
/* Asks a `single` zygote for its child. */
MUST_CHECK int zygote_ask(struct zygote *z, struct redoma_error *err);
void zygote_end(struct zygote *z); /* with all its children; frees z */
/* Frees z and closes what it holds; its process is another's: our parent's. */
void zygote_forget(struct zygote *z);
void slot_free(struct slot *s);
void slots_free(struct slot **list);

#endif
