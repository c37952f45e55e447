/* Records of the kernel's log: which call ended which process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/klog.h"

/* As Linux 6.18 writes them, each after its prefix of /dev/kmsg. */
static const char ended[] =
	"5,842,14805367109,-;audit: type=1326 audit(1796033498.481:12): "
	"auid=4294967295 uid=1900000001 gid=1900000001 ses=4294967295 "
	"pid=8249 comm=\"redoma-worker\" exe=\"/usr/lib/redoma-worker\" sig=31 "
	"arch=c000003e syscall=41 compat=0 ip=0x7f2a1fd code=0x80000000";

#define AT_MS 1796033498481u
#define AUDIT " audit(1796033498.481:12):"

static int match(const char *record, int64_t pid, int64_t uid)
{
	const struct klog_who w = {pid, uid, AT_MS - 1000, AT_MS + 1000, true};

	return klog_match(record, &w);
}

static void tells_the_call_of_that_process(void **state)
{
	(void)state;
	assert_int_equal(match(ended, 8249, -1), 41);
	assert_int_equal(match(ended, 824, -1), -1);
	assert_int_equal(match(ended, 1326, -1), -1);
	assert_int_equal(match(ended, -1, 1900000001), 41);
	assert_int_equal(match(ended, -1, 1900000002), -1);
	assert_int_equal(match(ended, -1, 4294967295), -1);
	assert_int_equal(match(ended, 8249, 1900000002), -1);
}

/* A pid comes again, and a log is old. */
static void a_record_of_before_tells_nothing(void **state)
{
	struct klog_who w = {8249, -1, AT_MS, AT_MS, true};

	(void)state;
	assert_int_equal(klog_match(ended, &w), 41);
	w.from_ms++;
	w.to_ms += 1000;
	assert_int_equal(klog_match(ended, &w), -1);
	w.from_ms = 0;
	w.to_ms = AT_MS - 1;
	assert_int_equal(klog_match(ended, &w), -1);
}

static void other_records_tell_nothing(void **state)
{
	(void)state;
	assert_int_equal(match("", 1, -1), -1);
	assert_int_equal(match("6,1,2,-;usb" AUDIT " pid=1 syscall=3", 1, -1),
			 -1);
	assert_int_equal(match("5,1,2,-;audit: type=1326" AUDIT " pid=1", 1,
			       -1), -1);
	assert_int_equal(match("5,1,2,-;audit: type=1300" AUDIT
			       " pid=1 syscall=3", 1, -1), -1);
	assert_int_equal(match("5,1,2,-;audit: type=1326 pid=1 syscall=3", 1,
			       -1), -1);
	assert_int_equal(match("5,1,2,-;audit: type=1326" AUDIT
			       " pid=1 syscall=3", 1, -1), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_the_call_of_that_process),
		cmocka_unit_test(a_record_of_before_tells_nothing),
		cmocka_unit_test(other_records_tell_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
