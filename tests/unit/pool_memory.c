/* Memory runs out while a cache is opened: an error, never a handle that keeps
 * nothing for the rest of its life. */
#include "alloc_fail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "pool/cache.h"

static char root[200];

static void opening(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char dir[256], key[256];
	int e = -1;
	long n;

	(void)state;
	snprintf(root, sizeof root, "%s/redoma-pool-XXXXXX",
		 tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(root));
	for (n = 0; e && n < 50; n++) {
		struct cache_options o = {.dir = dir, .key_file = key};
		struct redoma_error err = {0};
		struct cache *c = NULL;

		/* Each time nothing is there. */
		snprintf(dir, sizeof dir, "%s/%ld/cache", root, n);
		snprintf(key, sizeof key, "%s/%ld/state/key", root, n);
		alloc_once = 1;
		alloc_left = n;
		e = cache_open(&o, &c, &err);
		alloc_left = -1;
		if (e) {
			assert_int_equal(e, REDOMA_E_NOMEM);
			assert_null(c);
			continue;
		}
		assert_null(cache_problem(c));
		cache_free(c);
	}
	assert_int_equal(e, 0);
	assert_true(n > 3);
}

static int clean(void **state)
{
	char command[256];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(opening, clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
