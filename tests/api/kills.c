/* Zygote, worker and compiler are killed at random moments of runs through the
 * library: each run ends with a result or a clear error, the next one is right,
 * and nothing is left.
 * test-seconds: 300 */
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <redoma.h>

#define JS_ROUNDS 150 /* for each kind of reuse */
#define WASM_ROUNDS 60
#define TREE_MAX 256

/* Everything that descends from us, dead or alive, comes to us. */
static size_t tree(const char *pid, int *pids, size_t n)
{
	char path[64], list[8192], *at, *save = NULL;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%s/task/%s/children", pid, pid);
	f = fopen(path, "re");
	if (!f)
		return n;
	list[fread(list, 1, sizeof list - 1, f)] = '\0';
	fclose(f);
	for (at = strtok_r(list, " ", &save); at && n < TREE_MAX;
	     at = strtok_r(NULL, " ", &save)) {
		pids[n++] = atoi(at);
		n = tree(at, pids, n);
	}
	return n;
}

static size_t all(int *pids)
{
	char pid[16];

	snprintf(pid, sizeof pid, "%d", (int)getpid());
	return tree(pid, pids, 0);
}

static int entries(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static void sleep_us(long us)
{
	struct timespec t = {0, us * 1000};

	nanosleep(&t, NULL);
}

struct killer {
	pthread_t thread;
	_Atomic int go, stop;
	_Atomic long killed;
	unsigned seed;
	long within_us;
};

/* Returns when it is gone or a zombie: "the next run" comes after that. */
static bool kill_one(int pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	bool sent = fd >= 0 && !syscall(SYS_pidfd_send_signal, fd, SIGKILL,
					NULL, 0);

	if (sent)
		poll(&p, 1, 1000);
	if (fd >= 0)
		close(fd);
	return sent;
}

/* One kill for each go: of any process below, after a random time. */
static void *kill_some(void *arg)
{
	struct killer *k = arg;
	int pids[TREE_MAX];
	size_t n;

	while (!atomic_load(&k->stop)) {
		if (!atomic_load(&k->go)) {
			sleep_us(50);
			continue;
		}
		sleep_us(rand_r(&k->seed) % k->within_us);
		n = all(pids);
		if (n && kill_one(pids[(size_t)rand_r(&k->seed) % n]))
			atomic_fetch_add(&k->killed, 1);
		atomic_store(&k->go, 0);
	}
	return NULL;
}

static struct redoma *open_with(const char *policy, const char *cache)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *p = NULL;
	struct redoma *r = NULL;
	struct redoma_error err = {0};

	o.install_dir = TEST_BUILD;
	o.cache_dir = cache;
	if (redoma_policy_parse(policy, strlen(policy), "/", &p, &err) ||
	    redoma_open(p, &o, &r, &err))
		fail_msg("%s", err.text);
	redoma_policy_free(p);
	return r;
}

struct work {
	const char *language, *value; /* NULL: none */
	const void *source;
	size_t len;
};

static int go(struct redoma *r, const struct work *w,
	      struct redoma_result **ret, struct redoma_error *err)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;

	q.language = w->language;
	q.source = w->source;
	q.source_len = w->len;
	return redoma_run(r, &q, ret, err);
}

static bool right(struct redoma_result *x, const struct work *w)
{
	const char *v = redoma_result_value(x, NULL);

	return redoma_result_status(x) == REDOMA_STATUS_OK &&
	       (!w->value || (v && !strcmp(v, w->value)));
}

/* Right, crashed, or an error that says something. */
static void killed_run(struct redoma *r, const struct work *w)
{
	struct redoma_result *x = NULL;
	struct redoma_error err = {0};
	int code = go(r, w, &x, &err);

	if (code) {
		assert_null(x);
		assert_int_equal(err.code, code);
		assert_true(strlen(err.text) > 10);
		return;
	}
	if (!right(x, w) &&
	    redoma_result_status(x) != REDOMA_STATUS_CRASHED)
		fail_msg("%s", redoma_result_json(x, NULL));
	redoma_result_free(x);
}

static void next_run(struct redoma *r, const struct work *w)
{
	struct redoma_result *x = NULL;
	struct redoma_error err = {0};

	if (go(r, w, &x, &err))
		fail_msg("after a kill: %s", err.text);
	if (!right(x, w))
		fail_msg("after a kill: %s", redoma_result_json(x, NULL));
	redoma_result_free(x);
}

/* Our own dead, which a kill may leave to whoever adopts them. */
static void bury(void)
{
	while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
		;
}

static void nothing_below(void)
{
	int pids[TREE_MAX];

	for (int i = 0; i < 1000 && all(pids); i++) {
		bury();
		sleep_us(2000);
	}
	assert_int_equal(all(pids), 0);
}

static void tell_fds(void)
{
	char path[64], to[256];

	for (int fd = 0; fd < 64; fd++) {
		ssize_t n;

		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		n = readlink(path, to, sizeof to - 1);
		if (n > 0)
			print_error("%d: %.*s\n", fd, (int)n, to);
	}
}

static void rounds(const char *policy, struct work *w, int n, long within_us)
{
	char cache[256], key[700];
	const char *tmp = getenv("TMPDIR");
	struct killer k = {.seed = 20261130, .within_us = within_us};
	struct redoma *r;
	int before;

	tmp = tmp ? tmp : "/tmp";
	snprintf(cache, sizeof cache, "%s/kills-XXXXXX", tmp);
	assert_non_null(mkdtemp(cache));
	before = entries("/proc/self/fd");
	r = open_with(policy, cache);
	assert_int_equal(pthread_create(&k.thread, NULL, kill_some, &k), 0);
	for (int i = 0; i < n; i++) {
		atomic_store(&k.go, 1);
		killed_run(r, w);
		while (atomic_load(&k.go))
			sleep_us(50);
		if (!strcmp(w->language, "wasm") && i % 2) {
			/* Another module: the compiler works again. */
			unsigned char *bytes = (unsigned char *)w->source;

			bytes[w->len - 1] = (unsigned char)i;
			continue;
		}
		sleep_us(within_us);
		next_run(r, w);
	}
	atomic_store(&k.stop, 1);
	pthread_join(k.thread, NULL);
	assert_true(atomic_load(&k.killed) > n / 2);
	bury();
	next_run(r, w);
	redoma_close(r);
	if (entries("/proc/self/fd") != before)
		tell_fds();
	assert_int_equal(entries("/proc/self/fd"), before);
	nothing_below();
	snprintf(key, sizeof key, "rm -rf '%s' '%s.key'", cache, cache);
	assert_int_equal(system(key), 0);
}

static const char busy[] = "let n = 0; for (let i = 0; i < 3e4; i++) n += i; n";

static void scripts(void **state)
{
	struct work w = {"js", "449985000", busy, sizeof busy - 1};

	(void)state;
	rounds("", &w, JS_ROUNDS, 4000);
	rounds("redoma: 1\nreuse: tenant\n", &w, JS_ROUNDS, 3000);
}

/* (module (func (export "_start"))) and a custom section of one byte. */
static void modules(void **state)
{
	unsigned char wasm[] = {
		0,    'a',  's',  'm',	1,    0,    0,	  0,	1,    4,
		1,    0x60, 0,	  0,	3,    2,    1,	  0,	7,    10,
		1,    6,    '_',  's',	't',  'a',  'r',  't',	0,    0,
		10,   4,    1,	  2,	0,    0x0b, 0,	  3,	1,    'x',
		0,
	};
	struct work w = {"wasm", NULL, wasm, sizeof wasm};

	(void)state;
	rounds("", &w, WASM_ROUNDS, 30000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scripts),
		cmocka_unit_test(modules),
	};

	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
