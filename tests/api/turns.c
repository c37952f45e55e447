/* Whose turn it is: a zygote gives way to who waits for a run, a parked worker
 * does not, and one whose run is over gives way again.  And where: the next
 * workers are made on other CPUs than the caller's, and what the kernel does
 * when a worker is gone it does elsewhere. */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cmocka.h>

#include <redoma.h>

static bool refuses; /* to set the CPUs of another process */
static pid_t watched;
static bool was_set; /* its CPUs */
static pid_t doomed; /* once the pool has looked who lives */

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	was_set = was_set || (pid && pid == watched);
	if (refuses && pid) {
		errno = EPERM;
		return -1;
	}
	return syscall(SYS_sched_setaffinity, pid, size, set) < 0 ? -1 : 0;
}

static void end_doomed(void)
{
	kill(doomed, SIGKILL);
	for (int i = 0; i < 5000 && !kill(doomed, 0); i++)
		usleep(1000);
	doomed = 0;
	was_set = false;
}

int poll(struct pollfd *p, nfds_t n, int ms)
{
	struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
	int r = ppoll(p, n, ms < 0 ? NULL : &t, NULL);

	/* With news it would go on to read of its end. */
	if (doomed && n == 4 && !p[0].revents)
		end_doomed();
	return r;
}

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

static void run(struct redoma *h)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *res = NULL;
	struct redoma_error e;

	q.language = "js";
	q.source = "1+1";
	q.source_len = 3;
	if (redoma_run(h, &q, &res, &e))
		fail_msg("%s", e.text);
	redoma_result_free(res);
}

static struct redoma *open_and_run(void)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma *h = NULL;
	struct redoma_error e;

	o.install_dir = TEST_BUILD;
	if (redoma_open(NULL, &o, &h, &e))
		fail_msg("%s", e.text);
	run(h);
	return h;
}

static void wait_for(pid_t zygote, int workers)
{
	pid_t any;
	int n = 0;

	for (int i = 0; i < 500 && n < workers; i++) {
		usleep(10000);
		n = children(zygote, "redoma-worker", SCHED_OTHER, &any);
	}
	assert_true(n >= workers);
}

static pid_t zygote_of(int policy)
{
	pid_t keeper = getpid(), zygote = 0;

	/* There is one where there are control groups. */
	children(getpid(), "redoma-keeper", SCHED_OTHER, &keeper);
	assert_int_equal(children(keeper, "redoma-zygote", policy, &zygote), 1);
	return zygote;
}

static void who_gives_way(void **state)
{
	struct redoma *h;
	pid_t zygote;

	(void)state;
	h = open_and_run();
	zygote = zygote_of(SCHED_BATCH);
	wait_for(zygote, 2);
	redoma_close(h);
}

/* Of a run on each CPU in turn, where the zygote may be. */
static void where_it_is_made(void **state)
{
	cpu_set_t all, one, its;
	struct redoma *h = open_and_run();
	pid_t zygote = zygote_of(SCHED_BATCH);
	int n;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
	n = CPU_COUNT(&all);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		wait_for(zygote, 2 * n);
		assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
		run(h);
		assert_int_equal(sched_getaffinity(zygote, sizeof its, &its),
				 0);
		assert_int_equal(CPU_COUNT(&its), n > 1 ? n - 1 : 1);
		assert_true(n == 1 || !CPU_ISSET(cpu, &its));
	}
	/* Who has to wait for one has all of them at work. */
	for (int i = 0; i < 200 && CPU_COUNT(&its) < n; i++) {
		for (int j = 0; j < 2 * n + 1; j++)
			run(h);
		sched_getaffinity(zygote, sizeof its, &its);
	}
	assert_int_equal(CPU_COUNT(&its), n);
	sched_setaffinity(0, sizeof all, &all);
	redoma_close(h);
}

static int cpus_of(pid_t pid)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(pid, sizeof set, &set), 0);
	return CPU_COUNT(&set);
}

/* What could not be done was not done: the next run does it. */
static void a_refusal_is_no_success(void **state)
{
	int cpu = sched_getcpu(), n = cpus_of(0);
	cpu_set_t all, one;
	struct redoma *h;
	pid_t zygote;

	(void)state;
	if (n < 2)
		skip();
	sched_getaffinity(0, sizeof all, &all);
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	refuses = true;
	h = open_and_run();
	zygote = zygote_of(SCHED_BATCH);
	wait_for(zygote, 2 * n);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	run(h);
	assert_int_equal(cpus_of(zygote), n);
	refuses = false;
	wait_for(zygote, 2 * n);
	run(h);
	assert_int_equal(cpus_of(zygote), n - 1);
	sched_setaffinity(0, sizeof all, &all);
	redoma_close(h);
}

static void run_if_it_can(struct redoma *h)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *res = NULL;

	q.language = "js";
	q.source = "1+1";
	q.source_len = 3;
	(void)!redoma_run(h, &q, &res, NULL);
	redoma_result_free(res);
}

/* It may be another's by then. */
static void the_number_of_a_zygote_that_is_gone_is_left_alone(void **state)
{
	int cpu = sched_getcpu();
	cpu_set_t all, one;
	struct redoma *h;

	(void)state;
	if (cpus_of(0) < 2)
		skip();
	sched_getaffinity(0, sizeof all, &all);
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	h = open_and_run();
	watched = zygote_of(SCHED_BATCH);
	wait_for(watched, 2 * cpus_of(0));
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	/* So that each run tries to move it. */
	refuses = true;
	was_set = false;
	run(h);
	assert_true(was_set);
	doomed = watched;
	for (int i = 0; i < 200 && doomed; i++)
		run_if_it_can(h);
	assert_int_equal(doomed, 0);
	assert_false(was_set);
	refuses = false;
	sched_setaffinity(0, sizeof all, &all);
	redoma_close(h);
	watched = 0;
}

#define SOCKETS_MAX 256

struct sockets {
	char names[SOCKETS_MAX][32]; /* "socket:[NUMBER]" */
	int n;
	bool seen; /* its descriptors could be looked at */
};

static void sockets_of(pid_t pid, struct sockets *ret)
{
	char dir[32], path[300];
	struct dirent *e;
	ssize_t len;
	DIR *d;

	*ret = (struct sockets){.n = 0};
	snprintf(dir, sizeof dir, "/proc/%d/fd", pid);
	d = opendir(dir);
	ret->seen = d != NULL;
	while (d && (e = readdir(d)) && ret->n < SOCKETS_MAX) {
		char *name = ret->names[ret->n];

		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		len = readlink(path, name, sizeof ret->names[0] - 1);
		if (len <= 0)
			continue;
		name[len] = '\0';
		ret->n += !strncmp(name, "socket:", 7);
	}
	if (d)
		closedir(d);
}

static int shared(const struct sockets *a, const struct sockets *b)
{
	int n = 0;

	for (int i = 0; i < a->n; i++)
		for (int k = 0; k < b->n; k++)
			n += !strcmp(a->names[i], b->names[k]);
	return n;
}

/* The kernel has work to do at the last close of a socket.  That is the
 * zygote's when the worker is dead, not the caller's; and no worker has that
 * of another. */
static void whose_close_is_the_last(void **state)
{
	struct redoma *h = open_and_run();
	pid_t worker = 0, zygote = zygote_of(SCHED_BATCH);
	struct sockets ours, its, workers;

	(void)state;
	wait_for(zygote, 2);
	run(h); /* hears of those that are parked */
	sockets_of(getpid(), &ours);
	sockets_of(zygote, &its);
	children(zygote, "redoma-worker", SCHED_OTHER, &worker);
	sockets_of(worker, &workers);
	if (!its.seen || !workers.seen) {
		redoma_close(h);
		skip();
	}
	assert_true(shared(&ours, &its) > 0);
	assert_int_equal(workers.n, 1);
	assert_int_equal(shared(&workers, &its), 0);
	for (int i = 0; i < 40; i++)
		run(h);
	wait_for(zygote, 2);
	sockets_of(zygote, &its);
	/* Those of the dead are gone. */
	assert_true(its.n < 40);
	redoma_close(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_gives_way),
		cmocka_unit_test(where_it_is_made),
		cmocka_unit_test(a_refusal_is_no_success),
		cmocka_unit_test(
			the_number_of_a_zygote_that_is_gone_is_left_alone),
		cmocka_unit_test(whose_close_is_the_last),
	};

	/* Keeper and zygote are nobody's children: then ours. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
