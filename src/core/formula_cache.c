#include "core/formula_cache.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "wire/batch.h"

#define WHERE "core"
#define BUCKETS 4096u
#define EDGE ((size_t)1024) /* what is hashed of either end of a batch */
#define NOW_AT offsetof(struct batch_head, now_us)
#define NOW_END (NOW_AT + sizeof((struct batch_head *)0)->now_us)

struct kept {
	struct kept *next;	    /* in its bucket */
	struct kept *newer, *older; /* of its owner, by use */
	struct owner *owner;	    /* borrowed */
	uint64_t print;
	uint8_t scope[HASH_BYTES];
	char *batch, *answer; /* owned */
	size_t batch_len, answer_len;
	bool has_time;
};

/* A tenant, while something of its is kept. */
struct owner {
	struct owner *next;
	struct kept *newest, *oldest;
	uint64_t bytes;
	char tenant[];
};

struct formula_cache {
	uint64_t most, bytes;
	size_t n;
	struct owner *owners;
	uint8_t key[HASH_SHORT_KEY];
	struct kept *buckets[BUCKETS];
};

static void cache_cleanup(struct formula_cache **c)
{
	formula_cache_free(*c);
}

int formula_cache_new(uint64_t bytes, struct formula_cache **ret,
		      struct redoma_error *err)
{
	CLEANUP(cache_cleanup) struct formula_cache *c = calloc(1, sizeof *c);

	if (!c)
		return err_nomem(err, WHERE);
	c->most = bytes;
	if (hash_random(c->key, sizeof c->key))
		return err_sys(err, WHERE, "draw a key for kept answers");
	*ret = TAKE_PTR(c);
	return 0;
}

static uint64_t cost(const struct kept *k)
{
	return sizeof *k + k->batch_len + k->answer_len;
}

/* ---- finding ---- */

/* Of scope and both ends, but not of the time: enough to pass by nearly all
 * that is something else. */
static uint64_t print_of(const struct formula_cache *c,
			 const struct formula_ask *ask)
{
	uint8_t room[HASH_BYTES + sizeof ask->batch.len + 2 * EDGE];
	size_t edge = ask->batch.len < EDGE ? ask->batch.len : EDGE;
	uint8_t *p = room;

	memcpy(p, ask->scope, HASH_BYTES);
	p += HASH_BYTES;
	memcpy(p, &ask->batch.len, sizeof ask->batch.len);
	p += sizeof ask->batch.len;
	memcpy(p, ask->batch.p, edge);
	memset(p + NOW_AT, 0, NOW_END - NOW_AT);
	p += edge;
	/* A short one has its time in this end, too. */
	if (ask->batch.len >= NOW_END + EDGE) {
		memcpy(p, ask->batch.p + ask->batch.len - EDGE, EDGE);
		p += EDGE;
	}
	return hash_short(c->key, room, (size_t)(p - room));
}

static bool is_same(const struct kept *k, const struct formula_ask *ask)
{
	return k->batch_len == ask->batch.len &&
	       !memcmp(k->scope, ask->scope, sizeof k->scope) &&
	       !memcmp(k->batch, ask->batch.p, NOW_AT) &&
	       !memcmp(k->batch + NOW_END, ask->batch.p + NOW_END,
		       k->batch_len - NOW_END);
}

static struct kept **bucket(struct formula_cache *c, uint64_t print)
{
	return &c->buckets[print % BUCKETS];
}

static struct kept *find(struct formula_cache *c, const struct formula_ask *ask,
			 uint64_t print)
{
	struct kept *k = *bucket(c, print);

	while (k && !(k->print == print && is_same(k, ask)))
		k = k->next;
	return k;
}

/* ---- in the order of use ---- */

static void unlink_use(struct kept *k)
{
	struct owner *o = k->owner;

	*(k->newer ? &k->newer->older : &o->newest) = k->older;
	*(k->older ? &k->older->newer : &o->oldest) = k->newer;
}

static void link_use(struct kept *k)
{
	struct owner *o = k->owner;

	k->newer = NULL;
	k->older = o->newest;
	*(o->newest ? &o->newest->newer : &o->oldest) = k;
	o->newest = k;
}

struct str formula_cache_find(struct formula_cache *c,
			      const struct formula_ask *ask)
{
	struct kept *k;

	if (ask->batch.len < sizeof(struct batch_head))
		return (struct str){0};
	k = find(c, ask, print_of(c, ask));
	if (!k || (k->has_time && memcmp(k->batch + NOW_AT,
					 ask->batch.p + NOW_AT,
					 NOW_END - NOW_AT)))
		return (struct str){0};
	unlink_use(k);
	link_use(k);
	return (struct str){k->answer, k->answer_len};
}

/* ---- keeping ---- */

static void kept_free(struct kept *k)
{
	free(k->batch);
	free(k->answer);
	free(k);
}

static void drop_owner(struct formula_cache *c, struct owner *o)
{
	struct owner **at = &c->owners;

	while (*at != o)
		at = &(*at)->next;
	*at = o->next;
	free(o);
}

static void drop(struct formula_cache *c, struct kept *k)
{
	struct owner *o = k->owner;
	struct kept **at = bucket(c, k->print);

	while (*at != k)
		at = &(*at)->next;
	*at = k->next;
	unlink_use(k);
	o->bytes -= cost(k);
	c->bytes -= cost(k);
	c->n--;
	if (!o->newest)
		drop_owner(c, o);
	kept_free(k);
}

void formula_cache_free(struct formula_cache *c)
{
	if (!c)
		return;
	while (c->owners)
		drop(c, c->owners->oldest);
	free(c);
}

static struct owner *owner_of(struct formula_cache *c, const char *tenant)
{
	size_t len = strlen(tenant) + 1;
	struct owner *o = c->owners;

	while (o && strcmp(o->tenant, tenant))
		o = o->next;
	if (o)
		return o;
	o = calloc(1, sizeof *o + len);
	if (!o)
		return NULL;
	memcpy(o->tenant, tenant, len);
	o->next = c->owners;
	c->owners = o;
	return o;
}

static void make_room(struct formula_cache *c)
{
	while (c->bytes > c->most || c->n > FORMULA_CACHE_ENTRIES) {
		struct owner *most = c->owners;

		for (struct owner *o = c->owners; o; o = o->next)
			most = o->bytes > most->bytes ? o : most;
		drop(c, most->oldest);
	}
}

static struct kept *kept_new(const struct formula_ask *ask, struct str answer)
{
	struct kept *k = calloc(1, sizeof *k);

	if (!k)
		return NULL;
	k->answer = malloc(answer.len);
	if (!k->answer) {
		kept_free(k);
		return NULL;
	}
	memcpy(k->answer, answer.p, answer.len);
	memcpy(k->scope, ask->scope, sizeof k->scope);
	k->batch_len = ask->batch.len;
	k->answer_len = answer.len;
	return k;
}

/* Without the room that it has beside its bytes. */
static void take_batch(struct kept *k, struct buf *batch)
{
	char *p = buf_take(batch);
	char *less = realloc(p, k->batch_len);

	k->batch = less ? less : p;
}

void formula_cache_keep(struct formula_cache *c, const struct formula_ask *ask,
			struct buf *batch, struct str answer, bool has_time)
{
	uint64_t print, room = sizeof(struct kept) + ask->batch.len;
	struct kept *k, *old;
	struct owner *o;

	if (ask->batch.len < sizeof(struct batch_head) || !answer.len ||
	    room > c->most || answer.len > c->most - room)
		return;
	print = print_of(c, ask);
	old = find(c, ask, print);
	if (old)
		drop(c, old);
	k = kept_new(ask, answer);
	if (!k)
		return;
	o = owner_of(c, ask->tenant);
	if (!o) {
		kept_free(k);
		return;
	}
	take_batch(k, batch);
	k->print = print;
	k->owner = o;
	k->has_time = has_time;
	k->next = *bucket(c, print);
	*bucket(c, print) = k;
	link_use(k);
	o->bytes += cost(k);
	c->bytes += cost(k);
	c->n++;
	make_room(c);
}

uint64_t formula_cache_bytes(const struct formula_cache *c)
{
	return c->bytes;
}
