/* Packages that an interpreter imports before its run comes, with ones that
 * only have their names: slow, failing, and what a run leaves in them.
 * test-seconds: 240 */
#include <glob.h>
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <redoma.h>

#define ROOM 4096
#define SLOW_US 400000 /* that the import of our numpy takes */
#define TRIES 40
#define PAUSE_US 300000

static struct {
	char dir[ROOM], name[64], row[2 * ROOM], version[64];
	int made; /* directories above the row that were not there */
} place;

static void put(const char *name, const char *text)
{
	char path[2 * ROOM];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", place.dir, name);
	for (char *at = path + strlen(place.dir) + 1; (at = strchr(at, '/'));
	     at++) {
		*at = '\0';
		mkdir(path, 0755);
		*at = '/';
	}
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void put_package(const char *version, const char *name,
			const char *text)
{
	char path[ROOM];

	snprintf(path, sizeof path, "lib/%s/site-packages/%s.py", version,
		 name);
	put(path, text);
}

/* "python3.11", of /usr/bin/python3; false: there is none, or are several. */
static bool find_version(char version[64])
{
	glob_t g;
	int r = glob("/usr/lib/python3.*/os.py", 0, NULL, &g);
	bool one = !r && g.gl_pathc == 1 && !access("/usr/bin/python3", X_OK);

	if (one)
		sscanf(g.gl_pathv[0], "/usr/lib/%63[^/]", version);
	globfree(&g);
	return one;
}

/* The directory above the row, or the one above that. */
static void above(int level, char path[2 * ROOM])
{
	strcpy(path, place.row);
	for (int i = 0; i < level; i++)
		*strrchr(path, '/') = '\0';
}

static int count_missing(void)
{
	char path[2 * ROOM];
	int n = 0;

	do
		above(n + 1, path);
	while (access(path, F_OK) && ++n < 3);
	return n;
}

/* A virtual environment with them, as a runtime of the user's. */
static int set_up(void **state)
{
	const struct passwd *me = getpwuid(geteuid());
	const char *tmp = getenv("TMPDIR");
	char *version = place.version, path[2 * ROOM];
	struct redoma_error err = {0};

	(void)state;
	if (!find_version(version) || !me || access(me->pw_dir, W_OK))
		return 0;
	snprintf(place.dir, sizeof place.dir, "%s/ahead-XXXXXX",
		 tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(place.dir));
	assert_int_equal(chmod(place.dir, 0755), 0);
	put("pyvenv.cfg", "home = /usr/bin\n");
	put("bin/none", "");
	snprintf(path, sizeof path, "%s/bin/python3", place.dir);
	assert_int_equal(symlink("/usr/bin/python3", path), 0);
	put_package(version, "numpy", "import time, random\ntime.sleep(0.4)\n"
				      "print('noise')\n");
	put_package(version, "pandas", "raise SystemExit(3)\n");
	snprintf(place.name, sizeof place.name, "redoma-ahead-%d", getpid());
	snprintf(place.row, sizeof place.row,
		 "%s/.config/redoma/runtimes/%s.yaml", me->pw_dir, place.name);
	place.made = count_missing();
	if (redoma_runtime_add(place.name, path, NULL, &err))
		fail_msg("%s", err.text);
	return 0;
}

static int clean_up(void **state)
{
	char command[2 * ROOM];

	(void)state;
	if (!place.name[0])
		return 0;
	unlink(place.row);
	for (int i = 1; i <= place.made; i++) {
		above(i, command);
		rmdir(command);
	}
	snprintf(command, sizeof command, "rm -rf '%s'", place.dir);
	return system(command);
}

static struct redoma *open_with(const char *limits)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *p = NULL;
	struct redoma *r = NULL;
	struct redoma_error err = {0};
	char text[512];

	if (!place.name[0])
		skip();
	snprintf(text, sizeof text,
		 "redoma: 1\nnative: {root: ['runtime:%s']}\nlimits: {%s}\n",
		 place.name, limits);
	o.install_dir = TEST_BUILD;
	if (redoma_policy_parse(text, strlen(text), "/", &p, &err) ||
	    redoma_open(p, &o, &r, &err))
		fail_msg("%s", err.text);
	redoma_policy_free(p);
	return r;
}

static struct redoma_result *run(struct redoma *h, const char *code)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *r = NULL;
	struct redoma_error err = {0};

	q.native = 1;
	q.language = "py";
	q.source = code;
	q.source_len = strlen(code);
	if (redoma_run(h, &q, &r, &err))
		fail_msg("%s: %s", code, err.text);
	return r;
}

static void gives(struct redoma *h, const char *code, const char *value)
{
	struct redoma_result *r = run(h, code);
	const char *got = redoma_result_value(r, NULL);

	if (!got || strcmp(got, value) || strstr(redoma_result_json(r, NULL),
						 "noise"))
		fail_msg("%s: %s", code, redoma_result_json(r, NULL));
	redoma_result_free(r);
}

static void only_for_who_names_it(void **state)
{
	struct redoma *h = open_with("wall: 20s");

	(void)state;
	gives(h, "import sys\n'numpy' in sys.modules", "true");
	gives(h, "import sys\n'num' + 'py' in sys.modules", "false");
	gives(h, "import sys, numpy\nsys.prefix == sys.base_prefix", "false");
	redoma_close(h);
	h = open_with("wall: 20s, memory: 32MiB");
	gives(h, "import sys\n'numpy' in sys.modules", "false");
	/* Nor is it lost, wherever the environment is. */
	gives(h, "import importlib.util\n"
		 "importlib.util.find_spec('numpy') is not None", "true");
	redoma_close(h);
}

static void one_that_fails_stops_nothing(void **state)
{
	struct redoma *h = open_with("wall: 20s");

	(void)state;
	gives(h, "import sys\n['pandas' in sys.modules, 'numpy' in sys.modules]",
	      "[false,true]");
	gives(h, "try: import sklearn\n"
	      "except ImportError as e: x = e.name\nx", "\"sklearn\"");
	redoma_close(h);
}

static uint64_t number(struct redoma_result *r, const char *name)
{
	const char *at = strstr(redoma_result_json(r, NULL), name);

	assert_non_null(at);
	return strtoull(at + strlen(name), NULL, 10);
}

/* What took so long was done before, by one that nobody waited for; and each
 * run has one of its own. */
static void the_next_waits_no_more(void **state)
{
	static const char code[] = "import numpy\nx = getattr(numpy, 'x', 0)\n"
				   "numpy.x = 1\nx";
	struct redoma *h = open_with("wall: 20s");
	int quick = 0;

	(void)state;
	for (int i = 0; i < TRIES && quick < 3; i++) {
		struct redoma_result *r = run(h, code);

		assert_string_equal(redoma_result_value(r, NULL), "0");
		if (i && number(r, "\"wall_us\":") +
				 number(r, "\"queue_us\":") < SLOW_US / 4)
			quick++;
		redoma_result_free(r);
		usleep(PAUSE_US);
	}
	assert_int_equal(quick, 3);
	redoma_close(h);
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* With such a numpy, which it only names: twice, the second time at once. */
static void is_plain(const char *numpy)
{
	static const char code[] = "# numpy\nimport os, sys\n['numpy' in "
				   "sys.modules, os.listdir('/tmp')]";
	uint64_t from = now_us(), again;
	struct redoma *h = open_with("wall: 2s");

	put_package(place.version, "numpy", numpy);
	gives(h, code, "[false,[]]");
	again = now_us();
	assert_true(again - from < 5000000);
	gives(h, code, "[false,[]]");
	assert_true(now_us() - again < 1500000);
	gives(h, "1+1", "2");
	redoma_close(h);
}

/* What the run may not need does not fail it. */
static void a_guess_costs_no_run(void **state)
{
	(void)state;
	is_plain("import os\nos._exit(0)\n");
	is_plain("import time\ntime.sleep(60)\n");
	is_plain("import os\nos.kill(os.getpid(), 9)\n");
	is_plain("import time\nx = b'1' * (700 << 20)\ntime.sleep(60)\n");
}

static void fails_with(const char *numpy, const char *says, const char *not)
{
	struct redoma *h = open_with("wall: 20s");
	struct redoma_result *r;
	const char *json;

	put_package(place.version, "numpy", numpy);
	r = run(h, "import numpy");
	json = redoma_result_json(r, NULL);
	assert_int_equal(redoma_result_status(r), REDOMA_STATUS_ERROR);
	if (!strstr(json, says) || strstr(json, not))
		fail_msg("%s", json);
	redoma_result_free(r);
	redoma_close(h);
}

/* An import that fails for want of memory may say anything at its end. */
static void memory_is_no_missing_package(void **state)
{
	static const char lacks[] = "does not have it", more[] = "limits.memory";

	(void)state;
	fails_with("try:\n    raise MemoryError\nexcept MemoryError:\n"
		   "    raise ModuleNotFoundError('x', name='numpy')\n",
		   more, lacks);
	fails_with("try:\n    raise OSError(12, 'x')\nexcept OSError as e:\n"
		   "    raise ImportError('x') from e\n",
		   more, lacks);
	fails_with("raise ImportError('a.so: failed to map segment from "
		   "shared object: Cannot allocate memory')\n",
		   more, lacks);
	fails_with("raise ModuleNotFoundError('x', name='numpy')\n",
		   "ModuleNotFoundError", lacks);
	fails_with("raise ModuleNotFoundError('x', name='lxml')\n", lacks,
		   more);
}

static void what_leaves_something_is_not_kept(void **state)
{
	(void)state;
	is_plain("import threading, time\nthreading.Thread(target=time.sleep, "
		 "args=(60,), daemon=True).start()\n");
	is_plain("import os, time\nif not os.fork():\n    time.sleep(60)\n"
		 "    os._exit(0)\n");
	is_plain("import os, time\np = os.fork()\nif not p:\n"
		 "    if os.fork():\n        os._exit(0)\n"
		 "    time.sleep(60)\n    os._exit(0)\nos.waitpid(p, 0)\n");
	is_plain("open('/tmp/x', 'w').close()\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_for_who_names_it),
		cmocka_unit_test(one_that_fails_stops_nothing),
		cmocka_unit_test(the_next_waits_no_more),
		cmocka_unit_test(a_guess_costs_no_run),
		cmocka_unit_test(memory_is_no_missing_package),
		cmocka_unit_test(what_leaves_something_is_not_kept),
	};

	return cmocka_run_group_tests(tests, set_up, clean_up);
}
