/* A compiler that has turned: what it does is ended and named as its own, and
 * the next module compiles.  The attacks are in tests/hostile/turncoat.c; each
 * is tried without the wall that ends it too, where it must succeed.
 * test-seconds: 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <errno.h>
#include <unistd.h>

#include <cmocka.h>

#include <redoma.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "pool/compile.h"
#include "../unit/wasm_build.h"

#define HOSTILE TEST_BUILD "/tests/hostile/"
#define COUNT(a) (sizeof(a) / sizeof *(a))
#define MAY_LACK (1u << 12) /* a cgroup */

/* A good module that ends with the name of an attack, or with nothing. */
static void module(const char *attack, struct buf *ret)
{
	struct wasm m = {0};
	char custom[64];

	wasm_memory(&m, 1, -1);
	wasm_export(&m, "_start", 0,
		    wasm_func(&m, wasm_type(&m, "", ""), "", CODE(0x01)));
	wasm_finish(&m, ret);
	if (!attack)
		return;
	snprintf(custom, sizeof custom, "//!%s", attack);
	wasm_byte(ret, 0);
	wasm_leb(ret, strlen(custom) + 2);
	wasm_name_bytes(ret, "x");
	wasm_put(ret, custom, strlen(custom));
}

static int compile(const char *program, const char *attack,
		   struct compile_report *report, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	CLEANUP_FD int in = -1;
	CLEANUP_FD int out = -1;
	char path[4096];
	struct compile_options o = {.program = path, .may_lack = MAY_LACK};

	snprintf(path, sizeof path, HOSTILE "%s", program);
	module(attack, &b);
	in = fd_sealed("module", b.data, b.len);
	assert_true(in >= 0);
	return compile_module(&o, in, &out, report, err);
}

static void says(const char *program, const char *attack, const char *words)
{
	struct redoma_error err = {0};
	int rc = compile(program, attack, NULL, &err);

	if (!rc || !strstr(err.text, words))
		fail_msg("%s %s: %d %s, not \"%s\"", program, attack, rc,
			 err.text, words);
}

static void still_compiles(const char *program)
{
	struct redoma_error err = {0};

	if (compile(program, NULL, NULL, &err))
		fail_msg("%s: %s", program, err.text);
}

static const char *const forbidden[] = {
	"socket",      "datagram", "passwd", "root",	 "exec",  "fork",
	"kill-parent", "ptrace",   "poll",   "map-code", "memfd", "limit",
};

static void forbidden_calls_end_the_compiler(void **state)
{
	struct redoma_error err = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(forbidden); i++) {
		assert_int_equal(compile("turncoat", forbidden[i], NULL, &err),
				 REDOMA_E_WORKER);
		says("turncoat", forbidden[i],
		     "the compiler made a system call that its jail forbids");
		still_compiles("turncoat");
	}
}

static void limits_hold(void **state)
{
	(void)state;
	says("turncoat", "memory", "refused 12"); /* ENOMEM */
	says("turncoat", "file", "refused 27");	  /* EFBIG */
	says("turncoat", "artefact", "at most 256 are allowed");
	still_compiles("turncoat");
}

/* Each by the wall that is named, none by the filter. */
static void walls_hold_without_the_filter(void **state)
{
	(void)state;
	says("turncoat-open", "socket", "won");
	says("turncoat-open", "poll", "won");
	says("turncoat-open", "datagram", "refused 101"); /* ENETUNREACH: net */
	says("turncoat-open", "root", "refused 13");	  /* EACCES: Landlock */
	says("turncoat-open", "kill-parent", "refused 3"); /* ESRCH: pid */
	says("turncoat-open", "fork", "refused 11");	  /* EAGAIN: limits */
	says("turncoat-open", "passwd", "refused 2");	  /* ENOENT: mount */
	still_compiles("turncoat-open");
}

static void every_wall_is_reported(void **state)
{
	struct compile_report r = {0};
	struct redoma_error err = {0};

	(void)state;
	if (compile("turncoat", NULL, &r, &err))
		fail_msg("%s", err.text);
	for (int c = 0; c < 12; c++)
		if (r.state[c] != 1)
			fail_msg("control %d: %d", c, r.state[c]);
	assert_true(r.landlock_abi >= 2);
}

static void without_walls_they_succeed(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(forbidden); i++)
		if (strcmp(forbidden[i], "kill-parent"))
			says("turncoat-bare", forbidden[i], "won");
	says("turncoat-bare", "memory", "won");
	says("turncoat-bare", "file", "won");
	/* Who would have passed its report on is dead. */
	says("turncoat-bare", "kill-parent", "ended without a report");
	still_compiles("turncoat-bare");
}

static void crashes_are_told_from_breaches(void **state)
{
	(void)state;
	says("turncoat", "segv", "signal 11");
	says("turncoat", "exit", "exit 7");
	still_compiles("turncoat");
}

/* An installation with this compiler. */
static struct redoma *open_place(const char *dir)
{
	static const char *const links[][2] = {
		{"redoma-worker", "redoma-worker"},
		{"images", "images"},
		{"tests/hostile/turncoat", "redoma-compile"},
	};
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_error err = {0};
	struct redoma *h = NULL;
	char from[4096], to[256], cache[256];

	for (size_t i = 0; i < COUNT(links); i++) {
		snprintf(from, sizeof from, TEST_BUILD "/%s", links[i][0]);
		snprintf(to, sizeof to, "%s/%s", dir, links[i][1]);
		assert_int_equal(symlink(from, to), 0);
	}
	snprintf(cache, sizeof cache, "%s/cache", dir);
	o.install_dir = dir;
	o.cache_dir = cache;
	if (redoma_open(NULL, &o, &h, &err))
		fail_msg("%s", err.text);
	return h;
}

static int run(struct redoma *h, const char *attack, struct redoma_error *err)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	CLEANUP(buf_done) struct buf b = {0};
	struct redoma_result *r = NULL;
	int rc;

	module(attack, &b);
	q.source = b.data;
	q.source_len = b.len;
	rc = redoma_run(h, &q, &r, err);
	if (!rc && redoma_result_status(r) != REDOMA_STATUS_OK)
		fail_msg("%s", redoma_result_json(r, NULL));
	redoma_result_free(r);
	return rc;
}

static void a_run_names_its_compiler(void **state)
{
	char dir[] = "/tmp/redoma-turncoat-XXXXXX", command[64];
	struct redoma_error err = {0};
	struct redoma *h;

	(void)state;
	assert_non_null(mkdtemp(dir));
	h = open_place(dir);
	assert_int_equal(run(h, "socket", &err), REDOMA_E_WORKER);
	assert_string_equal(err.where, "compiler");
	assert_non_null(strstr(err.text, "its jail forbids"));
	if (run(h, NULL, &err))
		fail_msg("%s", err.text);
	redoma_close(h);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	snprintf(command, sizeof command, "rm -r '%s'", dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forbidden_calls_end_the_compiler),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(walls_hold_without_the_filter),
		cmocka_unit_test(every_wall_is_reported),
		cmocka_unit_test(without_walls_they_succeed),
		cmocka_unit_test(crashes_are_told_from_breaches),
		cmocka_unit_test(a_run_names_its_compiler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
