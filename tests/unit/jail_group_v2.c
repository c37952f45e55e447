/* cgroup v2 without one: a directory of files stands for it.  The test's own
 * mkdirat, unlinkat, write, epoll_ctl and fgetxattr do what the kernel would
 * do there, and keep a list of the writes. */
#include <sched.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/xattr.h>
#include "group_world.h"

#define FAKE_MAX 4096

static struct {
	char root[64];	     /* the hierarchy; "": nothing is faked */
	char log[FAKE_MAX];  /* "path=text\n", paths below the root */
	const char *missing; /* a file that new directories do not have */
	const char *ignored; /* a file that takes writes and keeps the old */
	const char *refused; /* a write to it is EINVAL */
	const char *marked;  /* what is delegated, below the root */
} fake;

/* The path of a descriptor below the root; NULL: not ours. */
static const char *fake_path(int fd, const char *name, char path[FAKE_MAX])
{
	char link[64];
	size_t n = strlen(fake.root);
	ssize_t len;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	len = *fake.root ? readlink(link, path, FAKE_MAX / 2) : -1;
	if (len < 0)
		return NULL;
	path[len] = 0;
	if (strncmp(path, fake.root, n) || (path[n] && path[n] != '/'))
		return NULL;
	if (name)
		snprintf(path + len, FAKE_MAX / 2, "/%s", name);
	return path[n] ? path + n + 1 : path + n;
}

static void put(const char *dir, const char *name, const char *text)
{
	char path[FAKE_MAX];
	int fd;

	if (fake.missing && !strcmp(name, fake.missing))
		return;
	snprintf(path, sizeof path, "%.2000s/%s", dir, name);
	fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 ||
	    syscall(SYS_write, fd, text, strlen(text)) != (long)strlen(text))
		abort();
	close(fd);
}

static void get(const char *dir, const char *name, char text[FAKE_MAX])
{
	char path[FAKE_MAX];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "%.2000s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, FAKE_MAX - 1);
	text[n > 0 ? n : 0] = 0;
	if (fd >= 0)
		close(fd);
}

/* The files of a new directory: those of its controllers are there. */
static void populate(const char *dir, const char *controllers)
{
	static const struct {
		const char *controller, *name, *text;
	} files[] = {
		{"", "cgroup.procs", ""},
		{"", "cgroup.threads", ""},
		{"", "cgroup.subtree_control", "\n"},
		{"", "cgroup.events", "populated 0\nfrozen 0\n"},
		{"", "cgroup.kill", ""},
		{"", "cpu.stat", "usage_usec 1234\nuser_usec 1000\n"},
		{"memory", "memory.max", "max\n"},
		{"memory", "memory.swap.max", "max\n"},
		{"memory", "memory.oom.group", "0\n"},
		{"memory", "memory.peak", "8192\n"},
		{"memory", "memory.events",
		 "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill "
		 "0\n"},
		{"pids", "pids.max", "max\n"},
		{"pids", "pids.events", "max 3\n"},
		{"cpu", "cpu.weight", "100\n"},
	};

	put(dir, "cgroup.controllers", controllers);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (!*files[i].controller ||
		    gtext_lists(controllers, files[i].controller, " \n"))
			put(dir, files[i].name, files[i].text);
}

int mkdirat(int fd, const char *name, mode_t mode)
{
	char path[FAKE_MAX], control[FAKE_MAX];
	int rc = (int)syscall(SYS_mkdirat, fd, name, mode);
	char *slash;

	if (rc || !fake_path(fd, name, path))
		return rc;
	slash = strrchr(path, '/');
	*slash = 0;
	get(path, "cgroup.subtree_control", control);
	*slash = '/';
	populate(path, control);
	return 0;
}

int unlinkat(int fd, const char *name, int flags)
{
	char path[FAKE_MAX], procs[FAKE_MAX], file[FAKE_MAX];
	struct dirent *e;
	DIR *d;

	if (!(flags & AT_REMOVEDIR) || !fake_path(fd, name, path))
		return (int)syscall(SYS_unlinkat, fd, name, flags);
	get(path, "cgroup.procs", procs);
	if (strtol(procs, NULL, 10) > 0) {
		errno = EBUSY;
		return -1;
	}
	d = opendir(path);
	while (d && (e = readdir(d))) {
		snprintf(file, sizeof file, "%.2000s/%s", path, e->d_name);
		if (e->d_type == DT_REG)
			syscall(SYS_unlinkat, AT_FDCWD, file, 0);
	}
	if (d)
		closedir(d);
	return (int)syscall(SYS_unlinkat, fd, name, flags);
}

/* A process that moves leaves the root's list, the only one that the tests
 * fill. */
static void leave_root(const char *pid)
{
	char procs[FAKE_MAX], rest[FAKE_MAX] = "", *line, *next = procs;

	get(fake.root, "cgroup.procs", procs);
	while ((line = strsep(&next, "\n")))
		if (*line && strcmp(line, pid))
			snprintf(rest + strlen(rest),
				 sizeof rest - strlen(rest), "%.20s\n", line);
	put(fake.root, "cgroup.procs", rest);
}

static long enable(const char *dir, const char *word)
{
	char text[FAKE_MAX], procs[FAKE_MAX], all[FAKE_MAX];

	get(dir, "cgroup.procs", procs);
	get(dir, "cgroup.controllers", all);
	if (*procs || !gtext_lists(all, word + 1, " \n")) {
		errno = *procs ? EBUSY : ENOENT;
		return -1;
	}
	get(dir, "cgroup.subtree_control", text);
	text[strcspn(text, "\n")] = 0;
	snprintf(all, sizeof all, "%.2000s%s%.100s\n", text, *text ? " " : "",
		 word + 1);
	put(dir, "cgroup.subtree_control", all);
	return (long)strlen(word);
}

ssize_t write(int fd, const void *p, size_t n)
{
	char path[FAKE_MAX], text[256], *file;
	const char *below = fake_path(fd, NULL, path);

	if (!below || n >= sizeof text)
		return syscall(SYS_write, fd, p, n);
	memcpy(text, p, n);
	text[n] = 0;
	snprintf(fake.log + strlen(fake.log),
		 sizeof fake.log - strlen(fake.log), "%s=%s\n", below, text);
	file = strrchr(path, '/') + 1;
	if (fake.refused && !strcmp(file, fake.refused)) {
		errno = EINVAL;
		return -1;
	}
	if (fake.ignored && !strcmp(file, fake.ignored))
		return (ssize_t)n;
	file[-1] = 0;
	if (!strcmp(file, "cgroup.subtree_control"))
		return enable(path, text);
	if (!strcmp(file, "cgroup.procs") && atoi(text))
		leave_root(text);
	put(path, file, text);
	return (ssize_t)n;
}

int epoll_ctl(int epoll, int op, int fd, struct epoll_event *e)
{
	char path[FAKE_MAX];

	if (fake_path(fd, NULL, path))
		return 0; /* regular files cannot be watched */
	return (int)syscall(SYS_epoll_ctl, epoll, op, fd, e);
}

ssize_t fgetxattr(int fd, const char *name, void *value, size_t size)
{
	char path[FAKE_MAX];
	const char *below = fake_path(fd, NULL, path);

	if (below && fake.marked && !strcmp(below, fake.marked) && size) {
		*(char *)value = '1';
		return 1;
	}
	(void)name;
	errno = ENODATA;
	return -1;
}

/* The fake's life. */

static void remove_tree(const char *path)
{
	char file[FAKE_MAX];
	struct dirent *e;
	DIR *d = opendir(path);

	while (d && (e = readdir(d))) {
		snprintf(file, sizeof file, "%.2000s/%s", path, e->d_name);
		if (e->d_type == DT_DIR && e->d_name[0] != '.')
			remove_tree(file);
		else if (e->d_type == DT_REG)
			syscall(SYS_unlinkat, AT_FDCWD, file, 0);
	}
	if (d)
		closedir(d);
	syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

static int begin(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof fake);
	strcpy(fake.root, "/tmp/redoma-group-XXXXXX");
	if (!mkdtemp(fake.root))
		return -1;
	populate(fake.root, "cpu memory pids\n");
	return 0;
}

static int finish(void **state)
{
	(void)state;
	remove_tree(fake.root);
	*fake.root = 0;
	return 0;
}

static struct place fake_place(const char *own)
{
	char path[FAKE_MAX];
	struct place p = {.n = 1, .above = -1};

	snprintf(path, sizeof path, "%s/%s", fake.root, own);
	p.h[0].has = HIER_UNIFIED;
	p.h[0].place = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(p.h[0].place >= 0);
	return p;
}

/* The log, with the maker's name as "M". */
static const char *said(char text[FAKE_MAX])
{
	char *p = fake.log, *m;
	char name[96];
	size_t n;

	assert_int_equal(maker_name(name, 0, NULL), 0);
	*text = 0;
	while ((m = strstr(p, name))) {
		n = strlen(text);
		snprintf(text + n, FAKE_MAX - n, "%.*sM", (int)(m - p), p);
		p = m + strlen(name);
	}
	n = strlen(text);
	snprintf(text + n, FAKE_MAX - n, "%s", p);
	return text;
}

static void the_writes_and_their_order(void **state)
{
	struct group_limits l = {
		.memory_bytes = 32 * MIB, .pids = 8, .cpu_weight = 30};
	struct place p = fake_place("");
	struct groups *g = NULL;
	struct group *c = NULL;
	struct group_usage u;
	char text[FAKE_MAX];
	int fd;

	(void)state;
	open_at_or_fail(&p, &g);
	assert_int_equal(groups_kind(g), JAIL_CGROUPS_V2);
	assert_int_equal(groups_can(g), GROUP_MEMORY | GROUP_PIDS |
						GROUP_CPU_USAGE |
						GROUP_CPU_WEIGHT | GROUP_KILL);
	assert_string_equal(said(text),
			    "cgroup.subtree_control=+memory\n"
			    "cgroup.subtree_control=+pids\n"
			    "cgroup.subtree_control=+cpu\n"
			    "M/cgroup.subtree_control=+memory\n"
			    "M/cgroup.subtree_control=+pids\n"
			    "M/cgroup.subtree_control=+cpu\n"
			    /* birth fails here, so a second time by joining;
			     * the child's own write is not in this list */
			    "M/0/memory.swap.max=0\n"
			    "M/0/memory.oom.group=1\n"
			    "M/0/memory.max=67108864\n"
			    "M/0/pids.max=16\n"
			    "M/1/memory.swap.max=0\n"
			    "M/1/memory.oom.group=1\n"
			    "M/1/memory.max=67108864\n"
			    "M/1/pids.max=16\n");
	*fake.log = 0;
	assert_int_equal(group_make(g, &l, &c, NULL), 0);
	assert_string_equal(said(text), "M/2/memory.swap.max=0\n"
					"M/2/memory.oom.group=1\n"
					"M/2/memory.max=33554432\n"
					"M/2/pids.max=8\n"
					"M/2/cpu.weight=30\n");
	*fake.log = 0;
	assert_null(group_join(c));
	assert_string_equal(said(text), "M/2/cgroup.procs=0\n");
	assert_int_equal(group_usage(c, &u, NULL), 0);
	assert_int_equal(u.cpu_us, 1234);
	assert_int_equal(u.memory_peak_bytes, 8192);
	assert_int_equal(u.oom_kills, 0);
	assert_int_equal(u.pids_refused, 3);
	fd = group_cpu_fd(c);
	assert_int_equal(group_cpu_read(fd), 1234);
	close(fd);
	assert_int_equal(group_end(c, NULL), 0);
	assert_int_equal(groups_clear(g, 100, NULL), 0);
	assert_int_equal(count_named(g->h[0].place, "redoma-"), 0);
	groups_close(g);
}

static void put_in(const struct group *c, const char *name, const char *text)
{
	char dir[FAKE_MAX];

	snprintf(dir, sizeof dir, "%s/%s", fake.root, c->at);
	put(dir, name, text);
}

static void an_end_is_cgroup_kill(void **state)
{
	struct place p = fake_place("");
	struct groups *g = NULL;
	struct group *c;
	char text[FAKE_MAX];

	(void)state;
	open_at_or_fail(&p, &g);
	c = make_or_fail(g, 32 * MIB, 8);
	assert_false(group_oom_seen(c));
	put_in(c, "memory.events", "low 0\noom 4\noom_kill 2\n");
	assert_true(group_oom_seen(c));
	assert_false(group_oom_seen(c));
	put_in(c, "cgroup.events", "populated 1\nfrozen 0\n");
	*fake.log = 0;
	assert_int_equal(group_kill(c, 1, NULL), REDOMA_E_BUSY);
	assert_int_equal(strncmp(said(text), "M/2/cgroup.kill=1\n", 18), 0);
	put_in(c, "cgroup.events", "populated 0\nfrozen 0\n");
	*fake.log = 0;
	assert_int_equal(group_kill(c, 1, NULL), 0);
	assert_string_equal(said(text), "");
	assert_int_equal(group_end(c, NULL), 0);
	assert_int_equal(groups_clear(g, 100, NULL), 0);
	groups_close(g);
}

static int try_open(const char *own, struct redoma_error *err)
{
	struct place p = fake_place(own);
	struct groups *g = NULL;
	int rc = groups_open_at(&p, &g, err);

	if (!rc) {
		assert_int_equal(groups_clear(g, 100, NULL), 0);
		groups_close(g);
	}
	return rc;
}

static void nothing_left(void)
{
	struct place p = fake_place("");

	assert_int_equal(count_named(p.h[0].place, "redoma-4"), 0);
	place_close(&p);
}

static void what_is_missing_refuses(void **state)
{
	static const char *const files[] = {
		"memory.max",	 "memory.oom.group", "pids.max",
		"memory.events", "cgroup.procs",     "cgroup.subtree_control"};

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct redoma_error err = {0};

		fake.missing = files[i];
		if (!try_open("", &err))
			fail_msg("opened without %s", files[i]);
		nothing_left();
	}
	fake.missing = "memory.peak"; /* Linux 5.19 */
	assert_int_equal(try_open("", NULL), 0);
	fake.missing = "cgroup.kill"; /* Linux 5.14 */
	assert_int_equal(try_open("", NULL), 0);
}

static void what_is_not_kept_refuses(void **state)
{
	static const char *const files[] = {"memory.max", "memory.swap.max",
					    "memory.oom.group", "pids.max",
					    "cgroup.subtree_control"};

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct redoma_error err = {0};

		fake.refused = NULL;
		fake.ignored = files[i];
		if (try_open("", &err) != REDOMA_E_UNSUPPORTED)
			fail_msg("opened, or said %s, when %s kept the old",
				 err.text, files[i]);
		assert_non_null(strstr(err.text, "kernel"));
		nothing_left();
		fake.ignored = NULL;
		fake.refused = files[i];
		assert_int_not_equal(try_open("", &err), 0);
		nothing_left();
	}
}

/* /proc/swaps is the test's own file. */
static void with_swaps(const char *text, enum redoma_code wanted)
{
	struct redoma_error err = {0};
	char path[FAKE_MAX];
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		snprintf(path, sizeof path, "%s/swaps", fake.root);
		put(fake.root, "swaps", text);
		if (unshare(CLONE_NEWNS) ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount(path, "/proc/swaps", NULL, MS_BIND, NULL))
			_exit(1);
		_exit(try_open("", &err) != (int)wanted ||
		      (wanted && !strstr(err.text, "swap")));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void swap_that_is_not_counted_refuses(void **state)
{
	static const char none[] = "Filename Type Size Used Priority\n";
	static const char one[] = "Filename Type Size Used Priority\n"
				  "/dev/sda2 partition 1000 0 -2\n";

	(void)state;
	if (geteuid() != 0)
		skip();
	with_swaps(one, REDOMA_OK);
	fake.missing = "memory.swap.max";
	with_swaps(none, REDOMA_OK);
	with_swaps(one, REDOMA_E_UNSUPPORTED);
	nothing_left();
}

static void no_memory_controller_refuses(void **state)
{
	struct redoma_error err = {0};

	(void)state;
	put(fake.root, "cgroup.controllers", "cpu pids\n");
	assert_int_equal(try_open("", &err), REDOMA_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, "memory controller"));
	assert_non_null(strstr(err.text, "Delegate=yes"));
	assert_string_equal(fake.log, "");
	put(fake.root, "cgroup.controllers", "memory\n");
	assert_int_equal(try_open("", &err), 0); /* without pids, cpu */
}

static void a_limit_without_controller_refuses(void **state)
{
	struct group_limits l = {.memory_bytes = 32 * MIB, .pids = 8};
	struct redoma_error err = {0};
	struct groups *g = NULL;
	struct group *c = NULL;
	struct place p;

	(void)state;
	put(fake.root, "cgroup.controllers", "memory\n");
	p = fake_place("");
	open_at_or_fail(&p, &g);
	assert_int_equal(groups_can(g),
			 GROUP_MEMORY | GROUP_CPU_USAGE | GROUP_KILL);
	assert_int_equal(group_make(g, &l, &c, &err), REDOMA_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, "pids"));
	l.pids = 0;
	l.cpu_weight = 100;
	assert_int_equal(group_make(g, &l, &c, &err), REDOMA_E_UNSUPPORTED);
	assert_null(c);
	assert_int_equal(groups_clear(g, 100, NULL), 0);
	groups_close(g);
	nothing_left();
}

/* No process may be where controllers are enabled. */
static void our_processes_step_aside(void **state)
{
	char procs[64], leaf[128], text[FAKE_MAX];

	(void)state;
	snprintf(procs, sizeof procs, "%d\n%d\n", getppid(), getpid());
	put(fake.root, "cgroup.procs", procs);
	if (getppid() == 1)
		skip();
	assert_int_equal(try_open("", NULL), 0);
	snprintf(leaf, sizeof leaf,
		 "cgroup.subtree_control=+memory\n"
		 "redoma-self-%d/cgroup.procs=%d\n"
		 "redoma-self-%d/cgroup.procs=%d\n"
		 "cgroup.subtree_control=+memory\n",
		 getpid(), getppid(), getpid(), getpid());
	assert_int_equal(strncmp(said(text), leaf, strlen(leaf)), 0);
}

/* Between the list and the look at it. */
static void one_that_has_ended_is_no_stranger(void **state)
{
	char procs[64], text[FAKE_MAX];
	pid_t gone = fork();

	(void)state;
	if (gone == 0)
		_exit(0);
	member_wait(gone);
	snprintf(procs, sizeof procs, "%d\n%d\n", gone, getpid());
	put(fake.root, "cgroup.procs", procs);
	assert_int_equal(try_open("", NULL), 0);
	snprintf(procs, sizeof procs, "redoma-self-%d/cgroup.procs=%d\n",
		 getpid(), getpid());
	assert_non_null(strstr(said(text), procs));
}

static void strangers_are_not_moved(void **state)
{
	struct redoma_error err = {0};
	char procs[64];

	(void)state;
	snprintf(procs, sizeof procs, "%d\n1\n", getpid());
	put(fake.root, "cgroup.procs", procs);
	assert_int_equal(try_open("", &err), REDOMA_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, "not ours (1, "));
	assert_non_null(strstr(err.text, "DelegateSubgroup"));
	assert_string_equal(fake.log, "cgroup.subtree_control=+memory\n");
}

/* systemd: DelegateSubgroup=host puts us below what is ours. */
static void the_directory_above(void **state)
{
	struct redoma_error err = {0};
	struct groups *g = NULL;
	char dir[FAKE_MAX];
	struct place p;

	(void)state;
	p = fake_place("");
	assert_int_equal(mkdirat(p.h[0].place, "host", 0755), 0);
	snprintf(dir, sizeof dir, "%s/host", fake.root);
	put(dir, "cgroup.procs", "1\n");
	p.above = p.h[0].place;
	p.h[0].place = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	p.marked = true;
	fake.marked = "";
	open_at_or_fail(&p, &g);
	assert_int_equal(count_named(g->h[0].place, "redoma-4"), 1);
	assert_int_equal(groups_clear(g, 100, NULL), 0);
	groups_close(g);
	/* Not marked: systemd's own. */
	fake.marked = NULL;
	*fake.log = 0;
	p = fake_place("host");
	p.above = open(fake.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	p.marked = true;
	assert_int_equal(groups_open_at(&p, &g, &err), REDOMA_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, "systemd"));
	assert_string_equal(fake.log, "");
}

/* Root without systemd: a second maker does not go deeper. */
static void a_leaf_of_ours_is_left(void **state)
{
	struct groups *g = NULL;
	char dir[FAKE_MAX], leaf[64];
	struct place p = fake_place("");

	(void)state;
	snprintf(leaf, sizeof leaf, GROUP_ASIDE "%d", getpid());
	assert_int_equal(mkdirat(p.h[0].place, leaf, 0755), 0);
	snprintf(dir, sizeof dir, "%s/%s", fake.root, leaf);
	put(dir, "cgroup.procs", "1\n");
	p.above = p.h[0].place;
	p.h[0].place = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	p.aside = true;
	assert_true(v2_fits(&p));
	open_at_or_fail(&p, &g);
	assert_int_equal(count_named(g->h[0].place, "redoma-4"), 1);
	assert_int_equal(groups_clear(g, 100, NULL), 0);
	groups_close(g);
}

static bool fits(void)
{
	struct place p = fake_place("");
	bool fit = v2_fits(&p);

	place_close(&p);
	return fit;
}

/* What is told of a place that nobody has opened is what opening it finds. */
static void what_would_fit_is_told(void **state)
{
	char procs[64];

	(void)state;
	put(fake.root, "cgroup.type", "domain\n");
	assert_true(fits());
	snprintf(procs, sizeof procs, "%d\n", getpid());
	put(fake.root, "cgroup.procs", procs);
	assert_true(fits());
	snprintf(procs, sizeof procs, "%d\n%d\n", getpid(), getppid());
	put(fake.root, "cgroup.procs", procs);
	assert_false(fits());
	put(fake.root, "cgroup.subtree_control", "memory\n");
	assert_true(fits());
	put(fake.root, "cgroup.controllers", "cpu pids\n");
	assert_false(fits());
	assert_string_equal(fake.log, "");
}

static void a_dead_makers_leaf_goes(void **state)
{
	struct place p = fake_place("");
	char ns[32], name[96], dir[FAKE_MAX], leaf[FAKE_MAX];

	(void)state;
	assert_int_equal(maker_name(name, 0, NULL), 0);
	assert_int_equal(sscanf(name, "redoma-%31[0-9]-", ns), 1);
	snprintf(name, sizeof name, "redoma-%s-999999999-7-0", ns);
	assert_int_equal(mkdirat(p.h[0].place, name, 0755), 0);
	snprintf(dir, sizeof dir, "%.95s/4", name);
	assert_int_equal(mkdirat(p.h[0].place, dir, 0755), 0);
	snprintf(leaf, sizeof leaf, "%.95s/self", name);
	assert_int_equal(mkdirat(p.h[0].place, leaf, 0755), 0);
	assert_int_equal(mkdirat(p.h[0].place, "redoma-self-7", 0755), 0);
	assert_int_equal(try_open("", NULL), 0);
	assert_int_equal(count_named(p.h[0].place, "redoma-"), 0);
	place_close(&p);
}

int main(void)
{
#define ONE(test) cmocka_unit_test_setup_teardown(test, begin, finish)
	const struct CMUnitTest tests[] = {
		ONE(the_writes_and_their_order),
		ONE(an_end_is_cgroup_kill),
		ONE(what_is_missing_refuses),
		ONE(what_is_not_kept_refuses),
		ONE(swap_that_is_not_counted_refuses),
		ONE(no_memory_controller_refuses),
		ONE(a_limit_without_controller_refuses),
		ONE(our_processes_step_aside),
		ONE(one_that_has_ended_is_no_stranger),
		ONE(strangers_are_not_moved),
		ONE(the_directory_above),
		ONE(a_leaf_of_ours_is_left),
		ONE(what_would_fit_is_told),
		ONE(a_dead_makers_leaf_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
