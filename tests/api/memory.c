/* Memory runs out at each allocation of the host in turn, for the one and for
 * all from then on: the call says so or succeeds, outputs are untouched, nothing
 * is left, and the next run on the same handle works.
 * test-seconds: 240 */
#include "../unit/alloc_fail.h"
#include "fault_runs.h"

#include <signal.h>
#include <sys/time.h>

static long refusals_before;

static void arm(long n)
{
	refusals_before = alloc_refusals;
	alloc_left = n;
}

/* True if an allocation was refused since. */
static bool disarm(void)
{
	alloc_left = -1;
	return alloc_refusals != refusals_before;
}

#define MOST 3000
#define EACH(n, fired)                                                       \
	for (long n = 0; fired && n < MOST; n++)

static void check_failure(int r, const struct redoma_error *err,
			  const void *out)
{
	if (r != REDOMA_E_NOMEM)
		fail_msg("%d: %s", r, err->text);
	assert_int_equal(err->code, r);
	assert_ptr_equal(out, UNTOUCHED);
}

/* True if the n-th allocation of that run was refused. */
static bool run_once(const struct kind *k, long n)
{
	struct redoma_policy *narrow = k->narrow ? policy_of(k->narrow) : NULL;
	struct redoma_result *x = UNTOUCHED;
	struct redoma_error err = {0};
	int before = descriptors(), r;
	struct redoma *h = open_kind(k);
	ino_t kept;
	double from;
	bool fired;

	if (k->warm)
		assert_next_works(h, k, narrow);
	clean_outputs();
	if (k->fresh)
		remove_all("cache");
	kept = kept_module();
	from = seconds();
	arm(n);
	r = run_kind(h, k, narrow, &x, &err);
	fired = disarm();
	assert_true(seconds() - from < SOON_S);
	if (r) {
		check_failure(r, &err, x);
		assert_no_outputs(k);
	} else if (fired && (k->out || k->asks) &&
		   redoma_result_status(x) != REDOMA_STATUS_OK) {
		assert_told(k, x);
	} else {
		assert_whole(k, x);
	}
	if (!r)
		redoma_result_free(x);
	/* What was kept is as good as before. */
	if (k->keeps)
		assert_true(kept && kept == kept_module());
	assert_next_works(h, k, narrow);
	redoma_policy_free(narrow);
	/* To end needs no memory. */
	alloc_left = 0;
	redoma_cancel(h);
	redoma_close(h);
	alloc_left = -1;
	assert_int_equal(descriptors(), before);
	assert_nobody();
	return fired;
}

static void running(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		for (alloc_once = 0; alloc_once < 2; alloc_once++) {
			bool fired = true;
			long tried = 0;

			EACH(n, fired) {
				fired = run_once(&kinds[i], n);
				tried += fired;
			}
			assert_false(fired);
			assert_true(tried > 4);
			print_message("# %s: %ld\n", kinds[i].name, tried);
		}
	alloc_once = 0;
}

static void results(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const struct kind *k = &kinds[i];
		struct redoma_policy *narrow =
			k->narrow ? policy_of(k->narrow) : NULL;
		struct redoma *h = open_kind(k);
		bool fired = true;

		alloc_once = 1;
		EACH(n, fired) {
			struct redoma_result *x = NULL;
			struct redoma_error err = {0};

			clean_outputs();
			if (run_kind(h, k, narrow, &x, &err))
				fail_msg("%s: %s", k->name, err.text);
			arm(n);
			(void)redoma_result_json(x, NULL);
			fired = disarm();
			assert_whole(k, x);
			redoma_result_free(x);
		}
		alloc_once = 0;
		assert_false(fired);
		redoma_policy_free(narrow);
		redoma_close(h);
	}
	assert_nobody();
}

#define WIDE                                                                 \
	"redoma: 1\nread: [in, {host: dir/, max_bytes: 9B}]\n"                \
	"write: [{host: out, max_bytes: 9B}]\nenv: {A: b, C: d}\n"            \
	"limits: {wall: 3s, memory: 64MiB}\n"

static int parse(struct redoma_policy *p, void **ret, struct redoma_error *err)
{
	(void)p;
	return redoma_policy_parse(WIDE, strlen(WIDE), place,
				   (struct redoma_policy **)ret, err);
}

static int with(struct redoma_policy *p, void **ret, struct redoma_error *err)
{
	return redoma_policy_with(p, "read", "in=/other", place,
				  (struct redoma_policy **)ret, err);
}

static int read_it(struct redoma_policy *p, void **ret,
		   struct redoma_error *err)
{
	char path[256];

	(void)p;
	return redoma_policy_read(in_place("p.yaml", path),
				  (struct redoma_policy **)ret, err);
}

static int show(struct redoma_policy *p, void **ret, struct redoma_error *err)
{
	return redoma_policy_show(p, (char **)ret, err);
}

static int contains(struct redoma_policy *p, void **ret,
		    struct redoma_error *err)
{
	int r = redoma_policy_contains(p, p, err);

	if (!r)
		*ret = NULL;
	return r;
}

static int open_it(struct redoma_policy *p, void **ret,
		   struct redoma_error *err)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;

	o.install_dir = TEST_BUILD;
	return redoma_open(p, &o, (struct redoma **)ret, err);
}

static int open_none(struct redoma_policy *p, void **ret,
		     struct redoma_error *err)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;

	(void)p;
	o.install_dir = TEST_BUILD;
	return redoma_open(NULL, &o, (struct redoma **)ret, err);
}

static int doctor(struct redoma_policy *p, void **ret,
		  struct redoma_error *err)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;

	(void)p;
	o.install_dir = TEST_BUILD;
	return redoma_doctor(&o, (char **)ret, err);
}

static void free_policy(void *p)
{
	redoma_policy_free(p);
}

static void close_handle(void *p)
{
	redoma_close(p);
}

static const struct verb {
	const char *name;
	int (*call)(struct redoma_policy *p, void **ret,
		    struct redoma_error *err);
	void (*done)(void *p);
	long at_least; /* allocations */
} verbs[] = {
	{"parse", parse, free_policy, 20},
	{"with", with, free_policy, 10},
	{"read", read_it, free_policy, 20},
	{"show", show, redoma_free, 1},
	{"contains", contains, redoma_free, 0},
	{"open", open_it, close_handle, 10},
	{"open without a policy", open_none, close_handle, 3},
	{"doctor", doctor, redoma_free, 1},
};

static void other_calls(void **state)
{
	struct redoma_policy *p = policy_of(WIDE);

	(void)state;
	put_text("p.yaml", WIDE);
	for (size_t i = 0; i < 2 * sizeof verbs / sizeof *verbs; i++) {
		const struct verb *v = &verbs[i / 2];
		int before = descriptors();
		bool fired = true;
		long tried = 0;

		alloc_once = i % 2;
		EACH(n, fired) {
			struct redoma_error err = {0};
			void *out = UNTOUCHED;
			int r;

			arm(n);
			r = v->call(p, &out, &err);
			fired = disarm();
			tried += fired;
			if (r)
				check_failure(r, &err, out);
			else
				v->done(out);
			assert_int_equal(descriptors(), before);
		}
		alloc_once = 0;
		assert_false(fired);
		if (tried < v->at_least)
			fail_msg("%s: %ld", v->name, tried);
		assert_nobody();
	}
	redoma_policy_free(p);
}

static struct redoma *to_cancel;

static void on_alarm(int sig)
{
	(void)sig;
	redoma_cancel(to_cancel);
}

/* By a handler of signals, while memory is short. */
static void cancelling(void **state)
{
	static const struct kind endless = {.policy = "redoma: 1\n",
					    JS("for (;;);")};
	const struct itimerval soon = {.it_value = {0, 20000}};
	struct sigaction sa = {.sa_handler = on_alarm}, old;
	int before = descriptors();

	(void)state;
	to_cancel = open_kind(&endless);
	sigaction(SIGALRM, &sa, &old);
	for (long n = 0; n < 40; n += 4) {
		struct redoma_result *x = UNTOUCHED;
		struct redoma_error err = {0};
		int r;

		setitimer(ITIMER_REAL, &soon, NULL);
		arm(n);
		r = run_kind(to_cancel, &endless, NULL, &x, &err);
		disarm();
		if (r) {
			check_failure(r, &err, x);
			continue;
		}
		assert_int_equal(redoma_result_status(x),
				 REDOMA_STATUS_CANCELLED);
		redoma_result_free(x);
	}
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	sigaction(SIGALRM, &old, NULL);
	assert_next_works(to_cancel, &kinds[1], NULL);
	redoma_close(to_cancel);
	assert_int_equal(descriptors(), before);
	assert_nobody();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_calls),
		cmocka_unit_test(running),
		cmocka_unit_test(results),
		cmocka_unit_test(cancelling),
	};

	return cmocka_run_group_tests(tests, make_place, remove_place);
}
