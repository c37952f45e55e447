/* The cache of artefacts against whoever can write to it.  The compiler is a
 * stand-in: this program itself, which counts how often it was asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/hash.h"
#include "pool/cache.h"

#define ARTEFACT_BYTES 40000
#define ROOM 512 /* of a path */

static char root[64];		 /* of one test */
static char self[PATH_MAX];	 /* this program */
static char log_path[80];	 /* one byte for each compilation */

/* The stand-in: its artefact is the module, repeated; or, if the module says
 * so, a hole of that many bytes. */
static int act_as_compiler(void)
{
	struct compile_report r = {.abi = COMPILE_ABI};
	const struct timespec slow = {.tv_nsec = 50000000};
	char name[PATH_MAX], module[4096];
	ssize_t n = read(COMPILE_IN, module, sizeof(module) - 1);
	const char *hole;
	int log;

	/* The module's text is the path of the log, then anything. */
	snprintf(name, sizeof(name), "%.*s", n > 0 ? (int)n : 0, module);
	name[strcspn(name, "\n")] = '\0';
	log = open(name, O_WRONLY | O_APPEND | O_CREAT, 0600);
	if (log < 0 || write(log, ".", 1) != 1)
		return 1;
	module[n] = '\0';
	hole = strstr(module, "\nhole ");
	if (hole && ftruncate(COMPILE_OUT, strtoll(hole + 6, NULL, 10)))
		return 1;
	nanosleep(&slow, NULL);
	for (ssize_t at = hole ? ARTEFACT_BYTES : 0; at < ARTEFACT_BYTES; at += n)
		if (write(COMPILE_OUT, module, (size_t)n) != n)
			return 1;
	return fd_write_all(COMPILE_REPORT, &r, sizeof(r)) != 0;
}

static long compiled(void)
{
	struct stat st;

	return stat(log_path, &st) ? 0 : (long)st.st_size;
}

static void path(char *ret, const char *name)
{
	snprintf(ret, ROOM, "%s/%.400s", root, name);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/redoma-cache-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	snprintf(log_path, sizeof(log_path), "%s/log", root);
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

static struct cache *open_cache(uint64_t max_bytes)
{
	char dir[ROOM], key[ROOM];
	struct cache_options o = {.dir = dir, .key_file = key,
				  .max_bytes = max_bytes};
	struct cache *c = NULL;

	path(dir, "a/b/modules");
	path(key, "state/cache.key");
	assert_int_equal(cache_open(&o, &c, NULL), 0);
	return c;
}

static void close_cache(struct cache **c)
{
	cache_free(*c);
}

/* The artefact of module number `n` is right; true: it was compiled now. */
static bool ask(struct cache *c, int n, bool fuel)
{
	struct compile_options o = {.program = self, .profile = fuel ? PROFILE_MODULE_FUEL
								 : PROFILE_MODULE};
	CLEANUP_FD int fd = -1;
	uint8_t digest[CACHE_DIGEST];
	struct redoma_error err = {0};
	char module[128], back[128];
	bool made = false;
	int len = snprintf(module, sizeof(module), "%s\n%d", log_path, n);

	hash_sha256(module, (size_t)len, digest);
	if (cache_artefact(c, &o,
			   &(struct cache_module){module, (size_t)len, digest},
			   &fd, &made, &err))
		print_error("%s\n", err.text);
	assert_true(fd >= 3);
	assert_int_equal(pread(fd, back, (size_t)len, 0), len);
	assert_memory_equal(back, module, (size_t)len);
	assert_true(fcntl(fd, F_GET_SEALS) & F_SEAL_WRITE);
	return made;
}

/* The same, by a process that has nothing in memory. */
static bool ask_anew(int n)
{
	CLEANUP(close_cache) struct cache *c = open_cache(0);

	return ask(c, n, false);
}

/* The entries' names, at most `max`. */
static size_t list(char names[][NAME_MAX + 1], size_t max)
{
	char dir[ROOM];
	struct dirent *e;
	size_t n = 0;
	DIR *d;

	path(dir, "a/b/modules");
	d = opendir(dir);
	assert_non_null(d);
	while ((e = readdir(d)))
		if (e->d_name[0] != '.' && n < max)
			snprintf(names[n++], NAME_MAX + 1, "%s", e->d_name);
	closedir(d);
	return n;
}

/* The only entry's path. */
static void entry_path(char *ret)
{
	char names[4][NAME_MAX + 1], tail[ROOM];

	assert_int_equal(list(names, 4), 1);
	snprintf(tail, sizeof(tail), "a/b/modules/%s", names[0]);
	path(ret, tail);
}

/* What comes of an artefact of so many bytes. */
static int ask_hole(struct cache *c, uint64_t bytes, struct redoma_error *err)
{
	struct compile_options o = {.program = self};
	uint8_t digest[CACHE_DIGEST];
	CLEANUP_FD int fd = -1;
	char module[160];
	int len = snprintf(module, sizeof(module), "%s\nhole %llu", log_path,
			   (unsigned long long)bytes);

	hash_sha256(module, (size_t)len, digest);
	return cache_artefact(c, &o,
			      &(struct cache_module){module, (size_t)len,
						     digest},
			      &fd, NULL, err);
}

static void an_artefact_over_the_cap_is_refused(void **state)
{
	struct cache_options none = {0}; /* no file: it would be 256 MiB */
	CLEANUP(close_cache) struct cache *c = NULL;
	struct redoma_error err = {0};

	(void)state;
	assert_int_equal(cache_open(&none, &c, NULL), 0);
	assert_int_equal(ask_hole(c, COMPILE_ARTEFACT, &err), 0);
	assert_int_equal(ask_hole(c, COMPILE_ARTEFACT + 1, &err),
			 REDOMA_E_WORKER);
	assert_non_null(strstr(err.text, "a module of 268435457 bytes"));
	assert_int_equal(ask_hole(c, 0, &err), REDOMA_E_WORKER);
	assert_int_equal(ask_hole(c, (uint64_t)1 << 40, &err),
			 REDOMA_E_WORKER);
}

static void bytes_that_changed_are_not_compiled(void **state)
{
	CLEANUP(close_cache) struct cache *c = open_cache(0);
	struct compile_options o = {.program = self};
	uint8_t digest[CACHE_DIGEST] = {1};
	struct redoma_error err = {0};
	char names[4][NAME_MAX + 1];
	int fd = -1;

	(void)state;
	assert_int_equal(cache_artefact(c, &o,
					&(struct cache_module){log_path, 8,
							       digest},
					&fd, NULL, &err),
			 REDOMA_E_INVALID);
	assert_non_null(strstr(err.text, "changed while it was read"));
	assert_int_equal(compiled(), 0);
	assert_int_equal(list(names, 4), 0);
	assert_int_equal(fd, -1);
}

static void a_module_is_compiled_once(void **state)
{
	CLEANUP(close_cache) struct cache *c = open_cache(0);
	char names[4][NAME_MAX + 1];

	(void)state;
	assert_null(cache_problem(c));
	assert_true(ask(c, 1, false));
	assert_false(ask(c, 1, false));
	assert_false(ask_anew(1));
	assert_int_equal(compiled(), 1);
	assert_int_equal(list(names, 4), 1); /* no lock, nothing temporary */
	assert_true(ask(c, 1, true));
	assert_true(ask(c, 2, false));
	assert_int_equal(compiled(), 3);
	for (int i = 10; i < 30; i++)
		assert_true(ask(c, i, false));
	assert_false(ask(c, 1, false)); /* forgotten in memory, not on disk */
}

static void everything_is_made_private(void **state)
{
	CLEANUP(close_cache) struct cache *c = open_cache(0);
	char p[ROOM];
	struct stat st;

	(void)state;
	ask(c, 1, false);
	entry_path(p);
	assert_int_equal(stat(p, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	path(p, "state/cache.key");
	assert_int_equal(stat(p, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_size, 32);
	assert_int_equal(st.st_nlink, 1);
	path(p, "a/b/modules");
	assert_int_equal(stat(p, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
}

static void flip(const char *p, off_t at)
{
	CLEANUP_FD int fd = open(p, O_RDWR);
	unsigned char b;

	assert_int_equal(pread(fd, &b, 1, at), 1);
	b ^= 0x10;
	assert_int_equal(pwrite(fd, &b, 1, at), 1);
}

static void a_flipped_bit_anywhere_is_found(void **state)
{
	/* MAC, magic, version, name, length, artefact */
	static const off_t at[] = {0,  31, 32, 36, 40, 71,
				   72, 79, 80, 81, 20000, 40000};
	char p[ROOM];

	(void)state;
	assert_true(ask_anew(1));
	entry_path(p);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		long before = compiled();

		flip(p, at[i]);
		assert_true(ask_anew(1));
		assert_int_equal(compiled(), before + 1);
		assert_false(ask_anew(1));
	}
}

static void a_cut_or_grown_file_is_found(void **state)
{
	static const off_t sizes[] = {0, 1, 32, 79, 80, 81, 30000, 50000};
	char p[ROOM];

	(void)state;
	assert_true(ask_anew(1));
	entry_path(p);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(truncate(p, sizes[i]), 0);
		assert_true(ask_anew(1));
		assert_false(ask_anew(1));
	}
}

static void swapped_entries_are_found(void **state)
{
	char names[4][NAME_MAX + 1], a[ROOM], b[ROOM], t[ROOM];

	(void)state;
	assert_true(ask_anew(1));
	assert_true(ask_anew(2));
	assert_int_equal(list(names, 4), 2);
	snprintf(t, sizeof(t), "a/b/modules/%s", names[0]);
	path(a, t);
	snprintf(t, sizeof(t), "a/b/modules/%s", names[1]);
	path(b, t);
	path(t, "aside");
	assert_int_equal(rename(a, t), 0);
	assert_int_equal(rename(b, a), 0);
	assert_int_equal(rename(t, b), 0);
	assert_true(ask_anew(1));
	assert_true(ask_anew(2));
	assert_false(ask_anew(1));
}

static void another_key_makes_old_entries_void(void **state)
{
	char p[ROOM];

	(void)state;
	assert_true(ask_anew(1));
	path(p, "state/cache.key");
	flip(p, 5);
	assert_true(ask_anew(1));
	assert_false(ask_anew(1));
}

static void foreign_files_are_not_read(void **state)
{
	char p[ROOM], other[ROOM];

	(void)state;
	assert_true(ask_anew(1));
	entry_path(p);
	path(other, "other");
	assert_int_equal(chmod(p, 0620), 0); /* others could have written */
	assert_true(ask_anew(1));
	if (!geteuid()) {
		assert_int_equal(chown(p, 12345, 12345), 0);
		assert_true(ask_anew(1));
	}
	assert_int_equal(rename(p, other), 0); /* a link to a good entry */
	assert_int_equal(symlink(other, p), 0);
	assert_true(ask_anew(1));
	assert_int_equal(unlink(p), 0);
	assert_int_equal(mkfifo(p, 0600), 0); /* must not hang */
	assert_true(ask_anew(1));
	assert_false(ask_anew(1));
}

static void a_cache_that_others_can_write_is_not_used(void **state)
{
	char p[ROOM];
	struct cache *c;

	(void)state;
	assert_true(ask_anew(1));
	path(p, "a/b/modules");
	assert_int_equal(chmod(p, 0770), 0);
	c = open_cache(0);
	assert_non_null(strstr(cache_problem(c), "others can write"));
	assert_true(ask(c, 1, false));
	assert_false(ask(c, 1, false)); /* in memory all the same */
	cache_free(c);
	assert_true(ask_anew(1));
	assert_int_equal(chmod(p, 0700), 0);
	path(p, "state/cache.key");
	assert_int_equal(chmod(p, 0644), 0);
	c = open_cache(0);
	assert_non_null(strstr(cache_problem(c), "can be read by others"));
	cache_free(c);
	assert_int_equal(chmod(p, 0600), 0);
	assert_int_equal(truncate(p, 31), 0);
	c = open_cache(0);
	assert_non_null(strstr(cache_problem(c), "is damaged"));
	assert_true(ask(c, 1, false));
	cache_free(c);
}

static void without_a_directory_it_compiles(void **state)
{
	struct cache_options none = {0};
	struct cache_options odd = {.dir = "/proc/nowhere",
				    .key_file = "/proc/none.key"};
	struct cache *c = NULL;

	(void)state;
	assert_int_equal(cache_open(&none, &c, NULL), 0);
	assert_non_null(cache_problem(c));
	assert_true(ask(c, 1, false));
	cache_free(c);
	assert_int_equal(cache_open(&odd, &c, NULL), 0);
	assert_non_null(cache_problem(c));
	assert_true(ask(c, 1, false));
	cache_free(c);
	cache_free(NULL);
}

static void many_processes_compile_once(void **state)
{
	enum { PROCESSES = 8 };
	pid_t pids[PROCESSES];

	(void)state;
	for (int i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (!pids[i])
			_exit(ask_anew(7) ? 1 : 0);
	}
	for (int i = 0, made = 0; i < PROCESSES; i++) {
		int status = 0;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status));
		made += WEXITSTATUS(status);
		assert_true(made <= 1);
	}
	assert_int_equal(compiled(), 1);
	/* and all of them made the key at once: it is one and the same */
	assert_false(ask_anew(7));
}

static void what_was_not_used_for_longest_goes(void **state)
{
	struct timespec tick = {.tv_nsec = 5000000};
	struct cache *c = open_cache(3 * (ARTEFACT_BYTES + 1000));
	char names[9][NAME_MAX + 1];

	(void)state;
	for (int i = 1; i <= 3; i++) {
		assert_true(ask(c, i, false));
		nanosleep(&tick, NULL);
	}
	assert_false(ask_anew(1)); /* used again */
	nanosleep(&tick, NULL);
	assert_true(ask(c, 4, false));
	cache_free(c);
	assert_int_equal(list(names, 9), 3);
	assert_false(ask_anew(1));
	assert_false(ask_anew(3));
	assert_true(ask_anew(2));
}

static void leavings_of_the_dead_are_removed(void **state)
{
	struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	char p[ROOM];

	(void)state;
	assert_true(ask_anew(1));
	path(p, "a/b/modules/tmp-0123456789abcdef");
	close(open(p, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(utimensat(AT_FDCWD, p, old, 0), 0);
	assert_true(ask_anew(2));
	assert_int_equal(access(p, F_OK), -1);
}

static void another_build_of_the_compiler_is_another_entry(void **state)
{
	CLEANUP(close_cache) struct cache *c = open_cache(0);
	char copy[ROOM], command[PATH_MAX + ROOM + 32];
	struct compile_options o = {.program = copy};
	uint8_t digest[CACHE_DIGEST];
	char module[128];
	struct cache_module m = {.p = module, .digest = digest};
	bool made = false;
	int fd = -1;

	(void)state;
	path(copy, "compiler");
	snprintf(command, sizeof(command), "cp '%s' '%s'", self, copy);
	m.len = (size_t)snprintf(module, sizeof(module), "%s\nx", log_path);
	hash_sha256(module, m.len, digest);
	for (int i = 0; i < 2; i++) {
		const struct timespec pause = {.tv_nsec = 20000000};

		assert_int_equal(system(command), 0);
		assert_int_equal(cache_artefact(c, &o, &m, &fd, &made, NULL),
				 0);
		assert_true(made);
		close(fd);
		nanosleep(&pause, NULL);
	}
}

static void a_module_over_the_size_is_refused(void **state)
{
	CLEANUP(close_cache) struct cache *c = open_cache(0);
	struct compile_options o = {.program = self};
	uint8_t digest[CACHE_DIGEST] = {1};
	size_t n = ((size_t)64 << 20) + 1;
	char *module = calloc(1, n);
	struct redoma_error err;
	int fd = -1;

	(void)state;
	assert_non_null(module);
	assert_int_equal(cache_artefact(c, &o,
					&(struct cache_module){module, n,
							       digest},
					&fd, NULL, &err),
			 REDOMA_E_INVALID);
	assert_non_null(strstr(err.text, "at most 64"));
	free(module);
}

#define case(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		case(a_module_is_compiled_once),
		case(an_artefact_over_the_cap_is_refused),
		case(bytes_that_changed_are_not_compiled),
		case(everything_is_made_private),
		case(a_flipped_bit_anywhere_is_found),
		case(a_cut_or_grown_file_is_found),
		case(swapped_entries_are_found),
		case(another_key_makes_old_entries_void),
		case(foreign_files_are_not_read),
		case(a_cache_that_others_can_write_is_not_used),
		case(without_a_directory_it_compiles),
		case(many_processes_compile_once),
		case(what_was_not_used_for_longest_goes),
		case(leavings_of_the_dead_are_removed),
		case(another_build_of_the_compiler_is_another_entry),
		case(a_module_over_the_size_is_refused),
	};

	if (argc == 4 && !strcmp(argv[1], "--module"))
		return act_as_compiler();
	if (!realpath("/proc/self/exe", self))
		return 1;
	(void)argv;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
