/* Which language a source is in, and whether it is fit to be run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lang/lang.h"

#define MODULE "\0asm\1\0\0\0"

static const char *guess(const char *name, const char *source, size_t len)
{
	const struct lang *l = NULL;
	struct redoma_error err = {0};
	int r = lang_guess(name, source, len, &l, &err);

	if (!r)
		return l->name;
	assert_int_equal(r, REDOMA_E_INVALID);
	assert_null(l);
	assert_non_null(strstr(err.text, ".wasm"));
	return NULL;
}

static void a_name_finds_its_row_and_no_other_does(void **state)
{
	(void)state;
	assert_string_equal(lang_find("js")->name, "js");
	assert_string_equal(lang_find("wasm")->name, "wasm");
	assert_null(lang_find("wasm")->image);
	assert_non_null(lang_find("js")->image);
	assert_non_null(lang_find("js")->image_fuel);
	assert_null(lang_find(""));
	assert_null(lang_find("JS"));
	assert_null(lang_find("javascript"));
}

static void formulas_have_an_image_of_their_own(void **state)
{
	const struct lang *js = lang_find("js"), *f = lang_formulas(js);

	(void)state;
	assert_non_null(f);
	assert_string_equal(f->name, "js");
	assert_string_not_equal(f->image, js->image);
	assert_string_not_equal(f->image_fuel, js->image_fuel);
	assert_string_not_equal(f->image_wasm, js->image_wasm);
	assert_string_equal(lang_formulas(lang_find("py"))->name, "py");
	assert_string_not_equal(lang_formulas(lang_find("py"))->image,
				f->image);
	assert_null(lang_formulas(lang_find("wasm")));
}

static void the_magic_wins_over_the_suffix(void **state)
{
	(void)state;
	assert_string_equal(guess("a.js", MODULE, 8), "wasm");
	assert_string_equal(guess(NULL, MODULE, 8), "wasm");
	assert_string_equal(guess("a.js", MODULE, 3), "js");
}

static void suffixes_are_known(void **state)
{
	(void)state;
	assert_string_equal(guess("a.js", "1", 1), "js");
	assert_string_equal(guess("a.b.mjs", "1", 1), "js");
	assert_string_equal(guess("/x/a.cjs", "1", 1), "js");
	assert_string_equal(guess("a.wasm", "1", 1), "wasm");
	assert_string_equal(guess("a.py", "1", 1), "py");
	assert_null(guess("a.rb", "1", 1));
	assert_null(guess("js", "1", 1));
	assert_null(guess(NULL, "1", 1));
}

static void the_first_line_may_name_an_interpreter(void **state)
{
	static const char env[] = "#!/usr/bin/env node\n1";
	static const char later[] = "#!/bin/sh\nnode";
	static const char whole[] = "#!node";

	(void)state;
	assert_string_equal(guess("tool", env, sizeof env - 1), "js");
	assert_string_equal(guess(NULL, whole, sizeof whole - 1), "js");
	assert_null(guess("tool", later, sizeof later - 1));
	assert_null(guess("tool", "#", 1));
}

static int check(const char *lang, const void *source, size_t len)
{
	struct redoma_error err = {0};
	int r = lang_check(lang_find(lang), source, len, &err);

	if (r)
		assert_true(strlen(err.text) > 0);
	return r;
}

static void text_is_utf8_without_nul(void **state)
{
	(void)state;
	assert_int_equal(check("js", "1", 1), 0);
	assert_int_equal(check("js", "\xe2\x82\xac", 3), 0);
	assert_int_equal(check("js", "\xe2\x82", 2), REDOMA_E_INVALID);
	assert_int_equal(check("js", "a\0b", 3), REDOMA_E_INVALID);
	assert_int_equal(check("js", "\xff", 1), REDOMA_E_INVALID);
	assert_int_equal(check("js", "", 0), REDOMA_E_INVALID);
}

static void a_module_begins_as_one(void **state)
{
	(void)state;
	assert_int_equal(check("wasm", MODULE, 8), 0);
	assert_int_equal(check("wasm", "(module)", 8), REDOMA_E_INVALID);
	assert_int_equal(check("wasm", MODULE, 3), REDOMA_E_INVALID);
	assert_int_equal(check("wasm", NULL, 0), REDOMA_E_INVALID);
}

static void the_length_is_capped_to_the_byte(void **state)
{
	char *text = malloc(LANG_SOURCE_MAX + 1);

	(void)state;
	assert_non_null(text);
	memset(text, ' ', LANG_SOURCE_MAX + 1);
	assert_int_equal(check("js", text, LANG_SOURCE_MAX), 0);
	assert_int_equal(check("js", text, LANG_SOURCE_MAX + 1),
			 REDOMA_E_INVALID);
	free(text);
}

static void a_line_that_imports_a_package_is_found(void **state)
{
	static const char *const yes[] = {
		"import pandas", "import numpy as np", "from scipy import stats",
		"x = 1\n\timport sklearn.linear_model\n", "import os, numpy",
		"import json as j , matplotlib.pyplot as p", "from PIL import A",
	};
	static const char *const no[] = {
		"", "import", "import numpyish", "import os.numpy",
		"from os import numpy", "# import numpy", "x = 'import numpy'",
		"important = numpy", "print('numpy')", "fromnumpy import a",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		if (!lang_imports_packages(str_of(yes[i])))
			fail_msg("not found: %s", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		if (lang_imports_packages(str_of(no[i])))
			fail_msg("found: %s", no[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_finds_its_row_and_no_other_does),
		cmocka_unit_test(formulas_have_an_image_of_their_own),
		cmocka_unit_test(the_magic_wins_over_the_suffix),
		cmocka_unit_test(suffixes_are_known),
		cmocka_unit_test(the_first_line_may_name_an_interpreter),
		cmocka_unit_test(text_is_utf8_without_nul),
		cmocka_unit_test(a_module_begins_as_one),
		cmocka_unit_test(the_length_is_capped_to_the_byte),
		cmocka_unit_test(a_line_that_imports_a_package_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
