/* What is not the package is not compiled, and nothing of it is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <redoma.h>

static char dir[64], place[80], file[80];

static int set_up(void **state)
{
	FILE *f;

	(void)state;
	strcpy(dir, "/tmp/redoma-image-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(place, sizeof place, "%s/image", dir);
	snprintf(file, sizeof file, "%s/file", dir);
	f = fopen(file, "wb");
	if (!f || fwrite("\0asm\1\0\0\0", 1, 8, f) != 8 || fclose(f))
		return -1;
	return 0;
}

static int tear_down(void **state)
{
	char lock[100];

	(void)state;
	snprintf(lock, sizeof lock, "%s.lock", place);
	unlink(lock);
	unlink(file);
	return rmdir(dir);
}

static struct redoma_image_options options(void)
{
	struct redoma_image_options o = REDOMA_IMAGE_OPTIONS_INIT;

	o.install_dir = TEST_BUILD;
	o.directory = place;
	o.module = file;
	o.library = file;
	return o;
}

static void refused(const char *name, const struct redoma_image_options *o,
		    int code, const char *says)
{
	struct redoma_error err = {0};
	char fresh[100];

	assert_int_equal(redoma_image_add(name, o, &err), code);
	if (!strstr(err.text, says))
		fail_msg("\"%s\" does not say \"%s\"", err.text, says);
	snprintf(fresh, sizeof fresh, "%s.new", place);
	assert_int_equal(access(place, F_OK), -1);
	assert_int_equal(access(fresh, F_OK), -1);
}

static void another_module_is_refused_by_the_compiler(void **state)
{
	struct redoma_image_options o = options();

	(void)state;
	refused("data", &o, REDOMA_E_INVALID,
		"the module is not the one that this release knows");
}

static int give_up(void *data, const char *what, int percent)
{
	(void)what;
	(void)percent;
	++*(int *)data;
	return 1;
}

static void whoever_waits_may_give_up(void **state)
{
	struct redoma_image_options o = options();
	int asked = 0;

	(void)state;
	o.on_progress = give_up;
	o.on_progress_data = &asked;
	refused("data", &o, REDOMA_E_BUSY, "cancelled");
	assert_int_equal(asked, 1);
}

static void what_is_missing_is_named(void **state)
{
	struct redoma_image_options o = options();

	(void)state;
	o.library = NULL;
	refused("data", &o, REDOMA_E_INVALID, "library");
	o = options();
	o.module = "/nowhere/at/all";
	refused("data", &o, REDOMA_E_SYSTEM, "/nowhere/at/all");
	o = options();
	refused("js", &o, REDOMA_E_INVALID, "there is data");
	o.directory = "/proc/none/image";
	refused("data", &o, REDOMA_E_SYSTEM, "/proc/none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_module_is_refused_by_the_compiler),
		cmocka_unit_test(whoever_waits_may_give_up),
		cmocka_unit_test(what_is_missing_is_named),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
