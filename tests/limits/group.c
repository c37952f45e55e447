/* The control group of a zygote and its workers: a worker that got past the
 * engine and past its own limits ends at the group's, and is called what it is.
 * Where no group can be had the result says so, and nothing else changes.
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
#include <unistd.h>

#include <cmocka.h>

#include <redoma.h>

#define PATH 4096
#define SMALL "redoma: 1\nlimits: {memory: 64MiB, wall: 100s, cpu: 100s}\n"
#define LARGE "redoma: 1\nlimits: {memory: 512MiB, wall: 100s, cpu: 100s}\n"
#define REUSED SMALL "reuse: tenant\n"

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

static void place_open(struct place *p, const char *worker, const char *text,
		       bool single)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *pol = NULL;
	struct redoma_error err = {0};
	const char *tmp = getenv("TMPDIR");
	char program[PATH], incidents[2 * PATH];

	if (redoma_policy_parse(text, strlen(text), "/", &pol, &err))
		fail_msg("%s", err.text);
	snprintf(p->dir, sizeof p->dir, "%s/group-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(p->dir));
	snprintf(program, sizeof program, "tests/hostile/%s", worker);
	link_to(p, program, "redoma-worker");
	link_to(p, "images", "images");
	o.install_dir = p->dir;
	o.warm = 1;
	o.single = single;
	/* A file stands there: nothing is kept. */
	snprintf(incidents, sizeof incidents, "%s/images/none", p->dir);
	o.incident_dir = incidents;
	if (redoma_open(pol, &o, &p->handle, &err))
		fail_msg("%s", err.text);
	redoma_policy_free(pol);
}

static void place_close(struct place *p)
{
	char name[2 * PATH];

	redoma_close(p->handle);
	snprintf(name, sizeof name, "%s/redoma-worker", p->dir);
	unlink(name);
	snprintf(name, sizeof name, "%s/images", p->dir);
	unlink(name);
	assert_int_equal(rmdir(p->dir), 0);
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

static void gives(struct place *p, const char *source, const char *value)
{
	struct redoma_result *r = run(p, source);
	const char *got = redoma_result_value(r, NULL);

	if (!got || strcmp(got, value))
		fail_msg("%s: %s", source, redoma_result_json(r, NULL));
	redoma_result_free(r);
}

static bool says(struct redoma_result *r, const char *words)
{
	return strstr(redoma_result_json(r, NULL), words) != NULL;
}

static bool grouped(struct place *p)
{
	struct redoma_result *r = run(p, "1");
	bool is = says(r, "\"cgroup\":\"enforced\"");

	if (!is && !says(r, "\"cgroup\":\"unavailable\""))
		fail_msg("%s", redoma_result_json(r, NULL));
	redoma_result_free(r);
	return is;
}

/* Root on a machine with control groups has one for sure. */
static void the_result_says_it(void **state)
{
	struct place p;
	bool any = !access("/sys/fs/cgroup/memory/memory.limit_in_bytes",
			   F_OK);

	(void)state;
	place_open(&p, "traitor", SMALL, false);
	if (any && geteuid() == 0)
		assert_true(grouped(&p));
	gives(&p, "6*7", "42");
	place_close(&p);
}

static void ends_the_hoarder(const char *worker, const char *text, bool single)
{
	struct redoma_result *r;
	struct place p;

	place_open(&p, worker, text, single);
	for (int i = 0; grouped(&p) && i < 2; i++) {
		r = run(&p, "//!hoard");
		if (redoma_result_status(r) != REDOMA_STATUS_MEMORY_LIMIT ||
		    !says(r, "\"name\":\"memory\"") ||
		    !says(r, "control group"))
			fail_msg("%s", redoma_result_json(r, NULL));
		assert_null(redoma_result_value(r, NULL));
		redoma_result_free(r);
		gives(&p, "6*7", "42");
	}
	place_close(&p);
}

static void memory_past_its_own_limits_ends_a_worker(void **state)
{
	(void)state;
	ends_the_hoarder("traitor", SMALL, false);
	ends_the_hoarder("traitor", SMALL, true);
	ends_the_hoarder("traitor", REUSED, false);
}

/* A process whose parent is `parent`; -1: none. */
static int child_of(int parent)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	int found = -1;

	assert_non_null(d);
	while (found < 0 && (e = readdir(d))) {
		char path[280];
		int pid = atoi(e->d_name), ppid;
		FILE *f;

		snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
		if (pid <= 0 || !(f = fopen(path, "re")))
			continue;
		if (fscanf(f, "%*d (%*[^)]) %*c %d", &ppid) == 1 &&
		    ppid == parent)
			found = pid;
		fclose(f);
	}
	closedir(d);
	return found;
}

/* The kernel ends it before anything else of its group. */
static void *offer_the_zygote(void *data)
{
	int zygote = child_of(child_of(getpid()));
	char path[64];
	FILE *f;

	*(bool *)data = false;
	snprintf(path, sizeof path, "/proc/%d/oom_score_adj", zygote);
	f = zygote > 0 ? fopen(path, "we") : NULL;
	if (!f)
		return NULL;
	*(bool *)data = fputs("1000", f) >= 0;
	if (fclose(f))
		*(bool *)data = false;
	return NULL;
}

static void *offer_later(void *data)
{
	usleep(150000);
	return offer_the_zygote(data);
}

/* Its keeper is left to tell; cgroup v2 ends all of a group anyway. */
static void it_is_told_when_the_zygote_goes_too(void **state)
{
	struct redoma_result *r;
	bool offered = false;
	pthread_t thread;
	struct place p;

	(void)state;
	place_open(&p, "traitor", SMALL, true);
	if (geteuid() || !grouped(&p)) {
		place_close(&p);
		skip();
	}
	assert_int_equal(pthread_create(&thread, NULL, offer_later, &offered),
			 0);
	r = run(&p, "//!hoard-late");
	pthread_join(thread, NULL);
	assert_true(offered);
	if (redoma_result_status(r) != REDOMA_STATUS_MEMORY_LIMIT)
		fail_msg("%s", redoma_result_json(r, NULL));
	redoma_result_free(r);
	gives(&p, "6*7", "42");
	place_close(&p);
}

static void also_without_any_other_limit(void **state)
{
	(void)state;
	ends_the_hoarder("traitor-bare", SMALL, false);
}

static void a_larger_limit_lets_it_be(void **state)
{
	struct place p;

	(void)state;
	place_open(&p, "traitor", LARGE, false);
	gives(&p, "//!hoard", "\"won\"");
	place_close(&p);
}

static void processes_end_at_the_groups_limit(void **state)
{
	struct place p;

	(void)state;
	place_open(&p, "traitor-bare", SMALL, false);
	if (grouped(&p))
		gives(&p, "//!breed", "\"refused\"");
	else
		gives(&p, "//!breed", "\"won\"");
	gives(&p, "6*7", "42");
	place_close(&p);
}

/* A zygote has room for the parked workers of each CPU. */
static int on_one_cpu(void **state)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	(void)state;
	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	return sched_setaffinity(0, sizeof set, &set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_result_says_it),
		cmocka_unit_test(memory_past_its_own_limits_ends_a_worker),
		cmocka_unit_test(it_is_told_when_the_zygote_goes_too),
		cmocka_unit_test(also_without_any_other_limit),
		cmocka_unit_test(a_larger_limit_lets_it_be),
		cmocka_unit_test(processes_end_at_the_groups_limit),
	};

	return cmocka_run_group_tests(tests, on_one_cpu, NULL);
}
