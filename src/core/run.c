#include "core/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash.h"
#include "core/incident.h"
#include "core/install.h"
#include "core/job.h"
#include "core/native.h"
#include "core/remake.h"
#include "core/verdict.h"
#include "jail/jail.h"
#include "lang/lang.h"
#include "wire/batch.h"

#define WHERE "core"
#define PUBLISH_ERROR "PublishError"

static void job_done(struct job *j)
{
	if (j->slot)
		pool_kill(j->h->pool, j->slot, false, NULL);
	granted_close(j->granted);
	desk_close(j->desk);
	if (j->artefact >= 0)
		close(j->artefact);
	redoma_result_free(j->result);
}

static int choose_policy(struct job *j, struct redoma_error *err)
{
	const struct policy *narrow = (const struct policy *)j->q->narrow;
	int r;

	j->policy = j->h->policy;
	if (narrow) {
		r = policy_contains(j->h->policy, narrow, err);
		if (r)
			return r;
		j->policy = narrow;
	}
	if (!j->policy->n_later)
		return 0;
	return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
		       "the policy has `%s`, which this release cannot give a "
		       "guest: take it out to run without it",
		       j->policy->later[0].key);
}

/* What a worker would not take is refused before there is one. */
static int check_request(const struct redoma_request *q,
			 struct redoma_error *err)
{
	if (!q->source && q->source_len)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the request has a length but no source");
	if (!q->input && q->input_len)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the request has a length but no input");
	if (q->input_len > FRAME_TEXT_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the input has more than %zu MiB: grant it as a "
			       "file",
			       FRAME_TEXT_MAX >> 20);
	if ((q->name && strlen(q->name) > FRAME_NAME_MAX) ||
	    (q->invoke && strlen(q->invoke) > FRAME_NAME_MAX))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the name of the source or of the export is "
			       "longer than %zu bytes",
			       FRAME_NAME_MAX);
	return 0;
}

static int check_source(struct job *j, struct redoma_error *err)
{
	if (!j->batch)
		return lang_check(j->lang, j->q->source, j->q->source_len, err);
	j->lang = lang_formulas(j->lang);
	if (j->lang)
		return 0;
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "formulas are written in js or py");
}

static int choose_language(struct job *j, struct redoma_error *err)
{
	const struct redoma_request *q = j->q;
	int r = check_request(q, err);

	if (!r && q->native) {
		j->name = q->name;
		return native_check(q, j->policy, err);
	}
	if (r)
		return r;
	if (q->language) {
		j->lang = lang_find(q->language);
		if (!j->lang)
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "this release does not run \"%s\": it "
				       "runs js, py and wasm",
				       q->language);
	} else {
		r = lang_guess(q->name, q->source, q->source_len, &j->lang,
			       err);
	}
	if (!r)
		r = check_source(j, err);
	if (!r && (q->image || !j->batch))
		r = image_choose(q->image, j->lang,
				 (struct str){q->source, q->source_len},
				 &j->added, err);
	if (!r && q->invoke && j->lang->image)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "invoke is for .wasm modules; a script is run "
			       "as a whole");
	j->name = q->name ? q->name : j->lang ? j->lang->source_name : NULL;
	return r;
}

static enum profile profile_of(const struct job *j)
{
	bool fuel = j->policy->limits.fuel != 0;

	if (j->added.path[0])
		return PROFILE_IMAGE_EPOCH;
	if (j->lang->image)
		return fuel ? PROFILE_IMAGE_FUEL : PROFILE_IMAGE;
	return fuel ? PROFILE_MODULE_FUEL : PROFILE_MODULE;
}

static int find_code(struct job *j, struct redoma_error *err)
{
	enum profile profile = profile_of(j);

	if (j->added.path[0] && j->policy->limits.fuel)
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "the data image does not count fuel: take "
			       "limits.fuel out, or use --image py");
	if (j->added.path[0]) {
		memcpy(j->image, j->added.path, sizeof j->image);
		return 0;
	}
	if (j->lang->image)
		return install_image(j->h, lang_image(j->lang, profile),
				     j->image, err);
	j->module = (struct module){
		.bytes = {j->q->source, j->q->source_len},
		.profile = profile,
		.may_lack = j->policy->may_lack,
		.q = j->q,
		.what = "compiling the module, once",
	};
	return module_artefact(j->h, &j->module, &j->artefact, err);
}

static int seal(struct job *j, struct redoma_error *err)
{
	struct granted_want w = {.policy = j->policy,
				 .program = j->name,
				 .args = j->q->argv};

	return granted_open(j->h, &w, &j->granted, err);
}

bool job_is_cancelled(struct job *j)
{
	if (!atomic_load(&j->h->cancelled))
		return false;
	j->result->status = REDOMA_STATUS_CANCELLED;
	j->result->exit_code = 1;
	buf_clear(&j->result->value);
	return true;
}

/* The memory of an image that was added, which no limit counts. */
static uint64_t image_bytes(const struct job *j)
{
	/* Where resets are verified there is a copy to compare with. */
	return j->added.memory_bytes * (j->h->verify ? 2 : 1);
}

/* What a worker has besides the guest's memory: engine, image, and the
 * request's bytes as they come and as the guest holds them.  In steps, so that
 * a worker that is reused fits the next request too. */
#define WORKER_BYTES ((uint64_t)64 << 20)

static uint64_t worker_bytes(const struct job *j)
{
	uint64_t text = (uint64_t)j->q->source_len + j->q->input_len;

	return WORKER_BYTES * (1 + 4 * text / WORKER_BYTES);
}

/* A foreign module's code: as it came, as it is mapped, and its memory's image.
 * In steps, too. */
static uint64_t code_bytes(const struct job *j)
{
	struct stat st;

	if (j->artefact < 0 || fstat(j->artefact, &st))
		return 0;
	return WORKER_BYTES *
	       (1 + 3 * (uint64_t)st.st_size / WORKER_BYTES);
}

/* What is written may lie in memory until it is published. */
static uint64_t guest_bytes(const struct job *j)
{
	const struct plan *p = granted_plan(j->granted);
	uint64_t n = j->policy->limits.memory_bytes;

	for (uint32_t i = 0; i < p->n_grants; i++) {
		const struct plan_grant *g = &p->grants[i];

		if (g->kind < GRANT_WRITE_FILE)
			continue;
		n = g->max_bytes < UINT64_MAX - n ? n + g->max_bytes
						  : UINT64_MAX;
	}
	return n;
}

static int take(struct job *j, struct redoma_error *err)
{
	struct remake other = {
		.h = j->h,
		.lang = j->lang,
		.profile = profile_of(j),
		.may_lack = j->policy->may_lack,
		.q = j->q,
	};
	struct pool_want w = {
		.tenant = j->q->tenant ? j->q->tenant : "",
		.profile = profile_of(j),
		.image_path = j->lang->image ? j->image : NULL,
		.other_image = j->added.path[0] ? image_unfit : remake_image,
		.other_image_data = &other,
		.digest = j->lang->image ? NULL : j->module.digest,
		.may_lack = j->policy->may_lack,
		.reuse = j->policy->reuse_tenant,
		.data_bytes = worker_bytes(j) + image_bytes(j) +
			      j->policy->limits.memory_bytes,
		.file_bytes = granted_file_bytes(j->granted),
		.own_bytes = worker_bytes(j) + code_bytes(j) +
			     image_bytes(j),
		.guest_bytes = guest_bytes(j),
	};
	uint64_t from = clock_monotonic_us();
	int r = pool_take(j->h->pool, &w, &j->slot, err);

	if (r)
		return r;
	j->result->usage.queue_us = clock_monotonic_us() - from;
	j->result->usage.cold = j->slot->cold;
	j->result->usage.has_verify = j->h->verify;
	j->result->walls = j->slot->ready;
	j->pid = j->slot->pid;
	j->result->nothing_granted = !j->policy->n_grants;
	return 0;
}

/* Somebody has to answer. */
static int open_desk(struct job *j, struct redoma_error *err)
{
	struct desk_want w = {j->policy, j->q->on_call, j->q->on_call_data};

	if (!j->policy->n_tools)
		return 0;
	if (!w.on_call)
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "the policy grants tools, and nobody here "
			       "answers for them: take `tools` out, or in C "
			       "set on_call");
	return desk_open(&w, &j->desk, err);
}

static int make_id(struct redoma *h, char id[RESULT_ID_MAX], uint64_t *ret_us,
		   struct redoma_error *err)
{
	uint32_t n;

	if (handle_random(h, &n, sizeof n))
		return err_sys(err, WHERE, "draw a run's id");
	*ret_us = clock_realtime_us();
	snprintf(id, RESULT_ID_MAX, "r_%012llx%08x",
		 (unsigned long long)(*ret_us / 1000), n);
	return 0;
}

static int make_result(struct job *j, struct redoma_error *err)
{
	j->result = result_new();
	if (!j->result)
		return err_nomem(err, WHERE);
	j->result->batch = j->batch;
	return make_id(j->h, j->result->id, &j->began_us, err);
}

int run_none(struct redoma *h, struct redoma_result **ret,
	     struct redoma_error *err)
{
	struct redoma_result *res = result_new();
	uint64_t now_us;
	int r;

	if (!res)
		return err_nomem(err, WHERE);
	r = make_id(h, res->id, &now_us, err);
	if (r) {
		redoma_result_free(res);
		return r;
	}
	res->batch = true;
	res->pure = true;
	res->nothing_granted = true;
	res->usage.cached = true;
	h->stats.cached++;
	*ret = res;
	return 0;
}

/* The worker's way once everything it said was weighed: kept, gone by itself,
 * or killed, with its zygote if it cannot be trusted.  One whose word was not
 * waited for is gone already. */
static void part(struct job *j)
{
	enum redoma_status status = j->result->status;
	struct pool *p = j->h->pool;
	struct slot *s = TAKE_PTR(j->slot);

	if (!s)
		return;
	if (verdict_is_bad(status)) {
		pool_kill(p, s, true, NULL);
		return;
	}
	s->used_faults += j->result->usage.page_faults;
	if (!j->policy->reuse_tenant) {
		pool_drop(s);
		return;
	}
	memcpy(s->digest, j->module.digest, sizeof s->digest);
	s->loaded = !j->lang->image;
	if (status == REDOMA_STATUS_OK || status == REDOMA_STATUS_ERROR)
		pool_give(p, s);
	else
		pool_kill(p, s, false, NULL);
}

/* All that the result of publishing needs, so that no file appears in a run
 * whose result then cannot be told. */
static int make_room(struct redoma_result *res, size_t files,
		     struct redoma_error *err)
{
	res->files = calloc(files, sizeof *res->files);
	if (!res->files || buf_reserve(&res->name, sizeof PUBLISH_ERROR) ||
	    buf_reserve(&res->message, sizeof err->text))
		return err_nomem(err, WHERE);
	return 0;
}

static void take_files(struct redoma_result *res, struct published_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct published *from = &l->files[i];
		struct result_file *to = &res->files[i];

		to->path = TAKE_PTR(from->path);
		to->bytes = from->bytes;
		to->published = from->published;
		memcpy(to->sha256, from->sha256, sizeof to->sha256);
		if (!from->published)
			memcpy(to->why, from->why.text, sizeof to->why);
	}
	res->n_files = l->n;
}

static int not_published(struct redoma_result *res, const char *why,
			 struct redoma_error *err)
{
	res->status = REDOMA_STATUS_ERROR;
	res->exit_code = 1;
	if (buf_addf(&res->name, PUBLISH_ERROR) ||
	    buf_addf(&res->message, "%s", why))
		return err_nomem(err, WHERE);
	return 0;
}

/* A run is not ok when what it made did not arrive. */
static int blame(struct redoma_result *res, struct redoma_error *err)
{
	size_t i;

	for (i = 0; i < res->n_files && res->files[i].published; i++)
		;
	if (i == res->n_files)
		return 0;
	return not_published(res, res->files[i].why, err);
}

int job_publish(struct job *j, const struct talk *t, struct redoma_error *err)
{
	CLEANUP(published_done) struct published_list list = {0};
	struct redoma_error why = {0};
	int r = make_room(j->result, t->outcome.n_written, err);

	if (r)
		return r;
	r = granted_publish(j->granted, t->outcome.written,
			    t->outcome.n_written, &list, &why);
	if (r && job_is_cancelled(j))
		return 0;
	if (r == REDOMA_E_BUSY)
		return not_published(j->result, why.text, err);
	if (r == REDOMA_E_INVALID || r == REDOMA_E_DENIED) {
		j->result->status = REDOMA_STATUS_BREACH;
		buf_clear(&j->result->value);
		return buf_addf(&j->result->message, "%s", why.text)
			       ? err_nomem(err, WHERE)
			       : 0;
	}
	if (r) {
		if (err)
			*err = why;
		return r;
	}
	take_files(j->result, &list);
	return blame(j->result, err);
}

int job_finish(struct job *j, struct talk *t, struct redoma_error *err)
{
	struct redoma_error why = {0};
	int r = granted_finish(j->granted, &why);

	if (r && atomic_load(&j->h->cancelled)) {
		t->verdict = VERDICT_CANCELLED;
		return 0;
	}
	if (r && err)
		*err = why;
	return r;
}

/* A module that cannot be run is a result: the guest's fault, not ours. */
static int invalid(struct job *j, const struct redoma_error *why,
		   struct redoma_error *err)
{
	struct redoma_result *res = j->result;

	res->status = REDOMA_STATUS_INVALID;
	res->exit_code = 1;
	if (buf_addf(&res->name, "Invalid") ||
	    buf_addf(&res->message, "%s", why->text))
		return err_nomem(err, WHERE);
	return 0;
}

/* Our own set-up in the worker failed, or the module did not load there. */
static int failed(struct job *j, int code, const struct redoma_error *why,
		  struct redoma_error *err)
{
	bool its_fault = !j->lang->image && why->code == REDOMA_E_INVALID;

	pool_kill(j->h->pool, TAKE_PTR(j->slot), !its_fault, NULL);
	if (its_fault)
		return invalid(j, why, err);
	if (err)
		*err = *why;
	return code;
}

static uint64_t beyond(uint64_t all, uint64_t before)
{
	return all > before ? all - before : 0;
}

/* A worker that did not tell what the run came to is ended first: the kernel
 * then says what it used. */
static void end_worker(struct job *j, const struct talk *t)
{
	bool bad = t->verdict == VERDICT_GONE ||
		   t->verdict == VERDICT_PROTOCOL;
	uint64_t faults = j->slot->used_faults;

	pool_kill(j->h->pool, TAKE_PTR(j->slot), bad, &j->dead);
	j->result->usage.cpu_us = beyond(j->dead.used.cpu_us,
					 t->cpu_before_us);
	j->result->usage.page_faults = beyond(j->dead.used.page_faults,
					      faults);
	j->result->usage.memory_bytes = j->dead.used.memory_bytes;
}

static int execute(struct job *j, struct redoma_error *err)
{
	CLEANUP(talk_done) struct talk t = {.result = j->result};
	struct redoma_error why = {0};
	struct errand e = {
		.granted = j->granted,
		.desk = j->desk,
		.module_fd = j->slot->loaded ? -1 : j->artefact,
		.name = j->name,
		.invoke = j->batch ? BATCH_INVOKE : j->q->invoke,
		.source = j->lang->image ? j->q->source : NULL,
		.source_len = j->lang->image ? j->q->source_len : 0,
		.input = j->q->input,
		.input_len = j->q->input_len,
		.data_bytes = j->slot->data_bytes,
		.file_bytes = j->slot->file_bytes,
		.on_output = j->q->on_output,
		.on_output_data = j->q->on_output_data,
	};
	int r = converse(j->h, j->slot, &e, &t, &why);

	if (r)
		return failed(j, r, &why, err);
	if (t.verdict != VERDICT_OUTCOME)
		end_worker(j, &t);
	r = job_finish(j, &t, err);
	if (!r)
		r = verdict_fill(j->result, &t, &j->dead, j->granted, err);
	if (!r && j->desk)
		r = desk_tell(j->desk, j->result, err);
	if (!r)
		r = granted_verify(j->granted, err);
	if (!r && j->result->status == REDOMA_STATUS_OK && t.outcome.n_written)
		r = job_publish(j, &t, err);
	if (!r)
		part(j);
	return r;
}

static int run_job(struct job *j, struct redoma_error *err)
{
	struct redoma_error why = {0};
	int r;

	if (j->q->native)
		return native_run(j, err);
	r = seal(j, &why);
	if (r && job_is_cancelled(j))
		return 0;
	if (!r) {
		r = find_code(j, &why);
		if (r && job_is_cancelled(j))
			return 0;
		if (r == REDOMA_E_INVALID && !j->lang->image)
			return invalid(j, &why, err);
	}
	if (r) {
		if (err)
			*err = why;
		return r;
	}
	r = take(j, err);
	if (r && job_is_cancelled(j))
		return 0;
	return r ? r : execute(j, err);
}

static void count(const struct job *j)
{
	struct redoma_stats *s = &j->h->stats;
	enum redoma_status status = j->result->status;

	s->runs++;
	s->cold += j->result->usage.cold;
	s->ok += status == REDOMA_STATUS_OK;
	s->errors += status == REDOMA_STATUS_ERROR;
	s->limits += j->result->limit_name != NULL;
	s->breaches += status == REDOMA_STATUS_BREACH;
	s->crashes += status == REDOMA_STATUS_CRASHED;
	if (verdict_is_bad(status))
		incident_keep(j);
}

static int run_all(struct job *j, struct redoma_result **ret,
		   struct redoma_error *err)
{
	int r = choose_policy(j, err);

	if (!r)
		r = choose_language(j, err);
	if (!r)
		r = make_result(j, err);
	if (!r)
		r = open_desk(j, err);
	if (!r)
		r = run_job(j, err);
	if (r) {
		j->h->stats.refused++;
		return r;
	}
	count(j);
	*ret = TAKE_PTR(j->result);
	return 0;
}

int run_request(struct redoma *h, const struct redoma_request *q,
		struct redoma_result **ret, struct redoma_error *err)
{
	CLEANUP(job_done) struct job j = {.h = h, .q = q, .artefact = -1};

	return run_all(&j, ret, err);
}

int run_batch(struct redoma *h, const struct redoma_request *q,
	      struct redoma_result **ret, struct redoma_error *err)
{
	CLEANUP(job_done) struct job j = {
		.h = h, .q = q, .artefact = -1, .batch = true};

	return run_all(&j, ret, err);
}
