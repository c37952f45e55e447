/* What a worker that is kept does between two runs, as seen from outside: it
 * faults no page in again, and a machine with swap gets the slow way, which is
 * as exact. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>
#include <redoma.h>

#define WARM_UP 20
#define RUNS 50
#define STRAY 5 /* runs that the machine may disturb */
#define FAULTS_MAX 2
#define SWAPS "/proc/swaps"

static struct redoma *open_kept(bool verify)
{
	static const char text[] = "redoma: 1\nreuse: tenant\n";
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *p = NULL;
	struct redoma *r = NULL;
	struct redoma_error err = {0};

	o.install_dir = TEST_BUILD;
	o.verify = verify;
	if (redoma_policy_parse(text, strlen(text), NULL, &p, &err) ||
	    redoma_open(p, &o, &r, &err))
		fail_msg("%s", err.text);
	redoma_policy_free(p);
	return r;
}

static struct redoma_result *run(struct redoma *r, const char *code)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *ret = NULL;
	struct redoma_error err = {0};

	q.tenant = "t";
	q.language = "js";
	q.source = code;
	q.source_len = strlen(code);
	if (redoma_run(r, &q, &ret, &err))
		fail_msg("%s", err.text);
	if (redoma_result_status(ret) != REDOMA_STATUS_OK)
		fail_msg("%s: %s", code, redoma_result_json(ret, NULL));
	return ret;
}

static unsigned long long number(struct redoma_result *x,
				 const char *name)
{
	const char *at = strstr(redoma_result_json(x, NULL), name);

	if (!at)
		fail_msg("no %s: %s", name, redoma_result_json(x, NULL));
	return strtoull(at + strlen(name), NULL, 10);
}

static bool is_fast(struct redoma *r)
{
	struct redoma_result *x = run(r, "1");
	bool fast = strstr(redoma_result_json(x, NULL),
			   "\"reset\":\"scan\"");

	if (!fast)
		assert_non_null(strstr(redoma_result_json(x, NULL),
				       "\"reset\":\"copy\""));
	redoma_result_free(x);
	return fast;
}

/* How many of RUNS fault more than FAULTS_MAX pages. */
static int count_faulting(struct redoma *r, const char *code)
{
	int n = 0;

	for (int i = 0; i < WARM_UP + RUNS; i++) {
		struct redoma_result *x = run(r, code);

		if (i >= WARM_UP)
			n += number(x, "\"page_faults\":") > FAULTS_MAX;
		redoma_result_free(x);
	}
	return n;
}

/* PAGEMAP_SCAN came with Linux 6.7, and is not to be trusted with swap. */
static bool has_fast_way(void)
{
	struct utsname u;
	unsigned major = 0, minor = 0;
	char line[256];
	int lines = 0;
	FILE *f = fopen(SWAPS, "re");

	while (f && fgets(line, sizeof line, f))
		lines++;
	if (f)
		fclose(f);
	assert_int_equal(uname(&u), 0);
	assert_int_equal(sscanf(u.release, "%u.%u", &major, &minor), 2);
	return lines == 1 && (major > 6 || (major == 6 && minor >= 7));
}

static void a_kept_worker_faults_no_pages(void **state)
{
	static const char *const codes[] = {
		"1 + 1",
		"JSON.stringify({a: [1, 2, 3], b: 'x'.repeat(100)})",
	};
	struct redoma *r;

	(void)state;
	if (!has_fast_way())
		skip();
	r = open_kept(false);
	assert_true(is_fast(r));
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
		int n = count_faulting(r, codes[i]);

		if (n > STRAY)
			fail_msg("%s: %d of %d runs", codes[i], n, RUNS);
	}
	/* The counter counts: what is new to the worker must be faulted in. */
	assert_int_equal(count_faulting(r, "new Uint8Array(16e6).fill(1).at(7)"),
			 RUNS);
	redoma_close(r);
}

static bool pretend_swap(void)
{
	static const char text[] =
		"Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
		"/swapfile                               file\t\t1048572\t\t0"
		"\t\t-2\n";
	const char *tmp = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return false;
	snprintf(path, sizeof path, "%s/swaps-XXXXXX", tmp ? tmp : ".");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
	close(fd);
	assert_int_equal(mount(path, SWAPS, NULL, MS_BIND, NULL), 0);
	unlink(path);
	return true;
}

static void with_swap_resets_copy_and_are_exact(void **state)
{
	static const char dirty[] =
		"let a=[];for(let i=0;i<20000;i++)a.push({id:i,s:'x'+i});"
		"globalThis.left=a;a.length";
	struct redoma *r;

	(void)state;
	if (!pretend_swap())
		skip();
	r = open_kept(true);
	assert_false(is_fast(r));
	/* One run's reset is told by the next. */
	for (int i = 0; i < 4; i++) {
		struct redoma_result *x = run(r, dirty);

		assert_int_equal(number(x, "\"reset_wrong\":"), 0);
		redoma_result_free(x);
		x = run(r, "typeof left");
		assert_string_equal(redoma_result_value(x, NULL),
				    "\"undefined\"");
		assert_int_equal(number(x, "\"reset_wrong\":"), 0);
		redoma_result_free(x);
	}
	redoma_close(r);
	assert_int_equal(umount2(SWAPS, MNT_DETACH), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kept_worker_faults_no_pages),
		cmocka_unit_test(with_swap_resets_copy_and_are_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
