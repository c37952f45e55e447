/* Whose turn it is: a zygote gives way to who waits for a run, a parked worker
 * does not, and one whose run is over gives way again. */
#include <dirent.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cmocka.h>

#include <redoma.h>

static pid_t parent_of(pid_t pid, char name[64])
{
	char path[64];
	int parent = -1;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fscanf(f, "%*d (%63[^)]) %*c %d", name, &parent) != 2)
		parent = -1;
	fclose(f);
	return parent;
}

/* Children of `of` that are called `what`, and what sched(7) says of them. */
static int children(pid_t of, const char *what, int policy, pid_t *ret_any)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int n = 0;

	assert_non_null(d);
	while ((e = readdir(d))) {
		pid_t pid = atoi(e->d_name);
		char name[64] = "";

		if (!pid || parent_of(pid, name) != of || strcmp(name, what))
			continue;
		*ret_any = pid;
		n += sched_getscheduler(pid) == policy;
	}
	closedir(d);
	return n;
}

static struct redoma *open_and_run(void)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *res = NULL;
	struct redoma *h = NULL;
	struct redoma_error e;

	o.install_dir = TEST_BUILD;
	q.language = "js";
	q.source = "1+1";
	q.source_len = 3;
	if (redoma_open(NULL, &o, &h, &e) || redoma_run(h, &q, &res, &e))
		fail_msg("%s", e.text);
	redoma_result_free(res);
	return h;
}

static void who_gives_way(void **state)
{
	struct redoma *h;
	pid_t keeper = getpid(), zygote = 0, worker = 0;
	int n = 0;

	(void)state;
	/* They are nobody's children: then ours. */
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	h = open_and_run();
	/* There is one where there are control groups. */
	children(getpid(), "redoma-keeper", SCHED_OTHER, &keeper);
	assert_int_equal(
		children(keeper, "redoma-zygote", SCHED_BATCH, &zygote), 1);
	for (int i = 0; i < 500 && n < 2; i++) {
		usleep(10000);
		n = children(zygote, "redoma-worker", SCHED_OTHER, &worker);
	}
	assert_true(n >= 2);
	redoma_close(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_gives_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
