#include "core/native_root.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/str.h"
#include "core/native.h"
#include "core/native_ahead.h"
#include "jail/jail.h"

#define WHERE "core"
#define PARKED_MEMORY ((uint64_t)512 << 20) /* until a run sets its own */
#define PARKED_PIDS 64u
#define PARKED 2u

/* Languages that the host's own interpreters run. */
static const struct native_lang {
	const char *name, *source_name, *word; /* word: of a #! line */
	const char *suffixes[4];
} langs[] = {
	{"js", "agent.js", "node", {".js", ".mjs", ".cjs", NULL}},
	{"py", "agent.py", "python", {".py", NULL}},
};

#define N_LANGS (sizeof langs / sizeof *langs)

struct native_cache {
	struct native_root last;
	char *plain; /* the key of the root that goes without packages; owned */
};

static void root_clear(struct native_root *n)
{
	root_done(&n->root);
	buf_done(&n->bytes);
	free(n->key);
	*n = (struct native_root){0};
}

void native_cache_free(struct native_cache *c)
{
	if (!c)
		return;
	root_clear(&c->last);
	free(c->plain);
	free(c);
}

static bool names(const struct native_lang *l, const struct redoma_request *q)
{
	const char *end;

	if (q->language)
		return !strcmp(q->language, l->name);
	for (size_t i = 0; q->name && l->suffixes[i]; i++)
		if (str_ends(str_of(q->name), str_of(l->suffixes[i])))
			return true;
	if (q->source_len < 2 || memcmp(q->source, "#!", 2))
		return false;
	end = memchr(q->source, '\n', q->source_len);
	return end && memmem(q->source, (size_t)(end - (const char *)q->source),
			     l->word, strlen(l->word));
}

static int find_language(const struct redoma_request *q,
			 const struct native_lang **ret,
			 struct redoma_error *err)
{
	for (size_t i = 0; i < N_LANGS; i++)
		if (names(&langs[i], q)) {
			*ret = &langs[i];
			return 0;
		}
	if (q->language)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "no native runtime takes the source of \"%s\": "
			       "js and py do; any other program is run as a "
			       "command after --",
			       q->language);
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "cannot tell the language of the source: name it with "
		       "--lang js or --lang py");
}

static int make_key(const struct job *j, const char *what, struct buf *key,
		    struct redoma_error *err)
{
	char *const *roots = j->policy->native.roots;

	if (buf_addf(key, "%d%s", j->q->source != NULL, what))
		return err_nomem(err, WHERE);
	for (size_t i = 0; roots && roots[i]; i++)
		if (buf_addf(key, "\n%s", roots[i]))
			return err_nomem(err, WHERE);
	return 0;
}

static int look_up(const struct job *j, const char *what, struct root *ret,
		   struct redoma_error *err)
{
	const char *const *roots =
		(const char *const *)j->policy->native.roots;
	char dir[PATH_ROOM + 16];

	if (!j->q->source)
		return runtime_root(what, roots, ret, err);
	snprintf(dir, sizeof dir, "%s/images", j->h->install);
	return runtime_language(what, dir, roots, ret, err);
}

static int encode(struct native_root *n, struct redoma_error *err)
{
	CLEANUP_FREE struct native_item *items =
		calloc(n->root.n, sizeof *items);
	size_t i;

	if (!items)
		return err_nomem(err, WHERE);
	for (i = 0; i < n->root.n; i++)
		items[i] = (struct native_item){
			.kind = n->root.entries[i].kind,
			.exec = n->root.entries[i].exec,
			.guest = n->root.entries[i].guest,
			.host = n->root.entries[i].host,
		};
	return native_root_encode(items, n->root.n, &n->bytes, err);
}

static int put_path(char room[NATIVE_PATH_ROOM], const char *path,
		    struct redoma_error *err)
{
	if (strlen(path) >= NATIVE_PATH_ROOM)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the program's path is too long");
	strcpy(room, path);
	return 0;
}

/* Without a control group rlimits hold it, which only go down: it is born with
 * what its run may have. */
static void make_room(struct native_setup *s, const struct policy *p)
{
	s->run_pids = p->native.pids;
	if (s->pids < p->native.pids)
		s->pids = p->native.pids;
	if (s->memory_bytes < p->limits.memory_bytes)
		s->memory_bytes = p->limits.memory_bytes;
}

static void set_ahead(struct native_root *n, const struct job *j)
{
	const struct redoma_request *q = j->q;
	const char *plain = j->h->native->plain;

	if (plain && !strcmp(plain, n->key))
		return;
	snprintf(n->setup.ahead, sizeof n->setup.ahead, "%s",
		 native_ahead(n->root.bootstrap, q->source, q->source_len,
			      j->policy->limits.memory_bytes));
}

static int set_up(struct native_root *n, const struct job *j,
		  struct redoma_error *err)
{
	char script[32] = "";
	int r;

	/* Compared as bytes: no padding or old text counts. */
	memset(&n->setup, 0, sizeof n->setup);
	n->setup.abi = NATIVE_ABI;
	n->setup.may_lack = j->policy->may_lack;
	n->setup.park = j->h->single ? 0 : PARKED;
	n->setup.bootstrap = j->q->source != NULL;
	n->setup.tmp_bytes = j->policy->native.tmp_bytes;
	n->setup.memory_bytes = PARKED_MEMORY;
	n->setup.pids = PARKED_PIDS;
	if (j->policy->may_lack & 1u << JAIL_CGROUP)
		make_room(&n->setup, j->policy);
	if (j->q->source) {
		snprintf(script, sizeof script, "/redoma/bootstrap.%s",
			 n->root.bootstrap);
		set_ahead(n, j);
	}
	r = put_path(n->setup.program, n->root.program, err);
	return r ? r : put_path(n->setup.script, script, err);
}

static int renew(struct native_root *n, const struct job *j, const char *what,
		 const char *key, struct redoma_error *err)
{
	bool kept = j->q->source && n->key && !strcmp(n->key, key);
	int r = 0;

	if (!kept) {
		root_clear(n);
		r = look_up(j, what, &n->root, err);
		if (!r)
			r = encode(n, err);
		if (!r) {
			n->key = strdup(key);
			r = n->key ? 0 : err_nomem(err, WHERE);
		}
	}
	return r ? r : set_up(n, j, err);
}

void native_root_plain(struct job *j)
{
	struct native_cache *c = j->h->native;

	free(c->plain);
	c->plain = strdup(c->last.key); /* NULL: it is tried again */
	memset(c->last.setup.ahead, 0, sizeof c->last.setup.ahead);
}

int native_root_find(struct job *j, const struct native_root **ret,
		     struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf key = {0};
	const struct native_lang *l = NULL;
	struct native_root *n;
	int r = 0;

	if (j->q->source)
		r = find_language(j->q, &l, err);
	if (!r)
		r = make_key(j, l ? l->name : j->q->argv[0], &key, err);
	if (r)
		return r;
	if (!j->h->native)
		j->h->native = calloc(1, sizeof *j->h->native);
	if (!j->h->native)
		return err_nomem(err, WHERE);
	n = &j->h->native->last;
	r = renew(n, j, l ? l->name : j->q->argv[0], key.data, err);
	if (r) {
		root_clear(n);
		return r;
	}
	n->source_name = l ? l->source_name : NULL;
	*ret = n;
	return 0;
}
