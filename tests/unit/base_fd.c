/* Opening below a directory, sealed memory, reading and writing all. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/fd.h"

struct place {
	char path[64];
	int dir;
};

static void put_file(int dir, const char *name, const char *text)
{
	CLEANUP_FD int fd = openat(dir, name, O_CREAT | O_WRONLY | O_CLOEXEC,
				   0600);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
}

static int set_up(void **state)
{
	struct place *p = calloc(1, sizeof *p);

	strcpy(p->path, "/tmp/redoma-fd-XXXXXX");
	assert_non_null(mkdtemp(p->path));
	p->dir = open(p->path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	assert_true(p->dir >= 0);
	put_file(p->dir, "a", "inside");
	assert_int_equal(mkdirat(p->dir, "sub", 0700), 0);
	assert_int_equal(symlinkat("../a", p->dir, "sub/up"), 0);
	assert_int_equal(symlinkat("a", p->dir, "same"), 0);
	assert_int_equal(symlinkat("/etc/passwd", p->dir, "abs"), 0);
	assert_int_equal(symlinkat("../..", p->dir, "sub/out"), 0);
	assert_int_equal(symlinkat("loop", p->dir, "loop"), 0);
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct place *p = *state;
	static const char *const names[] = {"a", "sub/up", "same", "abs",
					    "sub/out", "loop", "new", NULL};

	for (size_t i = 0; names[i]; i++)
		unlinkat(p->dir, names[i], 0);
	unlinkat(p->dir, "sub", AT_REMOVEDIR);
	close(p->dir);
	rmdir(p->path);
	free(p);
	return 0;
}

static int try_open(const struct place *p, const char *path,
		    enum fd_links links)
{
	CLEANUP_FD int fd = fd_open_beneath(p->dir, path, O_RDONLY, 0, links);

	if (fd < 0)
		return errno;
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	return 0;
}

static void opens_only_beneath(void **state)
{
	const struct place *p = *state;

	assert_int_equal(try_open(p, "a", FD_LINKS_NONE), 0);
	assert_int_equal(try_open(p, "sub/../a", FD_LINKS_NONE), 0);
	assert_int_equal(try_open(p, "same", FD_LINKS_INSIDE), 0);
	assert_int_equal(try_open(p, "same", FD_LINKS_NONE), ELOOP);
	assert_int_equal(try_open(p, "sub/up", FD_LINKS_INSIDE), 0);
	assert_int_equal(try_open(p, "sub/up", FD_LINKS_NONE), ELOOP);
	assert_int_equal(try_open(p, "abs", FD_LINKS_INSIDE), EXDEV);
	assert_int_equal(try_open(p, "sub/out", FD_LINKS_INSIDE), EXDEV);
	assert_int_equal(try_open(p, "../x", FD_LINKS_INSIDE), EXDEV);
	assert_int_equal(try_open(p, "/etc/passwd", FD_LINKS_INSIDE), EXDEV);
	assert_int_equal(try_open(p, "loop", FD_LINKS_INSIDE), ELOOP);
	assert_int_equal(try_open(p, "none", FD_LINKS_INSIDE), ENOENT);
	assert_int_equal(try_open(p, "a/b", FD_LINKS_INSIDE), ENOTDIR);
	assert_int_equal(try_open(p, "", FD_LINKS_INSIDE), ENOENT);
}

static void creates_with_the_mode_given(void **state)
{
	const struct place *p = *state;
	CLEANUP_FD int fd = fd_open_beneath(p->dir, "new",
					    O_CREAT | O_EXCL | O_RDWR, 0640,
					    FD_LINKS_NONE);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 0737, 0600);
}

static void avoids_the_standard_descriptors(void **state)
{
	const struct place *p = *state;
	CLEANUP_FD int keep = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
	CLEANUP_FD int fd = -1, sealed = -1;

	close(STDIN_FILENO);
	fd = fd_open_beneath(p->dir, "a", O_RDONLY, 0, FD_LINKS_NONE);
	sealed = fd_sealed("test", "x", 1);
	assert_true(fd > 2 && sealed > 2);
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	if (keep >= 0)
		dup2(keep, STDIN_FILENO);
	errno = EPERM;
	assert_int_equal(fd_lift(-1), -1);
	assert_int_equal(errno, EPERM);
}

static void seals_for_good(void **state)
{
	CLEANUP_FD int fd = fd_sealed("test", "hello", 5);
	char text[8] = "";

	(void)state;
	assert_true(fd > 2);
	assert_int_equal(read(fd, text, sizeof text), 5);
	assert_string_equal(text, "hello");
	assert_int_equal(write(fd, "x", 1), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(ftruncate(fd, 100), -1);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static void reads_all_up_to_the_cap(void **state)
{
	CLEANUP(buf_done) struct buf b = {0};
	CLEANUP_FD int fd = fd_sealed("test", "hello", 5);
	struct redoma_error err = {0};

	(void)state;
	assert_int_equal(buf_add(&b, "keep", 4), 0);
	assert_int_equal(fd_read_all(fd, 5, "it", &b, &err), 0);
	assert_string_equal(b.data, "keephello");
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(fd_read_all(fd, 4, "it", &b, &err), REDOMA_E_INVALID);
	assert_non_null(strstr(err.text, "it has more than 4 bytes"));
	assert_string_equal(b.data, "keephello");
	assert_int_equal(fd_read_all(-1, 4, "it", &b, &err), REDOMA_E_SYSTEM);
	assert_int_equal(err.sys, EBADF);
}

static void reads_long_pipes(void **state)
{
	CLEANUP(buf_done) struct buf b = {0};
	CLEANUP_FREE char *big = calloc(1, 300000);
	CLEANUP_FD int fd = -1;

	(void)state;
	for (size_t i = 0; i < 300000; i++)
		big[i] = (char)(i * 31);
	fd = fd_sealed("test", big, 300000);
	assert_int_equal(fd_read_all(fd, 300000, "it", &b, NULL), 0);
	assert_int_equal(b.len, 300000);
	assert_memory_equal(b.data, big, 300000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(opens_only_beneath, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(creates_with_the_mode_given,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(avoids_the_standard_descriptors,
						set_up, tear_down),
		cmocka_unit_test(seals_for_good),
		cmocka_unit_test(reads_all_up_to_the_cap),
		cmocka_unit_test(reads_long_pipes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
