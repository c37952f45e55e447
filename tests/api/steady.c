/* Thousands of runs on one handle, of every kind of end, by many tenants: the
 * host's memory, descriptors and processes stay as they were.
 * test-seconds: 280 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>
#include <redoma.h>

#define RUNS 2000
#define WARM_UP 200
#define KIB 1024L
#define TENANTS 100

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

static int late;

static void run(struct redoma *r, const char *tenant, const char *code,
		enum redoma_status want)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *x = NULL;
	struct redoma_error err = {0};

	q.tenant = tenant;
	q.language = "js";
	q.source = code;
	q.source_len = strlen(code);
	if (redoma_run(r, &q, &x, &err))
		fail_msg("%s: %s", code, err.text);
	/* On a busy machine any run may end at its wall. */
	if (redoma_result_status(x) == REDOMA_STATUS_WALL_LIMIT &&
	    want != REDOMA_STATUS_WALL_LIMIT)
		late++;
	else if (redoma_result_status(x) != want)
		fail_msg("%s: %s", code, redoma_result_json(x, NULL));
	redoma_result_free(x);
}

static int count(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static long resident_kib(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*d %ld", &pages), 1);
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / KIB);
}

static int below(const char *pid)
{
	char path[64], list[16384], *at, *save = NULL;
	int n = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%s/task/%s/children", pid, pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	list[fread(list, 1, sizeof list - 1, f)] = '\0';
	fclose(f);
	for (at = strtok_r(list, " ", &save); at;
	     at = strtok_r(NULL, " ", &save))
		n += 1 + below(at);
	return n;
}

static int processes(void)
{
	char pid[16];

	snprintf(pid, sizeof pid, "%d", (int)getpid());
	return below(pid);
}

static const struct end {
	const char *code;
	enum redoma_status status;
} ends[] = {
	{"1 + 1", REDOMA_STATUS_OK},
	{"throw new Error('x'.repeat(1000))", REDOMA_STATUS_ERROR},
	{"console.log('x'.repeat(50000)); 2", REDOMA_STATUS_OK},
	{"for (;;);", REDOMA_STATUS_WALL_LIMIT},
	{"const a = []; for (;;) a.push(new Array(1e5).fill(a.length))",
	 REDOMA_STATUS_MEMORY_LIMIT},
	{"for (;;) console.log('x'.repeat(10000))", REDOMA_STATUS_OUTPUT_LIMIT},
	{"process.exit(3)", REDOMA_STATUS_ERROR},
	{"const f = () => f() + 1; f()", REDOMA_STATUS_STACK_LIMIT},
	{"'" "y" "'.repeat(100000)", REDOMA_STATUS_OK},
	{"(", REDOMA_STATUS_INVALID},
};

/* Few runs burn their whole time. */
static const struct end *end_of(int i)
{
	size_t n = sizeof ends / sizeof *ends;

	return i % 20 < 10 ? &ends[(size_t)(i % 20) % n] : &ends[i % 3];
}

static void steady(const char *policy)
{
	struct redoma *r;
	int fds0 = count("/proc/self/fd"), fds = 0, parked = 0;
	long kib = 0;

	late = 0;
	r = open_with(policy);
	for (int i = 0; i < RUNS; i++) {
		run(r, NULL, end_of(i)->code, end_of(i)->status);
		if (i != WARM_UP)
			continue;
		run(r, NULL, "1", REDOMA_STATUS_OK);
		fds = count("/proc/self/fd");
		kib = resident_kib();
		parked = processes();
	}
	run(r, NULL, "1", REDOMA_STATUS_OK);
	assert_in_range(late, 0, RUNS / 10);
	/* A worker may just be on its way here or gone. */
	assert_in_range(count("/proc/self/fd"), fds0, fds + 8);
	assert_in_range(processes(), 1, parked + 2);
	if (resident_kib() > kib + 1024)
		fail_msg("%ld KiB became %ld", kib, resident_kib());
	redoma_close(r);
	assert_int_equal(count("/proc/self/fd"), fds0);
	assert_int_equal(processes(), 0);
}

static void a_process_each(void **state)
{
	(void)state;
	steady("redoma: 1\nlimits: {wall: 100ms, output: 300KiB, "
	       "memory: 16MiB}\n");
}

static void a_worker_for_many(void **state)
{
	(void)state;
	steady("redoma: 1\nreuse: tenant\nlimits: {wall: 100ms, output: 300KiB, "
	       "memory: 16MiB}\n");
}

/* What is kept for tenants has an end, whatever their number. */
static void tenants_come_and_go(void **state)
{
	struct redoma *r = open_with("redoma: 1\nreuse: tenant\n");
	int fds0 = count("/proc/self/fd");
	char tenant[32];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < TENANTS; i++) {
			snprintf(tenant, sizeof tenant, "tenant-%d", i);
			run(r, tenant, "typeof left", REDOMA_STATUS_OK);
			run(r, tenant, "globalThis.left = 1",
			    REDOMA_STATUS_OK);
		}
	assert_in_range(processes(), 1, 200);
	assert_in_range(count("/proc/self/fd"), 1, fds0 + 400);
	redoma_close(r);
	assert_in_range(count("/proc/self/fd"), 1, fds0);
	assert_int_equal(processes(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_each),
		cmocka_unit_test(a_worker_for_many),
		cmocka_unit_test(tenants_come_and_go),
	};

	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
