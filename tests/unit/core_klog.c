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

static void tells_the_call_of_that_process(void **state)
{
	(void)state;
	assert_int_equal(klog_match(ended, 8249), 41);
	assert_int_equal(klog_match(ended, 824), -1);
	assert_int_equal(klog_match(ended, 1326), -1);
}

static void other_records_tell_nothing(void **state)
{
	(void)state;
	assert_int_equal(klog_match("", 1), -1);
	assert_int_equal(klog_match("6,1,2,-;usb pid=1 syscall=3", 1), -1);
	assert_int_equal(klog_match("5,1,2,-;audit: type=1326 pid=1", 1), -1);
	assert_int_equal(klog_match("5,1,2,-;audit: type=1300 pid=1 syscall=3",
				    1),
			 -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_the_call_of_that_process),
		cmocka_unit_test(other_records_tell_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
