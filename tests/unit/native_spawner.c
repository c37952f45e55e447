/* redoma-init as the core sees it: jails are born, run and buried. */
/* test-seconds: 300 */
#include "native_core.h"

static struct core k;

static int up(void **state)
{
	(void)state;
	k = (struct core){.setup = core_setup()};
	core_start(&k);
	return 0;
}

static int down(void **state)
{
	(void)state;
	return core_stop(&k);
}

static void sh(struct core_run *r, const char *script)
{
	core_run_init(r);
	core_sh(&k, r, script);
}

static void ends_ok(void **state)
{
	struct core_run r;

	(void)state;
	sh(&r, "true");
	assert_true(r.has_outcome);
	assert_int_equal(r.o.status, REDOMA_STATUS_OK);
	assert_int_equal(r.o.exit_code, 0);
	assert_int_equal(r.o.signal, 0);
	assert_false(r.death.oom);
	assert_false(r.death.survivors);
	assert_true(r.death.has_usage);
	core_run_done(&r);
}

static void exit_code(void **state)
{
	struct core_run r;

	(void)state;
	sh(&r, "echo out; echo err >&2; exit 3");
	assert_true(r.has_outcome);
	assert_int_equal(r.o.status, REDOMA_STATUS_ERROR);
	assert_int_equal(r.o.exit_code, 3);
	assert_string_equal(r.out, "out\n");
	assert_string_equal(r.err, "err\n");
	core_run_done(&r);
}

static void dies_by_a_signal(void **state)
{
	struct core_run r;

	(void)state;
	sh(&r, "kill -SEGV $$");
	assert_int_equal(r.o.status, REDOMA_STATUS_ERROR);
	assert_int_equal(r.o.signal, SIGSEGV);
	assert_int_equal(r.o.exit_code, 128 + SIGSEGV);
	core_run_done(&r);
}

/* The kernel's signal for used-up CPU time, without that. */
static void sends_itself_a_limit(void **state)
{
	struct core_run r;

	(void)state;
	sh(&r, "kill -XCPU $$");
	assert_int_equal(r.o.status, REDOMA_STATUS_ERROR);
	assert_int_equal(r.o.signal, SIGXCPU);
	core_run_done(&r);
}

static void dies_by_the_filter(void **state)
{
	struct core_run r;

	(void)state;
	sh(&r, "kill -SYS $$");
	assert_int_equal(r.o.status, REDOMA_STATUS_BREACH);
	assert_int_equal(r.o.signal, SIGSYS);
	core_run_done(&r);
}

static void input_and_environment(void **state)
{
	size_t size = 3 << 20;
	char *big = malloc(size);
	struct core_run r;

	(void)state;
	core_run_init(&r);
	r.input = "some input";
	r.input_len = 10;
	core_sh(&k, &r, "cat; echo; env; pwd; id -u");
	assert_int_equal(r.o.status, REDOMA_STATUS_OK);
	assert_string_equal(r.out, "some input\nPATH=/usr/bin\nPWD=/\n/\n1000\n");
	core_run_done(&r);
	assert_non_null(big);
	memset(big, 'x', size);
	core_run_init(&r);
	r.input = big;
	r.input_len = size;
	core_sh(&k, &r, "wc -c");
	assert_string_equal(r.out, "3145728\n");
	core_run_done(&r);
	/* Nobody reads it. */
	core_run_init(&r);
	r.input = big;
	r.input_len = size;
	core_sh(&k, &r, "exit 0");
	assert_int_equal(r.o.status, REDOMA_STATUS_OK);
	core_run_done(&r);
	free(big);
}

static void output_is_cut(void **state)
{
	struct core_run r;

	(void)state;
	core_run_init(&r);
	r.plan.limits.output_bytes = 1000;
	core_sh(&k, &r, "yes 0123456 | head -n 100; exec yes");
	assert_int_equal(r.o.status, REDOMA_STATUS_OUTPUT_LIMIT);
	assert_int_equal(r.n_out, 1000);
	assert_memory_equal(r.out, "0123456\n0123456\n", 16);
	core_run_done(&r);
	core_run_init(&r);
	r.plan.limits.output_bytes = 1000;
	core_sh(&k, &r, "exec yes >&2");
	assert_int_equal(r.o.status, REDOMA_STATUS_OUTPUT_LIMIT);
	assert_int_equal(r.n_err, 1000);
	core_run_done(&r);
}

/* What is left in the background ends with the program. */
static void background(void **state)
{
	uint64_t from = clock_monotonic_us();
	struct core_run r;

	(void)state;
	sh(&r, "sleep 100 & (setsid sleep 100 &) ; echo done");
	assert_int_equal(r.o.status, REDOMA_STATUS_OK);
	assert_string_equal(r.out, "done\n");
	assert_true(clock_monotonic_us() - from < 3000000);
	core_run_done(&r);
}

static void wall_limit(void **state)
{
	static const char *const scripts[] = {
		"echo before; sleep 100",
		"echo before; while :; do :; done",
		"echo before; trap '' TERM INT HUP; sleep 100; sleep 100",
		"echo before; kill -STOP $$; sleep 100",
		"echo before; (setsid sh -c 'trap \"\" TERM; sleep 100' &); "
		"wait; sleep 100",
	};

	/* The shell must have started by then. */
	uint64_t wall_us = getenv("REDOMA_SLOW") ? 3000000 : 300000;

	(void)state;
	for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
		uint64_t from = clock_monotonic_us(), took;
		struct core_run r;

		core_run_init(&r);
		r.plan.limits.wall_us = wall_us;
		core_sh(&k, &r, scripts[i]);
		took = clock_monotonic_us() - from;
		assert_true(r.has_outcome);
		assert_int_equal(r.o.status, REDOMA_STATUS_WALL_LIMIT);
		assert_string_equal(r.out, "before\n");
		assert_true(took > wall_us - 50000 && took < wall_us + 2700000);
		core_run_done(&r);
	}
}

static void cpu_limit(void **state)
{
	struct core_run r;

	(void)state;
	core_run_init(&r);
	r.plan.limits.cpu_us = 200000;
	core_sh(&k, &r, "while :; do :; done");
	assert_int_equal(r.o.status, REDOMA_STATUS_CPU_LIMIT);
	assert_true(r.o.cpu_us >= 190000 && r.o.cpu_us < 3000000);
	assert_true(r.death.cpu_us >= 190000);
	core_run_done(&r);
}

static void no_such_program(void **state)
{
	struct core other = {.setup = core_setup()};
	char *argv[] = {(char *)"nothing", NULL};
	struct core_run r;

	(void)state;
	snprintf(other.setup.program, sizeof other.setup.program,
		 "/usr/bin/no-such-program");
	core_start(&other);
	core_run_init(&r);
	r.plan.argv = argv;
	r.plan.env = argv + 1;
	core_run(&other, &r);
	assert_int_equal(r.o.status, REDOMA_STATUS_INVALID);
	assert_non_null(strstr(r.o.message.p, "No such file"));
	core_run_done(&r);
	assert_int_equal(core_stop(&other), 0);
}

static void fork_bomb(void **state)
{
	struct core_run r;

	(void)state;
	core_run_init(&r);
	r.plan.limits.wall_us = 1000000;
	core_sh(&k, &r, "f() { f | f & }; f; sleep 100");
	assert_true(r.has_outcome || r.was_cut);
	if (r.has_outcome)
		assert_true(r.o.status == REDOMA_STATUS_WALL_LIMIT ||
			    r.o.status == REDOMA_STATUS_ERROR ||
			    r.o.status == REDOMA_STATUS_OUTPUT_LIMIT);
	assert_false(r.death.survivors);
	assert_true(r.death.pids_refused > 0);
	core_run_done(&r);
	sh(&r, "echo fine");
	assert_string_equal(r.out, "fine\n");
	core_run_done(&r);
}

static void memory_bomb(void **state)
{
	struct core_run r;

	(void)state;
	sh(&r, "exec tail /dev/zero");
	assert_true(r.death.oom);
	assert_false(r.death.survivors);
	core_run_done(&r);
	/* In its own tmpfs. */
	sh(&r, "cat /dev/zero >/tmp/x; echo full");
	assert_true(r.has_outcome || r.death.oom);
	core_run_done(&r);
	sh(&r, "echo fine");
	assert_string_equal(r.out, "fine\n");
	core_run_done(&r);
}

static int open_text(const char *text, char *name)
{
	int fd;

	strcpy(name, "/dev/shm/grant-XXXXXX");
	fd = mkostemp(name, O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(fchmod(fd, 0644), 0);
	close(fd);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static struct plan_grant grant(enum grant_kind kind, const char *guest, int fd)
{
	return (struct plan_grant){.kind = kind,
				   .guest = (char *)guest,
				   .fd = fd,
				   .max_bytes = kind <= GRANT_READ_DIR
							? UINT64_MAX
							: 65536,
				   .max_files = 10,
				   .last = UINT64_MAX,
				   .opens = UINT64_MAX};
}

static void read_grants(void **state)
{
	char name[64], dir[] = "/dev/shm/dir-XXXXXX", in[64];
	struct core_run r;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0755), 0);
	snprintf(in, sizeof in, "%s/one", dir);
	fd = open(in, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, "1", 1), 1);
	close(fd);
	core_run_init(&r);
	r.plan.n_grants = 2;
	r.grants[0] = grant(GRANT_READ_FILE, "/data/in.txt",
			    open_text("granted\n", name));
	r.grants[1] = grant(GRANT_READ_DIR, "/docs/deep",
			    open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	core_sh(&k, &r, "cat /data/in.txt /docs/deep/one; echo; "
			"ls /data /docs/deep; "
			"echo x >/data/in.txt || echo refused; "
			"echo x >/docs/deep/two || echo refused");
	assert_true(r.has_outcome);
	assert_string_equal(r.out, "granted\n1\n/data:\nin.txt\n\n"
				   "/docs/deep:\none\nrefused\nrefused\n");
	core_run_done(&r);
	unlink(name);
	unlink(in);
	rmdir(dir);
}

static void a_file_that_is_copied_in(void **state)
{
	char name[64];
	struct core_run r;

	(void)state;
	core_run_init(&r);
	r.plan.n_grants = 1;
	r.grants[0] = grant(GRANT_READ_FILE, "/data/in.txt",
			    open_text("copied\n", name));
	r.grants[0].via_core = true;
	core_sh(&k, &r, "cat /data/in.txt; chmod 666 /data/in.txt; "
			"echo x >/data/in.txt || echo refused");
	assert_string_equal(r.out, "copied\nrefused\n");
	core_run_done(&r);
	unlink(name);
}

static void bounds_that_no_mount_has(void **state)
{
	char name[64];
	struct core_run r;

	(void)state;
	core_run_init(&r);
	r.plan.n_grants = 1;
	r.grants[0] = grant(GRANT_READ_FILE, "/data/in.txt",
			    open_text("x", name));
	r.grants[0].max_bytes = 1;
	core_sh(&k, &r, "cat /data/in.txt");
	assert_false(r.has_outcome);
	assert_int_equal(r.failed.code, REDOMA_E_UNSUPPORTED);
	core_run_done(&r);
	unlink(name);
}

static void text_is(int fd, const char *text)
{
	char got[64] = "";

	assert_int_equal(pread(fd, got, sizeof got, 0), (ssize_t)strlen(text));
	assert_string_equal(got, text);
}

static int new_stage(void)
{
	char name[] = "/dev/shm/file-XXXXXX";
	int fd = mkostemp(name, O_CLOEXEC);

	assert_true(fd >= 0);
	unlink(name);
	return fd;
}

static void write_grants(void **state)
{
	struct core_run r;

	(void)state;
	core_run_init(&r);
	r.plan.n_grants = 3;
	r.grants[0] = grant(GRANT_WRITE_FILE, "/out/report", new_stage());
	r.grants[1] = grant(GRANT_WRITE_DIR, "/out/charts", -1);
	r.grants[2] = grant(GRANT_WRITE_FILE, "/out/untouched", new_stage());
	core_sh(&k, &r,
		"echo report >/out/report; cd /out/charts; mkdir a; "
		"echo one >a/one; echo two >two; ln -s /etc/hostname link; "
		"mkfifo fifo 2>/dev/null || ls -a");
	assert_true(r.has_outcome);
	assert_int_equal(r.o.status, REDOMA_STATUS_OK);
	assert_string_equal(r.out, ".\n..\na\nlink\ntwo\n");
	assert_int_equal(r.o.n_written, 3);
	assert_int_equal(r.o.n_denials, 1);
	text_is(r.grants[0].fd, "report\n");
	for (uint32_t i = 0; i < r.o.n_written; i++) {
		const struct outcome_written *w = &r.o.written[i];

		if (w->grant == 0)
			assert_int_equal(w->handle, 0);
		else
			text_is(r.stages[w->handle - 100],
				w->path.len == 3 ? "two\n" : "one\n");
	}
	close(r.grants[0].fd);
	close(r.grants[2].fd);
	core_run_done(&r);
}

/* Nothing is collected from a run that failed, or that wrote too much. */
static void nothing_collected(void **state)
{
	struct core_run r;

	(void)state;
	core_run_init(&r);
	r.plan.n_grants = 1;
	r.grants[0] = grant(GRANT_WRITE_DIR, "/out/charts", -1);
	core_sh(&k, &r, "echo x >/out/charts/x; exit 1");
	assert_int_equal(r.o.n_written, 0);
	assert_int_equal(r.n_stages, 0);
	core_run_done(&r);
	core_run_init(&r);
	r.plan.n_grants = 1;
	r.grants[0] = grant(GRANT_WRITE_DIR, "/out/charts", -1);
	r.grants[0].max_files = 2;
	core_sh(&k, &r, "cd /out/charts; echo x >a; echo x >b; echo x >c");
	assert_int_equal(r.o.status, REDOMA_STATUS_DENIED);
	assert_int_equal(r.o.n_written, 0);
	core_run_done(&r);
}

static void nothing_of_the_host(void **state)
{
	struct core_run r;

	(void)state;
	sh(&r, "ls /; ls -A /etc /proc | grep -v '^[0-9]' | head -50; "
	       "cat /etc/passwd /proc/1/environ; "
	       "echo x >/usr/x; echo x >/x; ls /sys; "
	       "kill -9 1; kill -0 1 || echo no");
	assert_true(r.has_outcome);
	assert_null(strstr(r.out, "root:"));
	assert_null(strstr(r.out, "passwd"));
	core_run_done(&r);
}

/* Orphans by the hundred, all dying at once, and the program with them. */
static void many_orphans(void **state)
{
	struct core_run r;

	(void)state;
	for (int i = 0; i < 5; i++) {
		core_run_init(&r);
		r.pids = 400;
		core_sh(&k, &r, "i=0; while [ $i -lt 150 ]; do (sleep 0.3 &); "
				"i=$((i+1)); done; sleep 0.3; exit 3");
		assert_int_equal(r.o.status, REDOMA_STATUS_ERROR);
		assert_int_equal(r.o.exit_code, 3);
		core_run_done(&r);
	}
	/* More than there may be at once, one after the other. */
	sh(&r, "i=0; while [ $i -lt 300 ]; do (true &); i=$((i+1)); done; "
	       "echo done");
	assert_int_equal(r.o.status, REDOMA_STATUS_OK);
	core_run_done(&r);
}

/* init has no handler that a program could reach. */
static void signals_to_init(void **state)
{
	struct core_run r;

	(void)state;
	sh(&r, "for s in KILL STOP TSTP SEGV CHLD TERM HUP INT PIPE USR1 SYS; "
	       "do kill -$s 1; kill -$s -1; done 2>/dev/null; echo alive");
	assert_true(r.has_outcome);
	core_run_done(&r);
	sh(&r, "trap '' TERM HUP INT PIPE USR1 TSTP; for s in KILL STOP TSTP "
	       "SEGV CHLD TERM HUP INT PIPE USR1 SYS; do kill -$s 1; done "
	       "2>/dev/null; echo alive");
	assert_true(r.has_outcome);
	assert_int_equal(r.o.status, REDOMA_STATUS_OK);
	assert_string_equal(r.out, "alive\n");
	core_run_done(&r);
}

/* It closes what it has, and talks on other descriptors. */
static void closes_everything(void **state)
{
	struct core_run r;

	(void)state;
	sh(&r, "exec <&- >&- 2>&-; sleep 0.1; exit 2");
	assert_int_equal(r.o.exit_code, 2);
	core_run_done(&r);
	sh(&r, "for i in 3 4 5 6 7 8 9; do echo x >&$i; done 2>/dev/null; "
	       "ls /proc/self/fd | wc -l");
	assert_string_equal(r.out, "4\n");
	core_run_done(&r);
}

static void ended_while_it_is_born(void **state)
{
	struct native_end e = {0};
	struct core_run r;

	(void)state;
	for (int i = 0; i < 40; i++) {
		struct core_slot *s = core_take(&k);

		assert_non_null(s);
		/* This one, and the next, of which nothing was heard. */
		e.slot = s->number + 1;
		e.early = i % 2;
		assert_int_equal(channel_send(k.c, FRAME_SPAWN, FRAME_LAST,
					      NULL, 0, NULL),
				 0);
		assert_int_equal(channel_send(k.c, FRAME_END, FRAME_LAST, &e,
					      sizeof e, NULL),
				 0);
		core_end(&k, s, &r.death);
	}
	sh(&r, "echo fine");
	assert_string_equal(r.out, "fine\n");
	core_run_done(&r);
}

/* Nothing is made that was not asked for. */
static void one_when_asked(void **state)
{
	struct core other = {.setup = core_setup()};
	struct core_run r;

	(void)state;
	other.setup.park = 0;
	core_start(&other);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(core_hear(&other, 100000), REDOMA_E_BUSY);
		assert_int_equal(channel_send(other.c, FRAME_SPAWN, FRAME_LAST,
					      NULL, 0, NULL),
				 0);
		core_run_init(&r);
		core_sh(&other, &r, "echo one");
		assert_string_equal(r.out, "one\n");
		core_run_done(&r);
	}
	assert_int_equal(core_hear(&other, 100000), REDOMA_E_BUSY);
	assert_int_equal(core_stop(&other), 0);
}

/* Without a memory group there is no native program, unless that is allowed. */
/* The line of the controller (v1), or the only one (v2), of a process. */
static bool group_of(pid_t pid, const char *controller, char *ret, size_t size)
{
	char name[64], line[512];
	bool found = false;
	FILE *f;

	snprintf(name, sizeof name, "/proc/%d/cgroup", pid);
	f = fopen(name, "re");
	assert_non_null(f);
	while (!found && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		found = strstr(line, controller);
		snprintf(ret, size, "%s", strchr(strchr(line, ':') + 1, ':') + 1);
	}
	fclose(f);
	return found;
}

static long number_of(const char *mount, const char *group, const char *file)
{
	char name[640];
	long n = -1;
	FILE *f;

	snprintf(name, sizeof name, "%s%s/%s", mount, group, file);
	f = fopen(name, "re");
	if (f && fscanf(f, "%ld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

/* Of the jail of a process and of all jails here, on v2's scale. */
static bool weights_of(pid_t pid, long *ret_jail, long *ret_all)
{
	char group[512];
	bool v1 = group_of(pid, ":cpu:", group, sizeof group) ||
		  group_of(pid, ":cpu,cpuacct:", group, sizeof group);
	const char *mount = v1 ? "/sys/fs/cgroup/cpu" : "/sys/fs/cgroup";
	const char *file = v1 ? "cpu.shares" : "cpu.weight";

	if (!v1 && !group_of(pid, "0::", group, sizeof group))
		return false;
	*ret_jail = number_of(mount, group, file);
	*strrchr(group, '/') = 0;
	*ret_all = number_of(mount, group, file);
	*ret_jail = v1 ? *ret_jail * 100 / 1024 : *ret_jail;
	*ret_all = v1 ? *ret_all * 100 / 1024 : *ret_all;
	return *ret_jail > 0 && *ret_all > 0;
}

static void wait_for_weight(pid_t pid, long want)
{
	long jail = 0, all = 0;

	for (int i = 0; i < 200; i++) {
		assert_true(weights_of(pid, &jail, &all));
		if (jail == want && all == want)
			return;
		usleep(10000);
	}
	fail_msg("weights %ld and %ld instead of %ld", jail, all, want);
}

/* Whether it was seen at full weight, before it was no short run any more. */
static bool begins_heavy(void)
{
	struct core_slot *s = core_take(&k);
	struct native_dead dead;
	struct core_run r;
	long jail, all;

	assert_non_null(s);
	core_run_init(&r);
	assert_int_equal(core_admit(&k, s, &r), 0);
	assert_true(weights_of(s->pid, &jail, &all));
	core_end(&k, s, &dead);
	return jail == 100 && all == 100;
}

/* A run is as heavy as others while it is short, and gives way then; the next
 * one finds all as it was. */
static void a_long_run_gives_way(void **state)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"sleep 20", NULL};
	char *env[] = {NULL};
	struct core_slot *s = core_take(&k);
	struct channel *c = malloc(sizeof *c);
	bool can, heavy = false;
	struct native_dead dead;
	struct core_run r;
	long jail, all;

	(void)state;
	assert_non_null(s);
	assert_non_null(c);
	can = weights_of(s->pid, &jail, &all);
	if (can) {
		core_run_init(&r);
		r.plan.argv = argv;
		r.plan.env = env;
		assert_int_equal(core_admit(&k, s, &r), 0);
		channel_init(c, s->sock);
		assert_int_equal(core_send_run(c, &r), 0);
		wait_for_weight(s->pid, 25);
		channel_done(c);
	}
	core_end(&k, s, &dead);
	free(c);
	for (int i = 0; i < 20 && can && !heavy; i++)
		heavy = begins_heavy();
	if (can)
		assert_true(heavy);
	else
		print_message("# no CPU weight here\n");
}

static void an_ordinary_user(void **state)
{
	struct core other = {.setup = core_setup(), .uid = 65534};
	struct core_run r;
	char want[32];
	int e;

	(void)state;
	if (getuid())
		skip();
	e = core_start_with(&other, core_root,
			    sizeof core_root / sizeof *core_root);
	if (e) {
		assert_int_equal(e, REDOMA_E_UNSUPPORTED);
		assert_non_null(strstr(other.failed.text, "group"));
	}
	core_stop(&other);
	other = (struct core){.setup = core_setup(), .uid = 65534};
	other.setup.may_lack = 1u << JAIL_CGROUP;
	other.setup.run_pids = 9;
	core_start(&other);
	for (int i = 0; i < 5; i++) {
		core_run_init(&r);
		r.plan.limits.memory_bytes = (uint64_t)(50 + i) << 20;
		core_sh(&other, &r, "id -u; echo x >/tmp/a && cat /tmp/a;"
				    "echo $(($(ulimit -d) / 1024))"
				    " $(ulimit -p)");
		/* The limits of its run are rlimits, where nothing else is. */
		snprintf(want, sizeof want, "1000\nx\n%d 9\n", 50 + i);
		if (other.ready.cgroups == JAIL_CGROUPS_NONE)
			assert_string_equal(r.out, want);
		assert_int_equal(r.o.status, REDOMA_STATUS_OK);
		core_run_done(&r);
	}
	assert_int_equal(core_stop(&other), 0);
}

/* The one child of a parked init; 0: it is not to be seen. */
static pid_t child_of(pid_t init)
{
	char name[64];
	int pid = 0;
	FILE *f;

	snprintf(name, sizeof name, "/proc/%d/task/%d/children", init, init);
	f = fopen(name, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%d", &pid) != 1)
		pid = 0;
	fclose(f);
	return pid;
}

/* Init has its run before it hears of that death. */
static void killed_before_it_began(void **state)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"echo x", NULL};
	char *env[] = {NULL};
	struct core_slot *s = core_take(&k);
	struct channel *c = malloc(sizeof *c);
	struct core_run r;
	pid_t child;

	(void)state;
	assert_non_null(s);
	assert_non_null(c);
	/* It is ready a moment before it has forked. */
	for (int i = 0; !(child = child_of(s->pid)) && i < 1000; i++)
		usleep(1000);
	if (!child)
		skip();
	core_run_init(&r);
	r.plan.argv = argv;
	r.plan.env = env;
	assert_int_equal(core_admit(&k, s, &r), 0);
	assert_int_equal(kill(s->pid, SIGSTOP), 0);
	assert_int_equal(kill(child, SIGKILL), 0);
	channel_init(c, s->sock);
	assert_int_equal(core_send_run(c, &r), 0);
	assert_int_equal(kill(s->pid, SIGCONT), 0);
	core_listen(s, &r, c);
	assert_false(r.has_outcome);
	assert_int_equal(r.failed.code, REDOMA_E_WORKER);
	assert_non_null(strstr(r.failed.text, "nothing of it ran"));
	core_end(&k, s, &r.death);
	channel_done(c);
	free(c);
	core_run_done(&r);
	/* The next is fine. */
	sh(&r, "true");
	assert_int_equal(r.o.status, REDOMA_STATUS_OK);
	core_run_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_ok),
		cmocka_unit_test(exit_code),
		cmocka_unit_test(dies_by_a_signal),
		cmocka_unit_test(sends_itself_a_limit),
		cmocka_unit_test(dies_by_the_filter),
		cmocka_unit_test(input_and_environment),
		cmocka_unit_test(output_is_cut),
		cmocka_unit_test(background),
		cmocka_unit_test(wall_limit),
		cmocka_unit_test(cpu_limit),
		cmocka_unit_test(no_such_program),
		cmocka_unit_test(fork_bomb),
		cmocka_unit_test(memory_bomb),
		cmocka_unit_test(read_grants),
		cmocka_unit_test(a_file_that_is_copied_in),
		cmocka_unit_test(bounds_that_no_mount_has),
		cmocka_unit_test(write_grants),
		cmocka_unit_test(nothing_collected),
		cmocka_unit_test(nothing_of_the_host),
		cmocka_unit_test(many_orphans),
		cmocka_unit_test(signals_to_init),
		cmocka_unit_test(closes_everything),
		cmocka_unit_test(ended_while_it_is_born),
		cmocka_unit_test(one_when_asked),
		cmocka_unit_test(a_long_run_gives_way),
		cmocka_unit_test(killed_before_it_began),
		cmocka_unit_test(an_ordinary_user),
	};

	if (!core_can())
		return 0;
	return cmocka_run_group_tests(tests, up, down);
}
