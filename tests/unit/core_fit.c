/* Structs of older and newer headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/fit.h"

struct ours {
	uint64_t size, a, b;
};

static void an_older_struct_gets_zeros(void **state)
{
	struct ours from = {16, 1, 2}, to = {9, 9, 9};

	(void)state;
	assert_int_equal(fit_struct(&to, sizeof to, &from, 16, NULL), 0);
	assert_int_equal(to.a, 1);
	assert_int_equal(to.b, 0);
}

static void a_newer_struct_may_hold_zeros_only(void **state)
{
	uint64_t from[5] = {40, 1, 2, 0, 0};
	struct ours to = {9, 9, 9};

	(void)state;
	assert_int_equal(fit_struct(&to, sizeof to, from, 40, NULL), 0);
	assert_int_equal(to.b, 2);
	for (size_t i = 24; i < 40; i++) {
		struct ours same = {9, 9, 9};

		memset(&from[3], 0, 16);
		((unsigned char *)from)[i] = 1;
		assert_int_equal(fit_struct(&same, sizeof same, from, 40,
					    NULL),
				 REDOMA_E_INVALID);
		assert_int_equal(same.a, 9); /* untouched */
	}
}

static void sizes_that_are_none(void **state)
{
	static const uint64_t sizes[] = {0, 7, 4097, UINT64_MAX};
	struct ours from = {0}, to = {9, 9, 9};

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		assert_int_equal(fit_struct(&to, sizeof to, &from, sizes[i],
					    NULL),
				 REDOMA_E_INVALID);
	assert_int_equal(to.a, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_older_struct_gets_zeros),
		cmocka_unit_test(a_newer_struct_may_hold_zeros_only),
		cmocka_unit_test(sizes_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
