/* Files without names, and the hidden names of file systems that lack them. */
#include "broker_fixture.h"

#include "broker/stage.h"

static void nameless(void **state)
{
	struct place *p = *state;
	char name[STAGE_NAME_MAX] = "x";
	CLEANUP_FD int fd = stage_open_target(p->dir, false, name);
	struct stat st;

	assert_true(fd >= 3);
	assert_string_equal(name, "");
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(write(fd, "text", 4), 4);
	put_file(p->dir, "taken", "");
	assert_int_equal(stage_link(fd, p->dir, "taken"), -1);
	assert_int_equal(errno, EEXIST);
	assert_int_equal(stage_link(fd, p->dir, "free"), 0);
	assert_file(p->dir, "free", "text");
}

static void named(void **state)
{
	struct place *p = *state;
	char name[STAGE_NAME_MAX] = "", other[STAGE_NAME_MAX];
	CLEANUP_FD int fd = stage_open_target(p->dir, true, name);
	struct stat st;

	assert_true(fd >= 3);
	assert_memory_equal(name, ".redoma-", 8);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fstatat(p->dir, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(stage_name(other), 0);
	assert_string_not_equal(name, other);
}

static void errors(void **state)
{
	struct place *p = *state;
	CLEANUP_FD int file = -1;

	put_file(p->dir, "f", "");
	file = openat(p->dir, "f", O_RDONLY | O_CLOEXEC);
	assert_int_equal(stage_open(file), -1);
	assert_int_equal(errno, ENOTDIR);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(nameless),
		T(named),
		T(errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
