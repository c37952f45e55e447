/* A file system of a grant that stops answering, at each place where Redoma
 * waits for one: that run ends in bounded time and says so, others go on, and
 * nothing is left once the file system is gone.
 * test-seconds: 180 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <sys/prctl.h>
#include <sys/wait.h>

#include <cmocka.h>
#include <redoma.h>

#include "fuse_world.h"

#define QUIET_US 10000000 /* of sealing and publishing; see core/granted.h */
#define WALL_US 700000
#define SLACK_US 2500000
#define AT_ONCE_US 1000000

#define LIMITS "redoma: 1\nlimits: {wall: 700ms, memory: 512MiB}\n"
#define HASH "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
#define READ "const fs = require('node:fs'); fs.readFileSync('/x/f', 'utf8')"
#define LIST "const fs = require('node:fs'); fs.readdirSync('/x').join()"
#define WRITE "const fs = require('node:fs'); fs.writeFileSync('/x/out', 'new')"

enum want {
	WANT_REFUSED,	/* redoma_run fails and names the grant */
	WANT_WALL,	/* wall_limit, and NoAnswer */
	WANT_PUBLISH,	/* error, and PublishError */
	WANT_ONLY_WALL, /* the worker itself waits: wall_limit */
	WANT_NATIVE,	/* a native program waits: wall_limit, and NoAnswer */
};

struct kind {
	const char *name;
	const char *policy; /* %s: the place */
	const char *source;
	const char *value; /* of a run that is answered, as JSON */
	uint32_t op, nth;
	bool deaf;
	enum want want;
};

#define READ_F LIMITS "read: [{host: '%s/f', as: /x/f}]\n"
#define READ_D LIMITS "read: [{host: '%s/d/', as: /x/}]\n"
#define READ_HASHED \
	LIMITS "read: [{host: '%s/f', as: /x/f, sha256: " HASH "}]\n"
#define WRITE_F \
	LIMITS "write: [{host: '%s/out', as: /x/out, max_bytes: 1KiB}]\n"

static const struct kind kinds[] = {
	{"lookup", READ_F, READ, "\"hello\"", FUSE_LOOKUP, 1, false,
	 WANT_REFUSED},
	{"lookup, deaf", READ_F, READ, "\"hello\"", FUSE_LOOKUP, 1, true,
	 WANT_REFUSED},
	{"open", READ_F, READ, "\"hello\"", FUSE_OPEN, 1, false, WANT_REFUSED},
	{"hash", READ_HASHED, READ, "\"hello\"", FUSE_READ, 1, false,
	 WANT_REFUSED},
	{"list", READ_D, LIST, "\"g\"", FUSE_READDIR, 1, false, WANT_WALL},
	{"open a directory", READ_D, LIST, "\"g\"", FUSE_OPENDIR, 1, true,
	 WANT_WALL},
	{"the guest reads", READ_F, READ, "\"hello\"", FUSE_READ, 1, false,
	 WANT_ONLY_WALL},
	{"stage", WRITE_F, WRITE, NULL, FUSE_CREATE, 1, false, WANT_REFUSED},
	{"create to publish", WRITE_F, WRITE, NULL, FUSE_CREATE, 2, false,
	 WANT_PUBLISH},
	{"rename to publish", WRITE_F, WRITE, NULL, FUSE_RENAME, 1, false,
	 WANT_PUBLISH},
	{"node reads", READ_F, READ, "\"hello\"", FUSE_READ, 1, false,
	 WANT_NATIVE},
	{"node lists", READ_D, LIST, "\"g\"", FUSE_READDIR, 1, false,
	 WANT_NATIVE},
};

#define KINDS (sizeof kinds / sizeof *kinds)
#define NATIVE_KINDS 2 /* the last */

static size_t n_kinds = KINDS; /* that can be had here */

static struct fuse_world *worlds[64]; /* of all tests, each at its place */
static int n_worlds;

static char base[] = "/tmp/redoma-test-hung-XXXXXX";
static const char *lacking; /* why there is no such file system here */

/* One run on a handle and a file system of its own, in a thread. */
struct one {
	const struct kind *kind;
	pthread_t thread;
	struct fuse_world *world;
	struct redoma *r;
	struct redoma_result *result;
	struct redoma_error err;
	char text[4096]; /* of the result, as JSON */
	int code;
	long us;
};

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static struct redoma *open_with(const char *text)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *p = NULL;
	struct redoma *r = NULL;
	struct redoma_error err = {0};

	o.install_dir = TEST_BUILD;
	o.warm = 1;
	if (redoma_policy_parse(text, strlen(text), "/", &p, &err) ||
	    redoma_open(p, &o, &r, &err))
		fail_msg("%s", err.text);
	redoma_policy_free(p);
	return r;
}

static int run_source(struct redoma *r, const char *source, bool native,
		      struct redoma_result **ret, struct redoma_error *err)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;

	q.language = "js";
	q.source = source;
	q.source_len = strlen(source);
	q.native = native;
	return redoma_run(r, &q, ret, err);
}

static int run_js(struct redoma *r, const char *source,
		  struct redoma_result **ret, struct redoma_error *err)
{
	return run_source(r, source, false, ret, err);
}

/* What a run waited for its jail, which is started while others are. */
static long queue_us(struct redoma_result *r)
{
	const char *at = r ? strstr(redoma_result_json(r, NULL), "queue_us\":")
			   : NULL;

	return at ? atol(at + strlen("queue_us\":")) : 0;
}

static void *run_one(void *arg)
{
	struct one *o = arg;
	bool native = o->kind->want == WANT_NATIVE;
	long from = now_us();

	o->code = run_source(o->r, o->kind->source, native, &o->result,
			     &o->err);
	o->us = now_us() - from - (native ? queue_us(o->result) : 0);
	if (!o->code)
		snprintf(o->text, sizeof o->text, "%s",
			 redoma_result_json(o->result, NULL));
	return NULL;
}

/* To list the programs of the root is no part of a run. */
static void warm_up(struct redoma *r)
{
	struct redoma_result *x = NULL;
	struct redoma_error err = {0};

	if (run_source(r, "1", true, &x, &err))
		fail_msg("%s", err.text);
	redoma_result_free(x);
}

static void set_up(struct one *o, const struct kind *k)
{
	char place[200], text[600];

	*o = (struct one){.kind = k};
	assert_true(n_worlds < 64);
	snprintf(place, sizeof place, "%s/%d", base, n_worlds);
	assert_int_equal(mkdir(place, 0755), 0);
	o->world = worlds[n_worlds++] = fuse_start(place);
	if (!o->world)
		fail_msg("%s: %s", place, strerror(errno));
	snprintf(text, sizeof text, k->policy, place);
	o->r = open_with(text);
	if (k->want == WANT_NATIVE)
		warm_up(o->r);
}

static void arm(struct one *o)
{
	o->world->deaf = o->kind->deaf;
	atomic_store(&o->world->nth, o->kind->nth);
	atomic_store(&o->world->op, o->kind->op);
}

static void go(struct one *o)
{
	assert_int_equal(pthread_create(&o->thread, NULL, run_one, o), 0);
}

/* The server goes first: a handle is closed all the same before that. */
static void tear_down(struct one *o)
{
	redoma_result_free(o->result);
	redoma_close(o->r);
	fuse_abort(o->world);
}

static int count(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* Children, that come to us when their parent ends, alive or not. */
static int children(void)
{
	char list[4096], *at, *save = NULL;
	FILE *f = fopen("/proc/thread-self/children", "re");
	int n = 0;

	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	if (!f)
		return -1;
	list[fread(list, 1, sizeof list - 1, f)] = '\0';
	fclose(f);
	for (at = strtok_r(list, " ", &save); at;
	     at = strtok_r(NULL, " ", &save))
		n++;
	return n;
}

static void assert_nothing_left(int fds)
{
	long until = now_us() + 5000000;

	while (children() > 0 && now_us() < until)
		usleep(10000);
	assert_int_equal(children(), 0);
	assert_int_equal(count("/proc/self/fd"), fds);
}

static void says(const struct one *o, const char *what)
{
	const char *text = o->code ? o->err.text : o->text;

	if (!strstr(text, what))
		fail_msg("%s: nothing says \"%s\": %s", o->kind->name, what,
			 text);
}

static void took(const struct one *o, long least, long most)
{
	if (o->us < least || o->us > most)
		fail_msg("%s: %ld us, wanted %ld to %ld: %s", o->kind->name,
			 o->us, least, most, o->code ? o->err.text : o->text);
}

static void is_status(const struct one *o, enum redoma_status s)
{
	if (o->code || redoma_result_status(o->result) != s)
		fail_msg("%s: wanted %s: %s", o->kind->name,
			 redoma_status_name(s),
			 o->code ? o->err.text : o->text);
}

/* This system is emulated. */
static long slower(void)
{
	return getenv("REDOMA_SLOW") ? 6 : 1;
}

static void judge(const struct one *o)
{
	if (!atomic_load(&o->world->hung))
		fail_msg("%s: never got there: %s", o->kind->name,
			 o->code ? o->err.text : o->text);
	switch (o->kind->want) {
	case WANT_REFUSED:
		assert_int_equal(o->code, REDOMA_E_SYSTEM);
		took(o, QUIET_US, QUIET_US + SLACK_US);
		break;
	case WANT_WALL:
		is_status(o, REDOMA_STATUS_WALL_LIMIT);
		says(o, "NoAnswer");
		took(o, WALL_US, WALL_US + SLACK_US);
		break;
	case WANT_PUBLISH:
		is_status(o, REDOMA_STATUS_ERROR);
		says(o, "PublishError");
		took(o, QUIET_US, QUIET_US + SLACK_US);
		break;
	case WANT_ONLY_WALL:
		is_status(o, REDOMA_STATUS_WALL_LIMIT);
		took(o, WALL_US, WALL_US + SLACK_US);
		return;
	case WANT_NATIVE:
		is_status(o, REDOMA_STATUS_WALL_LIMIT);
		says(o, "NoAnswer");
		took(o, WALL_US, WALL_US + AT_ONCE_US * slower());
		return;
	}
	says(o, o->world->place);
	says(o, "does not answer");
}

/* Runs of another handle meanwhile: one that has no grants, one that has. */
struct other {
	pthread_t thread;
	struct redoma *bare, *granted;
	_Atomic bool stop;
	long worst_us;
	int runs, wrong;
};

static void *run_others(void *arg)
{
	struct other *o = arg;

	while (!atomic_load(&o->stop)) {
		struct redoma *r = o->runs % 2 ? o->bare : o->granted;
		struct redoma_result *x = NULL;
		long from = now_us();

		if (run_js(r, "1 + 1", &x, NULL) ||
		    redoma_result_status(x) != REDOMA_STATUS_OK)
			o->wrong++;
		redoma_result_free(x);
		from = now_us() - from;
		if (from > o->worst_us)
			o->worst_us = from;
		o->runs++;
		usleep(5000);
	}
	return NULL;
}

static void need_fuse(void)
{
	if (!lacking)
		return;
	print_message("%s\n", lacking);
	skip();
}

static void each_is_answered(void **state)
{
	int fds = count("/proc/self/fd");

	(void)state;
	need_fuse();
	for (size_t i = 0; i < n_kinds; i++) {
		struct one o;
		uint64_t out;

		set_up(&o, &kinds[i]);
		go(&o);
		pthread_join(o.thread, NULL);
		is_status(&o, REDOMA_STATUS_OK);
		if (kinds[i].value)
			says(&o, kinds[i].value);
		out = fuse_find(o.world, 1, "out");
		assert_int_equal(!out, !strstr(kinds[i].policy, "out"));
		if (out)
			assert_memory_equal(o.world->nodes[out].data, "new", 3);
		/* No hidden file, and no stage that has a name. */
		for (uint64_t n = 2; n <= FUSE_NODES; n++)
			if (o.world->nodes[n].named)
				assert_null(strstr(o.world->nodes[n].name,
						   ".redoma"));
		tear_down(&o);
	}
	assert_nothing_left(fds);
}

static void each_hangs_alone(void **state)
{
	struct other other = {0};
	struct one ones[KINDS];
	int fds = count("/proc/self/fd");
	long from;

	(void)state;
	need_fuse();
	other.bare = open_with("redoma: 1\n");
	other.granted = open_with("redoma: 1\nread: [/etc/hostname]\n");
	for (size_t i = 0; i < n_kinds; i++) {
		set_up(&ones[i], &kinds[i]);
		arm(&ones[i]);
	}
	assert_int_equal(pthread_create(&other.thread, NULL, run_others,
					&other), 0);
	for (size_t i = 0; i < n_kinds; i++)
		go(&ones[i]);
	for (size_t i = 0; i < n_kinds; i++)
		pthread_join(ones[i].thread, NULL);
	atomic_store(&other.stop, true);
	pthread_join(other.thread, NULL);
	for (size_t i = 0; i < n_kinds; i++)
		judge(&ones[i]);
	print_message("%d other runs, the slowest %ld us\n", other.runs,
		      other.worst_us);
	assert_int_equal(other.wrong, 0);
	assert_true(other.runs > 200);
	assert_true(other.worst_us < 2000000);
	/* To close a handle waits for nothing that is stuck. */
	from = now_us();
	for (size_t i = 0; i < n_kinds; i++)
		tear_down(&ones[i]);
	assert_true(now_us() - from < (long)n_kinds * AT_ONCE_US);
	redoma_close(other.bare);
	redoma_close(other.granted);
	assert_nothing_left(fds);
}

static void a_cancel_ends_each_at_once(void **state)
{
	int fds = count("/proc/self/fd");

	(void)state;
	need_fuse();
	for (size_t i = 0; i < n_kinds; i++) {
		struct one o;
		long from;

		set_up(&o, &kinds[i]);
		arm(&o);
		go(&o);
		from = now_us();
		while (!atomic_load(&o.world->hung) &&
		       now_us() - from < SLACK_US)
			usleep(1000);
		usleep(50000);
		from = now_us();
		redoma_cancel(o.r);
		pthread_join(o.thread, NULL);
		from = now_us() - from;
		is_status(&o, REDOMA_STATUS_CANCELLED);
		if (from > AT_ONCE_US)
			fail_msg("%s: cancelled after %ld us", kinds[i].name,
				 from);
		tear_down(&o);
	}
	assert_nothing_left(fds);
}

/* The same handle, once the file system answers again, and while one that was
 * left behind still waits. */
static void the_handle_goes_on(void **state)
{
	struct redoma_result *x = NULL;
	struct redoma_error err = {0};
	int fds = count("/proc/self/fd");
	struct one o;

	(void)state;
	need_fuse();
	set_up(&o, &kinds[4]);
	arm(&o);
	go(&o);
	pthread_join(o.thread, NULL);
	is_status(&o, REDOMA_STATUS_WALL_LIMIT);
	atomic_store(&o.world->op, 0);
	atomic_store(&o.world->hung, false);
	if (run_js(o.r, LIST, &x, &err))
		fail_msg("%s", err.text);
	if (!strstr(redoma_result_json(x, NULL), "\"g\""))
		fail_msg("%s", redoma_result_json(x, NULL));
	redoma_result_free(x);
	tear_down(&o);
	assert_nothing_left(fds);
}

/* Node, and a control group for its memory. */
static void look_for_node(void)
{
	struct redoma *r = open_with(LIMITS);
	struct redoma_result *x = NULL;
	struct redoma_error err = {0};

	if (run_source(r, "1", true, &x, &err)) {
		print_message("no native kinds: %s\n", err.text);
		n_kinds -= NATIVE_KINDS;
	}
	redoma_result_free(x);
	redoma_close(r);
}

static int prepare(void **state)
{
	static char why[200];
	struct fuse_world *w;

	(void)state;
	if (!mkdtemp(base))
		return -1;
	if (fuse_enter()) {
		snprintf(why, sizeof why, "no mount namespace: %s",
			 strerror(errno));
		lacking = why;
		return 0;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	w = fuse_start(base);
	if (!w) {
		snprintf(why, sizeof why, "no FUSE here: %s", strerror(errno));
		lacking = why;
		return 0;
	}
	fuse_abort(w);
	fuse_end(w);
	look_for_node();
	return 0;
}

static int clean(void **state)
{
	char place[200];

	(void)state;
	for (int i = 0; i < n_worlds; i++) {
		if (worlds[i] && worlds[i]->fd >= 0)
			fuse_abort(worlds[i]);
		if (worlds[i])
			fuse_end(worlds[i]);
		snprintf(place, sizeof place, "%s/%d", base, i);
		rmdir(place);
	}
	return rmdir(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_answered),
		cmocka_unit_test(each_hangs_alone),
		cmocka_unit_test(a_cancel_ends_each_at_once),
		cmocka_unit_test(the_handle_goes_on),
	};

	return cmocka_run_group_tests(tests, prepare, clean);
}
