/* Calls of tools through the library: in parallel, answered in any order and
 * from any thread, ended by limits and by cancelling.
 * test-seconds: 120 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <redoma.h>

#include "tiers.h"

#define V "redoma: 1\n"
#define HELD_MAX 64

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static struct redoma *open_with(const char *policy)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *p = NULL;
	struct redoma *r = NULL;
	struct redoma_error err = {0};

	o.install_dir = TEST_BUILD;
	if (redoma_policy_parse(policy, strlen(policy), "/", &p, &err) ||
	    redoma_open(p, &o, &r, &err))
		fail_msg("%s", err.text);
	redoma_policy_free(p);
	return r;
}

/* The caller.  What it does is the tool's name. */
struct caller {
	struct redoma *cancel;
	_Atomic size_t asked;
	size_t batch; /* batch: answered when so many are here */
	struct redoma_call *held[HELD_MAX];
	size_t n_held, most;
	uint64_t wait_us;
	pthread_t thread;
	bool threaded;
	char seen[4096]; /* output and calls, in their order */
};

static void say(struct redoma_call *c, const char *json)
{
	struct redoma_error err = {0};

	if (redoma_answer(c, json, strlen(json), &err))
		fail_msg("%s", err.text);
}

static void say_held(struct caller *k)
{
	k->most = k->n_held > k->most ? k->n_held : k->most;
	while (k->n_held) {
		struct redoma_call *c = k->held[--k->n_held];

		say(c, redoma_call_args(c, NULL));
	}
}

static void *say_later(void *data)
{
	struct caller *k = data;

	usleep((useconds_t)k->wait_us);
	say_held(k);
	return NULL;
}

static void on_call(void *data, struct redoma_call *c)
{
	struct caller *k = data;
	const char *tool = redoma_call_tool(c);
	uint64_t len;

	k->asked++;
	strcat(k->seen, "call ");
	if (!strcmp(tool, "echo")) {
		redoma_call_args(c, &len);
		assert_int_equal(strlen(redoma_call_args(c, NULL)), len);
		say(c, redoma_call_args(c, NULL));
		return;
	}
	if (!strcmp(tool, "fail")) {
		assert_int_equal(redoma_answer_error(c, "PayError", "no money",
						     NULL),
				 0);
		return;
	}
	if (!strcmp(tool, "nan")) {
		say(c, "{\"$redoma\":\"nan\"}");
		return;
	}
	if (!strcmp(tool, "odd")) {
		say(c, "{\"$redoma\":\"function\",\"value\":1}");
		return;
	}
	assert_true(k->n_held < HELD_MAX);
	k->held[k->n_held++] = c;
	if (!strcmp(tool, "batch") && k->n_held == k->batch)
		say_held(k);
	if (!strcmp(tool, "later") && k->n_held == k->batch) {
		k->threaded = true;
		assert_int_equal(pthread_create(&k->thread, NULL, say_later,
						k),
				 0);
	}
	if (!strcmp(tool, "cancel"))
		redoma_cancel(k->cancel);
}

static void on_output(void *data, int stream, const void *p, uint64_t len)
{
	struct caller *k = data;

	(void)stream;
	strncat(k->seen, p, len);
	strcat(k->seen, " ");
}

static struct redoma_result *run(struct redoma *h, const char *code,
				 struct caller *k)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *r = NULL;
	struct redoma_error err = {0};

	tier_of(&q.native, "/usr/bin/node");
	q.language = "js";
	q.source = code;
	q.source_len = strlen(code);
	q.on_call = on_call;
	q.on_call_data = k;
	q.on_output = on_output;
	q.on_output_data = k;
	k->cancel = h;
	if (redoma_run(h, &q, &r, &err))
		fail_msg("%s: %s", code, err.text);
	if (k->threaded)
		pthread_join(k->thread, NULL);
	k->threaded = false;
	return r;
}

static void gives(struct redoma *h, struct caller *k, const char *code,
		  const char *value)
{
	struct redoma_result *r = run(h, code, k);
	const char *got = redoma_result_value(r, NULL);

	if (!got || strcmp(got, value))
		fail_msg("%s: %s", code, redoma_result_json(r, NULL));
	redoma_result_free(r);
}

static struct redoma_result *ends(struct redoma *h, struct caller *k,
				  const char *code, enum redoma_status status,
				  const char *says)
{
	struct redoma_result *r = run(h, code, k);
	const char *json = redoma_result_json(r, NULL);

	if (redoma_result_status(r) != status || !strstr(json, says))
		fail_msg("%s: %s", code, json);
	return r;
}

static void values_go_and_come(void **state)
{
	struct redoma *h = open_with(V "tools: [echo, fail, nan, odd]\n");
	struct caller k = {0};

	(void)state;
	gives(h, &k, "await tools.echo({a: [1, 'x', null], '\\u00e9': {}})",
	      "{\"a\":[1,\"x\",null],\"\xc3\xa9\":{}}");
	gives(h, &k, "const r = await tools.echo({n: 10n ** 20n, d: new Date(0),"
	      " m: new Map([[1, 2]]), u: undefined});"
	      "[typeof r.n, r.d.getTime(), r.m.get(1), 'u' in r]",
	      "[\"bigint\",0,2,true]");
	gives(h, &k, "Number.isNaN(await tools.nan())", "true");
	gives(h, &k, "await tools.echo()", "{}");
	gives(h, &k, "Object.keys(tools)", "[\"echo\",\"fail\",\"nan\",\"odd\"]");
	gives(h, &k, "const f = async () => tools; (await f()) === tools",
	      "true");
	gives(h, &k, "export default async (input, t) => (await t.echo({q: 1})).q",
	      "1");
	gives(h, &k, "return (await tools.echo({q: 2})).q", "2");
	gives(h, &k, "const x = 'x'.repeat(300000);"
	      "(await tools.echo({x})).x === x", "true");
	/* A guest's own $redoma is no tag. */
	gives(h, &k, "(await tools.echo({v: {$redoma: 'nan'}})).v.$redoma",
	      "\"nan\"");
	redoma_close(h);
}

static void failures_are_errors_of_the_guest(void **state)
{
	struct redoma *h = open_with(V "tools: [echo, fail, odd]\n");
	struct caller k = {0};

	(void)state;
	gives(h, &k, "let e; try { await tools.fail({}) } catch (x) { e = x };"
	      "[e.name, e.message, e.tool, e instanceof Error,"
	      " e.constructor.constructor === Function, e.constructor."
	      "constructor('return this')() === globalThis,"
	      " e.stack.slice(0, -1)]",
	      "[\"PayError\",\"no money\",\"fail\",true,true,true,"
	      "\"PayError: no money\\n    at agent.js:1:2\"]");
	redoma_result_free(ends(h, &k, "1;\nawait tools.fail()",
				REDOMA_STATUS_ERROR,
				"\"name\":\"PayError\",\"message\":\"no money\""));
	gives(h, &k, "(await Promise.allSettled([tools.echo(1), tools.echo([]),"
	      "tools.echo({f() {}}), tools.echo({x: 'x'.repeat(1 << 20)}),"
	      "tools.odd()])).map((r) => r.reason.name)",
	      "[\"TypeError\",\"TypeError\",\"TypeError\",\"ToolError\","
	      "\"ToolError\"]");
	assert_int_equal(k.asked, 3);
	redoma_close(h);
}

static void parallel_up_to_in_flight(void **state)
{
	struct redoma *h = open_with(V "tools: [batch]\n"
				     "limits: {in_flight: 5}\n");
	struct caller k = {.batch = 5};

	(void)state;
	/* Each five are answered together and backwards: if fewer came at
	 * once, none would be answered. */
	gives(h, &k, "(await Promise.all(Array.from({length: 20}, (_, i) => "
	      "tools.batch({i})))).map((r) => r.i).join()",
	      "\"0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19\"");
	assert_int_equal(k.asked, 20);
	assert_int_equal(k.most, 5);
	redoma_close(h);
}

/* Answered by another thread, 200 ms later: the run rests, and so does the
 * thread of redoma_run. */
static void waiting_costs_nothing(void **state)
{
	struct redoma *h = open_with(V "tools: [later]\n");
	struct caller k = {.batch = 3, .wait_us = 200000};
	struct timespec a, b;
	struct redoma_result *r;
	const char *cpu;
	uint64_t from = now_us();

	(void)state;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	r = ends(h, &k, "await Promise.all([1, 2, 3].map((i) => "
		 "tools.later({i})))", REDOMA_STATUS_OK, "{\"i\":3}");
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	assert_true(now_us() - from >= 200000);
	assert_true((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec <
		    60000000);
	cpu = strstr(redoma_result_json(r, NULL), "\"cpu_us\":");
	assert_non_null(cpu);
	assert_true(strtoull(cpu + 9, NULL, 10) < 60000);
	redoma_result_free(r);
	redoma_close(h);
}

static void timers_go_on_meanwhile(void **state)
{
	struct redoma *h = open_with(V "tools: [later]\n");
	struct caller k = {.batch = 1, .wait_us = 150000};

	(void)state;
	gives(h, &k, "const seen = []; const t = tools.later({}).then(() => "
	      "seen.push('tool')); await new Promise((r) => setTimeout(r, 20));"
	      "seen.push('timer'); await t; seen.join()",
	      "\"timer,tool\"");
	redoma_close(h);
}

static void what_was_printed_comes_before(void **state)
{
	struct redoma *h = open_with(V "tools: [echo]\n");
	struct caller k = {0};

	(void)state;
	gives(h, &k, "console.log('a'); await tools.echo(); console.log('b');"
	      "await tools.echo(); console.log('c'); 1", "1");
	assert_string_equal(k.seen, "a\n call b\n call c\n ");
	/* A call that nobody awaits is made, and answered. */
	gives(h, &k, "tools.echo().then(() => console.log('late')); 2", "2");
	assert_non_null(strstr(k.seen, "late"));
	redoma_close(h);
}

static void a_wait_ends(void **state)
{
	/* A jail may have to be made first. */
	const uint64_t wall = tier_native ? 1000000 : 300000;
	const uint64_t soon = tier_native ? 2000000 : 250000;
	struct redoma *h = open_with(
		tier_native ? V "tools: [hold, cancel, echo]\n"
				"limits: {wall: 1s}\n"
			    : V "tools: [hold, cancel, echo]\n"
				"limits: {wall: 300ms}\n");
	struct caller k = {0};
	uint64_t from = now_us(), took;

	(void)state;
	redoma_result_free(ends(h, &k, "await tools.hold()",
				REDOMA_STATUS_WALL_LIMIT, "Unanswered"));
	took = now_us() - from;
	assert_true(took >= wall && took < wall + 2700000);
	/* Neither catch nor finally keeps it. */
	redoma_result_free(ends(h, &k, "for (;;) try { await tools.hold() }"
				"catch { } finally { continue }",
				REDOMA_STATUS_WALL_LIMIT, "hold"));
	redoma_result_free(ends(h, &k, "setTimeout(() => 1, 100000);"
				"await tools.hold()",
				REDOMA_STATUS_WALL_LIMIT, "hold"));
	from = now_us();
	redoma_result_free(ends(h, &k, "await tools.cancel()",
				REDOMA_STATUS_CANCELLED, "cancel"));
	assert_true(now_us() - from < soon);
	assert_int_equal(k.n_held, 4);
	for (size_t i = 0; i < k.n_held; i++)
		assert_int_not_equal(redoma_call_is_over(k.held[i]), 0);
	/* Too late, and harmless. */
	say_held(&k);
	gives(h, &k, "(await tools.echo({k: 1})).k", "1");
	redoma_close(h);
}

static void *cancel_soon(void *data)
{
	struct caller *k = data;

	while (!k->asked)
		usleep(1000);
	usleep(50000);
	redoma_cancel(k->cancel);
	return NULL;
}

static void cancelled_from_elsewhere(void **state)
{
	struct redoma *h = open_with(V "tools: [hold]\n");
	struct caller k = {.cancel = h};
	uint64_t from = now_us();
	pthread_t t;

	(void)state;
	assert_int_equal(pthread_create(&t, NULL, cancel_soon, &k), 0);
	redoma_result_free(ends(h, &k, "await tools.hold()",
				REDOMA_STATUS_CANCELLED, "hold"));
	pthread_join(t, NULL);
	assert_true(now_us() - from < 5000000);
	say_held(&k);
	redoma_close(h);
}

/* What is kept of one run is not there in the next. */
static void a_kept_worker_starts_anew(void **state)
{
	struct redoma *h = open_with(V "tools: [echo, hold]\nreuse: tenant\n");
	struct caller k = {0};

	(void)state;
	for (int i = 0; i < 20; i++) {
		gives(h, &k, "globalThis.n = (globalThis.n ?? 0) + 1;"
		      "await Promise.all([tools.echo(), tools.echo()]); n",
		      "1");
		gives(h, &k, "tools.echo = 1; tools.echo", "1");
		gives(h, &k, "typeof tools.echo", "\"function\"");
	}
	redoma_close(h);
}

/* With a directory granted the usher speaks to the worker too. */
static void files_and_tools_together(void **state)
{
	char dir[] = "/tmp/redoma-tools-XXXXXX", text[200], path[100];
	struct caller k = {.batch = 4};
	struct redoma *h;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0755), 0);
	snprintf(path, sizeof path, "%s/f", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("12345", f);
	fclose(f);
	snprintf(text, sizeof text,
		 V "tools: [batch]\nread: [{host: %s/, as: /d/}]\n", dir);
	h = open_with(text);
	gives(h, &k, "const fs = require('node:fs'); let n = 0;"
	      "await Promise.all(Array.from({length: 40}, async (_, i) => {"
	      "  await tools.batch({i, x: 'x'.repeat(30000)});"
	      "  n += fs.readFileSync('/d/f', 'utf8').length;"
	      "  n += fs.readdirSync('/d').length; })); n", "240");
	redoma_close(h);
	unlink(path);
	rmdir(dir);
}

static void nobody_to_answer(void **state)
{
	struct redoma *h = open_with(V "tools: [echo]\n");
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *r = NULL;
	struct redoma_error err = {0};

	(void)state;
	q.language = "js";
	q.source = "1";
	q.source_len = 1;
	assert_int_equal(redoma_run(h, &q, &r, &err), REDOMA_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, "on_call"));
	redoma_close(h);
}

/* call, wait, answer of the module "redoma", from hand-made WebAssembly:
 * call(16, 12), wait(-1, 8), answer(1, 64), and the four bytes at 64. */
static const unsigned char module[] = {
	0, 'a', 's', 'm', 1, 0, 0, 0,
	1, 17, 3, 0x60, 2, 0x7f, 0x7f, 1, 0x7f, 0x60, 2, 0x7e, 0x7f, 1, 0x7f,
	0x60, 0, 1, 0x7f,
	2, 45, 3,
	6, 'r', 'e', 'd', 'o', 'm', 'a', 4, 'c', 'a', 'l', 'l', 0, 0,
	6, 'r', 'e', 'd', 'o', 'm', 'a', 4, 'w', 'a', 'i', 't', 0, 1,
	6, 'r', 'e', 'd', 'o', 'm', 'a', 6, 'a', 'n', 's', 'w', 'e', 'r', 0, 0,
	3, 2, 1, 2,
	5, 3, 1, 0, 1,
	7, 15, 2, 2, 'g', 'o', 0, 3, 6, 'm', 'e', 'm', 'o', 'r', 'y', 2, 0,
	10, 32, 1, 30, 0,
	0x41, 16, 0x41, 12, 0x10, 0, 0x1a,
	0x42, 0x7f, 0x41, 8, 0x10, 1, 0x1a,
	0x41, 1, 0x41, 0xc0, 0, 0x10, 2, 0x1a,
	0x41, 0xc0, 0, 0x28, 2, 0,
	0x0b,
	11, 18, 1, 0, 0x41, 16, 0x0b, 12,
	'e', 'c', 'h', 'o', 0, '{', '"', 'k', '"', ':', '7', '}',
};

static void a_module_may_import_them(void **state)
{
	struct redoma *h = open_with(V "tools: [echo]\n");
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *r = NULL;
	struct redoma_error err = {0};
	struct caller k = {0};

	(void)state;
	q.source = module;
	q.source_len = sizeof module;
	q.invoke = "go";
	q.on_call = on_call;
	q.on_call_data = &k;
	if (redoma_run(h, &q, &r, &err))
		fail_msg("%s", err.text);
	/* 0, then {"k of the answer. */
	if (redoma_result_status(r) != REDOMA_STATUS_OK ||
	    strcmp(redoma_result_value(r, NULL), "1797421824"))
		fail_msg("%s", redoma_result_json(r, NULL));
	assert_int_equal(k.asked, 1);
	redoma_result_free(r);
	redoma_close(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_BOTH_TIERS(values_go_and_come),
		IN_BOTH_TIERS(failures_are_errors_of_the_guest),
		IN_BOTH_TIERS(parallel_up_to_in_flight),
		IN_BOTH_TIERS(waiting_costs_nothing),
		IN_BOTH_TIERS(timers_go_on_meanwhile),
		IN_BOTH_TIERS(what_was_printed_comes_before),
		IN_BOTH_TIERS(a_wait_ends),
		IN_BOTH_TIERS(cancelled_from_elsewhere),
		cmocka_unit_test(a_kept_worker_starts_anew),
		IN_BOTH_TIERS(files_and_tools_together),
		cmocka_unit_test(nobody_to_answer),
		cmocka_unit_test(a_module_may_import_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
