/* Memory runs out at each allocation in turn: an error that says so, and
 * nothing is left, neither memory (the build with AddressSanitizer says so) nor
 * descriptors. */
#include "alloc_fail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/runtime.h"
#include "runtime/user.h"

static int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void make_root(const char *command, const char *root)
{
	const char *const roots[] = {root, NULL};
	int before = count_fds(), rc = -1;
	long n;

	for (n = 0; rc && n < ALLOC_TRIES; n++) {
		struct redoma_error err = {0};
		struct root r = {0};

		alloc_left = n;
		rc = runtime_root(command, root ? roots : NULL, &r, &err);
		alloc_left = -1;
		if (rc) {
			assert_int_equal(rc, REDOMA_E_NOMEM);
			assert_true(err.text[0]);
			assert_null(r.entries);
		}
		root_done(&r);
	}
	assert_int_equal(rc, 0);
	assert_true(n > 50);
	assert_int_equal(count_fds(), before);
}

static void the_root_of_a_program(void **state)
{
	(void)state;
	make_root("/bin/true", NULL);
}

static void the_root_of_a_script(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char path[128];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/script", tmp ? tmp : "/tmp");
	f = fopen(path, "we");
	assert_non_null(f);
	fputs("#!/usr/bin/env true\n", f);
	fclose(f);
	assert_int_equal(chmod(path, 0755), 0);
	make_root(path, NULL);
	unlink(path);
}

static void a_row_of_the_user(void **state)
{
	char files[] = "/etc/passwd", program[] = "/bin/true";
	char *list[] = {files, NULL};
	struct user_row row = {program, list, 1};
	const char *tmp = getenv("TMPDIR");
	char dir[128];
	int rc = -1;
	long n;

	(void)state;
	snprintf(dir, sizeof(dir), "%s/rows", tmp ? tmp : "/tmp");
	for (n = 0; rc && n < 200; n++) {
		alloc_left = n;
		rc = user_write(dir, "memory", &row, NULL);
		alloc_left = -1;
		assert_true(!rc || rc == REDOMA_E_NOMEM);
	}
	assert_int_equal(rc, 0);
	for (rc = -1, n = 0; rc && n < 200; n++) {
		struct user_row back = {0};
		bool found;

		alloc_left = n;
		rc = user_read(dir, "memory", &back, &found, NULL);
		alloc_left = -1;
		assert_true(!rc || rc == REDOMA_E_NOMEM);
		assert_true(rc || found);
		user_row_done(&back);
	}
	assert_int_equal(rc, 0);
	snprintf(dir, sizeof(dir), "%s/rows/memory.yaml", tmp ? tmp : "/tmp");
	unlink(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_root_of_a_program),
		cmocka_unit_test(the_root_of_a_script),
		cmocka_unit_test(a_row_of_the_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
