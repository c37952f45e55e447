/* The library inside host programs that are not made for it: closed standard
 * descriptors, a SIGCHLD handler that reaps everything, SIGCHLD ignored, many
 * threads, forks between runs, few descriptors.
 * test-seconds: 240 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
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
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <redoma.h>

#define TENANT "redoma: 1\nreuse: tenant\n"

static struct redoma *try_open(const char *policy, int single,
			       struct redoma_error *err)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *p = NULL;
	struct redoma *r = NULL;

	o.install_dir = TEST_BUILD;
	o.single = (uint64_t)single;
	if (!redoma_policy_parse(policy, strlen(policy), "/", &p, err))
		(void)!redoma_open(p, &o, &r, err);
	redoma_policy_free(p);
	return r;
}

static int try_run(struct redoma *r, const char *code,
		   struct redoma_result **ret, struct redoma_error *err)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;

	q.language = "js";
	q.source = code;
	q.source_len = strlen(code);
	return redoma_run(r, &q, ret, err);
}

/* True if the code gives that value; for children, which may not assert. */
static bool gives(struct redoma *r, const char *code, const char *value)
{
	struct redoma_result *x = NULL;
	struct redoma_error err = {0};
	const char *v;
	bool same;

	if (!r || try_run(r, code, &x, &err))
		return false;
	v = redoma_result_value(x, NULL);
	same = v && !strcmp(v, value);
	redoma_result_free(x);
	return same;
}

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Runs go in a child: its exit code, or 100 and more if it was killed. */
static int in_child(int (*go)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(go());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status)
				 : 100 + WTERMSIG(status);
}

static bool three_are_closed(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			return false;
	return true;
}

static int without_stdio(void)
{
	for (int single = 0; single < 2; single++) {
		struct redoma *r;

		for (int fd = 0; fd < 3; fd++)
			close(fd);
		r = try_open(TENANT, single, NULL);
		for (int i = 0; i < 3; i++) {
			if (!gives(r, "6*7", "42"))
				return 1;
			if (!three_are_closed())
				return 2;
		}
		redoma_close(r);
		if (!three_are_closed())
			return 3;
	}
	return 0;
}

static void standard_descriptors_stay_closed(void **state)
{
	(void)state;
	assert_int_equal(in_child(without_stdio), 0);
}

static volatile sig_atomic_t reaped, told;

static void reap_all(int sig)
{
	int saved = errno;

	(void)sig;
	told++;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		reaped++;
	errno = saved;
}

static int with_a_handler(void)
{
	struct sigaction sa = {.sa_handler = reap_all};
	struct redoma *r;
	pid_t pid;

	sigaction(SIGCHLD, &sa, NULL);
	r = try_open("", 0, NULL);
	for (int i = 0; i < 20; i++)
		if (!gives(r, "6*7", "42"))
			return 1;
	redoma_close(r);
	if (reaped || told)
		return 2;
	pid = fork(); /* its own children are still its own */
	if (pid == 0)
		_exit(0);
	for (int i = 0; i < 500 && !reaped; i++)
		usleep(10000);
	return reaped == 1 ? 0 : 3;
}

static void a_reaping_handler_sees_nothing(void **state)
{
	(void)state;
	assert_int_equal(in_child(with_a_handler), 0);
}

/* More runs than there are parked workers, so that dead ones are replaced. */
static int with_children_ignored(void)
{
	struct redoma_result *x = NULL;
	struct redoma *r;
	uint64_t from;

	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	r = try_open("redoma: 1\nlimits: {wall: 300ms}\n", 0, NULL);
	from = now_us();
	for (int i = 0; i < 20; i++)
		if (!gives(r, "6*7", "42"))
			return 1;
	if (now_us() - from > 4000000)
		return 2;
	if (try_run(r, "for (;;);", &x, NULL) ||
	    redoma_result_status(x) != REDOMA_STATUS_WALL_LIMIT)
		return 3;
	redoma_result_free(x);
	if (!gives(r, "6*7", "42"))
		return 4;
	redoma_close(r);
	return 0;
}

static void ignored_children_do_not_matter(void **state)
{
	(void)state;
	assert_int_equal(in_child(with_children_ignored), 0);
}

static void *many_runs(void *arg)
{
	struct redoma *r = try_open(arg ? TENANT : "", 0, NULL);
	bool good = r != NULL;

	for (int i = 0; i < 12 && good; i++)
		good = gives(r, "[...'redoma'].length", "6");
	redoma_close(r);
	return good ? arg : (void *)1;
}

static void threads_with_a_handle_each(void **state)
{
	static char tenant;
	pthread_t t[8];
	int before = descriptors();

	(void)state;
	for (int i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&t[i], NULL, many_runs,
						i % 2 ? &tenant : NULL), 0);
	for (int i = 0; i < 8; i++) {
		void *ret;

		pthread_join(t[i], &ret);
		assert_ptr_not_equal(ret, (void *)1);
	}
	assert_int_equal(descriptors(), before);
}

static void *long_run(void *r)
{
	struct redoma_result *x = NULL;

	if (try_run(r, "for (;;);", &x, NULL))
		return (void *)1;
	if (redoma_result_status(x) != REDOMA_STATUS_CANCELLED)
		return (void *)2;
	redoma_result_free(x);
	return NULL;
}

static void a_handle_in_use_is_busy(void **state)
{
	struct redoma *r = try_open("", 0, NULL);
	struct redoma_result *x = NULL;
	struct redoma_error err = {0};
	pthread_t t;
	void *ret;

	(void)state;
	assert_true(gives(r, "1", "1"));
	assert_int_equal(pthread_create(&t, NULL, long_run, r), 0);
	usleep(100000);
	assert_int_equal(try_run(r, "1", &x, &err), REDOMA_E_BUSY);
	assert_null(x);
	redoma_cancel(r);
	pthread_join(t, &ret);
	assert_null(ret);
	assert_true(gives(r, "2", "2"));
	redoma_close(r);
}

/* A run on a thread of its own that tells when it has begun: to close the
 * handle before that is misuse. */
struct begun {
	struct redoma *r;
	const char *source;
	_Atomic int begun;
	int status; /* -1: an error */
};

static void has_begun(void *data, int stream, const void *p, uint64_t len)
{
	struct begun *b = data;

	(void)stream, (void)p, (void)len;
	atomic_store(&b->begun, 1);
}

static void *run_begun(void *data)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *x = NULL;
	struct begun *b = data;

	q.language = "js";
	q.source = b->source;
	q.source_len = strlen(b->source);
	q.on_output = has_begun;
	q.on_output_data = b;
	b->status = redoma_run(b->r, &q, &x, NULL)
			    ? -1
			    : (int)redoma_result_status(x);
	redoma_result_free(x);
	atomic_store(&b->begun, 1);
	return NULL;
}

/* Closes the handle so long after the run has begun. */
static int close_after(const char *source, useconds_t us)
{
	struct begun b = {.r = try_open(TENANT, 0, NULL), .source = source};
	pthread_t t;

	assert_true(gives(b.r, "1", "1"));
	assert_int_equal(pthread_create(&t, NULL, run_begun, &b), 0);
	while (!atomic_load(&b.begun))
		usleep(10);
	usleep(us);
	redoma_close(b.r);
	pthread_join(t, NULL);
	return b.status;
}

static void a_close_ends_the_run(void **state)
{
	int before = descriptors();

	(void)state;
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(close_after("console.log(1); for (;;);",
					     300 * i),
				 REDOMA_STATUS_CANCELLED);
	assert_int_equal(descriptors(), before);
}

static int give_up_kill(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2];

	if (syscall(SYS_capget, &head, caps))
		return -1;
	caps[0].effective &= ~(1u << CAP_KILL);
	caps[0].permitted &= ~(1u << CAP_KILL);
	return (int)syscall(SYS_capset, &head, caps);
}

/* More runs than workers are parked: those that are done make room. */
static int without_the_right_to_kill(void)
{
	struct redoma *r;

	if (give_up_kill())
		return 1;
	r = try_open("", 0, NULL);
	for (int i = 0; i < 24; i++) {
		uint64_t from = now_us();

		if (!gives(r, "6*7", "42"))
			return 2;
		if (now_us() - from > 2000000)
			return 3;
	}
	redoma_close(r);
	return 0;
}

/* Workers of root have another user id. */
static void workers_end_that_may_not_be_killed(void **state)
{
	(void)state;
	assert_int_equal(in_child(without_the_right_to_kill), 0);
}

/* The mode of what a run makes under that mask, with the same handle. */
static mode_t made_under(struct redoma *r, mode_t mask, const char *path)
{
	const char *code = "require('fs').writeFileSync('/f', 'x'); 1";
	mode_t before = umask(mask);
	struct stat st = {0};

	assert_true(gives(r, code, "1"));
	umask(before);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(unlink(path), 0);
	return st.st_mode & 07777;
}

static void the_umask_is_that_of_the_run(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char path[256], policy[400];
	struct redoma *r;

	(void)state;
	snprintf(path, sizeof path, "%s/made", tmp ? tmp : "/tmp");
	snprintf(policy, sizeof policy,
		 "redoma: 1\n"
		 "write: [{host: \"%s\", as: /f, max_bytes: 9B}]\n",
		 path);
	r = try_open(policy, 0, NULL);
	assert_int_equal(made_under(r, 022, path), 0644);
	assert_int_equal(made_under(r, 077, path), 0600);
	assert_int_equal(made_under(r, 002, path), 0664);
	redoma_close(r);
}

/* The run and the handle end at about the same time. */
static void a_close_at_the_end_of_a_run(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		int status = close_after("console.log(1)", 8 * i);

		assert_true(status == REDOMA_STATUS_OK ||
			    status == REDOMA_STATUS_CANCELLED);
	}
}

struct closer {
	struct redoma *r;
	int heard;
};

static void close_it(void *data, int stream, const void *p, uint64_t len)
{
	struct closer *c = data;

	(void)stream, (void)p, (void)len;
	c->heard++;
	redoma_close(c->r);
	redoma_close(c->r); /* still in the run: known to be closed */
}

static void a_close_in_the_middle_of_output(void **state)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct closer c = {try_open(TENANT, 0, NULL), 0};
	struct redoma_result *x = NULL;
	struct redoma_error err = {0};
	char source[] = "console.log('first'); for (;;);";
	int before = descriptors();

	(void)state;
	q.language = "js";
	q.source = source;
	q.source_len = strlen(source);
	q.on_output = close_it;
	q.on_output_data = &c;
	if (redoma_run(c.r, &q, &x, &err))
		fail_msg("%s", err.text);
	memset(source, 'x', sizeof source);
	assert_int_equal(c.heard, 1);
	/* What it came to is all there, without its handle. */
	assert_int_equal(redoma_result_status(x), REDOMA_STATUS_CANCELLED);
	assert_non_null(strstr(redoma_result_json(x, NULL), "first"));
	redoma_result_free(x);
	assert_true(descriptors() <= before);
}

static struct redoma *shared; /* with the children of the next test */

static int child_closes(void)
{
	redoma_close(shared);
	return 0;
}

static int child_cancels_and_runs(void)
{
	struct redoma_result *x = NULL;
	struct redoma_error err = {0};
	struct redoma *own;

	redoma_cancel(shared);
	if (try_run(shared, "1", &x, &err) != REDOMA_E_INVALID || x)
		return 1;
	own = try_open("", 0, NULL);
	if (!gives(own, "3", "3"))
		return 2;
	redoma_close(own);
	return 0;
}

static int child_exits(void)
{
	exit(0);
}

static void forked_children_disturb_nothing(void **state)
{
	static int (*const children[])(void) = {
		child_exits, child_closes, child_cancels_and_runs, child_closes};

	(void)state;
	shared = try_open(TENANT, 0, NULL);
	assert_true(gives(shared, "1", "1"));
	for (size_t i = 0; i < sizeof children / sizeof *children; i++) {
		struct redoma_result *x = NULL;

		assert_int_equal(in_child(children[i]), 0);
		assert_int_equal(try_run(shared, "6*7", &x, NULL), 0);
		assert_int_equal(redoma_result_status(x), REDOMA_STATUS_OK);
		/* By the zygote that there was: nothing was started. */
		assert_non_null(strstr(redoma_result_json(x, NULL),
				       "\"cold\":false"));
		redoma_result_free(x);
	}
	redoma_close(shared);
}

static bool has_children(void)
{
	char path[64], list[64];
	size_t n;
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%d/children",
		 (int)getpid());
	f = fopen(path, "re");
	assert_non_null(f);
	n = fread(list, 1, sizeof list, f);
	fclose(f);
	return n > 0;
}

/* A child with copies of all descriptors goes on living: the processes end at
 * once all the same. */
static void a_living_child_holds_nothing_up(void **state)
{
	struct redoma *r = try_open("", 0, NULL);
	uint64_t from;
	pid_t pid;

	(void)state;
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	assert_true(gives(r, "1", "1"));
	pid = fork();
	if (pid == 0) {
		alarm(20);
		pause();
		_exit(0);
	}
	from = now_us();
	redoma_close(r);
	assert_true(now_us() - from < 400000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_false(has_children());
}

static unsigned limit;

static int with_few_descriptors(void)
{
	struct rlimit l = {limit, limit};
	struct redoma_error err = {0};
	struct redoma *r;
	int before = descriptors();

	setrlimit(RLIMIT_NOFILE, &l);
	for (int i = 0; i < 2; i++) {
		struct redoma_result *x = NULL;
		int code;

		r = try_open("", 0, &err);
		if (!r)
			return err.code < 0 && err.text[0] ? 0 : 1;
		code = try_run(r, "6*7", &x, &err);
		if (code && (err.code != code || !err.text[0] || x))
			return 2;
		if (!code && redoma_result_status(x) != REDOMA_STATUS_OK)
			return 3;
		redoma_result_free(x);
		redoma_close(r);
	}
	l.rlim_cur = l.rlim_max;
	return descriptors() == before || descriptors() == 0 ? 0 : 4;
}

static void few_descriptors_are_a_clear_error(void **state)
{
	(void)state;
	for (limit = 4; limit < 90; limit += limit < 40 ? 1 : 7) {
		int got = in_child(with_few_descriptors);

		if (got)
			fail_msg("RLIMIT_NOFILE %u: %d", limit, got);
	}
}

/* Lengths and pointers that make no sense, sizes over every cap. */
static void careless_requests_are_errors(void **state)
{
	struct redoma *r = try_open(TENANT, 0, NULL);
	size_t big = ((size_t)64 << 20) + 1;
	char *bytes = malloc(big + 1);
	char *name = malloc(10001);
	const uint64_t lens[] = {1, big, UINT64_MAX, (uint64_t)1 << 62};

	(void)state;
	assert_non_null(bytes);
	assert_non_null(name);
	memset(bytes, ' ', big);
	bytes[big] = '\0';
	memset(name, 'n', 10000);
	name[10000] = '\0';
	assert_true(gives(r, "1", "1"));
	for (int i = 0; i < 7; i++) {
		struct redoma_request q = REDOMA_REQUEST_INIT;
		struct redoma_result *x = NULL;
		struct redoma_error err = {0};

		q.language = "js";
		q.source = "1";
		q.source_len = 1;
		if (i < 4) {
			q.input = i == 1 ? bytes : NULL;
			q.input_len = lens[i];
		}
		if (i == 4)
			q.name = name;
		if (i == 5)
			q.tenant = name; /* only long */
		if (i == 6) {
			q.source = bytes;
			q.source_len = big;
		}
		int code = redoma_run(r, &q, &x, &err);

		if (i == 5)
			assert_int_equal(code, 0);
		else if (code != REDOMA_E_INVALID)
			fail_msg("%d: %d %s", i, code, err.text);
		redoma_result_free(x);
		assert_true(gives(r, "2", "2"));
	}
	free(bytes);
	free(name);
	redoma_close(r);
}

static void what_time_ended_is_not_pure(void **state)
{
	static const char *const policies[] = {
		"redoma: 1\nlimits: {wall: 100ms}\n",
		"redoma: 1\nlimits: {wall: 5s, cpu: 100ms}\n"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct redoma *r = try_open(policies[i], 0, NULL);
		struct redoma_result *x = NULL;

		assert_int_equal(try_run(r, "for (;;);", &x, NULL), 0);
		assert_non_null(strstr(redoma_result_json(x, NULL),
				       "\"pure\":false"));
		redoma_result_free(x);
		x = NULL;
		assert_int_equal(try_run(r, "1 + 1", &x, NULL), 0);
		assert_non_null(strstr(redoma_result_json(x, NULL),
				       "\"pure\":true"));
		redoma_result_free(x);
		redoma_close(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(standard_descriptors_stay_closed),
		cmocka_unit_test(a_reaping_handler_sees_nothing),
		cmocka_unit_test(ignored_children_do_not_matter),
		cmocka_unit_test(threads_with_a_handle_each),
		cmocka_unit_test(a_handle_in_use_is_busy),
		cmocka_unit_test(a_close_ends_the_run),
		cmocka_unit_test(the_umask_is_that_of_the_run),
		cmocka_unit_test(a_close_at_the_end_of_a_run),
		cmocka_unit_test(workers_end_that_may_not_be_killed),
		cmocka_unit_test(a_close_in_the_middle_of_output),
		cmocka_unit_test(forked_children_disturb_nothing),
		cmocka_unit_test(a_living_child_holds_nothing_up),
		cmocka_unit_test(few_descriptors_are_a_clear_error),
		cmocka_unit_test(careless_requests_are_errors),
		cmocka_unit_test(what_time_ended_is_not_pure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
