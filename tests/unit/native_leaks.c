/* Kills at any moment, and a thousand runs, leave nothing: no process, zombie,
 * descriptor, mount, control group. */
/* test-seconds: 240 */
#include <dirent.h>
#include <glob.h>
#include <poll.h>
#include <time.h>

#include "native_core.h"

#define RUNS 1000
#define KILLS 60
#define CHILDREN_MAX 256

static size_t count_dir(const char *path)
{
	DIR *d = opendir(path);
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static size_t count_fds(pid_t pid)
{
	char path[40];

	snprintf(path, sizeof path, "/proc/%d/fd", pid);
	return count_dir(path);
}

static size_t count_mounts(pid_t pid)
{
	char path[40];
	size_t n = 0;
	FILE *f;
	int c;

	snprintf(path, sizeof path, "/proc/%d/mountinfo", pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

/* Directories of this maker in any hierarchy, with those below. */
static size_t count_groups(pid_t maker)
{
	static const char *const patterns[] = {
		"/sys/fs/cgroup/redoma-*-%d-*", "/sys/fs/cgroup/redoma-*-%d-*/*/",
		"/sys/fs/cgroup/*/redoma-*-%d-*",
		"/sys/fs/cgroup/*/redoma-*-%d-*/*/"};
	size_t n = 0;

	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
		char pattern[80];
		glob_t g;

		snprintf(pattern, sizeof pattern, patterns[i], maker);
		if (glob(pattern, GLOB_ONLYDIR, NULL, &g))
			continue;
		n += g.gl_pathc;
		globfree(&g);
	}
	return n;
}

/* Pids whose parent is `parent`; *ret_zombies of them are dead. */
static size_t children_of(pid_t parent, pid_t *ret, size_t *ret_zombies)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	size_t n = 0;

	*ret_zombies = 0;
	assert_non_null(d);
	while ((e = readdir(d))) {
		char path[280], state;
		int pid = atoi(e->d_name), ppid;
		FILE *f;

		snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
		if (!pid || !(f = fopen(path, "re")))
			continue;
		if (fscanf(f, "%*d (%*[^)]) %c %d", &state, &ppid) == 2 &&
		    ppid == parent) {
			*ret_zombies += state == 'Z';
			if (n < CHILDREN_MAX)
				ret[n++] = pid;
		}
		fclose(f);
	}
	closedir(d);
	return n;
}

/* True if it is gone; a zombie is its new parent's. */
static bool is_gone(pid_t pid)
{
	char path[40], state = 'Z';
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return true;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'Z';
	fclose(f);
	return state == 'Z' || state == 'X';
}

static void nap_us(unsigned us)
{
	struct timespec t = {0, (long)us * 1000};

	nanosleep(&t, NULL);
}

static void must_vanish(const pid_t *pids, size_t n, pid_t maker)
{
	uint64_t until = clock_monotonic_us() + 5000000;
	size_t i = 0;

	while (i < n || count_groups(maker)) {
		if (i < n && is_gone(pids[i])) {
			i++;
			continue;
		}
		if (clock_monotonic_us() > until) {
			print_message("# pid %d of %zu, groups %zu\n",
				      i < n ? pids[i] : 0, n,
				      count_groups(maker));
			fail_msg("something is left");
		}
		nap_us(1000);
	}
}

static void a_thousand_runs(void **state)
{
	struct core k = {.setup = core_setup()};
	size_t fds = 0, mounts = 0, groups = 0, children = 0, zombies;
	pid_t pids[CHILDREN_MAX];

	(void)state;
	core_start(&k);
	for (int i = 0; i < RUNS; i++) {
		struct core_run r;

		core_run_init(&r);
		core_sh(&k, &r, i % 10 ? "echo hi" : "sleep 9 & exit 1");
		assert_true(r.has_outcome);
		core_run_done(&r);
		if (i != 20 && i != RUNS - 1)
			continue;
		assert_non_null(core_take(&k));
		nap_us(100000); /* the last one is being put away */
		if (i == 20) {
			fds = count_fds(k.pid);
			mounts = count_mounts(k.pid);
			groups = count_groups(k.pid);
			children = children_of(k.pid, pids, &zombies);
			continue;
		}
		assert_int_equal(count_fds(k.pid), fds);
		assert_int_equal(count_mounts(k.pid), mounts);
		assert_int_equal(count_groups(k.pid), groups);
		assert_int_equal(children_of(k.pid, pids, &zombies), children);
		assert_int_equal(zombies, 0);
	}
	assert_int_equal(core_stop(&k), 0);
	must_vanish(pids, children, k.pid);
}

/* Begins a run and does not wait. */
static void begin_run(struct core *k, struct channel *c, const char *script)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
	struct core_slot *s = core_take(k);
	struct core_run r;

	assert_non_null(s);
	core_run_init(&r);
	r.plan.argv = argv;
	r.plan.env = argv + 3;
	if (core_admit(k, s, &r))
		return;
	channel_init(c, s->sock);
	assert_int_equal(core_send_run(c, &r), 0);
	channel_done(c);
}

static const char busy[] = "for i in 1 2 3 4; do (setsid sleep 100 &) done; "
			   "sleep 100 & while :; do /usr/bin/true; done";

static void the_spawner_is_killed(void **state)
{
	struct channel *c = malloc(sizeof *c);

	(void)state;
	srand(1);
	assert_non_null(c);
	for (int i = 0; i < KILLS; i++) {
		struct core k = {.setup = core_setup()};
		pid_t pids[CHILDREN_MAX];
		size_t n, zombies;

		k.setup.park = 1 + (uint32_t)(i % 3);
		core_start(&k);
		if (i % 4)
			begin_run(&k, c, busy);
		nap_us((unsigned)(rand() % 20000));
		n = children_of(k.pid, pids, &zombies);
		assert_true(n >= 2 && n < CHILDREN_MAX);
		kill(k.pid, SIGKILL);
		assert_int_equal(core_stop(&k), SIGKILL);
		must_vanish(pids, n, k.pid);
	}
	free(c);
}

/* What one that was killed before it had a sweeper left goes when the next one
 * starts. */
static void next_one_sweeps(pid_t maker)
{
	struct core k = {.setup = core_setup()};

	core_start(&k);
	assert_int_equal(count_groups(maker), 0);
	assert_int_equal(core_stop(&k), 0);
}

/* Also while it is being set up. */
static void the_spawner_is_killed_early(void **state)
{
	(void)state;
	srand(2);
	for (int i = 0; i < KILLS; i++) {
		pid_t pids[CHILDREN_MAX];
		size_t n, zombies;
		int sv[2];
		pid_t pid;

		struct core k = {.setup = core_setup()};

		assert_int_equal(socketpair(AF_UNIX,
					    SOCK_STREAM | SOCK_CLOEXEC, 0, sv),
				 0);
		pid = fork();
		if (!pid)
			core_exec(sv[1], 0);
		close(sv[1]);
		k.c = malloc(sizeof *k.c);
		channel_init(k.c, sv[0]);
		core_send_setup(&k, core_root,
				sizeof core_root / sizeof *core_root);
		nap_us((unsigned)(rand() % 15000));
		n = children_of(pid, pids, &zombies);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		for (size_t j = 0; j < n; j++)
			while (!is_gone(pids[j]))
				nap_us(1000);
		next_one_sweeps(pid);
		close(sv[0]);
		channel_done(k.c);
		free(k.c);
	}
}

static void the_core_goes(void **state)
{
	struct channel *c = malloc(sizeof *c);

	(void)state;
	assert_non_null(c);
	for (int i = 0; i < 20; i++) {
		struct core k = {.setup = core_setup()};
		pid_t pids[CHILDREN_MAX];
		size_t n, zombies;

		core_start(&k);
		begin_run(&k, c, busy);
		nap_us((unsigned)(rand() % 20000));
		n = children_of(k.pid, pids, &zombies);
		assert_int_equal(core_stop(&k), 0);
		/* It has seen to everything before it ended. */
		assert_int_equal(count_groups(k.pid), 0);
		must_vanish(pids, n, k.pid);
	}
	free(c);
}

/* Ctrl-C reaches it too. */
static void it_is_told_to_end(void **state)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct core k = {.setup = core_setup()};
		pid_t pids[CHILDREN_MAX];
		size_t n, zombies;

		core_start(&k);
		assert_non_null(core_take(&k));
		n = children_of(k.pid, pids, &zombies);
		kill(k.pid, signals[i]);
		while (!k.gone)
			core_hear(&k, CORE_WAIT_US);
		assert_int_equal(core_stop(&k), 0);
		assert_int_equal(count_groups(k.pid), 0);
		must_vanish(pids, n, k.pid);
	}
}

static void init_is_killed(void **state)
{
	struct core k = {.setup = core_setup()};
	struct channel *c = malloc(sizeof *c);

	(void)state;
	assert_non_null(c);
	core_start(&k);
	for (int i = 0; i < 30; i++) {
		struct core_slot *s = core_take(&k);
		uint32_t number;

		assert_non_null(s);
		number = s->number;
		begin_run(&k, c, busy);
		nap_us((unsigned)(rand() % 10000));
		assert_int_equal(kill(s->pid, SIGKILL), 0);
		while (!s->dead)
			assert_int_equal(core_hear(&k, CORE_WAIT_US), 0);
		assert_int_equal(s->death.end.slot, number);
		assert_int_equal(s->death.end.code, CLD_KILLED);
		assert_int_equal(s->death.end.status, SIGKILL);
		assert_false(s->death.survivors);
		core_drop(s);
	}
	assert_int_equal(core_stop(&k), 0);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thousand_runs),
		cmocka_unit_test(the_spawner_is_killed),
		cmocka_unit_test(the_spawner_is_killed_early),
		cmocka_unit_test(the_core_goes),
		cmocka_unit_test(it_is_told_to_end),
		cmocka_unit_test(init_is_killed),
	};

	if (!core_can())
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
