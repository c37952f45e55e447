/* System calls of the host, and of the processes on their way to our programs,
 * fail in turn for want of descriptors or memory, or are interrupted: the run
 * says so or succeeds, nothing is left, and the next one on the same handle
 * works.  An interruption never shows.
 * test-seconds: 240 */
#include "fault_runs.h"
#include "call_fail.h"

#define MOST 3000

static void arm(enum call_fault f, bool below, int n)
{
	calls->left = n;
	calls->below = below;
	calls->refused = 0;
	calls->fault = f;
}

static bool disarm(void)
{
	calls->fault = FAULT_NONE;
	return calls->refused != 0;
}

static void check_failure(const struct kind *k, enum call_fault f, int r,
			  const struct redoma_error *err, const void *out)
{
	assert_int_equal(err->code, r);
	assert_ptr_equal(out, UNTOUCHED);
	assert_no_outputs(k);
	if (f == FAULT_SIGNAL)
		fail_msg("%s: %s was interrupted: %s", k->name, calls->what,
			 err->text);
	/* Not: the policy is wrong, the module is bad. */
	if (r != REDOMA_E_NOMEM && r != REDOMA_E_SYSTEM &&
	    (r != REDOMA_E_WORKER || !calls->below))
		fail_msg("%s: %s failed: %d, %s", k->name, calls->what, r,
			 err->text);
}

static bool run_once(const struct kind *k, enum call_fault f, bool below,
		     int n)
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
	arm(f, below, n);
	r = run_kind(h, k, narrow, &x, &err);
	fired = disarm();
	if (seconds() - from > SOON_S)
		fail_msg("%s: %s failed, %.1f s", k->name, calls->what,
			 seconds() - from);
	if (r)
		check_failure(k, f, r, &err, x);
	else if (fired && f != FAULT_SIGNAL &&
		 redoma_result_status(x) != k->status)
		assert_told(k, x);
	else
		assert_whole(k, x);
	if (!r)
		redoma_result_free(x);
	/* What was kept is as good as before. */
	if (k->keeps)
		assert_true(kept && kept == kept_module());
	assert_next_works(h, k, narrow);
	redoma_policy_free(narrow);
	redoma_close(h);
	if (descriptors() != before)
		fail_msg("%s: %s failed, and left a descriptor", k->name,
			 calls->what);
	assert_nobody();
	return fired;
}

static void each_call(enum call_fault f, bool below, int at_least)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		bool fired = true;
		int n;

		for (n = 0; fired && n < MOST; n++)
			fired = run_once(&kinds[i], f, below, n);
		assert_false(fired);
		if (n - 1 < at_least && !kinds[i].warm)
			fail_msg("%s: only %d calls", kinds[i].name, n - 1);
	}
}

static void no_descriptors(void **state)
{
	(void)state;
	each_call(FAULT_FILES, false, 3);
}

static void no_memory(void **state)
{
	(void)state;
	each_call(FAULT_MEMORY, false, 10);
}

static void interrupted(void **state)
{
	(void)state;
	each_call(FAULT_SIGNAL, false, 5);
}

static void no_descriptors_below(void **state)
{
	(void)state;
	each_call(FAULT_FILES, true, 2);
}

static void no_memory_below(void **state)
{
	(void)state;
	each_call(FAULT_MEMORY, true, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_descriptors),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(interrupted),
		cmocka_unit_test(no_descriptors_below),
		cmocka_unit_test(no_memory_below),
	};

	calls_share();
	return cmocka_run_group_tests(tests, make_place, remove_place);
}
