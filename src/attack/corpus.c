#include "attack/corpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "attack/canary.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"

#define WHERE "attack"
#define GUEST_MAX ((size_t)16 << 20)

static const char limits[] =
	"{\"wall\":\"20s\",\"memory\":\"64MiB\",\"output\":\"64KiB\"}";
static const char native[] = "{\"tmp\":\"4MiB\",\"pids\":16}";

struct corpus {
	struct canary canary;
	bool made; /* the canary */
	struct redoma_policy *policy;
	struct redoma *handle;
	struct buf script, module;
	char program[4096];
};

static void canary_end(struct corpus *c)
{
	redoma_close(c->handle);
	redoma_policy_free(c->policy);
	c->handle = NULL;
	c->policy = NULL;
	if (c->made)
		canary_done(&c->canary);
	c->made = false;
}

static void corpus_done(struct corpus *c)
{
	canary_end(c);
	buf_done(&c->script);
	buf_done(&c->module);
}

static void policy_cleanup(struct redoma_policy **p)
{
	redoma_policy_free(*p);
}

static void result_cleanup(struct redoma_result **r)
{
	redoma_result_free(*r);
}

static int read_guest(const char *dir, const char *name, struct buf *ret,
		      struct redoma_error *err)
{
	char path[4096], piece[65536];
	CLEANUP_FD int fd = -1;
	ssize_t n;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "%s is missing below %s: build or install it",
			       name, dir);
	if (fd < 0)
		return err_sys(err, WHERE, "open %s", path);
	ret->cap = GUEST_MAX;
	while ((n = read(fd, piece, sizeof piece)) > 0)
		if (buf_add(ret, piece, (size_t)n))
			return err_nomem(err, WHERE);
	return n < 0 ? err_sys(err, WHERE, "read %s", path) : 0;
}

static void put_grant(struct json_writer *w, const struct canary *c,
		      const char *name, const char *max)
{
	char path[CANARY_PATH + 16];

	json_write_begin(w, '[');
	json_write_begin(w, '{');
	json_write_key(w, "host");
	snprintf(path, sizeof path, "%s/%s/", c->dir, name);
	json_write_text(w, path);
	json_write_key(w, "as");
	snprintf(path, sizeof path, "/%s/", name);
	json_write_text(w, path);
	if (max) {
		json_write_key(w, "max_bytes");
		json_write_text(w, max);
	}
	json_write_end(w, '}');
	json_write_end(w, ']');
}

/* Nothing is given up: there is no `walls` here, and none may be added. */
static int make_policy(struct corpus *c, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	struct json_writer w = {.buf = &b};

	json_write_begin(&w, '{');
	json_write_key(&w, "redoma");
	json_write_u64(&w, 1);
	json_write_key(&w, "limits");
	json_write_raw(&w, limits, sizeof limits - 1);
	json_write_key(&w, "native");
	json_write_raw(&w, native, sizeof native - 1);
	json_write_key(&w, "read");
	put_grant(&w, &c->canary, "shown", NULL);
	json_write_key(&w, "write");
	put_grant(&w, &c->canary, "out", "64KiB");
	json_write_end(&w, '}');
	if (json_write_done(&w))
		return err_nomem(err, WHERE);
	return redoma_policy_parse(b.data, b.len, NULL, &c->policy, err);
}

/* After a canary was touched everything is made anew. */
static int canary_begin(struct corpus *c, const char *install_dir,
			struct redoma_error *err)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	char cache[CANARY_PATH + 16], incidents[CANARY_PATH + 24];
	int r = canary_make(&c->canary, err);

	if (r)
		return r;
	c->made = true;
	snprintf(cache, sizeof cache, "%s/cache/modules", c->canary.dir);
	o.install_dir = install_dir;
	o.cache_dir = cache;
	snprintf(incidents, sizeof incidents, "%s/cache/incidents",
		 c->canary.dir);
	o.incident_dir = incidents; /* these are none of the user's */
	o.warm = 1;
	r = make_policy(c, err);
	return r ? r : redoma_open(c->policy, &o, &c->handle, err);
}

static void put_u64(struct json_writer *w, const char *key, uint64_t n)
{
	json_write_key(w, key);
	json_write_u64(w, n);
}

static int put_input(const struct canary *c, const struct attack_row *row,
		     struct buf *ret)
{
	struct json_writer w = {.buf = ret};

	json_write_begin(&w, '{');
	json_write_key(&w, "name");
	json_write_text(&w, row->name);
	json_write_key(&w, "secret");
	json_write_text(&w, c->secret);
	put_u64(&w, "tcp", c->tcp_port);
	json_write_end(&w, '}');
	return json_write_done(&w);
}

#define ARGS 11

struct words { /* what a guest is told of the host, as arguments */
	char tcp[16], udp[16], key[16], target[16], word[32];
	const char *argv[ARGS];
};

static void put_words(struct words *w, const struct corpus *c,
		      const struct attack_row *row)
{
	const struct canary *k = &c->canary;
	size_t n = 0;

	snprintf(w->tcp, sizeof w->tcp, "%u", k->tcp_port);
	snprintf(w->udp, sizeof w->udp, "%u", k->udp_port);
	snprintf(w->key, sizeof w->key, "%d", k->key);
	snprintf(w->target, sizeof w->target, "%d", k->target);
	snprintf(w->word, sizeof w->word, "%llx",
		 (unsigned long long)(uintptr_t)k->word);
	if (row->profile == ATTACK_NATIVE)
		w->argv[n++] = c->program;
	w->argv[n++] = row->name;
	w->argv[n++] = k->secret;
	w->argv[n++] = k->abstract;
	w->argv[n++] = w->tcp;
	w->argv[n++] = w->udp;
	w->argv[n++] = w->key;
	w->argv[n++] = w->target;
	w->argv[n++] = w->word;
	w->argv[n++] = k->token;
	w->argv[n] = NULL;
}

static void fill_request(const struct corpus *c, const struct attack_row *row,
			 struct redoma_request *q)
{
	if (row->profile == ATTACK_NATIVE) {
		q->native = 1;
	} else if (row->profile == ATTACK_JS) {
		q->language = "js";
		q->name = "attack.js";
		q->source = c->script.data;
		q->source_len = c->script.len;
	} else {
		q->language = "wasm";
		q->source = row->module ? row->module : c->module.data;
		q->source_len = row->module ? row->module_len : c->module.len;
	}
}

static int run(struct corpus *c, const struct attack_row *row,
	       struct redoma_result **ret, struct redoma_error *err)
{
	CLEANUP(policy_cleanup) struct redoma_policy *narrow = NULL;
	CLEANUP(buf_done) struct buf input = {0};
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct words words;

	fill_request(c, row, &q);
	if (row->profile == ATTACK_JS) {
		if (put_input(&c->canary, row, &input))
			return err_nomem(err, WHERE);
		q.input = input.data;
		q.input_len = input.len;
	} else {
		put_words(&words, c, row);
		q.argv = words.argv;
	}
	if (row->limit) {
		int r = redoma_policy_with(c->policy, "limit", row->limit, NULL,
					   &narrow, err);

		if (r)
			return r;
		q.narrow = narrow;
	}
	return redoma_run(c->handle, &q, ret, err);
}

/* True if a canary was touched. */
static bool try_one(struct corpus *c, const struct attack_row *row,
		    struct attack_verdict *ret)
{
	CLEANUP(result_cleanup) struct redoma_result *result = NULL;
	struct attack_evidence e = {0};
	struct redoma_error why = {0};
	uint64_t out_len = 0, all_len = 0;
	int r = run(c, row, &result, &why);

	e.touched = canary_touched(&c->canary);
	if (r && !e.touched) {
		attack_judge_refused(&why, ret);
		return false;
	}
	if (!r) {
		e.status = redoma_result_status(result);
		e.out = redoma_result_stdout(result, &out_len);
		e.out_len = out_len;
		e.all = redoma_result_json(result, &all_len);
		e.all_len = all_len;
	}
	attack_judge(row, &e, c->canary.nonces, ret);
	return e.touched != NULL;
}

static int prepare(struct corpus *c, const char *dir, struct redoma_error *err)
{
	int n = snprintf(c->program, sizeof c->program, "%s/redoma-attack",
			 dir);
	int r;

	if (n < 0 || n >= (int)sizeof c->program || access(c->program, X_OK))
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "redoma-attack is missing in %s: build or "
			       "install it",
			       dir);
	r = read_guest(dir, "images/attack.js", &c->script, err);
	if (!r)
		r = read_guest(dir, "images/attack.wasm", &c->module, err);
	return r ? r : canary_begin(c, dir, err);
}

int attack_run_all(const char *install_dir, const struct attack_listener *l,
		   struct redoma_error *err)
{
	CLEANUP(corpus_done) struct corpus c = {0};
	int r = prepare(&c, install_dir, err);

	for (size_t i = 0; i < attack_rows_n && !r; i++) {
		struct attack_verdict v;
		bool touched = try_one(&c, &attack_rows[i], &v);

		if (l->heard(l->data, &attack_rows[i], &v))
			break;
		if (touched) {
			canary_end(&c);
			r = canary_begin(&c, install_dir, err);
		}
	}
	return r;
}
