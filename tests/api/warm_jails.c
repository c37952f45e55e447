/* Native programs by the library, on one handle that keeps jails ready: each run
 * has limits of its own although its jail was made before they were known, sees
 * nothing of another, and what differs never shares a spawner.
 * test-seconds: 240 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <redoma.h>

#define TRIES 40 /* for a run to find a jail ready, on a busy machine */
#define PAUSE_US 100000
#define SPAWNERS 16 /* that a handle keeps at most */
#define SOON_US 3000000
#define PARKED_US 1500000 /* until the jails that were used have followers */

#define NATIVE "redoma: 1\nnative: {pids: 64, tmp: 16MiB}\n"
#define WIDE                                                       \
	NATIVE "limits: {wall: 20s, cpu: 10s, memory: 256MiB, "    \
	       "output: 1MiB}\n"

struct want {
	const char *tenant, *narrow; /* NULL: none */
	const char *lang;	     /* of text; NULL: a command */
	const char *text;	     /* a source, or what sh runs */
};

static _Atomic bool heard; /* what runs has printed something */

static void hear(void *data, int stream, const void *p, uint64_t len)
{
	(void)data;
	(void)stream;
	(void)p;
	heard = len > 0;
}

static void wait_until_it_runs(void)
{
	for (int i = 0; i < 20000 && !heard; i++)
		usleep(1000);
	assert_true(heard);
}

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static struct redoma_policy *parse(const char *text)
{
	struct redoma_policy *p = NULL;
	struct redoma_error err = {0};

	if (redoma_policy_parse(text, strlen(text), "/", &p, &err))
		fail_msg("%s: %s", text, err.text);
	return p;
}

static struct redoma *open_with(const char *policy)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *p = parse(policy);
	struct redoma *r = NULL;
	struct redoma_error err = {0};

	o.install_dir = TEST_BUILD;
	if (redoma_open(p, &o, &r, &err))
		fail_msg("%s", err.text);
	redoma_policy_free(p);
	return r;
}

static int try_run(struct redoma *r, const struct want *w,
		   struct redoma_result **ret, struct redoma_error *err)
{
	const char *argv[] = {"sh", "-c", w->text, NULL};
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_policy *p = w->narrow ? parse(w->narrow) : NULL;
	int code;

	q.native = 1;
	q.on_output = hear;
	heard = false;
	q.tenant = w->tenant;
	q.narrow = p;
	q.language = w->lang;
	if (w->lang) {
		q.source = w->text;
		q.source_len = strlen(w->text);
	} else {
		q.argv = argv;
	}
	code = redoma_run(r, &q, ret, err);
	redoma_policy_free(p);
	return code;
}

static struct redoma_result *run(struct redoma *r, const struct want *w)
{
	struct redoma_result *x = NULL;
	struct redoma_error err = {0};

	if (try_run(r, w, &x, &err))
		fail_msg("%s: %s", w->text, err.text);
	return x;
}

static bool says(struct redoma_result *x, const char *what)
{
	return strstr(redoma_result_json(x, NULL), what);
}

static bool is_cold(struct redoma_result *x)
{
	bool cold = says(x, "\"cold\":true");

	assert_true(cold || says(x, "\"cold\":false"));
	return cold;
}

static void is_status(struct redoma_result *x, enum redoma_status s)
{
	if (redoma_result_status(x) != s)
		fail_msg("wanted %s: %s", redoma_status_name(s),
			 redoma_result_json(x, NULL));
}

static void expect(struct redoma *r, const struct want *w,
		   enum redoma_status s)
{
	struct redoma_result *x = run(r, w);

	is_status(x, s);
	redoma_result_free(x);
}

/* The same until it found a jail that was ready before it came. */
static struct redoma_result *run_warm(struct redoma *r, const struct want *w)
{
	struct redoma_result *x = NULL;

	for (int i = 0; i < TRIES; i++) {
		redoma_result_free(x);
		usleep(PAUSE_US);
		x = run(r, w);
		if (!is_cold(x))
			return x;
	}
	fail_msg("no jail was ready in %d runs of %s", TRIES, w->text);
	return x;
}

static void is_cold_with(struct redoma *r, const struct want *w, bool cold)
{
	struct redoma_result *x = run(r, w);

	is_status(x, REDOMA_STATUS_OK);
	if (is_cold(x) != cold)
		fail_msg("%s, tenant %s: %s", w->text,
			 w->tenant ? w->tenant : "", redoma_result_json(x, NULL));
	redoma_result_free(x);
}

static struct redoma_stats stats(const struct redoma *r)
{
	struct redoma_stats s = REDOMA_STATS_INIT;

	assert_int_equal(redoma_stats(r, &s, NULL), 0);
	return s;
}

static int can_run(void **state)
{
	struct want w = {.text = "exit 0"};
	struct redoma_result *x = NULL;
	struct redoma_error err = {0};
	struct redoma *r = open_with(WIDE);
	int code = try_run(r, &w, &x, &err);

	(void)state;
	redoma_result_free(x);
	redoma_close(r);
	if (code != REDOMA_E_UNSUPPORTED)
		return 0;
	print_message("%s\n", err.text);
	exit(77);
}

static void the_second_finds_a_jail_ready(void **state)
{
	static const struct want all[] = {
		{.text = "exit 0"},
		{.lang = "py", .text = "1"},
		{.lang = "js", .text = "1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct redoma *r = open_with(WIDE);
		struct redoma_stats s;

		is_cold_with(r, &all[i], true);
		redoma_result_free(run_warm(r, &all[i]));
		s = stats(r);
		assert_int_equal(s.spawners, 1);
		assert_true(s.runs >= 2 && s.ok == s.runs);
		assert_int_equal(s.cold, s.runs - 1);
		assert_int_equal(s.zygotes + s.parked, 0);
		/* Those that are ready are told once they have been heard of. */
		for (int n = 0; n < TRIES && !stats(r).jails; n++)
			redoma_result_free(run_warm(r, &all[i]));
		s = stats(r);
		assert_in_range(s.jails, 1, 2);
		redoma_close(r);
	}
}

/* What a jail that was ready is held to, and what the next one is not. */
static const struct late {
	const char *limits, *key, *lang, *text;
	enum redoma_status status;
} lates[] = {
	{"memory: 64MiB", "memory", "py", "len(bytearray(120 << 20))",
	 REDOMA_STATUS_MEMORY_LIMIT},
	{"memory: 64MiB", "memory", NULL,
	 "awk 'BEGIN {x = \"0123456789\"; while (length(x) < 8e7) x = x x}'",
	 REDOMA_STATUS_MEMORY_LIMIT},
	{"wall: 300ms", "wall", NULL, "sleep 1", REDOMA_STATUS_WALL_LIMIT},
	{"wall: 300ms", "wall", "py", "import time; time.sleep(1)",
	 REDOMA_STATUS_WALL_LIMIT},
	{"cpu: 200ms", "cpu", NULL,
	 "i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done",
	 REDOMA_STATUS_CPU_LIMIT},
	{"cpu: 200ms", "cpu", "js",
	 "let n = 0; const t = process.cpuUsage().user;"
	 "while (process.cpuUsage().user - t < 6e5)"
	 "  for (let i = 0; i < 1e7; i++) n += i; 1",
	 REDOMA_STATUS_CPU_LIMIT},
	{"output: 64KiB", "output", NULL, "head -c 200000 /dev/zero",
	 REDOMA_STATUS_OUTPUT_LIMIT},
	{"output: 64KiB", "output", "js", "'x'.repeat(200000)",
	 REDOMA_STATUS_OUTPUT_LIMIT},
};

static void limits_come_late_and_hold(void **state)
{
	char narrow[200], key[40];

	(void)state;
	for (size_t i = 0; i < sizeof lates / sizeof *lates; i++) {
		const struct late *l = &lates[i];
		struct redoma *r = open_with(WIDE);
		struct want w = {.lang = l->lang, .text = l->text};
		struct redoma_result *x;

		snprintf(narrow, sizeof narrow, NATIVE "limits: {%s}\n",
			 l->limits);
		snprintf(key, sizeof key, "\"limit\":{\"name\":\"%s\"",
			 l->key);
		for (int n = 0; n < 2; n++) {
			expect(r, &w, REDOMA_STATUS_OK);
			w.narrow = narrow;
			x = run_warm(r, &w);
			is_status(x, l->status);
			if (!says(x, key))
				fail_msg("%s", redoma_result_json(x, NULL));
			redoma_result_free(x);
			w.narrow = NULL;
		}
		expect(r, &w, REDOMA_STATUS_OK);
		assert_int_equal(stats(r).spawners, 1);
		redoma_close(r);
	}
}

static void the_number_of_processes_comes_late(void **state)
{
	struct want w = {.text = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do "
				 "sleep 0.5 & done; wait"};
	struct redoma *r = open_with(WIDE);
	struct redoma_result *x;

	(void)state;
	for (int n = 0; n < 2; n++) {
		expect(r, &w, REDOMA_STATUS_OK);
		w.narrow = "redoma: 1\nnative: {pids: 6, tmp: 16MiB}\n";
		x = run_warm(r, &w);
		is_status(x, REDOMA_STATUS_ERROR);
		assert_true(says(x, "fork"));
		redoma_result_free(x);
		w.narrow = NULL;
	}
	expect(r, &w, REDOMA_STATUS_OK);
	assert_int_equal(stats(r).spawners, 1);
	redoma_close(r);
}

/* A jail of one is ready when the other comes, and is not given to it. */
static void what_differs_shares_no_spawner(void **state)
{
	struct want a = {.tenant = "a", .text = "exit 0"};
	const struct want others[] = {
		{.tenant = "b", .text = "exit 0"},
		{.tenant = "a", .text = "exit 0",
		 .narrow = "redoma: 1\nnative: {tmp: 1MiB}\n"
			   "walls: [landlock]\n"},
		{.tenant = "a", .text = "exit 0",
		 .narrow = "redoma: 1\nnative: {tmp: 1MiB}\n"},
		{.tenant = "a", .lang = "py", .text = "1"},
		{.tenant = "a", .lang = "js", .text = "1"},
	};
	struct redoma *r = open_with(WIDE "walls: [landlock]\n");
	uint64_t n = 1;

	(void)state;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		redoma_result_free(run_warm(r, &a));
		usleep(2 * PAUSE_US);
		is_cold_with(r, &others[i], true);
		assert_int_equal(stats(r).spawners, ++n);
		redoma_result_free(run_warm(r, &others[i]));
		assert_int_equal(stats(r).spawners, n);
	}
	redoma_close(r);
}

static void so_many_spawners_are_kept(void **state)
{
	struct redoma *r = open_with(WIDE);
	char names[SPAWNERS + 1][8];
	struct want w = {.text = "exit 0"};

	(void)state;
	for (int i = 0; i <= SPAWNERS; i++) {
		snprintf(names[i], sizeof names[i], "t%d", i);
		w.tenant = names[i];
		if (i == SPAWNERS) {
			/* The first is used once more: the second goes. */
			w.tenant = names[0];
			redoma_result_free(run_warm(r, &w));
			w.tenant = names[i];
		}
		is_cold_with(r, &w, true);
		assert_int_equal(stats(r).spawners,
				 i < SPAWNERS ? i + 1 : SPAWNERS);
	}
	usleep(PARKED_US);
	w.tenant = names[0];
	is_cold_with(r, &w, false);
	w.tenant = names[1];
	is_cold_with(r, &w, true);
	assert_int_equal(stats(r).spawners, SPAWNERS);
	redoma_close(r);
}

/* What a run may find, and leave behind, wherever it can be left. */
static const char look_py[] =
	"import os, signal, resource, json, socket\n"
	"def status():\n"
	"    keep = ('Sig', 'Shd', 'Cap', 'NoNew', 'Seccomp', 'Uid', 'Groups')\n"
	"    return [l for l in open('/proc/self/status')\n"
	"            if l.startswith(keep) and not l.startswith('SigQ')]\n"
	"fds = []\n"
	"for n in range(64):\n"
	"    try:\n"
	"        fds.append((n, os.fstat(n).st_mode))\n"
	"    except OSError:\n"
	"        pass\n"
	"found = json.dumps([dict(os.environ), os.getcwd(), os.umask(0), fds,\n"
	"    sorted(os.listdir('/tmp')), sorted(os.listdir('/')), status(),\n"
	"    signal.getitimer(signal.ITIMER_REAL),\n"
	"    signal.getitimer(signal.ITIMER_PROF), globals().get('left'),\n"
	"    getattr(json, 'left', None), os.uname().nodename,\n"
	"    sorted(p for p in os.listdir('/proc') if p.isdigit()),\n"
	"    os.getpid(), [resource.getrlimit(n) for n in range(10)]])\n"
	"json.left = left = os.environ['LEFT'] = 'x'\n"
	"os.chdir('/tmp')\n"
	"open('/tmp/left', 'w').write('x')\n"
	"for n in range(20, 40):\n"
	"    os.dup2(1, n)\n"
	"signal.signal(signal.SIGUSR1, signal.SIG_IGN)\n"
	"signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])\n"
	"signal.setitimer(signal.ITIMER_REAL, 1000)\n"
	"resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50))\n"
	"if os.fork() == 0:\n"
	"    import time\n"
	"    os.setsid()\n"
	"    time.sleep(20)\n"
	"    os._exit(0)\n"
	"result = found\n";
static const char look_js[] =
	"const fs = require('fs');"
	"const status = fs.readFileSync('/proc/self/status', 'utf8')"
	"  .split('\\n').filter(l => /^(Sig[^Q]|Shd|Cap|NoNew|Seccomp|Uid)/"
	".test(l));"
	"const fds = [];"
	"for (let n = 0; n < 64; n++)"
	"  try { fds.push([n, fs.fstatSync(n).mode]); } catch {}"
	"const found = JSON.stringify([process.env, process.cwd(), fds, status,"
	"  process.umask(), fs.readdirSync('/tmp'), typeof left, typeof [].left,"
	"  process.pid, require('os').hostname(), process.listeners('exit')"
	".length, Object.keys(require.cache)]);"
	"globalThis.left = Array.prototype.left = process.env.LEFT = 'x';"
	"delete Array.prototype.left;"
	"process.umask(0); process.chdir('/tmp'); fs.writeFileSync('left', '');"
	"process.on('SIGUSR1', () => 1); process.on('exit', () => 1);"
	"for (let n = 0; n < 9; n++) fs.openSync('/dev/null');"
	"setTimeout(() => 1, 1e6).unref();"
	"require('child_process').spawn('/bin/sleep', ['20'],"
	"  {detached: true, stdio: 'ignore'}).on('error', () => 1).unref();"
	"found";
static const char look_sh[] =
	"env; pwd; umask; trap; ulimit -a; ls -A / /tmp /proc/self/fd;"
	"grep -E '^(Sig[^Q]|Shd|Cap|Uid|Groups)' /proc/self/status; echo $$;"
	"echo x >/tmp/left; umask 0; cd /tmp; ulimit -n 9; trap '' USR1;"
	"sleep 20 & exit 0";

static char *told(struct redoma_result *x)
{
	uint64_t len = 0, out_len = 0;
	const char *v = redoma_result_value(x, &len);
	const char *out = redoma_result_stdout(x, &out_len);
	char *ret;

	is_status(x, REDOMA_STATUS_OK);
	ret = strndup(len ? v : out, len ? len : out_len);
	assert_true(ret && strlen(ret) > 20);
	redoma_result_free(x);
	return ret;
}

static void nothing_of_a_run_is_seen_by_the_next(void **state)
{
	static const struct want all[] = {{.text = look_sh},
					  {.lang = "py", .text = look_py},
					  {.lang = "js", .text = look_js}};

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct redoma *r = open_with(WIDE);
		char *first = told(run(r, &all[i]));

		/* Both jails that come next were ready before the first left
		 * anything, or beside one that did. */
		for (int n = 0; n < 4; n++) {
			char *next = told(run_warm(r, &all[i]));

			assert_string_equal(first, next);
			free(next);
		}
		free(first);
		redoma_close(r);
	}
}

/* No two runs, warm or cold, draw the same. */
static const struct want draws[] = {
	{.text = "head -c 16 /dev/urandom | od -An -tx1;"
		 "mktemp /tmp/XXXXXXXXXXXX"},
	{.lang = "py", .text = "import os; os.urandom(16).hex()"},
	{.lang = "py",
	 .text = "import random; '%x' % random.getrandbits(128)"},
	{.lang = "py", .text = "import uuid; uuid.uuid4().hex"},
	{.lang = "py", .text = "str(hash('a word')) + str(hash('another'))"},
	{.lang = "py",
	 .text = "import tempfile; tempfile.mktemp() + tempfile.mktemp()"},
	{.lang = "py",
	 .text = "next(l for l in open('/proc/self/maps') if 'stack' in l)"},
	{.lang = "js", .text = "Math.random() + ' ' + Math.random()"},
	{.lang = "js",
	 .text = "require('crypto').randomBytes(16).toString('hex')"},
	{.lang = "js", .text = "require('crypto').randomUUID()"},
};

#define DRAWN 5

static void no_two_runs_draw_the_same(void **state)
{
	struct redoma *r = open_with(WIDE);
	char *seen[DRAWN];

	(void)state;
	for (size_t i = 0; i < sizeof draws / sizeof *draws; i++) {
		for (int n = 0; n < DRAWN; n++) {
			seen[n] = told(n ? run_warm(r, &draws[i])
					 : run(r, &draws[i]));
			for (int m = 0; m < n; m++)
				assert_string_not_equal(seen[m], seen[n]);
		}
		for (int n = 0; n < DRAWN; n++)
			free(seen[n]);
	}
	redoma_close(r);
}

struct running {
	struct redoma *r;
	struct want want;
	struct redoma_result *x;
	int code;
};

static void *run_in_thread(void *arg)
{
	struct running *g = arg;

	g->code = try_run(g->r, &g->want, &g->x, NULL);
	return NULL;
}

static void a_run_ends_with_its_handle(void **state)
{
	struct running g = {.want = {.text = "echo on; sleep 15"}};
	long from;

	(void)state;
	for (int n = 0; n < 2; n++) {
		pthread_t t;

		g.r = open_with(WIDE);
		if (n)
			redoma_result_free(
				run_warm(g.r, &(struct want){.text = "exit 0"}));
		heard = false;
		assert_int_equal(pthread_create(&t, NULL, run_in_thread, &g),
				 0);
		wait_until_it_runs();
		from = now_us();
		redoma_close(g.r);
		pthread_join(t, NULL);
		assert_true(now_us() - from < SOON_US);
		assert_int_equal(g.code, 0);
		is_status(g.x, REDOMA_STATUS_CANCELLED);
		redoma_result_free(g.x);
	}
}

static void a_busy_handle_says_so(void **state)
{
	struct running g = {.want = {.text = "echo on; sleep 15"}};
	struct redoma_result *x = NULL;
	struct redoma_error err = {0};
	pthread_t t;
	long from;

	(void)state;
	g.r = open_with(WIDE);
	expect(g.r, &(struct want){.text = "exit 0"}, REDOMA_STATUS_OK);
	heard = false;
	assert_int_equal(pthread_create(&t, NULL, run_in_thread, &g), 0);
	wait_until_it_runs();
	from = now_us();
	assert_int_equal(try_run(g.r, &g.want, &x, &err), REDOMA_E_BUSY);
	assert_true(now_us() - from < SOON_US && !x);
	redoma_cancel(g.r);
	pthread_join(t, NULL);
	assert_int_equal(g.code, 0);
	is_status(g.x, REDOMA_STATUS_CANCELLED);
	redoma_result_free(g.x);
	expect(g.r, &(struct want){.text = "exit 0"}, REDOMA_STATUS_OK);
	redoma_close(g.r);
}

/* The jails of an opener are no child's, which may close its copy. */
static void a_fork_of_the_host_leaves_them_alone(void **state)
{
	struct want w = {.text = "exit 0"};
	struct redoma *r = open_with(WIDE);
	int status;
	pid_t pid;

	(void)state;
	redoma_result_free(run_warm(r, &w));
	usleep(PARKED_US);
	pid = fork();
	if (pid == 0) {
		struct redoma_result *x = NULL;
		int code = try_run(r, &w, &x, NULL);

		redoma_close(r);
		_exit(code < 0 && !x ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	is_cold_with(r, &w, false);
	assert_int_equal(stats(r).spawners, 1);
	redoma_close(r);
}

static volatile sig_atomic_t children_seen;

static void see_child(int sig)
{
	(void)sig;
	children_seen = 1;
}

static void the_host_sees_no_child(void **state)
{
	struct sigaction sa = {.sa_handler = see_child}, was;
	struct redoma *r;

	(void)state;
	assert_int_equal(sigaction(SIGCHLD, &sa, &was), 0);
	r = open_with(WIDE);
	for (int n = 0; n < 3; n++) {
		expect(r, &(struct want){.text = "sleep 0.1 & exit 0"},
		       REDOMA_STATUS_OK);
		assert_true(waitpid(-1, NULL, WNOHANG) == -1 &&
			    errno == ECHILD);
	}
	expect(r, &(struct want){.lang = "py", .text = "1"},
	       REDOMA_STATUS_OK);
	redoma_close(r);
	usleep(PAUSE_US);
	assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	assert_int_equal(children_seen, 0);
	sigaction(SIGCHLD, &was, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_second_finds_a_jail_ready),
		cmocka_unit_test(limits_come_late_and_hold),
		cmocka_unit_test(the_number_of_processes_comes_late),
		cmocka_unit_test(what_differs_shares_no_spawner),
		cmocka_unit_test(so_many_spawners_are_kept),
		cmocka_unit_test(nothing_of_a_run_is_seen_by_the_next),
		cmocka_unit_test(no_two_runs_draw_the_same),
		cmocka_unit_test(a_run_ends_with_its_handle),
		cmocka_unit_test(a_busy_handle_says_so),
		cmocka_unit_test(a_fork_of_the_host_leaves_them_alone),
		cmocka_unit_test(the_host_sees_no_child),
	};

	return cmocka_run_group_tests(tests, can_run, NULL);
}
