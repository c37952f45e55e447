/* Control groups of somebody who is not root: in hierarchies that root
 * delegated, and as a maker that root became (groups_give).
 * test-seconds: 60 */
#include "group_world.h"

#define DELEGATED "redomatest"

struct world { /* a directory in every hierarchy, given to ORDINARY_ID */
	struct place all, mine;
	char name[48];
};

static void give(int place, const char *path)
{
	assert_int_equal(fchownat(place, path, ORDINARY_ID, ORDINARY_ID, 0), 0);
}

static void world_make(struct world *w)
{
	static const char *const files[] = {
		"cgroup.procs", "cgroup.threads", "cgroup.subtree_control"};
	char path[128];

	place_find(&w->all);
	w->mine = (struct place){.above = -1, .n = w->all.n};
	snprintf(w->name, sizeof w->name, DELEGATED "-%d", getpid());
	for (size_t i = 0; i < w->all.n; i++) {
		int place = w->all.h[i].place;

		assert_int_equal(mkdirat(place, w->name, 0755), 0);
		give(place, w->name);
		w->mine.h[i] = w->all.h[i];
		w->mine.h[i].place =
			openat(place, w->name,
			       O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (!(w->all.h[i].has & HIER_UNIFIED))
			continue;
		for (size_t k = 0; k < 3; k++) {
			snprintf(path, sizeof path, "%s/%s", w->name, files[k]);
			give(place, path);
		}
		snprintf(path, sizeof path, "%s/leaf", w->name);
		assert_int_equal(mkdirat(place, path, 0755), 0);
	}
}

static void world_end(struct world *w)
{
	char path[128];

	for (size_t i = 0; i < w->all.n; i++) {
		snprintf(path, sizeof path, "%s/leaf", w->name);
		(void)unlinkat(w->all.h[i].place, path, AT_REMOVEDIR);
		/* Something left in it would keep it. */
		if (unlinkat(w->all.h[i].place, w->name, AT_REMOVEDIR))
			fail_msg("%s: %s", w->name, strerror(errno));
	}
	place_close(&w->mine);
	place_close(&w->all);
}

#define NEED(cond)                                       \
	do {                                             \
		if (!(cond))                             \
			_exit(__LINE__ > 255 ? 255 : __LINE__); \
	} while (0)

/* What everybody expects of a group; exits by the line that failed. */
static void check_group(struct groups *g)
{
	struct group_limits l = {.memory_bytes = 64 * MIB, .pids = 64};
	struct bomb *b = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct group *c = NULL;
	size_t greedy = 256;
	int status;
	pid_t pid;

	NEED(b != MAP_FAILED);
	NEED(!group_make(g, &l, &c, NULL));
	pid = member_start(c, touch_mib, &greedy);
	NEED(pid > 0 && waitpid(pid, &status, 0) == pid);
	NEED(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	NEED(group_oom_seen(c));
	NEED(!group_kill(c, 1000, NULL) && !group_end(c, NULL));
	l.memory_bytes = 256 * MIB;
	NEED(!group_make(g, &l, &c, NULL));
	pid = member_start(c, explode, b);
	NEED(pid > 0 && bomb_refused(c));
	NEED(!group_kill(c, 1000, NULL) && !group_end(c, NULL));
	NEED(waitpid(pid, &status, 0) == pid);
}

static void user_work(struct world *w, bool inside)
{
	struct redoma_error err = {0};
	struct groups *g = NULL;

	be_ordinary();
	if (groups_open_at(&w->mine, &g, &err)) {
		fprintf(stderr, "# %s\n", err.text);
		_exit(1);
	}
	NEED(groups_can(g) & GROUP_MEMORY && groups_can(g) & GROUP_PIDS);
	NEED(groups_can(g) & GROUP_CPU_USAGE);
	/* Outside of the delegated part, nothing can be born into it. */
	if (w->all.h[0].has & HIER_UNIFIED)
		NEED(!inside == !(groups_can(g) & GROUP_BIRTH));
	check_group(g);
	NEED(!groups_clear(g, 1000, NULL));
	groups_close(g);
	_exit(0);
}

static void check_user(bool inside)
{
	struct world w;
	char path[128];
	int status;
	pid_t pid;

	world_make(&w);
	pid = fork();
	if (pid == 0) {
		snprintf(path, sizeof path, "%s/leaf", w.name);
		if (inside)
			NEED(!gfile_write(w.all.h[0].place, path,
					  "cgroup.procs", "0"));
		for (int sig = 1; sig < 32; sig++)
			signal(sig, SIG_DFL); /* cmocka has handlers */
		user_work(&w, inside);
	}
	status = member_wait(pid);
	if (status)
		print_message("# status %x, line %d\n", (unsigned)status,
			      WEXITSTATUS(status));
	world_end(&w);
	assert_int_equal(status, 0);
}

static void a_user_in_what_is_delegated(void **state)
{
	struct place p;
	char text[GROUP_TEXT_MAX];
	bool fit;

	(void)state;
	place_find(&p);
	/* Alone, it must hand on the controllers. */
	fit = p.n && p.h[0].has & HIER_UNIFIED &&
	      (p.n > 1 || (!gfile_read(p.h[0].place, ".",
				       "cgroup.subtree_control", text) &&
			   gtext_lists(text, "memory", " \n")));
	place_close(&p);
	if (!fit)
		skip();
	check_user(true);
}

static void a_user_with_limits_alone(void **state)
{
	struct place p;
	bool v1;

	(void)state;
	place_find(&p);
	v1 = p.n > 1;
	place_close(&p);
	if (!v1)
		skip();
	check_user(false);
}

static void a_user_without_anything(void **state)
{
	struct redoma_error err = {0};
	struct groups *g = NULL;
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	if (pid == 0) {
		be_ordinary();
		NEED(groups_open(&g, &err) == REDOMA_E_UNSUPPORTED);
		NEED(strstr(err.text, "Delegate=yes"));
		NEED(!g);
		_exit(0);
	}
	status = member_wait(pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_user_in_what_is_delegated),
		cmocka_unit_test(a_user_with_limits_alone),
		cmocka_unit_test(a_user_without_anything),
	};
	struct redoma_error err = {0};
	struct groups *g = NULL;

	if (geteuid() != 0 || groups_open(&g, &err)) {
		printf("no root that may make and delegate cgroups\n");
		return 77;
	}
	if (groups_clear(g, 1000, NULL))
		return 1;
	groups_close(g);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
