/* Several guests at once: each under its own limits, none at another's cost;
 * the descriptors of the host; where a worker runs; a million arguments.
 * test-seconds: 120 */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <redoma.h>

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

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

struct guest { /* one thread; asserts nothing, tells by text */
	struct redoma *handle;
	const char *tenant, *code, *want;
	int runs;
	char got[512]; /* the first that was not wanted */
	pthread_t thread;
};

static void *be_guest(void *data)
{
	struct guest *g = data;
	struct redoma_request q = REDOMA_REQUEST_INIT;

	q.tenant = g->tenant;
	q.language = "js";
	q.source = g->code;
	q.source_len = strlen(g->code);
	for (int i = 0; i < g->runs && !g->got[0]; i++) {
		struct redoma_result *x = NULL;
		struct redoma_error err = {0};
		const char *v;

		if (redoma_run(g->handle, &q, &x, &err)) {
			snprintf(g->got, sizeof g->got, "%s", err.text);
			return NULL;
		}
		v = redoma_result_value(x, NULL);
		if (!v || strcmp(v, g->want))
			snprintf(g->got, sizeof g->got, "run %d: %.400s", i,
				 redoma_result_json(x, NULL));
		redoma_result_free(x);
	}
	return NULL;
}

static void all_at_once(struct guest *g, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(pthread_create(&g[i].thread, NULL, be_guest,
						&g[i]), 0);
	for (size_t i = 0; i < n; i++)
		pthread_join(g[i].thread, NULL);
	for (size_t i = 0; i < n; i++)
		if (g[i].got[0])
			fail_msg("guest %zu: %s", i, g[i].got);
}

#define FILES "redoma: 1\nread: [{host: /etc/hostname, as: /f}]\n" \
	      "limits: {files: 16, wall: 30s}\n"

/* Case C121. */
static void a_full_table_is_the_guests_own(void **state)
{
	static const char greedy[] =
		"const fs = require('node:fs'); let held = 0, codes = new Set;"
		"for (let i = 0; i < 100016; i++) try { fs.openSync('/f');"
		"held++ } catch (e) { codes.add(e.code) }"
		"[held <= 16 && held > 8, ...codes]";
	static const char fair[] =
		"const fs = require('node:fs'); let n = 0;"
		"for (let i = 0; i < 500; i++) { const a = [];"
		"for (let k = 0; k < 8; k++) a.push(fs.openSync('/f'));"
		"a.forEach(fd => { fs.closeSync(fd); n++ }) } n";
	const char *const policies[] = {FILES, FILES "reuse: tenant\n"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		int before = descriptors();
		struct guest g[3];

		for (int k = 0; k < 3; k++)
			g[k] = (struct guest){
				.handle = open_with(policies[i]),
				.code = k == 2 ? fair : greedy,
				.want = k == 2 ? "4000" : "[true,\"EMFILE\"]",
				.runs = k == 2 ? 10 : 1};
		all_at_once(g, 3);
		/* Parked workers have some; each failed open has none. */
		assert_in_range(descriptors(), 0, before + 100);
		for (int k = 0; k < 3; k++)
			redoma_close(g[k].handle);
		assert_int_equal(descriptors(), before);
	}
}

/* Case C053: two that keep a processor for most of what each may have. */
static void each_has_its_own_budget(void **state)
{
	static const char busy[] =
		"const t = Date.now(); while (Date.now() - t < 900); 1";
	static const char *const policies[] = {
		"redoma: 1\nlimits: {cpu: 1s, wall: 20s}\n",
		"redoma: 1\nlimits: {cpu: 1s, wall: 20s}\nreuse: tenant\n"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct guest g[2] = {
			{.handle = open_with(policies[i]), .tenant = "a",
			 .code = busy, .want = "1", .runs = 2},
			{.handle = open_with(policies[i]), .tenant = "b",
			 .code = busy, .want = "1", .runs = 2}};

		all_at_once(g, 2);
		redoma_close(g[0].handle);
		redoma_close(g[1].handle);
	}
}

/* ---- where a worker runs */

/* What follows KEY in a file of lines "KEY:\tVALUE"; "" if there is none. */
static void line_of(const char *path, const char *key, char value[64])
{
	char line[256];
	FILE *f = fopen(path, "re");

	value[0] = 0;
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, key, strlen(key)))
			sscanf(line + strlen(key), ": %63[^\n]", value);
	if (f)
		fclose(f);
}

static void status_of(int pid, const char *key, char value[64])
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	line_of(path, key, value);
}

struct place {
	int cpu;
	int here, other, any; /* running workers by the CPUs they may use */
};

static void count(struct place *at, int pid)
{
	char state[64], cpus[64], mine[16];

	status_of(pid, "State", state);
	status_of(pid, "Cpus_allowed_list", cpus);
	snprintf(mine, sizeof mine, "%d", at->cpu);
	if (state[0] != 'R')
		return;
	if (!strcmp(cpus, mine))
		at->here++;
	else if (strpbrk(cpus, ",-"))
		at->any++;
	else
		at->other++;
}

/* The library holds a pidfd of each worker (fdinfo of pidfd_open(2)).  The one
 * that is in the middle of a run is runnable; parked ones sleep. */
static void look(void *data, int stream, const void *p, uint64_t len)
{
	struct dirent *e;
	DIR *d = opendir("/proc/self/fdinfo");
	char path[300], pid[64];

	(void)stream, (void)p, (void)len;
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof path, "/proc/self/fdinfo/%s", e->d_name);
		line_of(path, "Pid", pid);
		if (atoi(pid) > 0)
			count(data, atoi(pid));
	}
	if (d)
		closedir(d);
}

static void run_on(struct redoma *r, struct place *at)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *x = NULL;
	struct redoma_error err = {0};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)at->cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
	q.language = "js";
	q.source = "console.log(1); for (let i = 0; i < 2e6; i++); 2";
	q.source_len = strlen(q.source);
	q.on_output = look;
	q.on_output_data = at;
	if (redoma_run(r, &q, &x, &err))
		fail_msg("%s", err.text);
	assert_int_equal(redoma_result_status(x), REDOMA_STATUS_OK);
	redoma_result_free(x);
}

static void a_worker_sits_on_its_callers_cpu(void **state)
{
	static const char *const policies[] = {"redoma: 1\n",
					       "redoma: 1\nreuse: tenant\n"};
	cpu_set_t all;

	(void)state;
	sched_getaffinity(0, sizeof all, &all);
	if (CPU_COUNT(&all) < 2) {
		print_message("one CPU: all workers are on it\n");
		skip();
	}
	for (size_t i = 0; i < 2; i++) {
		struct redoma *r = open_with(policies[i]);

		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
			struct place at = {.cpu = cpu};

			if (!CPU_ISSET(cpu, &all))
				continue;
			/* The first run is the one that makes the workers. */
			sched_setaffinity(0, sizeof all, &all);
			run_on(r, &(struct place){.cpu = cpu});
			for (int n = 0; n < 40 && at.here < 5; n++)
				run_on(r, &at);
			assert_in_range(at.here, 5, 200);
			/* Those are new ones, on their way to be parked. */
			assert_true(at.here > at.other);
		}
		redoma_close(r);
		sched_setaffinity(0, sizeof all, &all);
	}
}

/* ---- arguments */

#define MANY 1000000

/* Case C115. */
static void a_million_arguments_are_refused_at_once(void **state)
{
	struct redoma *r = open_with("redoma: 1\n");
	const char **argv = calloc(MANY + 1, sizeof *argv);
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *x = NULL;
	struct redoma_error err = {0};
	uint64_t began;

	(void)state;
	assert_non_null(argv);
	for (size_t i = 0; i < MANY; i++)
		argv[i] = "a";
	q.language = "js";
	q.source = "process.argv.length";
	q.source_len = strlen(q.source);
	q.argv = argv;
	began = now_us();
	assert_int_equal(redoma_run(r, &q, &x, &err), REDOMA_E_INVALID);
	assert_in_range(now_us() - began, 0, 1000000);
	assert_null(x);
	if (!strstr(err.text, "argument") || !strstr(err.text, "1023"))
		fail_msg("%s", err.text);
	argv[1000] = NULL; /* what is allowed arrives */
	assert_int_equal(redoma_run(r, &q, &x, &err), 0);
	assert_string_equal(redoma_result_value(x, NULL), "1002");
	redoma_result_free(x);
	free(argv);
	redoma_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_table_is_the_guests_own),
		cmocka_unit_test(each_has_its_own_budget),
		cmocka_unit_test(a_worker_sits_on_its_callers_cpu),
		cmocka_unit_test(a_million_arguments_are_refused_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
