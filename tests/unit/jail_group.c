/* Control groups on this machine: limits that hold, ends that end everything,
 * usage, and what a killed maker leaves.
 * test-seconds: 120 */
#include "group_world.h"

static void says_what_it_can(void **state)
{
	struct groups *g = NULL;
	struct place p;
	uint32_t has = 0;

	(void)state;
	place_find(&p);
	for (size_t i = 0; i < p.n; i++)
		has |= p.h[i].has;
	place_close(&p);
	open_or_fail(&g);
	assert_true(groups_can(g) & GROUP_MEMORY);
	if (has & HIER_UNIFIED && geteuid() == 0) {
		assert_true(groups_can(g) & GROUP_BIRTH);
		assert_true(groups_can(g) & GROUP_KILL);
		assert_true(groups_can(g) & GROUP_CPU_USAGE);
	}
	if (has & HIER_MEMORY)
		assert_int_equal(groups_kind(g), has & HIER_UNIFIED
							 ? JAIL_CGROUPS_HYBRID
							 : JAIL_CGROUPS_V1);
	else
		assert_int_equal(groups_kind(g), JAIL_CGROUPS_V2);
	done(g);
}

static uint64_t number_in(const struct group *c, uint32_t has, const char *v1,
			  const char *v2)
{
	const struct hier *h = groups_with(c->g, has);
	uint64_t v = 0;

	assert_non_null(h);
	assert_int_equal(gfile_number(h->place, c->at,
				      h->has & HIER_UNIFIED ? v2 : v1, NULL,
				      &v),
			 0);
	return v;
}

static void limits_are_there_before_anybody(void **state)
{
	struct group_limits more = {.memory_bytes = 200 * MIB,
				    .pids = 40,
				    .cpu_weight = 50};
	struct group_limits less = {.memory_bytes = 32 * MIB};
	struct groups *g = NULL;
	struct group *c;

	(void)state;
	open_or_fail(&g);
	c = make_or_fail(g, 64 * MIB, 20);
	assert_int_equal(number_in(c, HIER_MEMORY, "memory.limit_in_bytes",
				   "memory.max"),
			 64 * MIB);
	if (gfile_exists(groups_with(g, HIER_MEMORY)->place, c->at,
			 "memory.memsw.limit_in_bytes"))
		assert_int_equal(number_in(c, HIER_MEMORY,
					   "memory.memsw.limit_in_bytes", ""),
				 64 * MIB);
	assert_int_equal(number_in(c, HIER_PIDS, "pids.max", "pids.max"), 20);
	if (!(groups_can(g) & GROUP_CPU_WEIGHT))
		more.cpu_weight = 0;
	assert_int_equal(group_limit(c, &more, NULL), 0);
	assert_int_equal(number_in(c, HIER_MEMORY, "memory.limit_in_bytes",
				   "memory.max"),
			 200 * MIB);
	assert_int_equal(number_in(c, HIER_PIDS, "pids.max", "pids.max"), 40);
	if (more.cpu_weight)
		assert_int_equal(number_in(c, HIER_CPU, "cpu.shares",
					   "cpu.weight"),
				 groups_with(g, HIER_CPU)->has & HIER_UNIFIED
					 ? 50
					 : 512);
	assert_int_equal(group_limit(c, &less, NULL), 0);
	assert_int_equal(number_in(c, HIER_MEMORY, "memory.limit_in_bytes",
				   "memory.max"),
			 32 * MIB);
	more.cpu_weight = 10001;
	assert_int_not_equal(group_limit(c, &more, NULL), 0);
	end_or_fail(c);
	done(g);
}

static void hold_32_mib(void *arg)
{
	size_t n = 32;

	touch_mib(&n);
	if (write(*(int *)arg, "x", 1) != 1)
		_exit(96);
	sleep_long(NULL);
}

/* v1 refuses it; v2 ends who holds it. */
static void a_limit_below_what_is_held(void **state)
{
	struct group_limits l = {.memory_bytes = 4 * MIB};
	struct redoma_error err = {0};
	struct groups *g = NULL;
	struct group *c;
	int p[2], status, rc;
	char byte;
	pid_t pid;

	(void)state;
	open_or_fail(&g);
	c = make_or_fail(g, 64 * MIB, 20);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	pid = member_start(c, hold_32_mib, &p[1]);
	assert_int_equal(read(p[0], &byte, 1), 1);
	rc = group_limit(c, &l, &err);
	if (groups_with(g, HIER_MEMORY)->has & HIER_UNIFIED) {
		assert_int_equal(rc, 0);
		status = member_wait(pid);
		assert_true(WIFSIGNALED(status));
	} else {
		assert_int_equal(rc, REDOMA_E_INVALID);
		assert_non_null(strstr(err.text, "raise it"));
		assert_int_equal(group_kill(c, 2000, &err), 0);
		member_wait(pid);
	}
	close(p[0]);
	close(p[1]);
	end_or_fail(c);
	done(g);
}

static void memory_ends_a_hog(void **state)
{
	struct groups *g = NULL;
	struct group_usage u;
	struct pollfd p = {.events = POLLIN};
	size_t modest = 16, greedy = 256;
	struct group *c;
	int status;

	(void)state;
	open_or_fail(&g);
	c = make_or_fail(g, 64 * MIB, 20);
	assert_int_equal(member_wait(member_start(c, touch_mib, &modest)), 0);
	p.fd = group_oom_fd(c);
	assert_true(p.fd >= 0);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_false(group_oom_seen(c));
	status = member_wait(member_start(c, touch_mib, &greedy));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(poll(&p, 1, 1000), 1);
	assert_true(group_oom_seen(c));
	assert_false(group_oom_seen(c));
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(group_usage(c, &u, NULL), 0);
	assert_true(u.oom_kills >= 1);
	assert_true(u.memory_peak_bytes > 60 * MIB);
	assert_true(u.memory_peak_bytes <= 64 * MIB);
	end_or_fail(c);
	done(g);
}

/* The kernel kills the largest process only; memory in a memfd and in shared
 * mappings counts as well. */
static void lead_and_die(void *arg)
{
	size_t n = 256;

	(void)arg;
	if (!fork())
		sleep_long(NULL);
	nap_ms(50);
	touch_mib(&n);
}

static void fill_memfd(void *arg)
{
	static const char zeros[1 << 16] = {1};
	int fd = memfd_create("fill", MFD_CLOEXEC);

	(void)arg;
	for (int i = 0; i < 4096; i++)
		if (write(fd, zeros, sizeof zeros) <= 0)
			_exit(96);
}

static void memfds_count(void **state)
{
	struct groups *g = NULL;
	struct group *c;
	int status;

	(void)state;
	open_or_fail(&g);
	c = make_or_fail(g, 64 * MIB, 20);
	status = member_wait(member_start(c, fill_memfd, NULL));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_true(group_oom_seen(c));
	end_or_fail(c);
	done(g);
}

static void survivors_of_oom_are_killed(void **state)
{
	struct groups *g = NULL;
	struct group *c;
	int both[2], status;
	pid_t pid;

	(void)state;
	open_or_fail(&g);
	c = make_or_fail(g, 64 * MIB, 20);
	assert_int_equal(pipe2(both, O_CLOEXEC), 0);
	pid = member_start(c, lead_and_die, NULL);
	close(both[1]);
	status = member_wait(pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_true(group_oom_seen(c));
	if (groups_kind(g) != JAIL_CGROUPS_V2)
		assert_false(all_ended(both[0], 200));
	assert_int_equal(group_kill(c, 1000, NULL), 0);
	assert_true(all_ended(both[0], 500));
	close(both[0]);
	assert_int_equal(group_end(c, NULL), 0);
	done(g);
}

/* Without the unified hierarchy: kill by lists of pids. */
static void place_v1(struct place *p)
{
	place_find(p);
	if (!p->n || !(p->h[0].has & HIER_UNIFIED))
		return;
	close(p->h[0].place);
	p->n--;
	memmove(&p->h[0], &p->h[1], p->n * sizeof *p->h);
}

/* A second, where nothing is emulated. */
static void check_bomb(struct groups *g)
{
	int most_ms = getenv("REDOMA_SLOW") ? 20000 : 1000;
	struct bomb *b = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct group *c = make_or_fail(g, 256 * MIB, 64);
	struct redoma_error err = {0};
	uint64_t start;
	int both[2];
	pid_t pid;

	assert_true(b != MAP_FAILED);
	assert_int_equal(pipe2(both, O_CLOEXEC), 0);
	pid = member_start(c, explode, b);
	close(both[1]);
	assert_true(bomb_refused(c));
	assert_true(number_in(c, HIER_PIDS, "pids.current", "pids.current") >=
		    32);
	assert_true(number_in(c, HIER_PIDS, "pids.current", "pids.current") <=
		    64);
	start = clock_monotonic_us();
	if (group_kill(c, most_ms, &err))
		fail_msg("%s", err.text);
	assert_int_equal(gkill_round(groups_with(g, HIER_PIDS), c->at), 0);
	if (!(groups_can(g) & GROUP_KILL)) /* that stops forks */
		assert_int_equal(number_in(c, HIER_PIDS, "pids.max", ""), 0);
	print_message("# a bomb of 64: dead after %.1f ms\n",
		      (double)(clock_monotonic_us() - start) / 1000);
	assert_true(all_ended(both[0], 100));
	close(both[0]);
	member_wait(pid);
	assert_int_equal(group_end(c, &err), 0);
	munmap(b, 4096);
}

static void a_bomb_is_dead_in_a_second(void **state)
{
	struct groups *g = NULL;

	(void)state;
	open_or_fail(&g);
	check_bomb(g);
	done(g);
}

static void a_bomb_is_dead_without_unified(void **state)
{
	struct groups *g = NULL;
	struct place p;

	(void)state;
	place_v1(&p);
	if (!p.n) {
		place_close(&p);
		skip();
	}
	open_at_or_fail(&p, &g);
	assert_int_equal(groups_kind(g), JAIL_CGROUPS_V1);
	assert_false(groups_can(g) & (GROUP_KILL | GROUP_BIRTH));
	check_bomb(g);
	done(g);
}

static void burn(void *arg)
{
	(void)arg;
	while (clock_thread_us() < 150 * 1000)
		continue;
}

static void usage_is_told(void **state)
{
	struct groups *g = NULL;
	struct group_usage u;
	size_t some = 24;
	struct group *c;
	int fd;

	(void)state;
	open_or_fail(&g);
	c = make_or_fail(g, 64 * MIB, 20);
	fd = group_cpu_fd(c);
	assert_true(fd >= 0);
	assert_true(group_cpu_read(fd) < 50 * 1000);
	assert_int_equal(member_wait(member_start(c, burn, NULL)), 0);
	assert_true(group_cpu_read(fd) >= 145 * 1000);
	assert_true(group_cpu_read(fd) < 4000 * 1000);
	assert_int_equal(member_wait(member_start(c, touch_mib, &some)), 0);
	assert_int_equal(group_usage(c, &u, NULL), 0);
	assert_true(u.cpu_us >= 145 * 1000 && u.cpu_us < 6000 * 1000);
	assert_true(u.memory_peak_bytes >= 24 * MIB);
	assert_true(u.memory_peak_bytes < 40 * MIB);
	assert_int_equal(u.oom_kills, 0);
	assert_int_equal(u.pids_refused, 0);
	end_or_fail(c);
	assert_int_equal(group_cpu_read(fd), UINT64_MAX);
	close(fd);
	assert_int_equal(group_cpu_read(-1), UINT64_MAX);
	done(g);
}

static void the_v1_clock_is_read(void **state)
{
	struct groups *g = NULL;
	struct place p;
	struct group *c;
	int fd;

	(void)state;
	place_v1(&p);
	if (!p.n) {
		place_close(&p);
		skip();
	}
	open_at_or_fail(&p, &g);
	if (!(groups_can(g) & GROUP_CPU_USAGE)) {
		done(g);
		skip();
	}
	c = make_or_fail(g, 64 * MIB, 20);
	fd = group_cpu_fd(c);
	assert_int_equal(member_wait(member_start(c, burn, NULL)), 0);
	assert_true(group_cpu_read(fd) >= 145 * 1000);
	assert_true(group_cpu_read(fd) < 400 * 1000);
	close(fd);
	end_or_fail(c);
	done(g);
}

/* A maker with one member; tells when it is there, then waits. */
static pid_t start_maker(int *ret_in)
{
	int both[2];
	pid_t pid;

	assert_int_equal(pipe2(both, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		struct groups *g = NULL;
		struct group_limits l = {.memory_bytes = 64 * MIB};
		struct group *c = NULL;

		if (groups_open(&g, NULL) || group_make(g, &l, &c, NULL) ||
		    member_start(c, sleep_long, NULL) < 0 ||
		    write(both[1], "x", 1) != 1)
			_exit(1);
		close(both[1]);
		sleep_long(NULL);
		_exit(0);
	}
	close(both[1]);
	*ret_in = both[0];
	return pid;
}

static void a_quick_maker(void **state)
{
	struct group_limits l = {.memory_bytes = 64 * MIB, .pids = 20};
	struct redoma_error err = {0};
	struct groups *g = NULL;
	struct group *c = NULL;
	size_t greedy = 256, modest = 16;
	int count, status;
	pid_t pid;

	(void)state;
	if (groups_open_quick(&g, &err) || group_make(g, &l, &c, &err))
		fail_msg("%s", err.text);
	assert_false(groups_can(g) & GROUP_CPU_WEIGHT);
	count = group_oom_count_fd(c);
	assert_true(count >= 0);
	pid = group_fork(c);
	if (pid == 0) {
		if (group_join(c))
			_exit(98);
		touch_mib(&modest);
		_exit(0);
	}
	assert_int_equal(member_wait(pid), 0);
	assert_int_equal(group_oom_count(count), 0);
	pid = group_fork(c);
	if (pid == 0) {
		if (!group_join(c))
			touch_mib(&greedy);
		_exit(98);
	}
	status = member_wait(pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	/* A kernel that ends the group as a whole may count its victim twice. */
	assert_true(group_oom_count(count) >= 1);
	close(count);
	assert_int_equal(group_oom_count(-1), 0);
	end_or_fail(c);
	done(g);
}

/* A group may be one that nobody can be born into: then it is joined. */
static void who_cannot_be_born_joins(void **state)
{
	struct group_limits l = {.memory_bytes = 64 * MIB, .pids = 20};
	struct redoma_error err = {0};
	int other = open("/", O_PATH | O_CLOEXEC);
	struct groups *g = NULL;
	struct group *c = NULL;
	pid_t pid;

	(void)state;
	open_or_fail(&g);
	if (group_make(g, &l, &c, &err))
		fail_msg("%s", err.text);
	if (group_birth_fd(c) >= 0)
		assert_int_equal(dup2(other, group_birth_fd(c)),
				 group_birth_fd(c));
	close(other);
	pid = group_fork(c);
	if (pid == 0)
		_exit(group_join(c) ? 98 : 0);
	assert_int_equal(member_wait(pid), 0);
	assert_false(groups_can(g) & GROUP_BIRTH);
	end_or_fail(c);
	done(g);
}

#define MAKERS 20

/* One whose member outlives it, not yet reaped, as it will often be.  Any other
 * maker on this machine may have swept it by then. */
static pid_t kill_maker(int *ret_in)
{
	for (int i = 0; i < MAKERS; i++) {
		pid_t pid = start_maker(ret_in);
		char c;

		assert_int_equal(read(*ret_in, &c, 1), 1);
		kill(pid, SIGKILL);
		nap_ms(20);
		if (!all_ended(*ret_in, 50) && count_left(pid) > 0)
			return pid;
		close(*ret_in);
		member_wait(pid);
	}
	fail_msg("no member outlived its maker");
	return -1;
}

static void a_killed_maker_is_swept(void **state)
{
	struct groups *g = NULL;
	int dead_in, live_in;
	pid_t dead, live;
	char c;

	(void)state;
	live = start_maker(&live_in);
	assert_int_equal(read(live_in, &c, 1), 1);
	dead = kill_maker(&dead_in);
	open_or_fail(&g);
	assert_true(all_ended(dead_in, 500));
	assert_int_equal(count_left(dead), 0);
	assert_false(all_ended(live_in, 100));
	assert_true(count_left(live) > 0);
	kill(live, SIGKILL);
	member_wait(dead);
	member_wait(live);
	groups_sweep(g);
	assert_true(all_ended(live_in, 500));
	assert_int_equal(count_left(live), 0);
	close(dead_in);
	close(live_in);
	done(g);
}

/* A pid that was used again is another maker; one of another pid namespace is
 * not judged. */
static void only_the_maker_itself_counts(void **state)
{
	static const char *const kept[] = {"redoma-1-999999999-5-0",
					   "redoma-%s-999999999-5",
					   "redoma-x"};
	struct groups *g = NULL;
	char name[96], self[96], ns[32];
	int place;

	(void)state;
	open_or_fail(&g);
	place = g->h[0].place;
	assert_int_equal(maker_name(self, 0, NULL), 0);
	assert_int_equal(sscanf(self, "redoma-%31[0-9]-", ns), 1);
	snprintf(name, sizeof name, "redoma-%s-%d-5-0", ns, getpid());
	assert_int_equal(mkdirat(place, name, 0755), 0);
	groups_sweep(g);
	assert_int_equal(count_named(place, name), 0);
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
		snprintf(name, sizeof name, i == 1 ? "redoma-%s-999999999-5"
						   : "%s",
			 i == 1 ? ns : kept[i]);
		assert_int_equal(mkdirat(place, name, 0755), 0);
		groups_sweep(g);
		assert_int_equal(unlinkat(place, name, AT_REMOVEDIR), 0);
	}
	done(g);
}

struct jailbreak {
	const struct group *c;
	bool ordinary;
};

/* Exits by the number of ways out that are open. */
static void break_out(void *arg)
{
	static const char *const files[] = {
		"cgroup.procs",	       "memory.limit_in_bytes",
		"memory.max",	       "memory.memsw.limit_in_bytes",
		"pids.max",	       "cpu.shares",
		"cpu.weight",	       "cgroup.event_control"};
	const struct jailbreak *b = arg;
	int open_ways = 0;

	if (b->ordinary)
		be_ordinary();
	for (size_t i = 0; i < b->c->g->n; i++) {
		int place = b->c->g->h[i].place;

		open_ways += !mkdirat(place, "redoma-x", 0755) &&
			     !unlinkat(place, "redoma-x", AT_REMOVEDIR);
		open_ways += !gfile_write(place, ".", "cgroup.procs", "0");
		for (size_t k = 0; k < sizeof files / sizeof *files; k++)
			open_ways += gfile_open(place, b->c->at, files[k],
						O_WRONLY) >= 0;
	}
	_exit(open_ways);
}

static void members_cannot_get_out(void **state)
{
	struct jailbreak b = {.ordinary = true};
	struct groups *g = NULL;
	struct group *c;
	int status;

	(void)state;
	if (geteuid() != 0)
		skip();
	open_or_fail(&g);
	c = make_or_fail(g, 64 * MIB, 20);
	b.c = c;
	status = member_wait(member_start(c, break_out, &b));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	b.ordinary = false; /* the same ways are there for root */
	status = member_wait(member_start(c, break_out, &b));
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) > 4);
	end_or_fail(c);
	done(g);
}

static void look_for_fds(void *arg)
{
	const struct group *c = arg;

	group_leave_fds(c);
	for (size_t i = 0; i < c->g->n; i++)
		if (fcntl(c->g->h[i].place, F_GETFD) >= 0)
			_exit(1);
	if (fcntl(c->birth_fd, F_GETFD) >= 0 ||
	    fcntl(c->event_fd, F_GETFD) >= 0)
		_exit(2);
}

static void a_member_leaves_its_fds(void **state)
{
	struct groups *g = NULL;
	struct group *c;

	(void)state;
	open_or_fail(&g);
	c = make_or_fail(g, 64 * MIB, 20);
	assert_int_equal(member_wait(member_start(c, look_for_fds, c)), 0);
	end_or_fail(c);
	done(g);
}

/* Where a process is, in the hierarchy that shares out the CPU. */
static bool is_in(const struct groups *g, const char *leaf, pid_t pid)
{
	char at[GROUP_PATH_MAX], text[GROUP_TEXT_MAX], word[16];

	snprintf(at, sizeof at, "%.95s/%.32s", g->name, leaf);
	snprintf(word, sizeof word, "%d", pid);
	return !gfile_read(groups_with(g, HIER_CPU)->place, at, "cgroup.procs",
			   text) &&
	       gtext_lists(text, word, "\n");
}

static bool can_step_in(const struct groups *g)
{
	const struct hier *cpu = groups_with(g, HIER_CPU);

	return cpu && !(cpu->has & HIER_UNIFIED);
}

static void the_maker_steps_in_and_out(void **state)
{
	struct groups *g = NULL;
	struct group *c;
	pid_t other, member;

	(void)state;
	open_or_fail(&g);
	if (!can_step_in(g)) {
		assert_int_equal(groups_step_in(g, NULL),
				 REDOMA_E_UNSUPPORTED);
		done(g);
		skip();
	}
	assert_int_equal(groups_step_in(g, NULL), 0);
	assert_true(is_in(g, GROUP_MAKER, getpid()));
	other = fork();
	if (other == 0)
		sleep_long(NULL);
	assert_true(is_in(g, GROUP_MAKER, other));
	c = make_or_fail(g, 64 * MIB, 20);
	member = member_start(c, sleep_long, NULL);
	for (int i = 0; i < 5000; i++) {
		if (is_in(g, strchr(c->at, '/') + 1, member))
			break;
		nap_ms(1);
	}
	assert_true(is_in(g, strchr(c->at, '/') + 1, member));
	assert_false(is_in(g, GROUP_MAKER, member));
	kill(other, SIGKILL);
	member_wait(other);
	assert_int_equal(group_kill(c, 1000, NULL), 0);
	member_wait(member);
	end_or_fail(c);
	groups_step_out(g);
	assert_false(is_in(g, GROUP_MAKER, getpid()));
	groups_step_out(g); /* again: nothing */
	done(g);
}

/* In a process of its own: a fork made before it stepped in clears when the
 * pipe ends; it and a child stand in the leaf and hold `out`. */
static void maker_inside(int out)
{
	struct groups *g = NULL;
	int ends[2];
	pid_t pid;

	if (groups_open(&g, NULL) || pipe2(ends, O_CLOEXEC))
		_exit(1);
	if (!can_step_in(g))
		_exit(groups_clear(g, 1000, NULL) ? 1 : 77);
	pid = fork();
	if (pid == 0) {
		char byte;

		close(ends[1]);
		(void)!read(ends[0], &byte, 1);
		_exit(groups_clear(g, 5000, NULL) ? 1 : 0);
	}
	if (groups_step_in(g, NULL))
		_exit(2);
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		sleep_long(NULL);
	}
	if (write(out, "x", 1) != 1)
		_exit(3);
	sleep_long(NULL);
	_exit(4);
}

static void a_killed_maker_is_cleared_from_inside(void **state)
{
	int both[2], status;
	pid_t maker;
	char byte;

	(void)state;
	assert_int_equal(pipe2(both, O_CLOEXEC), 0);
	maker = fork();
	if (maker == 0)
		maker_inside(both[1]);
	close(both[1]);
	if (read(both[0], &byte, 1) != 1) {
		status = member_wait(maker);
		close(both[0]);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 77);
		skip();
	}
	assert_true(count_left(maker) > 0);
	kill(maker, SIGKILL);
	member_wait(maker);
	/* The child in the leaf and the one that clears have ended. */
	assert_true(all_ended(both[0], 5000));
	close(both[0]);
	assert_int_equal(count_left(maker), 0);
}

/* However few descriptors there are: it works, or nothing is left. */
static void few_descriptors(void **state)
{
	struct rlimit old, few;
	struct groups *g = NULL;
	struct group *c = NULL;
	struct group_limits l = {.memory_bytes = 64 * MIB, .pids = 20};
	int lowest = open("/", O_PATH | O_CLOEXEC), worked = -1;

	(void)state;
	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	for (int more = 0; more < 24; more++) {
		int rc;

		few = old;
		few.rlim_cur = (rlim_t)(lowest + more);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		rc = groups_open(&g, NULL);
		if (!rc && !group_make(g, &l, &c, NULL)) {
			rc = group_kill(c, 1000, NULL);
			assert_int_equal(group_end(c, NULL), 0);
			worked = worked < 0 ? more : worked;
		}
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
		if (g)
			done(g);
		g = NULL;
		assert_int_equal(count_left(getpid()), 0);
	}
	print_message("# a group takes %d descriptors\n", worked);
	assert_true(worked >= 0 && worked < 16);
	assert_int_equal(lowest, open("/", O_PATH | O_CLOEXEC));
	close(lowest);
}

/* How a v2 file tells, by one that this machine has. */
static void an_epoll_tells_of_v2_files(void **state)
{
	struct groups *g = NULL;
	struct pollfd p = {.events = POLLIN};
	struct group *c;
	int file = -1;
	pid_t pid;

	(void)state;
	open_or_fail(&g);
	if (!(groups_can(g) & GROUP_BIRTH)) {
		done(g);
		skip();
	}
	c = make_or_fail(g, 64 * MIB, 20);
	pid = member_start(c, sleep_long, NULL);
	p.fd = group_watch(groups_with(g, HIER_UNIFIED)->place, c->at,
			   "cgroup.events", &file);
	assert_true(p.fd >= 0);
	assert_int_equal(poll(&p, 1, 50), 0);
	kill(pid, SIGKILL);
	member_wait(pid);
	assert_int_equal(poll(&p, 1, 1000), 1);
	close(p.fd);
	close(file);
	end_or_fail(c);
	done(g);
}

static void kill_gives_up(void **state)
{
	struct redoma_error err = {0};
	struct groups *g = NULL;
	struct group *c;
	pid_t pid;

	(void)state;
	open_or_fail(&g);
	c = make_or_fail(g, 64 * MIB, 20);
	pid = member_start(c, sleep_long, NULL);
	/* No time at all, and a member that only just gets its signal. */
	assert_int_equal(group_kill(c, 0, &err), REDOMA_E_BUSY);
	assert_non_null(strstr(err.text, "SIGKILL"));
	assert_int_equal(group_kill(c, 1000, NULL), 0);
	member_wait(pid);
	assert_int_equal(group_end(c, NULL), 0);
	done(g);
}

#define ROUNDS 100

static void times(void **state)
{
	struct groups *g = NULL;
	uint64_t start;

	(void)state;
	start = clock_monotonic_us();
	open_or_fail(&g);
	print_message("# groups_open: %.2f ms\n",
		      (double)(clock_monotonic_us() - start) / 1000);
	start = clock_monotonic_us();
	for (int i = 0; i < ROUNDS; i++)
		assert_int_equal(
			group_end(make_or_fail(g, 64 * MIB, 64), NULL), 0);
	print_message("# make, limit, end: %.3f ms\n",
		      (double)(clock_monotonic_us() - start) / 1000 / ROUNDS);
	done(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_it_can),
		cmocka_unit_test(limits_are_there_before_anybody),
		cmocka_unit_test(a_limit_below_what_is_held),
		cmocka_unit_test(memory_ends_a_hog),
		cmocka_unit_test(memfds_count),
		cmocka_unit_test(survivors_of_oom_are_killed),
		cmocka_unit_test(a_bomb_is_dead_in_a_second),
		cmocka_unit_test(a_bomb_is_dead_without_unified),
		cmocka_unit_test(usage_is_told),
		cmocka_unit_test(the_v1_clock_is_read),
		cmocka_unit_test(a_quick_maker),
		cmocka_unit_test(who_cannot_be_born_joins),
		cmocka_unit_test(a_killed_maker_is_swept),
		cmocka_unit_test(only_the_maker_itself_counts),
		cmocka_unit_test(members_cannot_get_out),
		cmocka_unit_test(a_member_leaves_its_fds),
		cmocka_unit_test(the_maker_steps_in_and_out),
		cmocka_unit_test(a_killed_maker_is_cleared_from_inside),
		cmocka_unit_test(few_descriptors),
		cmocka_unit_test(an_epoll_tells_of_v2_files),
		cmocka_unit_test(kill_gives_up),
		cmocka_unit_test(times),
	};
	struct redoma_error err = {0};
	struct groups *g = NULL;

	if (groups_open(&g, &err)) {
		printf("no cgroup that this process may use\n");
		return err.code == REDOMA_E_UNSUPPORTED ? 77 : 1;
	}
	if (groups_clear(g, 1000, NULL))
		return 1;
	groups_close(g);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
