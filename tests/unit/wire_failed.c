/* What a peer says of its failure is bytes of a stranger. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/failed.h"

static void an_honest_failure_arrives_whole(void **state)
{
	struct redoma_error sent = {0}, got = {0};

	(void)state;
	err_set(&sent, REDOMA_E_UNSUPPORTED, "jail", "no namespaces");
	sent.sys = 1;
	assert_int_equal(failed_read(&sent, sizeof sent, &got),
			 REDOMA_E_UNSUPPORTED);
	assert_memory_equal(&sent, &got, sizeof got);
	assert_int_equal(failed_read(&sent, sizeof sent, NULL),
			 REDOMA_E_UNSUPPORTED);
}

static void texts_without_end_are_ended(void **state)
{
	struct redoma_error sent, got;

	(void)state;
	memset(&sent, 'x', sizeof sent);
	sent.code = REDOMA_E_DENIED;
	assert_int_equal(failed_read(&sent, sizeof sent, &got),
			 REDOMA_E_DENIED);
	assert_int_equal(strnlen(got.where, sizeof got.where),
			 sizeof got.where - 1);
	assert_int_equal(strnlen(got.text, sizeof got.text),
			 sizeof got.text - 1);
}

static void codes_that_are_none_become_worker(void **state)
{
	static const int32_t codes[] = {0, 1, INT32_MAX, INT32_MIN,
					REDOMA_E_BUSY - 1};

	(void)state;
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
		struct redoma_error sent = {.code = codes[i]}, got;

		assert_int_equal(failed_read(&sent, sizeof sent, &got),
				 REDOMA_E_WORKER);
		assert_int_equal(got.code, REDOMA_E_WORKER);
	}
}

static void another_length_says_nothing(void **state)
{
	struct redoma_error sent = {.code = REDOMA_E_DENIED}, got = {0};

	(void)state;
	assert_int_equal(failed_read(&sent, sizeof sent - 1, &got),
			 REDOMA_E_WORKER);
	assert_int_equal(failed_read(NULL, 0, &got), REDOMA_E_WORKER);
	assert_non_null(strstr(got.text, "did not say why"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_honest_failure_arrives_whole),
		cmocka_unit_test(texts_without_end_are_ended),
		cmocka_unit_test(codes_that_are_none_become_worker),
		cmocka_unit_test(another_length_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
