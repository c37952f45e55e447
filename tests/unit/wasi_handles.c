/* The descriptor table: renumber, exhaustion, quotas of handles; regression
 * list 5 and 11, cases C121 and C123.  And listing of directories. */
#include "wasi_world.h"

static size_t host_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static struct world *with_files(void)
{
	struct world *t = world_new();

	world_file(t, "f", "0123456789");
	world_grant(t, GRANT_READ_FILE, "/f", "f");
	world_grant(t, GRANT_READ_DIR, "/d", "d");
	world_file(t, "d/g", "in the core");
	world_begin(t);
	return t;
}

static void renumber(void **state)
{
	struct world *t = with_files();
	uint32_t a = must_open(t, "f", 0, RD), b = must_open(t, "d/g", 0, RD);

	(void)state;
	assert_int_equal(call(t, "fd_renumber", a, a), 0);
	assert_string_equal(read_text(t, a, 2), "01");
	assert_int_equal(call(t, "fd_renumber", a, 99), W_BADF);
	assert_int_equal(call(t, "fd_renumber", 99, a), W_BADF);
	assert_int_equal(call(t, "fd_renumber", UINT32_MAX, a), W_BADF);
	assert_int_equal(call(t, "fd_renumber", a, b), 0);
	assert_int_equal(t->n_closed, 1); /* b's file */
	assert_string_equal(read_text(t, b, 2), "23");
	assert_int_equal(call(t, "fd_close", a), W_BADF);
	/* Onto a stream: it is a file from now on. */
	assert_int_equal(call(t, "fd_renumber", b, 0), 0);
	assert_string_equal(read_text(t, 0, 2), "45");
	assert_int_equal(call(t, "fd_close", 0), 0);
	assert_int_equal(call(t, "fd_close", 0), W_BADF);
	/* A stream onto another: stdout goes to stderr. */
	assert_int_equal(call(t, "fd_renumber", 2, 1), 0);
	assert_int_equal(write_text(t, 1, "x"), 0);
	assert_int_equal(t->out[2].len, 1);
	assert_int_equal(write_text(t, 2, "x"), W_BADF);
	world_free(t);
}

static void renumber_onto_the_preopen(void **state)
{
	struct world *t = with_files();
	uint32_t a = must_open(t, "f", 0, RD);

	(void)state;
	assert_int_equal(call(t, "fd_renumber", a, 3), 0);
	assert_int_equal(call(t, "fd_prestat_get", 3, AT_RET), W_BADF);
	assert_string_equal(read_text(t, 3, 99), "0123456789");
	assert_int_equal(open_at(t, 3, "f", 0, RD), W_NOTDIR);
	assert_int_equal(call(t, "fd_close", 3), 0);
	assert_int_equal(t->w->n_files, 0);
	world_end(t);
	world_begin(t); /* and the next run has its own again */
	assert_int_equal(call(t, "fd_prestat_get", 3, AT_RET), 0);
	world_free(t);
}

static void renumber_a_million_times(void **state)
{
	struct world *t = with_files();
	size_t before = host_descriptors();
	uint32_t keep = must_open(t, "d/g", 0, RD);

	(void)state;
	for (int i = 0; i < 20000; i++)
		assert_int_equal(call(t, "fd_renumber",
				      must_open(t, "d/g", 0, RD), keep),
				 0);
	for (int i = 0; i < 1000000; i++)
		if (call(t, "fd_renumber", must_open(t, "f", 0, RD), keep))
			fail();
	assert_int_equal(call(t, "fd_close", keep), 0);
	assert_int_equal(host_descriptors(), before);
	assert_int_equal(t->n_opened, t->n_closed);
	assert_int_equal(t->w->room_handles, 64);
	assert_int_equal(t->w->n_files, 0);
	world_free(t);
}

static void handles_are_limited(void **state)
{
	static const char *const names[] = {"f", "d/g", "d", "."};
	struct world *t = with_files();
	size_t before = host_descriptors();

	(void)state;
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(must_open(t, names[i % 4], 0, RD), 4 + i);
	for (int i = 0; i < 100000; i++)
		if (open_at(t, 3, names[i % 4], 0, RD) != W_MFILE)
			fail();
	assert_true(host_descriptors() <= before + 64);
	/* The lowest free number is used again. */
	assert_int_equal(call(t, "fd_close", 9), 0);
	assert_int_equal(call(t, "fd_close", 20), 0);
	assert_int_equal(must_open(t, "f", 0, RD), 9);
	assert_int_equal(must_open(t, "f", 0, RD), 20);
	assert_int_equal(open_at(t, 3, "f", 0, RD), W_MFILE);
	assert_int_equal(t->w->report.n_denials, 0);
	world_end(t);
	assert_int_equal(host_descriptors(), before - 1); /* the plan's too */
	assert_int_equal(t->n_opened, t->n_closed);
	world_free(t);
}

static void many_handles_grow_the_table(void **state)
{
	struct world *t = with_files();

	(void)state;
	t->plan.limits.files = 1000;
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(must_open(t, "f", 0, RD), 4 + i);
	assert_int_equal(open_at(t, 3, "f", 0, RD), W_MFILE);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(call(t, "fd_close", 4 + i), 0);
	world_free(t);
}

static void bad_numbers(void **state)
{
	static const uint32_t numbers[] = {4, 63, 64, 65, INT32_MAX,
					   UINT32_MAX};
	static const char *const names[] = {
		"fd_close",    "fd_datasync",	   "fd_sync",
		"fd_tell",     "fd_fdstat_get",	   "fd_filestat_get",
		"fd_allocate", "fd_prestat_get",   "fd_fdstat_set_flags",
		"fd_advise",   "fd_fdstat_set_rights"};
	struct world *t = with_files();

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			uint64_t args[9] = {numbers[i], 1, 1};

			assert_int_equal(call_args(t, names[k], args), W_BADF);
		}
		assert_int_equal(open_at(t, numbers[i], "f", 0, RD), W_BADF);
	}
	/* Files are no directories, directories no files. */
	assert_int_equal(call(t, "fd_readdir", must_open(t, "f", 0, RD),
			      AT_DATA, 9, 0, AT_RET),
			 W_NOTDIR);
	assert_int_equal(open_at(t, 4, "f", 0, RD), W_NOTDIR);
	assert_int_equal(open_at(t, 1, "f", 0, RD), W_NOTDIR);
	assert_int_equal(call(t, "fd_read", 3, AT_IOV, 0, AT_RET), W_ISDIR);
	assert_int_equal(call(t, "fd_write", 3, AT_IOV, 0, AT_RET), W_BADF);
	assert_int_equal(call(t, "fd_seek", 3, 0, 0, AT_RET), W_ISDIR);
	assert_int_equal(open_at(t, 3, "d", 0, WR), W_ISDIR);
	assert_int_equal(open_at(t, 3, "d", OFLAG_CREAT, RD), W_ISDIR);
	assert_int_equal(open_at(t, 3, "f", 16, RD), W_INVAL);
	assert_int_equal(open_at(t, 3, "f", 3, RD), W_INVAL);
	world_free(t);
}

/* Case C123's sibling: nothing is left when runs follow each other. */
static void runs_leave_nothing(void **state)
{
	struct world *t = with_files();
	size_t before = host_descriptors();

	(void)state;
	world_end(t);
	for (int i = 0; i < 1000; i++) {
		world_begin(t);
		must_open(t, "f", 0, RD);
		must_open(t, "d/g", 0, RD);
		must_open(t, "d", 0, RD);
		assert_int_equal(open_at(t, 3, "x", 0, RD), W_ACCES);
		world_end(t);
	}
	assert_int_equal(host_descriptors(), before - 1); /* the plan's too */
	assert_int_equal(t->n_opened, t->n_closed);
	world_free(t);
}

static struct world *with_listing(void)
{
	struct world *t = world_new();

	world_file(t, "one", "1");
	world_grant(t, GRANT_READ_DIR, "/d", "d");
	world_grant(t, GRANT_READ_FILE, "/d/c", "one"); /* hides d/c */
	world_grant(t, GRANT_READ_FILE, "/d/sub/deep", "one");
	for (char c = 'a'; c < 'h'; c++)
		world_file(t, (char[]){'d', '/', c, '\0'}, "x");
	assert_int_equal(symlinkat("a", t->dir_fd, "d/link"), 0);
	world_begin(t);
	return t;
}

static void listing(void **state)
{
	struct world *t = with_listing();

	(void)state;
	assert_string_equal(list_dir(t, 3, 4096), ". .. d ");
	assert_string_equal(list_dir(t, must_open(t, "d/sub", 2, RD), 4096),
			    ". .. deep ");
	/* However small the buffer is and however the core cuts it. */
	for (uint32_t room = 32; room < 400; room += 7) {
		uint32_t fd = must_open(t, "d", OFLAG_DIRECTORY, RD);

		t->list_batch = 1 + room % 11;
		assert_string_equal(list_dir(t, fd, room),
				    ". .. c sub a b d e f g link ");
		assert_int_equal(call(t, "fd_close", fd), 0);
	}
	/* The core is asked once for what it sent once. */
	t->n_listed = 0;
	t->list_batch = 100;
	list_dir(t, must_open(t, "d", 2, RD), 32);
	assert_int_equal(t->n_listed, 1);
	world_free(t);
}

/* Regression list 8. */
static void listing_has_no_stray_bytes(void **state)
{
	struct world *t = with_listing();
	uint32_t fd = must_open(t, "d", OFLAG_DIRECTORY, RD), n, used;
	static uint8_t whole[4096];

	(void)state;
	memset(t->memory + AT_DATA, 0xee, 4096);
	assert_int_equal(call(t, "fd_readdir", fd, AT_DATA, 4096, 0, AT_RET),
			 0);
	n = ret_u32(t);
	memcpy(whole, t->memory + AT_DATA, 4096);
	for (size_t i = n; i < 4096; i++)
		assert_int_equal(whole[i], 0xee);
	/* Cut anywhere, the bytes are a prefix of the same and go no further. */
	for (uint32_t room = 0; room <= n; room++) {
		memset(t->memory + AT_DATA, 0xee, 4096);
		assert_int_equal(call(t, "fd_readdir", fd, AT_DATA, room, 0,
				      AT_RET),
				 0);
		used = ret_u32(t);
		assert_int_equal(used, room);
		assert_memory_equal(whole, t->memory + AT_DATA, used);
		assert_int_equal(t->memory[AT_DATA + used], 0xee);
	}
	/* Cookies that were never given out. */
	assert_int_equal(call(t, "fd_readdir", fd, AT_DATA, 99, UINT64_MAX,
			      AT_RET),
			 W_INVAL);
	assert_int_equal(call(t, "fd_readdir", fd, AT_DATA, 99,
			      1ull << 63 | 9ull << 20, AT_RET),
			 W_INVAL);
	assert_int_equal(call(t, "fd_readdir", fd, AT_DATA, 99, 1ull << 62,
			      AT_RET),
			 0);
	world_free(t);
}

static void cookies_survive_changes(void **state)
{
	struct world *t = world_new();
	uint64_t cookie;
	uint32_t fd;

	(void)state;
	world_grant(t, GRANT_WRITE_DIR, "/w", NULL);
	world_begin(t);
	for (char c = 'a'; c < 'f'; c++)
		must_open(t, (char[]){'w', '/', c, '\0'}, OFLAG_CREAT, WR);
	fd = must_open(t, "w", OFLAG_DIRECTORY, RD);
	/* Two dots, a and b. */
	assert_int_equal(call(t, "fd_readdir", fd, AT_DATA,
			      SIZE_DIRENT * 4 + 5, 0, AT_RET),
			 0);
	cookie = ret_u64(t, AT_DATA + SIZE_DIRENT * 3 + 4);
	assert_int_equal(path_call(t, "path_unlink_file", "w/b"), 0);
	assert_int_equal(path_call(t, "path_unlink_file", "w/d"), 0);
	assert_int_equal(call(t, "fd_readdir", fd, AT_DATA, 999, cookie,
			      AT_RET),
			 0);
	assert_int_equal(ret_u32(t), 2 * (SIZE_DIRENT + 1));
	assert_int_equal(t->memory[AT_DATA + SIZE_DIRENT], 'c');
	assert_int_equal(t->memory[AT_DATA + 2 * SIZE_DIRENT + 1], 'e');
	world_free(t);
}

static int bad_list(void *data, uint32_t grant, const char *path, uint64_t at,
		    struct buf *out, uint64_t *ret_next)
{
	(void)data;
	(void)grant;
	(void)path;
	*ret_next = at; /* for ever the same */
	return buf_add(out, "cut", 3) ? ENOMEM : 0;
}

static void bad_listing_ends_the_run(void **state)
{
	struct world *t = with_listing();

	(void)state;
	t->host.list = bad_list;
	(void)call(t, "fd_readdir", must_open(t, "d", 2, RD), AT_DATA, 4096, 0,
		   AT_RET);
	assert_int_equal(t->w->report.end, WASI_END_HOST);
	world_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(renumber),
		cmocka_unit_test(renumber_onto_the_preopen),
		cmocka_unit_test(renumber_a_million_times),
		cmocka_unit_test(handles_are_limited),
		cmocka_unit_test(many_handles_grow_the_table),
		cmocka_unit_test(bad_numbers),
		cmocka_unit_test(runs_leave_nothing),
		cmocka_unit_test(listing),
		cmocka_unit_test(listing_has_no_stray_bytes),
		cmocka_unit_test(cookies_survive_changes),
		cmocka_unit_test(bad_listing_ends_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
