/* Profiles have names, and say what their code counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/profile.h"

static void every_name_is_found_again(void **state)
{
	(void)state;
	for (int i = 0; i < PROFILES; i++)
		assert_int_equal(profile_find(profile_name((enum profile)i)),
				 i);
}

static void other_names_are_none(void **state)
{
	(void)state;
	assert_int_equal(profile_find(""), PROFILES);
	assert_int_equal(profile_find("imag"), PROFILES);
	assert_int_equal(profile_find("image "), PROFILES);
	assert_int_equal(profile_find("IMAGE"), PROFILES);
}

/* A foreign module without epoch checks could not be ended. */
static void modules_can_be_interrupted(void **state)
{
	(void)state;
	assert_true(profile_has_epoch(PROFILE_MODULE));
	assert_true(profile_has_epoch(PROFILE_MODULE_FUEL));
	assert_false(profile_has_epoch(PROFILE_IMAGE));
	assert_false(profile_has_epoch(PROFILE_IMAGE_FUEL));
}

static void fuel_is_counted_where_the_name_says_so(void **state)
{
	(void)state;
	assert_true(profile_has_fuel(PROFILE_IMAGE_FUEL));
	assert_true(profile_has_fuel(PROFILE_MODULE_FUEL));
	assert_false(profile_has_fuel(PROFILE_IMAGE));
	assert_false(profile_has_fuel(PROFILE_MODULE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_name_is_found_again),
		cmocka_unit_test(other_names_are_none),
		cmocka_unit_test(modules_can_be_interrupted),
		cmocka_unit_test(fuel_is_counted_where_the_name_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
