/* What a hostile program leaves in its write directory. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "native/collect.h"

#define STAGES_MAX 8

/* The core's side: the stages that were asked for. */
struct world {
	char top[64], out[80];
	int dir;
	struct collect c;
	struct plan plan;
	struct plan_grant grant;
	int stages[STAGES_MAX];
	unsigned n;
	int refuse; /* errno, or a negative code */
};

static int new_stage(void *data, uint32_t grant, struct str path,
		     uint64_t *ret_handle, int *ret_fd)
{
	struct world *w = data;
	char name[100];

	(void)path;
	assert_int_equal(grant, 0);
	if (w->refuse)
		return w->refuse;
	snprintf(name, sizeof name, "%s/stage", w->top);
	*ret_fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(*ret_fd >= 0);
	unlink(name);
	if (w->n < STAGES_MAX)
		w->stages[w->n] = dup(*ret_fd);
	*ret_handle = 100 + w->n++;
	return 0;
}

static void begin(struct world *w)
{
	const char *tmp = getenv("TMPDIR");

	/* Where programs write is a tmpfs too. */
	if (!access("/dev/shm", W_OK))
		tmp = "/dev/shm";
	*w = (struct world){.grant = {.kind = GRANT_WRITE_DIR,
				      .guest = (char *)"/out",
				      .fd = -1,
				      .max_bytes = 1 << 20,
				      .max_files = 100}};
	snprintf(w->top, sizeof w->top, "%s/collect-XXXXXX",
		 tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(w->top));
	snprintf(w->out, sizeof w->out, "%s/out", w->top);
	assert_int_equal(mkdir(w->out, 0700), 0);
	w->dir = open(w->out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(w->dir >= 0);
	w->plan.grants = &w->grant;
	w->plan.n_grants = 1;
	w->c.stage = new_stage;
	w->c.data = w;
	assert_int_equal(collect_init(&w->c, NULL), 0);
}

static void end(struct world *w)
{
	char line[120];

	for (unsigned i = 0; i < w->n && i < STAGES_MAX; i++)
		close(w->stages[i]);
	collect_done(&w->c);
	close(w->dir);
	snprintf(line, sizeof line, "rm -rf '%s'", w->top);
	assert_int_equal(system(line), 0);
}

static int collect(struct world *w)
{
	return collect_dir(&w->c, &w->plan, 0, w->dir, NULL);
}

static void put(struct world *w, const char *name, const char *text)
{
	int fd = openat(w->dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)),
			 (ssize_t)strlen(text));
	close(fd);
}

static void stage_has(struct world *w, unsigned i, const char *text)
{
	char got[64] = "";

	assert_int_equal(pread(w->stages[i], got, sizeof got, 0),
			 (ssize_t)strlen(text));
	assert_string_equal(got, text);
}

static bool is_denied(const struct world *w, const char *path)
{
	for (uint32_t i = 0; i < w->c.n_denials; i++)
		if (!strcmp(w->c.denials[i].path.p, path))
			return true;
	return false;
}

static void files_of_all_depths(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	mkdirat(w.dir, "a", 0700);
	mkdirat(w.dir, "a/b", 0700);
	mkdirat(w.dir, "empty", 0700);
	put(&w, "a/b/deep", "deep");
	put(&w, "top", "top");
	assert_int_equal(collect(&w), 0);
	assert_int_equal(w.c.n_written, 2);
	assert_string_equal(w.c.written[0].path.p, "a/b/deep");
	assert_string_equal(w.c.written[1].path.p, "top");
	assert_int_equal(w.c.bytes, 7);
	stage_has(&w, (unsigned)w.c.written[0].handle - 100, "deep");
	stage_has(&w, (unsigned)w.c.written[1].handle - 100, "top");
	assert_int_equal(w.c.n_denials, 0);
	end(&w);
}

/* Links out, to itself, to a directory; a FIFO, which nobody writes to; a
 * device; a socket's place is taken by a FIFO of another name. */
static void no_regular_files(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	assert_int_equal(symlinkat("/etc/passwd", w.dir, "passwd"), 0);
	assert_int_equal(symlinkat("loop", w.dir, "loop"), 0);
	assert_int_equal(symlinkat("..", w.dir, "up"), 0);
	assert_int_equal(mkfifoat(w.dir, "fifo", 0600), 0);
	put(&w, "file", "x");
	assert_int_equal(collect(&w), 0);
	assert_int_equal(w.c.n_written, 1);
	assert_string_equal(w.c.written[0].path.p, "file");
	assert_int_equal(w.c.n_denials, 4);
	assert_true(is_denied(&w, "/out/passwd"));
	assert_true(is_denied(&w, "/out/loop"));
	assert_true(is_denied(&w, "/out/up"));
	assert_true(is_denied(&w, "/out/fifo"));
	end(&w);
}

static void a_device(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	if (mknodat(w.dir, "zero", S_IFCHR | 0666, makedev(1, 5)) < 0) {
		end(&w);
		skip();
	}
	assert_int_equal(collect(&w), 0);
	assert_int_equal(w.c.n_written, 0);
	assert_true(is_denied(&w, "/out/zero"));
	end(&w);
}

/* Two names of one file are two files, each counted. */
static void hard_links(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	put(&w, "one", "12345678");
	assert_int_equal(linkat(w.dir, "one", w.dir, "two", 0), 0);
	assert_int_equal(collect(&w), 0);
	assert_int_equal(w.c.n_written, 2);
	assert_int_equal(w.c.bytes, 16);
	end(&w);
	begin(&w);
	w.grant.max_bytes = 15;
	put(&w, "one", "12345678");
	assert_int_equal(linkat(w.dir, "one", w.dir, "two", 0), 0);
	assert_int_equal(collect(&w), 0);
	assert_string_equal(w.c.over, "max_bytes");
	end(&w);
}

static void a_huge_sparse_file(void **state)
{
	uint64_t from = clock_monotonic_us();
	struct world w;
	int fd;

	(void)state;
	begin(&w);
	fd = openat(w.dir, "sparse", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
	close(fd);
	assert_int_equal(collect(&w), 0);
	assert_string_equal(w.c.over, "max_bytes");
	assert_int_equal(w.n, 0);
	assert_true(clock_monotonic_us() - from < 2000000);
	end(&w);
}

static void exactly_max_bytes(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	w.grant.max_bytes = 6;
	put(&w, "a", "123");
	put(&w, "b", "456");
	assert_int_equal(collect(&w), 0);
	assert_null(w.c.over);
	assert_int_equal(w.c.bytes, 6);
	end(&w);
}

static void too_many_files(void **state)
{
	uint64_t from;
	struct world w;
	char name[24];
	int i;

	(void)state;
	begin(&w);
	for (i = 0; i < 100000; i++) {
		snprintf(name, sizeof name, "f%d", i);
		assert_int_equal(mknodat(w.dir, name, S_IFREG | 0600, 0), 0);
	}
	from = clock_monotonic_us();
	assert_int_equal(collect(&w), 0);
	assert_string_equal(w.c.over, "max_files");
	assert_int_equal(w.n, 100);
	assert_true(clock_monotonic_us() - from < 2000000);
	end(&w);
}

static void too_many_directories(void **state)
{
	uint64_t from;
	struct world w;
	char name[24];
	int i;

	(void)state;
	begin(&w);
	for (i = 0; i < (int)COLLECT_LOOKS_MAX + 1; i++) {
		snprintf(name, sizeof name, "d%d", i);
		assert_int_equal(mkdirat(w.dir, name, 0700), 0);
	}
	from = clock_monotonic_us();
	assert_int_equal(collect(&w), 0);
	assert_string_equal(w.c.over, "max_files");
	assert_true(clock_monotonic_us() - from < 5000000);
	end(&w);
}

static void odd_names(void **state)
{
	char name[256];
	struct world w;

	(void)state;
	begin(&w);
	memset(name, 'n', 255);
	name[255] = '\0';
	put(&w, name, "long");
	put(&w, "new\nline", "x");
	put(&w, "\xff\xfe", "x");
	put(&w, "...", "x");
	assert_int_equal(collect(&w), 0);
	assert_int_equal(w.c.n_written, 4);
	end(&w);
}

/* 64 KiB of path: below what can be told, directories go on. */
static void a_path_of_64_kib(void **state)
{
	char name[201];
	struct world w;
	int fd, i;

	(void)state;
	begin(&w);
	memset(name, 'd', 200);
	name[200] = '\0';
	fd = dup(w.dir);
	for (i = 0; i < 328; i++) {
		int next;

		assert_int_equal(mkdirat(fd, name, 0700), 0);
		next = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		close(fd);
		fd = next;
	}
	assert_int_equal(mknodat(fd, "bottom", S_IFREG | 0600, 0), 0);
	close(fd);
	put(&w, "top", "x");
	assert_int_equal(collect(&w), 0);
	assert_int_equal(w.c.n_written, 1);
	assert_int_equal(w.c.n_denials, 1);
	end(&w);
}

struct swapper {
	int dir;
	atomic_bool over;
};

/* The directory becomes a link to the host's and back, for ever. */
static void *swap(void *data)
{
	struct swapper *s = data;

	while (!atomic_load(&s->over)) {
		renameat(s->dir, "d", s->dir, "hidden");
		if (!symlinkat("/etc", s->dir, "d"))
			unlinkat(s->dir, "d", 0);
		renameat(s->dir, "hidden", s->dir, "d");
	}
	return NULL;
}

static void a_directory_is_swapped(void **state)
{
	uint64_t until;
	struct swapper s;
	struct world w;
	pthread_t thread;

	(void)state;
	begin(&w);
	mkdirat(w.dir, "d", 0700);
	put(&w, "d/passwd", "mine");
	s.dir = w.dir;
	atomic_store(&s.over, false);
	assert_int_equal(pthread_create(&thread, NULL, swap, &s), 0);
	until = clock_monotonic_us() + 1000000;
	while (clock_monotonic_us() < until) {
		unsigned i;

		assert_int_equal(collect(&w), 0);
		for (i = 0; i < w.n && i < STAGES_MAX; i++) {
			stage_has(&w, i, "mine");
			close(w.stages[i]);
		}
		w.n = 0;
		collect_done(&w.c);
		assert_int_equal(collect_init(&w.c, NULL), 0);
	}
	atomic_store(&s.over, true);
	pthread_join(thread, NULL);
	end(&w);
}

static void the_core_refuses(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	w.refuse = EILSEQ;
	put(&w, "file", "x");
	assert_int_equal(collect(&w), 0);
	assert_int_equal(w.c.n_written, 0);
	assert_true(is_denied(&w, "/out/file"));
	end(&w);
	begin(&w);
	w.refuse = REDOMA_E_WORKER;
	put(&w, "file", "x");
	assert_int_equal(collect(&w), REDOMA_E_WORKER);
	end(&w);
	begin(&w);
	w.refuse = EMFILE; /* the core's want, not the program's doing */
	put(&w, "file", "x");
	assert_int_equal(collect(&w), REDOMA_E_SYSTEM);
	end(&w);
}

/* A single file: `name` of the grant, in a directory of its own. */
static int collect_one(struct world *w, const char *text, bool touch)
{
	struct timespec t[2] = {{0, 0}, {0, 0}};
	char name[100];

	w->grant.kind = GRANT_WRITE_FILE;
	w->grant.guest = (char *)"/out/report";
	snprintf(name, sizeof name, "%s/stage", w->top);
	w->grant.fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(w->grant.fd >= 0);
	if (text)
		put(w, "report", text);
	if (!touch)
		utimensat(w->dir, "report", t, 0);
	return collect_file(&w->c, &w->plan, 0, w->dir, NULL);
}

static void a_single_file(void **state)
{
	char got[16] = "";
	struct world w;

	(void)state;
	begin(&w);
	assert_int_equal(collect_one(&w, "hello", true), 0);
	assert_int_equal(w.c.n_written, 1);
	assert_int_equal(w.c.written[0].handle, 0);
	assert_int_equal(w.c.written[0].path.len, 0);
	assert_int_equal(pread(w.grant.fd, got, sizeof got, 0), 5);
	assert_string_equal(got, "hello");
	close(w.grant.fd);
	end(&w);
	/* Emptied on purpose, or never touched. */
	begin(&w);
	assert_int_equal(collect_one(&w, "", true), 0);
	assert_int_equal(w.c.n_written, 1);
	close(w.grant.fd);
	end(&w);
	begin(&w);
	assert_int_equal(collect_one(&w, "", false), 0);
	assert_int_equal(w.c.n_written, 0);
	assert_int_equal(w.c.n_denials, 0);
	close(w.grant.fd);
	end(&w);
}

static void a_single_file_that_is_none(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	assert_int_equal(symlinkat("/etc/passwd", w.dir, "report"), 0);
	assert_int_equal(collect_one(&w, NULL, true), 0);
	assert_int_equal(w.c.n_written, 0);
	assert_true(is_denied(&w, "/out/report"));
	close(w.grant.fd);
	end(&w);
	begin(&w);
	assert_int_equal(mkfifoat(w.dir, "report", 0600), 0);
	assert_int_equal(collect_one(&w, NULL, true), 0);
	assert_int_equal(w.c.n_written, 0);
	close(w.grant.fd);
	end(&w);
	begin(&w);
	w.grant.max_bytes = 4;
	assert_int_equal(collect_one(&w, "hello", true), 0);
	assert_string_equal(w.c.over, "max_bytes");
	close(w.grant.fd);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_all_depths),
		cmocka_unit_test(no_regular_files),
		cmocka_unit_test(a_device),
		cmocka_unit_test(hard_links),
		cmocka_unit_test(a_huge_sparse_file),
		cmocka_unit_test(exactly_max_bytes),
		cmocka_unit_test(too_many_files),
		cmocka_unit_test(too_many_directories),
		cmocka_unit_test(odd_names),
		cmocka_unit_test(a_path_of_64_kib),
		cmocka_unit_test(a_directory_is_swapped),
		cmocka_unit_test(the_core_refuses),
		cmocka_unit_test(a_single_file),
		cmocka_unit_test(a_single_file_that_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
