#include "worker/run.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "engine/image.h"
#include "engine/module.h"
#include "wire/batch.h"
#include "worker/deadline.h"
#include "worker/host.h"
#include "worker/said.h"

#define WHERE "worker"
#define TRIAL_FUEL ((uint64_t)1 << 40) /* plenty for a run of ours */

static int begin(struct kit *k, struct request *q, struct exec_outcome *out,
		 struct redoma_error *err)
{
	const struct limits *l = &q->plan.limits;
	struct exec_limits el = {l->memory_bytes + k->image_bytes, l->fuel};
	int r = deadline_arm(l->wall_us, l->cpu_us, err);

	return r ? r : exec_begin(k->exec, &el, out, err);
}

static int watch_rows(struct kit *k, const struct request *q,
		      struct redoma_error *err)
{
	struct deadline_batch b = {.words = image_row_words(k->exec),
				   .reserved = ENGINE_MEMORY_MAX};
	struct batch_head head;
	size_t size;

	if (!b.words || q->input.len < sizeof head)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the core sent no batch, or this image takes "
			       "none");
	memcpy(&head, q->input.data, sizeof head);
	b.row_us = head.row_us;
	b.deaf_us = head.deaf_us;
	b.memory = exec_memory(k->exec, &size);
	image_code(k->exec, &b.code, &b.code_end);
	k->first_row = b.words[0];
	return deadline_rows(&b, err);
}

/* The number of the row that a batch had come to, from 1: the guest's word,
 * good for a guess. */
static int end_rows(struct kit *k, struct said *said, struct redoma_error *err)
{
	volatile uint32_t *words = image_row_words(k->exec);
	size_t size;
	void *memory = exec_memory(k->exec, &size);
	int r = 0;

	if (said->deadline == DEADLINE_ROW && memory)
		r = deadline_reopen(memory, size, err);
	said->row = !r && words ? words[0] - k->first_row : 0;
	return r;
}

/* host: NULL for a trial of ours, which calls nothing. */
static int run_image(struct kit *k, struct request *q, struct host *host,
		     struct exec_outcome *out, struct image_result *res,
		     struct redoma_error *err)
{
	struct image_request ir = {
		.source = q->source.data ? q->source.data : "",
		.source_len = q->source.len,
		.input = q->input.len ? q->input.data : NULL,
		.input_len = q->input.len,
		.name = q->name.len ? q->name.data : "agent",
		.argv = q->plan.argv,
		.env = q->plan.env,
		.tools = q->plan.tools,
		.batch = q->invoke.len > 0,
	};
	int r = 0;

	if (!k->prepared) {
		r = image_prepare(k->exec, err);
		k->prepared = !r;
	}
	if (r)
		return r;
	deadline_watch(image_interrupt_word(k->exec));
	if (ir.batch)
		r = watch_rows(k, q, err);
	if (r)
		return r;
	r = image_run(k->exec, &ir, out, res, err);
	/* All of its state is in linear memory; being ended sets its word. */
	while (!r && out->end == EXEC_DONE && res->kind == IMAGE_WAITING &&
	       host && host_rest(host) != EPIPE)
		r = image_resume(k->exec, out, res, err);
	return r;
}

static int run_module(struct kit *k, struct request *q,
		      struct exec_outcome *out, struct run_result *ret,
		      struct redoma_error *err)
{
	int r;

	if (!q->invoke.len)
		return exec_start(k->exec, out, err);
	buf_clear(&ret->results);
	/* argv[0] is the program's name. */
	r = exec_invoke(k->exec, q->invoke.data,
			(const char *const *)q->plan.argv + 1, out,
			&ret->results, err);
	ret->value = (struct outcome_text){ret->results.data,
					   (uint32_t)ret->results.len};
	return r;
}

static int run_guest(struct kit *k, struct request *q, struct host *host,
		     struct said *said, struct run_result *ret,
		     struct redoma_error *err)
{
	int r = begin(k, q, &said->exec, err);

	if (r || said->exec.end != EXEC_DONE)
		return r;
	if (!k->setup.has_image)
		return run_module(k, q, &said->exec, ret, err);
	said->has_image = true;
	r = run_image(k, q, host, &said->exec, &said->image, err);
	said->exec.memory_bytes -= said->exec.memory_bytes > k->image_bytes
					   ? k->image_bytes
					   : said->exec.memory_bytes;
	return r;
}

/* What the guest was called wrongly with is an outcome, not our error. */
static bool entry_is_wrong(struct kit *k, const struct request *q,
			   struct run_result *ret)
{
	struct redoma_error e;
	const char *invoke = q->invoke.len ? q->invoke.data : NULL;
	size_t n = 0;

	if (k->setup.has_image)
		return false;
	while (invoke && q->plan.argv[n + 1])
		n++;
	if (!module_entry(k->engine, invoke, n, &e))
		return false;
	said_invalid(&ret->outcome, &e, ret->text, sizeof ret->text);
	return true;
}

/* wasi_end closed what the plan brought. */
static void disown(struct plan *p)
{
	uint32_t i;

	for (i = 0; i < p->n_grants; i++)
		p->grants[i].fd = -1;
}

void run_usage(struct kit *k, struct run_usage *ret)
{
	struct rusage u = {0};
	uint64_t before = k->page_faults;

	getrusage(RUSAGE_SELF, &u);
	k->page_faults = (uint64_t)u.ru_minflt;
	ret->page_faults = k->page_faults - before;
	ret->cpu_us = (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) *
			      1000000 +
		      (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* A script whose input is one string reads its text from standard input, all
 * else its bytes.  *doc: owns the text, as long as it can be read. */
static int begin_wasi(struct kit *k, const struct request *q, struct host *host,
		      struct json_doc **doc, struct redoma_error *err)
{
	const char *p = q->input.data, *text;
	size_t len = q->input.len;
	int r = 0;

	if (k->setup.has_image && !q->invoke.len && len && *p == '"') {
		r = json_parse(p, len, doc, err);
		text = json_string(r ? NULL : json_root(*doc), &len);
		p = text ? text : p;
	}
	/* What is no JSON is the guest's to refuse. */
	if (r == REDOMA_E_INVALID) {
		len = q->input.len;
		r = 0;
	}
	return r ? r : wasi_begin(k->wasi, &q->plan, host_ops(host), p, len,
				  err);
}

int run_once(struct kit *k, struct channel *c, struct request *q,
	     struct run_result *ret, struct redoma_error *err)
{
	uint64_t reset_us = ret->outcome.reset_us;
	uint64_t wrong = ret->outcome.resets_wrong;
	uint64_t cpu = clock_thread_us();
	struct said said = {0};
	struct run_usage usage;
	CLEANUP(json_cleanup) struct json_doc *text = NULL;
	CLEANUP(host_done) struct host host;
	int r;

	memset(&ret->outcome, 0, sizeof ret->outcome);
	ret->outcome.reset_us = reset_us;
	ret->outcome.resets_wrong = wrong;
	ret->value = (struct outcome_text){0};
	host_begin(&host, c, &q->plan.limits, deadline_stop());
	if (entry_is_wrong(k, q, ret))
		return 0;
	host.eager = request_eager(q);
	deadline_host(&host);
	r = begin_wasi(k, q, &host, &text, err);
	if (r)
		return r;
	r = run_guest(k, q, &host, &said, ret, err);
	said.deadline = deadline_disarm();
	if (!r && k->setup.has_image && q->invoke.len)
		r = end_rows(k, &said, err);
	said.output_over = host_flush(&host);
	wasi_end(k->wasi, &said.wasi);
	disown(&q->plan);
	if (r == REDOMA_E_INVALID) {
		said_invalid(&ret->outcome, err, ret->text, sizeof ret->text);
		return 0;
	}
	if (!r && host_broke(&host))
		r = err_set(err, REDOMA_E_WORKER, WHERE,
			    "the conversation with the core broke");
	if (r)
		return r;
	said.output_left = host_left(&host);
	said_outcome(&said, k->wasi, ret);
	run_usage(k, &usage);
	ret->outcome.page_faults = usage.page_faults;
	/* The two clocks round in their own ways. */
	ret->outcome.cpu_us = usage.cpu_us > cpu ? usage.cpu_us - cpu : 0;
	return 0;
}

int run_reset(struct kit *k, uint64_t *ret_us, uint64_t *ret_wrong,
	      struct redoma_error *err)
{
	/* Its own time: the caller, answered already, may run in between. */
	uint64_t from = clock_thread_us();
	int r = 0;

	*ret_wrong = 0;
	if (k->reset)
		r = reset_verify(k->exec, k->reset, ret_wrong, err);
	exec_reset(k->exec);
	if (!k->reset)
		exec_ahead(k->exec);
	*ret_us = clock_thread_us() - from;
	return r;
}

/* A trusted run of our own: nothing granted, nothing outside. */
struct trial {
	struct plan plan;
	struct wasi_host host;
	struct request request;
	struct exec_outcome out;
	char *names[2];
};

static int trial_begin(struct kit *k, struct trial *t, const char *source,
		       struct redoma_error *err)
{
	int r;

	*t = (struct trial){.plan = {.limits = {.wall_us = 10000000,
						.cpu_us = 10000000,
						.memory_bytes =
							(uint64_t)256 << 20,
						.output_bytes = 4096,
						.files = 4},
				     .clock = SOURCE_NONE,
				     .random = SOURCE_NONE},
			    .names = {(char *)"warm", NULL}};
	if (profile_has_fuel((enum profile)k->setup.profile))
		t->plan.limits.fuel = TRIAL_FUEL;
	t->plan.argv = t->names;
	t->plan.env = t->names + 1;
	t->request.plan = t->plan;
	t->request.source =
		(struct buf){.data = (char *)source, .len = strlen(source)};
	r = wasi_begin(k->wasi, &t->plan, &t->host, NULL, 0, err);
	return r ? r : begin(k, &t->request, &t->out, err);
}

static void trial_end(struct kit *k)
{
	struct wasi_report report;

	deadline_disarm();
	wasi_end(k->wasi, &report);
	exec_reset(k->exec);
}

static int does_not_run(struct redoma_error *err)
{
	return err_set(err, REDOMA_E_WORKER, WHERE,
		       "the language image does not run: build it anew");
}

int run_map(struct kit *k, struct redoma_error *err)
{
	struct trial t;
	int r = trial_begin(k, &t, "", err);

	if (!r && t.out.end != EXEC_DONE)
		r = does_not_run(err);
	if (!r)
		r = image_prepare(k->exec, err);
	k->prepared = !r;
	trial_end(k);
	return r;
}

int run_warm(struct kit *k, struct redoma_error *err)
{
	struct image_result res = {0};
	struct trial t;
	int r = trial_begin(k, &t, "1+1", err);

	if (!r && t.out.end == EXEC_DONE)
		r = run_image(k, &t.request, NULL, &t.out, &res, err);
	trial_end(k);
	if (!r && (t.out.end != EXEC_DONE || res.kind != IMAGE_OK))
		return does_not_run(err);
	return r;
}

int run_remember(struct kit *k, struct redoma_error *err)
{
	struct trial t;
	int r = trial_begin(k, &t, "", err);

	if (!r && t.out.end != EXEC_DONE)
		r = does_not_run(err);
	if (!r)
		r = reset_remember(k->exec, &k->reset, err);
	trial_end(k);
	return r;
}
