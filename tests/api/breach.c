/* A worker that has turned against the core, or breaks its protocol: each is
 * ended and named, and the next run is right.  The attacks are in
 * tests/hostile; those of a broken first wall are tried without the kernel
 * jail too, where they must succeed.
 * test-seconds: 240 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <redoma.h>

#define PATH 4096

/* An installation whose worker is build/tests/hostile/<name>. */
struct place {
	char dir[PATH];
	struct redoma *handle;
};

static void link_to(const struct place *p, const char *target,
		    const char *name)
{
	char from[2 * PATH], to[2 * PATH];

	snprintf(from, sizeof from, TEST_BUILD "/%s", target);
	snprintf(to, sizeof to, "%s/%s", p->dir, name);
	assert_int_equal(symlink(from, to), 0);
}

static struct redoma_policy *policy(const char *text)
{
	struct redoma_policy *p = NULL;
	struct redoma_error err = {0};

	if (redoma_policy_parse(text, strlen(text), "/", &p, &err))
		fail_msg("%s", err.text);
	return p;
}

static void place_open(struct place *p, const char *worker, const char *text)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *pol = policy(text);
	struct redoma_error err = {0};
	const char *tmp = getenv("TMPDIR");
	char program[PATH], cache[PATH], incidents[2 * PATH];

	snprintf(p->dir, sizeof p->dir, "%s/breach-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(p->dir));
	snprintf(cache, sizeof cache, "%s/cache", tmp ? tmp : "/tmp");
	snprintf(program, sizeof program, "tests/hostile/%s", worker);
	link_to(p, program, "redoma-worker");
	link_to(p, "images", "images");
	link_to(p, "redoma-compile", "redoma-compile");
	o.install_dir = p->dir;
	o.cache_dir = cache;
	/* A file stands there: nothing is kept. */
	snprintf(incidents, sizeof incidents, "%s/images/none", p->dir);
	o.incident_dir = incidents;
	o.single = !strcmp(worker, "forger");
	o.verify = !strcmp(worker, "stale") || !strcmp(worker, "traitor");
	if (redoma_open(pol, &o, &p->handle, &err))
		fail_msg("%s", err.text);
	redoma_policy_free(pol);
}

static void place_close(struct place *p)
{
	static const char *const links[] = {"redoma-worker", "images",
					    "redoma-compile"};
	char name[2 * PATH];

	redoma_close(p->handle);
	for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
		snprintf(name, sizeof name, "%s/%s", p->dir, links[i]);
		unlink(name);
	}
	assert_int_equal(rmdir(p->dir), 0); /* nothing is left */
}

static struct redoma_result *run(struct place *p, const char *source)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *r = NULL;
	struct redoma_error err = {0};

	q.language = "js";
	q.source = source;
	q.source_len = strlen(source);
	if (redoma_run(p->handle, &q, &r, &err))
		fail_msg("%s: %s", source, err.text);
	return r;
}

static void ends(struct place *p, const char *source, enum redoma_status want)
{
	struct redoma_result *r = run(p, source);

	if (redoma_result_status(r) != want)
		fail_msg("%s: %s", source, redoma_result_json(r, NULL));
	assert_null(redoma_result_value(r, NULL));
	redoma_result_free(r);
}

static void gives(struct place *p, const char *source, const char *value)
{
	struct redoma_result *r = run(p, source);
	uint64_t len;
	const char *got = redoma_result_value(r, &len);

	if (!got || strcmp(got, value))
		fail_msg("%s: %s", source, redoma_result_json(r, NULL));
	redoma_result_free(r);
}

static const char *const forbidden[] = {
	"//!socket",	"//!open",  "//!fork",	    "//!exec",
	"//!map-code",	"//!uring", "//!namespace", "//!make-code",
	"//!kill",	"//!memfd", "//!limit",
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void forbidden_calls_are_breaches(void **state)
{
	struct place p;

	(void)state;
	place_open(&p, "traitor", "redoma: 1\nreuse: tenant\n");
	for (size_t i = 0; i < COUNT(forbidden); i++) {
		ends(&p, forbidden[i], REDOMA_STATUS_BREACH);
		gives(&p, "1+1", "2");
	}
	place_close(&p);
}

static void without_the_jail_they_succeed(void **state)
{
	struct place p;

	(void)state;
	place_open(&p, "traitor-bare", "");
	for (size_t i = 0; i < COUNT(forbidden); i++)
		gives(&p, forbidden[i], "\"won\"");
	place_close(&p);
}

/* (module (memory (export "memory") 1) (func (export "_start"))), and the start
 * of (data (i32.const 0) WORD). */
static const unsigned char idle[] = {
	0, 'a', 's', 'm', 1, 0, 0, 0,
	1, 4, 1, 0x60, 0, 0,
	3, 2, 1, 0,
	5, 3, 1, 0, 1,
	7, 19, 2, 6, 'm', 'e', 'm', 'o', 'r', 'y', 2, 0,
	6, '_', 's', 't', 'a', 'r', 't', 0, 0,
	10, 4, 1, 2, 0, 0x0b,
};

/* A command that does nothing; the worker reads the word in its data. */
static struct redoma_result *run_module(struct place *p, const char *word)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *r = NULL;
	struct redoma_error err = {0};
	unsigned char wasm[sizeof idle + 100], n = (unsigned char)strlen(word) + 1;
	const unsigned char data[] = {11, 6 + n, 1, 0, 0x41, 0, 0x0b, n};

	memcpy(wasm, idle, sizeof idle);
	memcpy(wasm + sizeof idle, data, sizeof data);
	memcpy(wasm + sizeof idle + sizeof data, word, n);
	q.language = "wasm";
	q.source = wasm;
	q.source_len = sizeof idle + sizeof data + n;
	if (redoma_run(p->handle, &q, &r, &err))
		fail_msg("%s: %s", word, err.text);
	return r;
}

static void module_ends(struct place *p, const char *word,
			enum redoma_status want, const char *says)
{
	struct redoma_result *r = run_module(p, word);

	if (redoma_result_status(r) != want ||
	    !strstr(redoma_result_json(r, NULL), says))
		fail_msg("%s: %s", word, redoma_result_json(r, NULL));
	redoma_result_free(r);
}

/* Loading needs executable memory and a memfd; the rest is as ever. */
static const char *const while_loading[] = {
	"//!socket", "//!open",	     "//!fork", "//!exec",
	"//!uring",  "//!namespace", "//!kill", "//!limit",
};

static const char *const while_running[] = {
	"//?socket",	"//?open",  "//?fork",	    "//?exec",
	"//?map-code",	"//?uring", "//?namespace", "//?make-code",
	"//?kill",	"//?memfd", "//?limit",
};

static void a_module_is_loaded_behind_both_walls(void **state)
{
	struct place p;

	(void)state;
	place_open(&p, "traitor", "");
	for (size_t i = 0; i < COUNT(while_loading); i++) {
		module_ends(&p, while_loading[i], REDOMA_STATUS_BREACH, "");
		module_ends(&p, "honest", REDOMA_STATUS_OK, "");
	}
	for (size_t i = 0; i < COUNT(while_running); i++) {
		module_ends(&p, while_running[i], REDOMA_STATUS_BREACH, "");
		module_ends(&p, "honest", REDOMA_STATUS_OK, "");
	}
	module_ends(&p, "//!segv", REDOMA_STATUS_CRASHED, "");
	module_ends(&p, "//?segv", REDOMA_STATUS_CRASHED, "");
	place_close(&p);
}

static void without_the_jail_modules_win(void **state)
{
	struct place p;

	(void)state;
	place_open(&p, "traitor-bare", "");
	module_ends(&p, "honest", REDOMA_STATUS_OK, "");
	for (size_t i = 0; i < COUNT(while_loading); i++)
		module_ends(&p, while_loading[i], REDOMA_STATUS_INVALID, "won");
	for (size_t i = 0; i < COUNT(while_running); i++)
		module_ends(&p, while_running[i], REDOMA_STATUS_INVALID, "won");
	place_close(&p);
}

static void crashes_are_told_from_breaches(void **state)
{
	struct place p;

	(void)state;
	place_open(&p, "traitor", "redoma: 1\nlimits: {wall: 200ms}\n");
	ends(&p, "//!segv", REDOMA_STATUS_CRASHED);
	ends(&p, "//!abort", REDOMA_STATUS_CRASHED);
	ends(&p, "//!exit", REDOMA_STATUS_CRASHED);
	ends(&p, "//!hang", REDOMA_STATUS_WALL_LIMIT);
	gives(&p, "6*7", "42");
	place_close(&p);
}

static void deaf_worker_dies_in_grace(void **state)
{
	struct place p;
	struct redoma_result *r;
	unsigned long long us = 0;
	const char *wall;

	(void)state;
	place_open(&p, "traitor", "redoma: 1\nlimits: {wall: 200ms}\n");
	gives(&p, "1", "1");
	r = run(&p, "//!hang");
	wall = strstr(redoma_result_json(r, NULL), "\"wall_us\":");
	assert_non_null(wall);
	us = strtoull(wall + strlen("\"wall_us\":"), NULL, 10);
	assert_in_range(us, 200000, 1000000);
	redoma_result_free(r);
	place_close(&p);
}

static void broken_protocol_is_a_breach(void **state)
{
	static const char *const ways[] = {
		"wrong-run",	  "wrong-magic",   "wrong-kind",
		"core-kind",	  "huge-length",   "forged-fds",
		"garbage",	  "bad-value",	   "short-outcome",
		"forged-counts",  "bad-call",	   "escape-publish",
		"outcome-flood", "claim-breach",
	};
	struct place p;

	(void)state;
	place_open(&p, "forger", "");
	gives(&p, "honest", "42");
	for (size_t i = 0; i < COUNT(ways); i++)
		ends(&p, ways[i], REDOMA_STATUS_BREACH);
	gives(&p, "honest", "42");
	place_close(&p);
}

static void flood_silence_and_hang_up(void **state)
{
	struct place p;

	(void)state;
	place_open(&p, "forger", "redoma: 1\nlimits: {wall: 100ms}\n");
	ends(&p, "flood", REDOMA_STATUS_OUTPUT_LIMIT);
	ends(&p, "silence", REDOMA_STATUS_WALL_LIMIT);
	ends(&p, "hang-up", REDOMA_STATUS_CRASHED);
	gives(&p, "honest", "42");
	place_close(&p);
}

/* What the caller was asked; it never answers. */
static size_t asked;
static struct redoma_call *unanswered[64];

static void on_call(void *data, struct redoma_call *c)
{
	(void)data;
	assert_true(asked < COUNT(unanswered));
	unanswered[asked++] = c;
}

static void forget_calls(void)
{
	while (asked)
		assert_int_equal(redoma_answer(unanswered[--asked], "1", 1,
					       NULL),
				 0);
}

static struct redoma_result *run_asked(struct place *p, const char *source)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *r = NULL;
	struct redoma_error err = {0};

	q.language = "js";
	q.source = source;
	q.source_len = strlen(source);
	q.on_call = on_call;
	if (redoma_run(p->handle, &q, &r, &err))
		fail_msg("%s: %s", source, err.text);
	return r;
}

static void forged_calls_are_breaches(void **state)
{
	static const struct {
		const char *way;
		size_t asked;
		enum redoma_status status;
	} rows[] = {
		{"tool-again", 1, REDOMA_STATUS_BREACH},
		{"tool-crowd", 32, REDOMA_STATUS_BREACH},
		{"tool-huge", 0, REDOMA_STATUS_BREACH},
		{"tool-drip", 0, REDOMA_STATUS_BREACH},
		{"tool-return", 0, REDOMA_STATUS_BREACH},
		{"tool-waits", 1, REDOMA_STATUS_WALL_LIMIT},
		{"tool-half", 1, REDOMA_STATUS_WALL_LIMIT},
	};
	struct place p;

	(void)state;
	place_open(&p, "forger", "redoma: 1\nlimits: {wall: 300ms}\n");
	ends(&p, "tool", REDOMA_STATUS_BREACH);
	place_close(&p);
	place_open(&p, "forger",
		   "redoma: 1\nlimits: {wall: 300ms}\ntools: [t]\n");
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct redoma_result *r = run_asked(&p, rows[i].way);

		if (redoma_result_status(r) != rows[i].status ||
		    asked != rows[i].asked)
			fail_msg("%s: %zu asked, %s", rows[i].way, asked,
				 redoma_result_json(r, NULL));
		redoma_result_free(r);
		forget_calls();
	}
	place_close(&p);
}

static void the_core_holds_the_terms(void **state)
{
	struct redoma_result *r;
	struct place p;

	(void)state;
	place_open(&p, "forger", "redoma: 1\ntools: "
		   "[{name: t, where: {n: {maximum: 5}}}]\n");
	r = run_asked(&p, "tool-unchecked");
	assert_int_equal(redoma_result_status(r), REDOMA_STATUS_OK);
	assert_int_equal(asked, 0);
	assert_non_null(strstr(redoma_result_json(r, NULL),
			       "{\"op\":\"tool\",\"path\":\"other\""));
	assert_non_null(strstr(redoma_result_json(r, NULL), "maximum 5"));
	redoma_result_free(r);
	place_close(&p);
	/* Its control: it may, and the call arrives. */
	place_open(&p, "forger", "redoma: 1\ntools: [t, other]\n");
	redoma_result_free(run_asked(&p, "tool-unchecked"));
	assert_int_equal(asked, 2);
	forget_calls();
	place_close(&p);
}

static unsigned long long wrong_bytes(struct place *p)
{
	static const char dirty[] =
		"let a=[];for(let i=0;i<20000;i++)a.push({id:i,s:'x'+i});"
		"a.length";
	unsigned long long n = 0;

	/* One run's reset is told by the next. */
	for (int i = 0; i < 4; i++) {
		struct redoma_result *r = run(p, dirty);
		const char *at = strstr(redoma_result_json(r, NULL),
					"\"reset_wrong\":");

		assert_non_null(at);
		n += strtoull(at + strlen("\"reset_wrong\":"), NULL, 10);
		redoma_result_free(r);
	}
	return n;
}

static void resets_are_exact(void **state)
{
	struct place p;

	(void)state;
	place_open(&p, "traitor", "redoma: 1\nreuse: tenant\n");
	assert_int_equal(wrong_bytes(&p), 0);
	place_close(&p);
}

static void a_stale_page_map_is_seen(void **state)
{
	struct place p;

	(void)state;
	place_open(&p, "stale", "redoma: 1\nreuse: tenant\n");
	assert_true(wrong_bytes(&p) > 0);
	place_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forbidden_calls_are_breaches),
		cmocka_unit_test(without_the_jail_they_succeed),
		cmocka_unit_test(a_module_is_loaded_behind_both_walls),
		cmocka_unit_test(without_the_jail_modules_win),
		cmocka_unit_test(crashes_are_told_from_breaches),
		cmocka_unit_test(deaf_worker_dies_in_grace),
		cmocka_unit_test(broken_protocol_is_a_breach),
		cmocka_unit_test(flood_silence_and_hang_up),
		cmocka_unit_test(forged_calls_are_breaches),
		cmocka_unit_test(the_core_holds_the_terms),
		cmocka_unit_test(resets_are_exact),
		cmocka_unit_test(a_stale_page_map_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
