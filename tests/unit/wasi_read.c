/* Single files and directories that may be read, and nothing else. */
#include "wasi_world.h"

static void one_file_is_one_file(void **state)
{
	struct world *t = world_new();
	uint32_t fd;

	(void)state;
	world_file(t, "a.csv", "a,b\n1,2\n");
	world_file(t, "b.csv", "secret");
	world_grant(t, GRANT_READ_FILE, "/data/q3.csv", "a.csv");
	world_begin(t);
	fd = must_open(t, "data/q3.csv", 0, RD);
	assert_int_equal(fd, 4);
	assert_string_equal(read_text(t, fd, 4), "a,b\n");
	assert_string_equal(read_text(t, fd, 100), "1,2\n");
	assert_string_equal(read_text(t, fd, 100), "");
	assert_int_equal(open_at(t, 3, "data/b.csv", 0, RD), W_ACCES);
	assert_true(was_denied(t, "open", "/data/b.csv"));
	assert_int_equal(stat_at(t, "data/b.csv", 0), W_ACCES);
	assert_true(was_denied(t, "stat", "/data/b.csv"));
	assert_int_equal(stat_at(t, "data/q3.csv", 0), 0);
	assert_int_equal(ret_u64(t, AT_RET + 32), 8);
	assert_int_equal(t->memory[AT_RET + 16], FILETYPE_REGULAR);
	assert_int_equal(stat_at(t, "data", 0), 0);
	assert_int_equal(t->memory[AT_RET + 16], FILETYPE_DIRECTORY);
	assert_int_equal(open_at(t, 3, "data/q3.csv/x", 0, RD), W_NOTDIR);
	assert_int_equal(open_at(t, 3, "data/q3.csv/", 0, RD), W_NOTDIR);
	assert_int_equal(open_at(t, 3, "data/q3.csv/.", 0, RD), W_NOTDIR);
	assert_int_equal(open_at(t, 3, "data/q3.csv/..", 0, RD), W_NOTDIR);
	assert_int_equal(open_at(t, 3, "data/q3.csv", OFLAG_DIRECTORY, RD),
			 W_NOTDIR);
	assert_true(t->w->report.used_unpinned);
	assert_int_equal(t->w->report.read_bytes, 8);
	world_free(t);
}

/* Case C105. */
static void without_grants_nothing_is_there(void **state)
{
	static const char *const names[] = {"new", "tmp/new", "./new", "/new"};
	struct world *t = world_new();

	(void)state;
	world_begin(t);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(open_at(t, 3, names[i], OFLAG_CREAT, WR),
				 W_ACCES);
		assert_int_equal(path_call(t, "path_create_directory",
					   names[i]),
				 W_ACCES);
		assert_int_equal(stat_at(t, names[i], 1), W_ACCES);
	}
	assert_int_equal(open_at(t, 3, "tmp", OFLAG_DIRECTORY, RD), W_ACCES);
	assert_true(was_denied(t, "open", "/tmp"));
	assert_true(was_denied(t, "open", "/tmp/new"));
	assert_true(t->w->report.denials[0].write);
	assert_string_equal(list_dir(t, 3, 512), ". .. ");
	assert_string_equal(list_dir(t, must_open(t, ".", 2, RD), 512),
			    ". .. ");
	assert_string_equal(list_dir(t, must_open(t, "/", 2, RD), 512),
			    ". .. ");
	assert_int_equal(call(t, "fd_prestat_get", 3, AT_RET), 0);
	assert_int_equal(call(t, "fd_prestat_dir_name", 3, AT_DATA, 1), 0);
	assert_int_equal(t->memory[AT_DATA], '/');
	assert_int_equal(call(t, "fd_prestat_dir_name", 3, AT_DATA, 0),
			 W_NAMETOOLONG);
	assert_int_equal(call(t, "fd_prestat_get", 4, AT_RET), W_BADF);
	assert_int_equal(call(t, "fd_prestat_get", 1, AT_RET), W_BADF);
	world_end(t);
	assert_int_equal(wasi_written(t->w, &(const struct wasi_written *){0}),
			 0);
	world_free(t);
}

/* Regression list 2, and all other ways to change what may only be read. */
static void read_grants_cannot_be_changed(void **state)
{
	static const char *const names[] = {"f", "d/g"};
	struct world *t = world_new();
	struct stat st;

	(void)state;
	world_file(t, "f", "original");
	world_grant(t, GRANT_READ_FILE, "/f", "f");
	world_grant(t, GRANT_READ_DIR, "/d", "d");
	world_file(t, "d/g", "original");
	world_grant(t, GRANT_WRITE_DIR, "/w", "w");
	world_begin(t);
	for (size_t i = 0; i < 2; i++) {
		const char *n = names[i];

		assert_int_equal(open_at(t, 3, n, OFLAG_TRUNC, RD), W_ACCES);
		assert_int_equal(open_at(t, 3, n, 0, WR), W_ACCES);
		assert_int_equal(open_at(t, 3, n, 0, RIGHT_FD_SET_SIZE),
				 W_ACCES);
		assert_int_equal(open_at(t, 3, n, OFLAG_CREAT | OFLAG_TRUNC,
					 WR),
				 W_ACCES);
		assert_int_equal(path_call(t, "path_unlink_file", n), W_ACCES);
		assert_int_equal(path_call(t, "path_remove_directory", n),
				 W_ACCES);
		assert_int_equal(rename_to(t, n, "w/x"), W_ACCES);
		assert_int_equal(link_to(t, n, "w/x"), W_NOTCAPABLE);
		put_name(t, AT_PATH, n);
		assert_int_equal(call(t, "path_filestat_set_times", 3, 1,
				      AT_PATH, strlen(n), 5, 5,
				      FST_ATIM | FST_MTIM),
				 W_ACCES);
	}
	assert_int_equal(open_at(t, 3, "d/new", OFLAG_CREAT, WR), W_ACCES);
	assert_int_equal(open_at(t, 3, "d/new", OFLAG_CREAT, RD), W_ACCES);
	assert_int_equal(path_call(t, "path_create_directory", "d/sub"),
			 W_ACCES);
	assert_int_equal(rename_to(t, "d", "w/d"), W_ACCES);
	assert_int_equal(path_call(t, "path_remove_directory", "d"), W_ACCES);
	assert_true(was_denied(t, "unlink", "/d/g"));
	assert_true(was_denied(t, "open", "/d/new"));
	/* Opening without change works, also with O_CREAT. */
	assert_string_equal(read_text(t, must_open(t, "d/g", 1, RD), 99),
			    "original");
	assert_int_equal(fstatat(t->dir_fd, "d/g", &st, 0), 0);
	assert_int_equal(st.st_size, 8);
	world_free(t);
}

static void rights_are_honest_and_only_narrow(void **state)
{
	struct world *t = world_new();
	uint64_t base;
	uint32_t fd;

	(void)state;
	world_file(t, "f", "0123456789");
	world_grant(t, GRANT_READ_FILE, "/f", "f");
	world_begin(t);
	fd = must_open(t, "f", 0, RIGHTS_ALL & ~(uint64_t)RIGHTS_CHANGE);
	assert_int_equal(call(t, "fd_fdstat_get", fd, AT_RET), 0);
	assert_int_equal(ret_u32(t), FILETYPE_REGULAR);
	base = ret_u64(t, AT_RET + 8);
	assert_int_equal(base, RIGHTS_READ);
	assert_int_equal(ret_u64(t, AT_RET + 16), 0);
	assert_int_equal(call(t, "fd_fdstat_set_rights", fd,
			      base | RIGHT_FD_WRITE, 0),
			 W_NOTCAPABLE);
	assert_int_equal(call(t, "fd_fdstat_set_rights", fd, base, 1),
			 W_NOTCAPABLE);
	assert_int_equal(call(t, "fd_fdstat_set_rights", fd, RIGHT_FD_TELL, 0),
			 0);
	assert_int_equal(call(t, "fd_read", fd, iov(t, AT_DATA, 1), 1, AT_RET),
			 W_BADF);
	assert_int_equal(call(t, "fd_seek", fd, 0, WHENCE_SET, AT_RET),
			 W_NOTCAPABLE);
	assert_int_equal(call(t, "fd_tell", fd, AT_RET), 0);
	assert_int_equal(call(t, "fd_filestat_get", fd, AT_RET), W_NOTCAPABLE);
	assert_int_equal(call(t, "fd_fdstat_set_rights", fd, base, 0),
			 W_NOTCAPABLE);
	/* A directory that may open files to read only hands on no more. */
	assert_int_equal(call(t, "fd_fdstat_set_rights", 3, RIGHT_PATH_OPEN,
			      RIGHTS_READ),
			 0);
	assert_int_equal(open_at(t, 3, "f", 0, RIGHT_FD_WRITE), W_NOTCAPABLE);
	put_name(t, AT_PATH, "f");
	assert_int_equal(call(t, "path_open", 3, 0, AT_PATH, 1, 0,
			      RIGHT_FD_READ, 0, 0, AT_RET),
			 0);
	assert_int_equal(stat_at(t, "f", 0), W_NOTCAPABLE);
	world_free(t);
}

static void offsets_do_not_move_shared_positions(void **state)
{
	struct world *t = world_new();
	uint32_t a, b;

	(void)state;
	world_file(t, "f", "0123456789");
	world_grant(t, GRANT_READ_FILE, "/f", "f");
	world_begin(t);
	a = must_open(t, "f", 0, RD);
	b = must_open(t, "f", 0, RD);
	assert_string_equal(read_text(t, a, 3), "012");
	assert_string_equal(read_text(t, b, 3), "012");
	assert_int_equal(lseek(t->fds[0], 0, SEEK_CUR), 0);
	assert_int_equal(call(t, "fd_pread", a, iov(t, AT_DATA, 2), 1, 8,
			      AT_RET),
			 0);
	assert_memory_equal(t->memory + AT_DATA, "89", 2);
	assert_int_equal(call(t, "fd_tell", a, AT_RET), 0);
	assert_int_equal(ret_u64(t, AT_RET), 3);
	assert_int_equal(call(t, "fd_seek", a, -2, WHENCE_END, AT_RET), 0);
	assert_string_equal(read_text(t, a, 9), "89");
	assert_int_equal(call(t, "fd_seek", a, -11, WHENCE_CUR, AT_RET),
			 W_INVAL);
	assert_int_equal(call(t, "fd_seek", a, INT64_MAX, WHENCE_CUR, AT_RET),
			 W_OVERFLOW);
	assert_int_equal(call(t, "fd_seek", a, INT64_MIN, WHENCE_CUR, AT_RET),
			 W_INVAL);
	assert_int_equal(call(t, "fd_seek", a, 0, 3, AT_RET), W_INVAL);
	assert_int_equal(call(t, "fd_seek", a, INT64_MAX, WHENCE_SET, AT_RET),
			 0);
	assert_string_equal(read_text(t, a, 9), "");
	assert_int_equal(call(t, "fd_pread", a, iov(t, AT_DATA, 2), 1,
			      UINT64_MAX, AT_RET),
			 W_INVAL);
	assert_int_equal(call(t, "fd_write", a, iov(t, AT_DATA, 2), 1, AT_RET),
			 W_BADF);
	assert_int_equal(call(t, "fd_pwrite", a, iov(t, AT_DATA, 2), 1, 0,
			      AT_RET),
			 W_BADF);
	assert_int_equal(call(t, "fd_allocate", a, 0, 5), W_NOTCAPABLE);
	assert_int_equal(call(t, "fd_filestat_set_size", a, 5), W_NOTCAPABLE);
	assert_int_equal(call(t, "fd_advise", a, 0, 5, 6), W_INVAL);
	assert_int_equal(call(t, "fd_advise", a, 0, 5, 5), 0);
	world_free(t);
}

static void byte_range_is_the_file(void **state)
{
	struct world *t = world_new();
	struct plan_grant *g;
	uint32_t fd;

	(void)state;
	world_file(t, "f", "0123456789");
	g = world_grant(t, GRANT_READ_FILE, "/f", "f");
	g->first = 2;
	g->last = 5;
	world_begin(t);
	fd = must_open(t, "f", 0, RD);
	assert_string_equal(read_text(t, fd, 99), "2345");
	assert_string_equal(read_text(t, fd, 99), "");
	assert_int_equal(call(t, "fd_filestat_get", fd, AT_RET), 0);
	assert_int_equal(ret_u64(t, AT_RET + 32), 4);
	assert_int_equal(call(t, "fd_seek", fd, -1, WHENCE_END, AT_RET), 0);
	assert_string_equal(read_text(t, fd, 99), "5");
	assert_int_equal(call(t, "fd_pread", fd, iov(t, AT_DATA, 9), 1,
			      INT64_MAX, AT_RET),
			 0);
	assert_int_equal(ret_u32(t), 0);
	world_free(t);
}

static void byte_budget_ends(void **state)
{
	struct world *t = world_new();
	struct plan_grant *g;
	uint32_t fd;

	(void)state;
	world_file(t, "f", "0123456789");
	g = world_grant(t, GRANT_READ_FILE, "/f", "f");
	g->max_bytes = 10;
	world_begin(t);
	fd = must_open(t, "f", 0, RD);
	assert_string_equal(read_text(t, fd, 99), "0123456789");
	assert_string_equal(read_text(t, fd, 99), "");
	assert_int_equal(t->w->report.n_denials, 0);
	assert_int_equal(call(t, "fd_pread", fd, iov(t, AT_DATA, 1), 1, 0,
			      AT_RET),
			 W_ACCES);
	assert_true(was_denied(t, "read", "/f"));
	world_free(t);
}

static void opens_are_counted(void **state)
{
	struct world *t = world_new();

	(void)state;
	world_file(t, "f", "x");
	world_grant(t, GRANT_READ_FILE, "/f", "f")->opens = 2;
	world_begin(t);
	assert_int_equal(call(t, "fd_close", must_open(t, "f", 0, RD)), 0);
	assert_int_equal(call(t, "fd_close", must_open(t, "f", 0, RD)), 0);
	assert_int_equal(open_at(t, 3, "f", 0, RD), W_ACCES);
	assert_true(was_denied(t, "open", "/f"));
	world_end(t);
	world_begin(t); /* a new run, a new count */
	must_open(t, "f", 0, RD);
	world_free(t);
}

static void pinned_file_keeps_purity(void **state)
{
	struct world *t = world_new();
	uint32_t fd;

	(void)state;
	world_file(t, "f", "x");
	world_grant(t, GRANT_READ_FILE, "/f", "f")->pinned = true;
	world_begin(t);
	fd = must_open(t, "f", 0, RD);
	assert_string_equal(read_text(t, fd, 9), "x");
	assert_int_equal(stat_at(t, "f", 0), 0);
	assert_int_equal(ret_u64(t, AT_RET + 48), 0); /* mtime */
	assert_int_equal(call(t, "fd_filestat_get", fd, AT_RET), 0);
	assert_int_equal(ret_u64(t, AT_RET + 48), 0);
	assert_false(t->w->report.used_unpinned);
	world_free(t);
}

static void directory_in_the_core(void **state)
{
	struct world *t = world_new();
	uint32_t fd;

	(void)state;
	world_grant(t, GRANT_READ_DIR, "/docs/", "docs");
	world_file(t, "docs/a", "text of a");
	mkdirat(t->dir_fd, "docs/sub", 0700);
	world_file(t, "docs/sub/b", "text of b");
	for (int core = 0; core < 2; core++) {
		t->core_reads = core;
		world_begin(t);
		fd = must_open(t, "docs/sub/b", 0, RD);
		assert_string_equal(read_text(t, fd, 4), "text");
		assert_string_equal(read_text(t, fd, 99), " of b");
		assert_string_equal(read_text(t, fd, 99), "");
		assert_int_equal(call(t, "fd_seek", fd, -1, WHENCE_END, AT_RET),
				 0);
		assert_string_equal(read_text(t, fd, 99), "b");
		assert_int_equal(call(t, "fd_close", fd), 0);
		assert_int_equal(open_at(t, 3, "docs/none", 0, RD), W_NOENT);
		assert_int_equal(open_at(t, 3, "docs/a/", 0, RD), W_NOTDIR);
		assert_int_equal(stat_at(t, "docs/a", 0), 0);
		assert_int_equal(ret_u64(t, AT_RET + 32), 9);
		assert_int_equal(stat_at(t, "docs/none", 0), W_NOENT);
		fd = must_open(t, "docs/sub", OFLAG_DIRECTORY, RD);
		assert_int_equal(open_at(t, fd, "b", 0, RD), 0);
		assert_int_equal(open_at(t, fd, "../a", 0, RD), 0);
		assert_int_equal(open_at(t, fd, "../../docs/a", 0, RD), 0);
		assert_int_equal(open_at(t, fd, "../../x", 0, RD), W_ACCES);
		assert_true(was_denied(t, "open", "/x"));
		world_end(t);
		assert_int_equal(t->n_opened, t->n_closed);
	}
	world_free(t);
}

static void single_file_through_the_core(void **state)
{
	struct world *t = world_new();
	struct plan_grant *g;
	uint32_t fd;

	(void)state;
	world_file(t, "f", "bytes by frames");
	g = world_grant(t, GRANT_READ_FILE, "/one", "f");
	g->via_core = true;
	g->first = 3; /* the core's business */
	g->opens = 1;
	g->max_bytes = 5;
	t->core_reads = true;
	world_begin(t);
	assert_int_equal(stat_at(t, "one", 0), 0);
	assert_int_equal(ret_u64(t, AT_RET + 32), 15);
	fd = must_open(t, "one", 0, RD);
	assert_string_equal(read_text(t, fd, 99), "bytes");
	assert_int_equal(call(t, "fd_read", fd, iov(t, AT_DATA, 1), 1, AT_RET),
			 W_ACCES);
	assert_int_equal(open_at(t, 3, "one", 0, RD), W_ACCES);
	world_free(t);
}

/* A core that answers a file with a directory is not believed. */
static void directory_for_a_file_is_refused(void **state)
{
	struct world *t = world_new();

	(void)state;
	mkdirat(t->dir_fd, "d", 0700);
	world_grant(t, GRANT_READ_FILE, "/one", "d")->via_core = true;
	world_begin(t);
	assert_int_equal(open_at(t, 3, "one", 0, RD), W_ACCES);
	assert_int_equal(open_at(t, 3, "one", OFLAG_DIRECTORY, RD), W_NOTDIR);
	assert_int_equal(t->n_opened, t->n_closed);
	world_free(t);
}

static void core_without_answers(void **state)
{
	struct world *t = world_new();

	(void)state;
	world_grant(t, GRANT_READ_DIR, "/d", "d");
	t->host.list = NULL;
	t->host.open = NULL;
	t->host.stat = NULL;
	world_begin(t);
	assert_int_equal(open_at(t, 3, "d/f", 0, RD), W_NOSYS);
	assert_int_equal(stat_at(t, "d/f", 0), W_NOSYS);
	world_free(t);
}

static void grants_that_contradict_are_refused(void **state)
{
	static const char *const second[] = {"/a", "/a/b", "/"};
	struct redoma_error err;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct world *t = world_new();

		world_file(t, "f", "x");
		world_grant(t, GRANT_READ_FILE, "/a", "f");
		world_grant(t, GRANT_READ_FILE, second[i], "f");
		assert_int_equal(wasi_begin(t->w, &t->plan, &t->host, NULL, 0,
					    &err),
				 REDOMA_E_INVALID);
		t->plan.n_grants = 1;
		world_begin(t);
		must_open(t, "a", 0, RD);
		t->plan.n_grants = 2;
		world_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_file_is_one_file),
		cmocka_unit_test(without_grants_nothing_is_there),
		cmocka_unit_test(read_grants_cannot_be_changed),
		cmocka_unit_test(rights_are_honest_and_only_narrow),
		cmocka_unit_test(offsets_do_not_move_shared_positions),
		cmocka_unit_test(byte_range_is_the_file),
		cmocka_unit_test(byte_budget_ends),
		cmocka_unit_test(opens_are_counted),
		cmocka_unit_test(pinned_file_keeps_purity),
		cmocka_unit_test(directory_in_the_core),
		cmocka_unit_test(single_file_through_the_core),
		cmocka_unit_test(directory_for_a_file_is_refused),
		cmocka_unit_test(core_without_answers),
		cmocka_unit_test(grants_that_contradict_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
