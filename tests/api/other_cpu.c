/* An installation whose images were made for another CPU, or do not load for
 * another reason: they are compiled here, once, and kept; where that cannot be
 * done a sentence says so.  The images are this build's with one feature that
 * this CPU lacks said to be needed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

#define FLAG_ROOM 64
#define NAME_DIGITS 64

static char top[128];
static char reason[64]; /* what is said of the faked images */

static const char *below(const char *name)
{
	static char path[8][256];
	static unsigned next;
	char *p = path[next++ % 8];

	snprintf(p, sizeof path[0], "%s/%s", top, name);
	return p;
}

static char *slurp(const char *path, size_t *ret_len)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *p;

	if (fd < 0 || fstat(fd, &st))
		fail_msg("%s: %s", path, strerror(errno));
	p = malloc((size_t)st.st_size + 1);
	assert_non_null(p);
	*ret_len = (size_t)st.st_size;
	assert_int_equal(read(fd, p, *ret_len), st.st_size);
	p[*ret_len] = '\0';
	close(fd);
	return p;
}

static void spill(const char *path, const void *p, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, len), (ssize_t)len);
	close(fd);
}

/* Does this CPU have it?  The names are those of /proc/cpuinfo. */
static bool cpu_has(const char *feature)
{
	char text[1 << 14], word[FLAG_ROOM];
	FILE *f = fopen("/proc/cpuinfo", "re");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof text - 2, f);
	fclose(f);
	for (size_t i = 0; i < n; i++)
		if (text[i] == '\n' || !text[i])
			text[i] = ' ';
	text[n] = ' ';
	text[n + 1] = '\0';
	snprintf(word, sizeof word, " %s ", feature);
	return strstr(text, word) != NULL;
}

/* In an artefact a feature is its name, 2, and whether the code uses it. */
static char *find_flag(char *p, size_t len, const char *feature)
{
	char flag[FLAG_ROOM];
	int n = snprintf(flag, sizeof flag, "has_%s\2", feature);

	return memmem(p, len, flag, (size_t)n);
}

static void fake_need(char *p, size_t len)
{
	static const char *const some[] = {"avx_vnni", "avx512f", "avx2",
					   "avx", "sse3"};
	char *at;

	for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
		at = find_flag(p, len, some[i]);
		if (!at || cpu_has(some[i]))
			continue;
		at += strlen("has_") + strlen(some[i]) + 1;
		assert_int_equal(*at, 0);
		*at = 1;
		snprintf(reason, sizeof reason, "needs %s, which this CPU lacks",
			 some[i]);
		return;
	}
	/* It has all: a feature that no CPU is known to have. */
	at = memmem(p, len, "has_", 4);
	assert_non_null(at);
	memcpy(at, "had_", 4);
	at = memchr(at, 2, FLAG_ROOM);
	assert_non_null(at);
	at[1] = 1;
	snprintf(reason, sizeof reason, "does not load: ");
}

static void put_image(const char *name, bool faked)
{
	char from[256], to[64];
	size_t len;
	char *p;

	snprintf(from, sizeof from, "%s/images/%s", TEST_BUILD, name);
	snprintf(to, sizeof to, "install/images/%s", name);
	p = slurp(from, &len);
	if (faked)
		fake_need(p, len);
	spill(below(to), p, len);
	free(p);
}

static void link_part(const char *name)
{
	char from[256], to[64];

	snprintf(from, sizeof from, "%s/%s", TEST_BUILD, name);
	snprintf(to, sizeof to, "install/%s", name);
	unlink(below(to));
	assert_int_equal(symlink(from, below(to)), 0);
}

static void empty_cache(void)
{
	struct dirent *e;
	DIR *d;

	mkdir(below("cache"), 0700);
	d = opendir(below("cache"));
	assert_non_null(d);
	while ((e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	chmod(below("cache"), 0700);
}

static int make_install(void **state)
{
	static const char *const parts[] = {"redoma-worker", "redoma-usher",
					    "redoma-compile", "redoma-init"};

	(void)state;
	mkdir(below("install"), 0755);
	mkdir(below("install/images"), 0755);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		link_part(parts[i]);
	put_image("js.cwasm", true);
	put_image("js.fuel.cwasm", true);
	put_image("js.wasm", false);
	empty_cache();
	return 0;
}

struct ask {
	struct redoma *h;
	const char *policy;
	const char *cache;
	bool single, cancels;
	int waits, ends; /* calls of on_wait */
};

static void on_wait(void *data, const char *what)
{
	struct ask *a = data;

	if (!what) {
		a->ends++;
		return;
	}
	a->waits++;
	assert_non_null(strstr(what, "js.wasm"));
	if (a->cancels)
		redoma_cancel(a->h);
}

static int run(struct ask *a, struct redoma_result **ret,
	       struct redoma_error *err)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_policy *p = NULL;
	const char *policy = a->policy ? a->policy : "redoma: 1\n";
	int r;

	o.install_dir = below("install");
	o.cache_dir = a->cache ? a->cache : below("cache");
	o.single = a->single;
	o.warm = 1;
	q.language = "js";
	q.source = "6*7";
	q.source_len = 3;
	q.on_wait = on_wait;
	q.on_wait_data = a;
	assert_int_equal(redoma_policy_parse(policy, strlen(policy), ".", &p,
					     err), 0);
	r = redoma_open(p, &o, &a->h, err);
	if (!r)
		r = redoma_run(a->h, &q, ret, err);
	redoma_close(a->h);
	redoma_policy_free(p);
	return r;
}

static void runs_as(struct ask a)
{
	struct redoma_result *res = NULL;
	struct redoma_error err = {0};
	const char *value;
	uint64_t len;

	if (run(&a, &res, &err))
		fail_msg("%s", err.text);
	assert_int_equal(redoma_result_status(res), REDOMA_STATUS_OK);
	value = redoma_result_value(res, &len);
	assert_int_equal(len, 2);
	assert_memory_equal(value, "42", 2);
	redoma_result_free(res);
	assert_int_equal(a.waits, a.ends);
}

#define RUNS(...) runs_as((struct ask){__VA_ARGS__})

static void refuses_as(struct ask a, const char *obstacle)
{
	static const char remedy[] = "; put that right, or build Redoma here";
	struct redoma_result *res = NULL;
	struct redoma_error err = {0};
	size_t len;

	assert_int_equal(run(&a, &res, &err), REDOMA_E_UNSUPPORTED);
	assert_null(res);
	len = strlen(err.text);
	if (!strstr(err.text, "images/js.cwasm ") ||
	    !strstr(err.text, reason) || !strstr(err.text, obstacle) ||
	    len < sizeof remedy || strcmp(err.text + len + 1 - sizeof remedy,
					  remedy))
		fail_msg("%s", err.text);
}

/* Entries in the cache; ret_ino and the name are of one of them. */
static int kept(ino_t *ret_ino, char name[NAME_DIGITS + 1])
{
	DIR *d = opendir(below("cache"));
	struct dirent *e;
	int n = 0;

	assert_non_null(d);
	while ((e = readdir(d))) {
		if (strlen(e->d_name) != NAME_DIGITS)
			continue;
		n++;
		*ret_ino = e->d_ino;
		memcpy(name, e->d_name, NAME_DIGITS + 1);
	}
	closedir(d);
	return n;
}

static void is_compiled_once_and_kept(void **state)
{
	char name[NAME_DIGITS + 1];
	ino_t first = 0, later = 1;

	(void)state;
	RUNS(.single = true);
	assert_int_equal(kept(&first, name), 1);
	RUNS(.single = true);
	RUNS(.single = false);
	RUNS(.policy = "redoma: 1\nreuse: tenant\n");
	assert_int_equal(kept(&later, name), 1);
	assert_true(first == later);
	RUNS(.policy = "redoma: 1\nlimits: {fuel: 100000000}\n");
	assert_int_equal(kept(&later, name), 2);
}

/* The control of all others: an image that fits asks for nothing. */
static void one_that_fits_is_not_compiled(void **state)
{
	char name[NAME_DIGITS + 1];
	ino_t ino;

	(void)state;
	put_image("js.cwasm", false);
	unlink(below("install/redoma-compile"));
	unlink(below("install/images/js.wasm"));
	RUNS(.single = true);
	assert_int_equal(kept(&ino, name), 0);
}

static void one_that_is_cut_off_is_compiled(void **state)
{
	char name[NAME_DIGITS + 1];
	size_t len;
	char *p = slurp(below("install/images/js.cwasm"), &len);
	ino_t ino;

	(void)state;
	spill(below("install/images/js.cwasm"), p, len / 2);
	free(p);
	RUNS(.single = true);
	assert_int_equal(kept(&ino, name), 1);
}

static void an_entry_that_was_changed_is_never_loaded(void **state)
{
	char name[NAME_DIGITS + 1], path[128];
	size_t len, again;
	char *p, *q;
	ino_t ino;

	(void)state;
	RUNS(.single = true);
	assert_int_equal(kept(&ino, name), 1);
	snprintf(path, sizeof path, "cache/%s", name);
	p = slurp(below(path), &len);
	p[len - 1] ^= 1;
	spill(below(path), p, len);
	p[len - 1] ^= 1;
	RUNS(.single = true);
	q = slurp(below(path), &again);
	assert_int_equal(again, len);
	assert_memory_equal(p, q, len);
	free(p);
	free(q);
}

static void says_what_is_in_the_way(void **state)
{
	static const char half[] = "\0asm\1\0\0\0\1";

	(void)state;
	spill(below("file"), "", 0);
	refuses_as((struct ask){.cache = below("file/cache")}, "file");
	assert_int_equal(chmod(below("cache"), 0777), 0);
	refuses_as((struct ask){0}, "cannot be used");
	refuses_as((struct ask){.single = true},
		   "others can write to it; chmod go-w");
	assert_int_equal(chmod(below("cache"), 0700), 0);
	spill(below("install/images/js.wasm"), half, sizeof half - 1);
	refuses_as((struct ask){.single = true}, "not a valid module");
	unlink(below("install/images/js.wasm"));
	refuses_as((struct ask){.single = true}, "images/js.wasm is missing");
	put_image("js.wasm", false);
	unlink(below("install/redoma-compile"));
	refuses_as((struct ask){.single = true}, "redoma-compile is missing");
	link_part("redoma-compile");
	RUNS(.single = true);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void a_wait_is_told_and_can_be_cancelled(void **state)
{
	struct ask a = {.single = true, .cancels = true};
	struct redoma_result *res = NULL;
	struct redoma_error err = {0};
	char name[NAME_DIGITS + 1];
	uint64_t from = now_ms();
	ino_t ino;

	(void)state;
	if (run(&a, &res, &err))
		fail_msg("%s", err.text);
	assert_int_equal(a.waits, a.ends);
	if (a.waits) {
		assert_int_equal(a.waits, 1);
		assert_int_equal(redoma_result_status(res),
				 REDOMA_STATUS_CANCELLED);
		assert_int_equal(kept(&ino, name), 0);
	} else {
		/* So quick a machine has nothing to tell. */
		assert_in_range(now_ms() - from, 0, 1000);
	}
	redoma_result_free(res);
	RUNS(.single = true);
}

static void doctor_says(const char *what)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_error err = {0};
	char *text = NULL;

	o.install_dir = below("install");
	o.cache_dir = below("cache");
	if (redoma_doctor(&o, &text, &err))
		fail_msg("%s", err.text);
	if (!strstr(text, what))
		fail_msg("no %s in %s", what, text);
	redoma_free(text);
}

static void doctor_tells_which_it_is(void **state)
{
	char name[NAME_DIGITS + 1];
	ino_t ino;

	(void)state;
	doctor_says("{\"name\":\"js.cwasm\",\"state\":\"replaced\"");
	doctor_says("{\"name\":\"js.fuel.cwasm\",\"state\":\"replaced\"");
	doctor_says(reason);
	assert_int_equal(kept(&ino, name), 0); /* it only asks */
	unlink(below("install/redoma-compile"));
	doctor_says("{\"name\":\"js.cwasm\",\"state\":\"unfit\"");
	doctor_says("redoma-compile is missing");
	put_image("js.cwasm", false);
	doctor_says("{\"name\":\"js.cwasm\",\"state\":\"ready\"}");
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(is_compiled_once_and_kept, make_install),
		cmocka_unit_test_setup(one_that_fits_is_not_compiled,
				       make_install),
		cmocka_unit_test_setup(one_that_is_cut_off_is_compiled,
				       make_install),
		cmocka_unit_test_setup(
			an_entry_that_was_changed_is_never_loaded,
			make_install),
		cmocka_unit_test_setup(says_what_is_in_the_way, make_install),
		cmocka_unit_test_setup(a_wait_is_told_and_can_be_cancelled,
				       make_install),
		cmocka_unit_test_setup(doctor_tells_which_it_is, make_install),
	};

	snprintf(top, sizeof top, "%s/other-cpu-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(top))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
