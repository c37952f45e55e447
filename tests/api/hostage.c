/* A worker that has turned does not outlive its limit, does not outlive its
 * answer, and neither fills the core nor speaks with its voice. */
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
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <redoma.h>

#define PATH 4096
#define WALL_US 200000u
#define LATE_US 1000000u /* far more than the grace, for a busy machine */

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

static void place_open(struct place *p, const char *text)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *pol = NULL;
	struct redoma_error err = {0};
	const char *tmp = getenv("TMPDIR");

	if (redoma_policy_parse(text, strlen(text), "/", &pol, &err))
		fail_msg("%s", err.text);
	snprintf(p->dir, sizeof p->dir, "%s/hostage-XXXXXX",
		 tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(p->dir));
	link_to(p, "tests/hostile/forger", "redoma-worker");
	link_to(p, "images", "images");
	o.install_dir = p->dir;
	o.single = 1;
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

static int run(struct place *p, const char *source, struct redoma_result **ret,
	       struct redoma_error *err)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;

	q.language = "js";
	q.source = source;
	q.source_len = strlen(source);
	return redoma_run(p->handle, &q, ret, err);
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static bool lives(const char *pid)
{
	char path[64], text[512];
	const char *end;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%s/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	text[fread(text, 1, sizeof text - 1, f)] = '\0';
	fclose(f);
	end = strrchr(text, ')');
	return end && end[2] != 'Z';
}

/* Processes below us; all of ours come to us, for we adopt them.  The forger
 * does not bury its children. */
static int below(const char *pid)
{
	char path[64], list[4096];
	FILE *f;
	char *at, *save = NULL;
	int n = 0;

	snprintf(path, sizeof path, "/proc/%s/task/%s/children", pid, pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	list[fread(list, 1, sizeof list - 1, f)] = '\0';
	fclose(f);
	for (at = strtok_r(list, " ", &save); at;
	     at = strtok_r(NULL, " ", &save))
		n += lives(at) + below(at);
	return n;
}

static int processes(void)
{
	char pid[16];

	snprintf(pid, sizeof pid, "%d", (int)getpid());
	return below(pid);
}

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void cheap_frames_end_at_the_wall(void **state)
{
	static const char *const ways[] = {"empty-flood", "outcome-drip",
					   "call-flood"};
	struct place p;

	(void)state;
	place_open(&p, "redoma: 1\nlimits: {wall: 200ms}\n");
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		struct redoma_result *r = NULL;
		struct redoma_error err = {0};
		uint64_t from = now_us();

		if (run(&p, ways[i], &r, &err))
			fail_msg("%s: %s", ways[i], err.text);
		assert_true(now_us() - from < WALL_US + LATE_US);
		assert_int_equal(redoma_result_status(r),
				 REDOMA_STATUS_WALL_LIMIT);
		redoma_result_free(r);
	}
	place_close(&p);
}

static void eventually(int want)
{
	uint64_t until = now_us() + 2000000;

	while (processes() != want && now_us() < until)
		usleep(2000);
	assert_int_equal(processes(), want);
}

/* The answer is given: nothing of that worker is left, its zygote is. */
static void a_worker_does_not_outlive_its_answer(void **state)
{
	struct redoma_result *r = NULL;
	struct redoma_error err = {0};
	struct place p;

	(void)state;
	place_open(&p, "");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(run(&p, "linger", &r, &err), 0);
		assert_int_equal(redoma_result_status(r), REDOMA_STATUS_OK);
		redoma_result_free(r);
		eventually(1);
	}
	place_close(&p);
	eventually(0);
}

/* After a breach not even the zygote is used again. */
static void a_breach_ends_the_zygote(void **state)
{
	static const char *const ways[] = {"bad-value-lingers",
					   "escape-publish", "claim-breach"};
	struct place p;

	(void)state;
	place_open(&p, "");
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		struct redoma_result *r = NULL;
		struct redoma_error err = {0};

		assert_int_equal(run(&p, ways[i], &r, &err), 0);
		assert_int_equal(redoma_result_status(r),
				 REDOMA_STATUS_BREACH);
		redoma_result_free(r);
		eventually(0);
	}
	place_close(&p);
}

static void its_words_are_cleaned(void **state)
{
	static const char *const ways[] = {"failed-endless",
					   "failed-positive"};
	struct place p;

	(void)state;
	place_open(&p, "");
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		struct redoma_result *r = NULL;
		struct redoma_error err = {0};
		int code = run(&p, ways[i], &r, &err);

		assert_in_range(-code, -REDOMA_E_INVALID, -REDOMA_E_BUSY);
		assert_int_equal(err.code, code);
		assert_null(r);
		assert_true(memchr(err.text, 0, sizeof err.text) != NULL);
		assert_true(memchr(err.where, 0, sizeof err.where) != NULL);
		assert_null(strchr(err.text, '\n'));
	}
	place_close(&p);
}

static void descriptors_are_not_taken(void **state)
{
	struct redoma_result *r = NULL;
	struct redoma_error err = {0};
	struct place p;
	int before;

	(void)state;
	place_open(&p, "redoma: 1\nlimits: {wall: 200ms}\n");
	before = descriptors();
	assert_int_equal(run(&p, "send-fds", &r, &err), 0);
	assert_int_equal(redoma_result_status(r), REDOMA_STATUS_BREACH);
	redoma_result_free(r);
	assert_int_equal(descriptors(), before);
	place_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cheap_frames_end_at_the_wall),
		cmocka_unit_test(a_worker_does_not_outlive_its_answer),
		cmocka_unit_test(a_breach_ends_the_zygote),
		cmocka_unit_test(its_words_are_cleaned),
		cmocka_unit_test(descriptors_are_not_taken),
	};

	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
