/* Which packages a source seems to need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/native_ahead.h"

#define MIB ((uint64_t)1 << 20)
#define ALL "numpy,pandas,scipy,sklearn"

static const char *ahead(const char *source, uint64_t mib)
{
	return native_ahead("py", source, strlen(source), mib * MIB);
}

static void by_its_words(void **state)
{
	static const struct {
		const char *source, *ahead;
	} rows[] = {
		{"", ""},
		{"1+1", ""},
		{"import numpy", "numpy"},
		{"numpy", "numpy"},
		{"from numpy.linalg import solve", "numpy"},
		{"import os, numpy as np\nimport pandas", "numpy,pandas"},
		{"import pandas.api", "numpy,pandas"},
		{"from sklearn import linear_model", ALL},
		{"import scipy", ALL},
		{"import numpyx, xnumpy, my_numpy, numpy_, numpy1", ""},
		{"import num\npy", ""},
		{"\xc3\xa9numpy numpy\xc3\xa9", ""},
		{"xpandas pandas", "numpy,pandas"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_string_equal(ahead(rows[i].source, 512), rows[i].ahead);
	assert_string_equal(native_ahead("js", "numpy", 5, 512 * MIB), "");
	/* No further than its length. */
	assert_string_equal(native_ahead("py", "numpyx", 5, 512 * MIB),
			    "numpy");
	assert_string_equal(native_ahead("py", "numpy", 4, 512 * MIB), "");
}

static void what_does_not_fit_is_not_imported(void **state)
{
	const char *both = "import pandas, sklearn";

	(void)state;
	assert_string_equal(ahead(both, 128), ALL);
	assert_string_equal(ahead(both, 127), "numpy,pandas");
	assert_string_equal(ahead(both, 95), "");
	assert_string_equal(ahead("numpy", 48), "numpy");
	assert_string_equal(ahead("numpy", 47), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_its_words),
		cmocka_unit_test(what_does_not_fit_is_not_imported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
