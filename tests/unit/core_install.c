/* Our programs and images are found below one directory, or said to be
 * missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/install.h"

static struct redoma handle;
static char dir[64];

static void make(const char *name, mode_t mode)
{
	char path[256];
	int fd;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, mode);
	assert_true(fd >= 0);
	close(fd);
}

static void drop(const char *name)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	assert_int_equal(remove(path), 0);
}

static int make_dir(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	memset(&handle, 0, sizeof handle);
	snprintf(dir, sizeof dir, "%.40s/install-XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(dir) ? 0 : -1;
}

static int drop_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static void a_named_directory_is_the_only_one(void **state)
{
	struct redoma_error err = {0};

	(void)state;
	assert_int_equal(install_find(&handle, dir, &err),
			 REDOMA_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, dir));
	assert_string_equal(handle.install, "");
	make("redoma-worker", 0700);
	assert_int_equal(install_find(&handle, dir, &err), 0);
	assert_string_equal(handle.install, dir);
	assert_non_null(strstr(handle.worker, "/redoma-worker"));
	assert_non_null(strstr(handle.compiler, "/redoma-compile"));
	drop("redoma-worker");
}

static void a_file_that_cannot_be_run_is_no_worker(void **state)
{
	(void)state;
	make("redoma-worker", 0600);
	assert_int_equal(install_find(&handle, dir, NULL),
			 REDOMA_E_UNSUPPORTED);
	drop("redoma-worker");
}

static void a_name_too_long_is_none(void **state)
{
	char *name = calloc(1, 2 * PATH_ROOM);

	(void)state;
	assert_non_null(name);
	memset(name, '/', 2 * PATH_ROOM - 1);
	assert_int_equal(install_find(&handle, name, NULL),
			 REDOMA_E_UNSUPPORTED);
	free(name);
}

static void a_missing_image_is_named(void **state)
{
	char path[PATH_ROOM] = "";
	char sub[128];
	struct redoma_error err = {0};

	(void)state;
	make("redoma-worker", 0700);
	assert_int_equal(install_find(&handle, dir, NULL), 0);
	assert_int_equal(install_image(&handle, "x.cwasm", path, &err),
			 REDOMA_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, "images/x.cwasm"));
	snprintf(sub, sizeof sub, "%s/images", dir);
	assert_int_equal(mkdir(sub, 0700), 0);
	make("images/x.cwasm", 0600);
	assert_int_equal(install_image(&handle, "x.cwasm", path, &err), 0);
	assert_non_null(strstr(path, "/images/x.cwasm"));
	drop("images/x.cwasm");
	drop("images");
	drop("redoma-worker");
}

static void the_key_lies_beside_a_named_cache(void **state)
{
	(void)state;
	assert_int_equal(install_cache(&handle, "/c/d", NULL), 0);
	assert_string_equal(handle.cache_dir, "/c/d");
	assert_string_equal(handle.cache_key, "/c/d.key");
	assert_int_equal(install_cache(&handle, NULL, NULL), 0);
	assert_true(!handle.cache_dir[0] == !handle.cache_key[0]);
}

int main(void)
{
#define EACH(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)
	const struct CMUnitTest tests[] = {
		EACH(a_named_directory_is_the_only_one),
		EACH(a_file_that_cannot_be_run_is_no_worker),
		EACH(a_name_too_long_is_none),
		EACH(a_missing_image_is_named),
		EACH(the_key_lies_beside_a_named_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
