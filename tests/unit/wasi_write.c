/* What a run may write: stages, quotas, what it makes and takes away. */
#include "wasi_world.h"

#include <time.h>

static uint64_t size_of(struct world *t, const char *name)
{
	assert_int_equal(stat_at(t, name, 0), 0);
	return ret_u64(t, AT_RET + 32);
}

static size_t written(struct world *t, const struct wasi_written **ret)
{
	world_end(t);
	return wasi_written(t->w, ret);
}

static const char *stage_text(int fd)
{
	static char text[256];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	assert_true(n >= 0);
	text[n] = '\0';
	return text;
}

static void single_file(void **state)
{
	const struct wasi_written *all;
	struct world *t = world_new();
	uint32_t fd, again;

	(void)state;
	world_grant(t, GRANT_WRITE_FILE, "/out/report.md", NULL);
	world_begin(t);
	assert_int_equal(open_at(t, 3, "out/report.md", 0, RD), W_NOENT);
	assert_int_equal(open_at(t, 3, "out/report.md", 0, WR), W_NOENT);
	assert_int_equal(stat_at(t, "out/report.md", 0), W_NOENT);
	fd = must_open(t, "out/report.md", OFLAG_CREAT | OFLAG_TRUNC, WR);
	assert_int_equal(write_text(t, fd, "hello"), 0);
	assert_int_equal(write_text(t, fd, " world"), 0);
	again = must_open(t, "out/report.md", 0, RD);
	assert_string_equal(read_text(t, again, 99), "hello world");
	assert_int_equal(size_of(t, "out/report.md"), 11);
	assert_int_equal(open_at(t, 3, "out/report.md",
				 OFLAG_CREAT | OFLAG_EXCL, WR),
			 W_EXIST);
	assert_int_equal(open_at(t, 3, "out/other", OFLAG_CREAT, WR), W_ACCES);
	assert_true(was_denied(t, "open", "/out/other"));
	assert_int_equal(path_call(t, "path_unlink_file", "out/report.md"),
			 W_ACCES);
	assert_int_equal(rename_to(t, "out/report.md", "out/x"), W_ACCES);
	assert_int_equal(t->w->report.written_bytes, 11);
	assert_int_equal(written(t, &all), 1);
	assert_int_equal(all[0].grant, 0);
	assert_string_equal(all[0].path, "");
	assert_int_equal(all[0].handle, 0);
	assert_string_equal(stage_text(t->fds[0]), "hello world");
	world_free(t);
}

static void untouched_file_is_not_written(void **state)
{
	const struct wasi_written *all;
	struct world *t = world_new();

	(void)state;
	world_grant(t, GRANT_WRITE_FILE, "/a", NULL);
	world_grant(t, GRANT_WRITE_FILE, "/b", NULL)->mode = WRITE_APPEND;
	world_begin(t);
	assert_string_equal(list_dir(t, 3, 512), ". .. ");
	/* To append, a file need not be made. */
	assert_int_equal(write_text(t, must_open(t, "b", 0, WR), "x"), 0);
	assert_string_equal(list_dir(t, 3, 512), ". .. b ");
	assert_int_equal(written(t, &all), 1);
	assert_int_equal(all[0].grant, 1);
	world_free(t);
}

/* The old is shown by a read grant until the new is there. */
static void read_and_replace(void **state)
{
	struct world *t = world_new();
	uint32_t fd;

	(void)state;
	world_file(t, "f", "old text");
	world_grant(t, GRANT_READ_FILE, "/f", "f");
	world_grant(t, GRANT_WRITE_FILE, "/f", NULL);
	world_begin(t);
	assert_string_equal(read_text(t, must_open(t, "f", 0, RD), 99),
			    "old text");
	assert_int_equal(size_of(t, "f"), 8);
	fd = must_open(t, "f", OFLAG_TRUNC, WR);
	assert_int_equal(write_text(t, fd, "new"), 0);
	assert_string_equal(read_text(t, must_open(t, "f", 0, RD), 99), "new");
	assert_int_equal(size_of(t, "f"), 3);
	world_free(t);
}

/* The same, where what is old is in a directory that may be read. */
static void replace_in_a_read_directory(void **state)
{
	struct world *t = world_new();
	uint32_t fd;

	(void)state;
	world_grant(t, GRANT_READ_DIR, "/d", "d");
	world_grant(t, GRANT_WRITE_FILE, "/d/old", NULL);
	world_grant(t, GRANT_WRITE_FILE, "/d/new", NULL);
	world_file(t, "d/old", "old text");
	world_begin(t);
	assert_string_equal(read_text(t, must_open(t, "d/old", 0, RD), 99),
			    "old text");
	assert_int_equal(size_of(t, "d/old"), 8);
	assert_int_equal(stat_at(t, "d/new", 0), W_NOENT);
	assert_int_equal(open_at(t, 3, "d/new", 0, RD), W_NOENT);
	fd = must_open(t, "d", OFLAG_DIRECTORY, RD);
	assert_string_equal(list_dir(t, fd, 512), ". .. old ");
	assert_int_equal(write_text(t, must_open(t, "d/old", OFLAG_TRUNC, WR),
				    "x"),
			 0);
	must_open(t, "d/new", OFLAG_CREAT, RD | RIGHT_FD_WRITE);
	assert_int_equal(size_of(t, "d/old"), 1);
	assert_string_equal(list_dir(t, fd, 512), ". .. old new ");
	assert_int_equal(t->w->report.n_denials, 0);
	world_free(t);
}

/* Regression list 12. */
static void quota_of_a_file(void **state)
{
	struct world *t = world_new();
	struct stat st;
	uint32_t fd;

	(void)state;
	world_grant(t, GRANT_WRITE_FILE, "/f", NULL)->max_bytes = 10;
	world_begin(t);
	fd = must_open(t, "f", OFLAG_CREAT, WR);
	assert_int_equal(write_text(t, fd, "01234567"), 0);
	assert_int_equal(write_text(t, fd, "890"), W_NOSPC);
	assert_true(was_denied(t, "write", "/f"));
	assert_int_equal(write_text(t, fd, "89"), 0);
	assert_int_equal(write_text(t, fd, "x"), W_NOSPC);
	assert_int_equal(call(t, "fd_allocate", fd, 0, 10), 0);
	assert_int_equal(call(t, "fd_allocate", fd, 0, 11), W_NOSPC);
	assert_int_equal(call(t, "fd_allocate", fd, 1ull << 60, 1), W_NOSPC);
	assert_int_equal(call(t, "fd_allocate", fd, INT64_MAX, INT64_MAX),
			 W_FBIG);
	assert_int_equal(call(t, "fd_allocate", fd, 0, 0), W_INVAL);
	assert_int_equal(call(t, "fd_allocate", fd, UINT64_MAX, 2), W_INVAL);
	assert_int_equal(call(t, "fd_filestat_set_size", fd, 1ull << 60),
			 W_NOSPC);
	assert_int_equal(call(t, "fd_filestat_set_size", fd, UINT64_MAX),
			 W_INVAL);
	assert_int_equal(call(t, "fd_pwrite", fd, iov(t, AT_DATA, 1), 1,
			      1ull << 60, AT_RET),
			 W_NOSPC);
	assert_int_equal(call(t, "fd_pwrite", fd, iov(t, AT_DATA, 1), 1,
			      INT64_MAX, AT_RET),
			 W_FBIG);
	assert_int_equal(call(t, "fd_pwrite", fd, iov(t, AT_DATA, 1), 1,
			      UINT64_MAX, AT_RET),
			 W_INVAL);
	assert_int_equal(call(t, "fd_seek", fd, INT64_MAX, WHENCE_SET, AT_RET),
			 0);
	assert_int_equal(write_text(t, fd, "x"), W_FBIG);
	assert_int_equal(write_text(t, fd, ""), 0);
	assert_int_equal(call(t, "fd_filestat_set_size", fd, 4), 0);
	assert_int_equal(call(t, "fd_seek", fd, 4, WHENCE_SET, AT_RET), 0);
	assert_int_equal(write_text(t, fd, "456789"), 0);
	assert_int_equal(fstat(t->fds[0], &st), 0);
	assert_int_equal(st.st_size, 10);
	assert_string_equal(stage_text(t->fds[0]), "0123456789");
	world_free(t);
}

static enum wasi_lack lacks(struct world *t)
{
	const struct wasi_written *all;

	written(t, &all);
	if (t->report.lacks)
		assert_non_null(t->report.lacking);
	return t->report.lacks;
}

/* What a guest does about a write that was refused; whether that is enough. */
static void what_was_refused_is_missing(void **state)
{
	static const struct {
		enum wasi_lack want;
		uint64_t size; /* UINT64_MAX: it does nothing */
	} rows[] = {
		{WASI_LACKS_BYTES, UINT64_MAX}, {WASI_LACKS_NOTHING, 0},
		{WASI_LACKS_NOTHING, 8},	{WASI_LACKS_BYTES, 9},
		{WASI_LACKS_BYTES, 11},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct world *t = world_new();
		uint32_t fd;

		world_grant(t, GRANT_WRITE_FILE, "/f", NULL)->max_bytes = 10;
		world_begin(t);
		fd = must_open(t, "f", OFLAG_CREAT, WR);
		assert_int_equal(write_text(t, fd, "01234567"), 0);
		assert_int_equal(write_text(t, fd, "890"), W_NOSPC);
		if (rows[i].size != UINT64_MAX)
			assert_int_equal(call(t, "fd_filestat_set_size", fd,
					      rows[i].size),
					 rows[i].size > 10 ? W_NOSPC : 0);
		assert_int_equal(lacks(t), rows[i].want);
		world_free(t);
	}
}

/* Where no file has a place. */
static void what_lies_too_far_is_missing(void **state)
{
	struct world *t = world_new();
	uint32_t fd;

	(void)state;
	world_grant(t, GRANT_WRITE_FILE, "/f", NULL)->max_bytes = 10;
	world_begin(t);
	fd = must_open(t, "f", OFLAG_CREAT, WR);
	assert_int_equal(write_text(t, fd, "0"), 0);
	assert_int_equal(call(t, "fd_pwrite", fd, iov(t, AT_DATA, 1), 1,
			      INT64_MAX, AT_RET),
			 W_FBIG);
	assert_int_equal(lacks(t), WASI_LACKS_BYTES);
	world_free(t);
}

/* Whoever asks for room and gets none has lost nothing. */
static void no_room_is_no_loss(void **state)
{
	struct world *t = world_new();
	uint32_t fd;

	(void)state;
	world_grant(t, GRANT_WRITE_FILE, "/f", NULL)->max_bytes = 10;
	world_begin(t);
	fd = must_open(t, "f", OFLAG_CREAT, WR);
	assert_int_equal(call(t, "fd_allocate", fd, 0, 11), W_NOSPC);
	assert_int_equal(lacks(t), WASI_LACKS_NOTHING);
	world_free(t);
}

/* The host's own disk is full. */
static void a_full_disk_is_a_loss(void **state)
{
	struct world *t = world_new();
	int full = open("/dev/full", O_RDWR | O_CLOEXEC);
	uint32_t fd;

	(void)state;
	assert_true(full >= 0);
	world_grant(t, GRANT_WRITE_FILE, "/f", NULL);
	world_begin(t);
	fd = must_open(t, "f", OFLAG_CREAT, WR);
	assert_int_equal(write_text(t, fd, "0"), 0);
	assert_int_equal(dup3(full, t->grants[0].fd, O_CLOEXEC),
			 t->grants[0].fd);
	close(full);
	assert_int_equal(write_text(t, fd, "1"), W_NOSPC);
	assert_int_equal(t->w->report.n_denials, 0);
	assert_int_equal(lacks(t), WASI_LACKS_SPACE);
	world_free(t);
}

/* Of a directory: removed is made good, replaced is not. */
static void files_that_were_not_made(void **state)
{
	static const struct {
		enum wasi_lack want;
		const char *unlinks, *renames;
	} rows[] = {
		{WASI_LACKS_FILES, NULL, NULL},
		{WASI_LACKS_FILES, NULL, "w/b"},
		{WASI_LACKS_NOTHING, "w/a", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct world *t = world_new();

		world_grant(t, GRANT_WRITE_DIR, "/w", NULL)->max_files = 2;
		world_begin(t);
		must_open(t, "w/a", OFLAG_CREAT, WR);
		must_open(t, "w/b", OFLAG_CREAT, WR);
		assert_int_equal(open_at(t, 3, "w/c", OFLAG_CREAT, WR),
				 W_NOSPC);
		if (rows[i].unlinks)
			assert_int_equal(path_call(t, "path_unlink_file",
						   rows[i].unlinks), 0);
		if (rows[i].renames)
			assert_int_equal(rename_to(t, "w/a", rows[i].renames),
					 0);
		assert_int_equal(lacks(t), rows[i].want);
		world_free(t);
	}
}

/* A file that lost something and is gone itself is no loss. */
static void what_is_removed_lacks_nothing(void **state)
{
	struct world *t = world_new();
	uint32_t fd;

	(void)state;
	world_grant(t, GRANT_WRITE_DIR, "/w", NULL)->max_bytes = 4;
	world_begin(t);
	fd = must_open(t, "w/a", OFLAG_CREAT, WR);
	assert_int_equal(write_text(t, fd, "01234"), W_NOSPC);
	assert_int_equal(path_call(t, "path_unlink_file", "w/a"), 0);
	assert_int_equal(lacks(t), WASI_LACKS_NOTHING);
	world_free(t);
}

static void append_goes_to_the_end(void **state)
{
	struct world *t = world_new();
	uint32_t fd;

	(void)state;
	world_grant(t, GRANT_WRITE_FILE, "/f", NULL);
	world_begin(t);
	fd = must_open(t, "f", OFLAG_CREAT, WR);
	assert_int_equal(call(t, "fd_fdstat_set_flags", fd, FDFLAG_APPEND), 0);
	assert_int_equal(call(t, "fd_fdstat_set_flags", fd, 32), W_INVAL);
	assert_int_equal(write_text(t, fd, "one "), 0);
	assert_int_equal(call(t, "fd_seek", fd, 0, WHENCE_SET, AT_RET), 0);
	assert_int_equal(write_text(t, fd, "two"), 0);
	assert_int_equal(call(t, "fd_tell", fd, AT_RET), 0);
	assert_int_equal(ret_u64(t, AT_RET), 7);
	assert_int_equal(call(t, "fd_sync", fd), 0);
	assert_int_equal(call(t, "fd_datasync", fd), 0);
	assert_string_equal(stage_text(t->fds[0]), "one two");
	world_free(t);
}

static void directory_takes_new_files(void **state)
{
	const struct wasi_written *all;
	struct world *t = world_new();
	uint32_t fd;

	(void)state;
	world_grant(t, GRANT_WRITE_DIR, "/out/charts/", NULL);
	world_begin(t);
	assert_int_equal(open_at(t, 3, "out/charts/a", 0, WR), W_NOENT);
	assert_int_equal(open_at(t, 3, "out/charts/no/a", OFLAG_CREAT, WR),
			 W_NOENT);
	fd = must_open(t, "out/charts/a", OFLAG_CREAT, WR);
	assert_int_equal(write_text(t, fd, "a"), 0);
	assert_int_equal(call(t, "fd_close", fd), 0);
	assert_int_equal(path_call(t, "path_create_directory",
				   "out/charts/sub"),
			 0);
	assert_int_equal(path_call(t, "path_create_directory",
				   "out/charts/sub"),
			 W_EXIST);
	fd = must_open(t, "out/charts/sub/b", OFLAG_CREAT | OFLAG_EXCL, WR);
	assert_int_equal(write_text(t, fd, "bee"), 0);
	assert_string_equal(list_dir(t, must_open(t, "out/charts", 2, RD), 512),
			    ". .. a sub ");
	assert_int_equal(path_call(t, "path_remove_directory",
				   "out/charts/sub"),
			 W_NOTEMPTY);
	assert_int_equal(path_call(t, "path_unlink_file", "out/charts/sub"),
			 W_ISDIR);
	assert_int_equal(path_call(t, "path_remove_directory", "out/charts/a"),
			 W_NOTDIR);
	assert_int_equal(path_call(t, "path_remove_directory", "out/charts"),
			 W_ACCES);
	assert_int_equal(path_call(t, "path_remove_directory", "out"),
			 W_ACCES);
	assert_int_equal(written(t, &all), 2);
	assert_string_equal(all[0].path, "a");
	assert_string_equal(all[1].path, "sub/b");
	assert_string_equal(stage_text(t->stages[all[1].handle]), "bee");
	world_free(t);
}

static void renames_stay_in_the_grant(void **state)
{
	const struct wasi_written *all;
	struct world *t = world_new();
	uint32_t fd;

	(void)state;
	world_grant(t, GRANT_WRITE_DIR, "/w", NULL);
	world_grant(t, GRANT_WRITE_DIR, "/v", NULL);
	world_grant(t, GRANT_READ_DIR, "/d", "d");
	world_file(t, "d/f", "x");
	world_begin(t);
	fd = must_open(t, "w/tmp", OFLAG_CREAT, WR);
	assert_int_equal(write_text(t, fd, "first"), 0);
	assert_int_equal(rename_to(t, "w/tmp", "w/final"), 0);
	assert_int_equal(stat_at(t, "w/tmp", 0), W_NOENT);
	assert_int_equal(write_text(t, fd, "!"), 0); /* still the same file */
	assert_int_equal(write_text(t, must_open(t, "w/tmp", OFLAG_CREAT, WR),
				    "second"),
			 0);
	assert_int_equal(rename_to(t, "w/tmp", "w/final"), 0);
	assert_string_equal(read_text(t, must_open(t, "w/final", 0, RD), 99),
			    "second");
	assert_int_equal(write_text(t, fd, "gone"), 0); /* nameless, open */
	assert_int_equal(call(t, "fd_close", fd), 0);
	assert_int_equal(t->n_closed, 1);
	assert_int_equal(rename_to(t, "w/final", "w/final"), 0);
	assert_int_equal(rename_to(t, "w/final", "v/x"), W_XDEV);
	assert_int_equal(rename_to(t, "w/final", "d/x"), W_ACCES);
	assert_int_equal(rename_to(t, "d/f", "w/x"), W_ACCES);
	assert_int_equal(rename_to(t, "w/final", "x"), W_ACCES);
	assert_int_equal(rename_to(t, "w/none", "w/x"), W_NOENT);
	assert_int_equal(link_to(t, "w/final", "w/hard"), W_NOTCAPABLE);
	assert_int_equal(link_to(t, "d/f", "w/hard"), W_NOTCAPABLE);
	assert_int_equal(link_to(t, "w/final", "d/hard"), W_NOTCAPABLE);
	assert_int_equal(path_call(t, "path_create_directory", "w/a"), 0);
	assert_int_equal(path_call(t, "path_create_directory", "w/a/b"), 0);
	assert_int_equal(rename_to(t, "w/a", "w/a/b/c"), W_INVAL);
	assert_int_equal(rename_to(t, "w/a", "w/a/b"), W_INVAL);
	assert_int_equal(rename_to(t, "w/a/b", "w/a"), W_NOTEMPTY);
	assert_int_equal(rename_to(t, "w/final", "w/a"), W_ISDIR);
	assert_int_equal(rename_to(t, "w/a", "w/final"), W_NOTDIR);
	assert_int_equal(rename_to(t, "w/final", "w/a/b/end"), 0);
	assert_int_equal(rename_to(t, "w/a", "w/z"), 0);
	assert_int_equal(rename_to(t, "w/z", "w"), W_ACCES);
	assert_int_equal(written(t, &all), 1);
	assert_string_equal(all[0].path, "z/b/end");
	assert_string_equal(stage_text(t->stages[all[0].handle]), "second");
	world_free(t);
}

static void quota_of_a_directory(void **state)
{
	struct world *t = world_new();
	struct plan_grant *g;
	uint32_t a, b;
	char name[16];

	(void)state;
	g = world_grant(t, GRANT_WRITE_DIR, "/w", NULL);
	g->max_bytes = 10;
	g->max_files = 3;
	world_begin(t);
	a = must_open(t, "w/a", OFLAG_CREAT, WR);
	b = must_open(t, "w/b", OFLAG_CREAT, WR);
	assert_int_equal(write_text(t, a, "012345"), 0);
	assert_int_equal(write_text(t, b, "01234"), W_NOSPC);
	assert_int_equal(write_text(t, b, "0123"), 0);
	assert_int_equal(call(t, "fd_filestat_set_size", a, 2), 0);
	assert_int_equal(write_text(t, b, "4567"), 0);
	assert_int_equal(write_text(t, b, "8"), W_NOSPC);
	/* An unlinked file counts while it is open, and no longer. */
	assert_int_equal(path_call(t, "path_unlink_file", "w/a"), 0);
	assert_int_equal(write_text(t, b, "8"), W_NOSPC);
	assert_int_equal(call(t, "fd_close", a), 0);
	assert_int_equal(write_text(t, b, "8"), 0);
	assert_int_equal(path_call(t, "path_create_directory", "w/d"), 0);
	must_open(t, "w/c", OFLAG_CREAT, WR);
	assert_int_equal(open_at(t, 3, "w/e", OFLAG_CREAT, WR), W_NOSPC);
	assert_int_equal(path_call(t, "path_create_directory", "w/e"), W_NOSPC);
	assert_true(was_denied(t, "create", "/w"));
	assert_int_equal(path_call(t, "path_remove_directory", "w/d"), 0);
	must_open(t, "w/e", OFLAG_CREAT, WR);
	assert_int_equal(path_call(t, "path_unlink_file", "w/e"), 0);
	/* Making and taking away for ever takes no room. */
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "w/n%d", i);
		assert_int_equal(call(t, "fd_close",
				      must_open(t, name, OFLAG_CREAT, WR)),
				 0);
		assert_int_equal(path_call(t, "path_unlink_file", name), 0);
	}
	assert_true(t->w->tree.n < 12);
	world_free(t);
}

static void old_files_need_a_read_grant(void **state)
{
	const struct wasi_written *all;
	struct world *t = world_new();
	uint32_t fd;

	(void)state;
	world_grant(t, GRANT_READ_DIR, "/d", "d");
	world_grant(t, GRANT_WRITE_DIR, "/d", NULL)->mode = WRITE_CREATE;
	world_grant(t, GRANT_READ_DIR, "/r", "d");
	world_grant(t, GRANT_WRITE_DIR, "/r", NULL)->mode = WRITE_REPLACE;
	mkdirat(t->dir_fd, "d/sub", 0700);
	world_file(t, "d/old", "old text");
	world_begin(t);
	assert_string_equal(read_text(t, must_open(t, "d/old", 0, RD), 99),
			    "old text");
	assert_int_equal(open_at(t, 3, "d/old", OFLAG_CREAT | OFLAG_EXCL, WR),
			 W_EXIST);
	assert_int_equal(open_at(t, 3, "d/old", OFLAG_CREAT | OFLAG_TRUNC, WR),
			 W_ACCES);
	assert_int_equal(path_call(t, "path_unlink_file", "d/old"), W_ACCES);
	assert_int_equal(path_call(t, "path_create_directory", "d/sub"),
			 W_EXIST);
	must_open(t, "d/sub/new", OFLAG_CREAT, WR);
	must_open(t, "d/new", OFLAG_CREAT, WR);
	assert_int_equal(rename_to(t, "d/new", "d/old"), W_EXIST);
	fd = must_open(t, "d", OFLAG_DIRECTORY, RD);
	assert_string_equal(list_dir(t, fd, 512), ". .. sub new old ");
	fd = must_open(t, "r/old", OFLAG_TRUNC, WR);
	assert_int_equal(write_text(t, fd, "new"), 0);
	assert_string_equal(read_text(t, must_open(t, "r/old", 0, RD), 99),
			    "new");
	assert_int_equal(written(t, &all), 3);
	assert_string_equal(all[0].path, "sub/new");
	assert_string_equal(all[1].path, "new");
	assert_string_equal(all[2].path, "old");
	assert_int_equal(all[2].grant, 3);
	world_free(t);
}

static uint32_t times_at(struct world *t, const char *name, uint64_t atim,
			 uint64_t mtim, uint32_t flags)
{
	uint32_t n = put_name(t, AT_PATH, name);

	return call(t, "path_filestat_set_times", 3, 0, AT_PATH, n, atim, mtim,
		    flags);
}

static void times_are_the_guests_own(void **state)
{
	struct world *t = world_new();
	uint32_t fd;

	(void)state;
	t->plan.clock = SOURCE_FIXED;
	t->plan.clock_fixed_ns = 1767225600000000000;
	world_grant(t, GRANT_WRITE_DIR, "/w", NULL);
	world_begin(t);
	fd = must_open(t, "w/f", OFLAG_CREAT, WR);
	assert_int_equal(stat_at(t, "w/f", 0), 0);
	assert_int_equal(ret_u64(t, AT_RET + 48), 1767225600000000000);
	/* The largest there is, beyond 2262. */
	assert_int_equal(times_at(t, "w/f", 1, UINT64_MAX, FST_ATIM | FST_MTIM),
			 0);
	assert_int_equal(stat_at(t, "w/f", 0), 0);
	assert_int_equal(ret_u64(t, AT_RET + 40), 1);
	assert_int_equal(ret_u64(t, AT_RET + 48), UINT64_MAX);
	assert_int_equal(call(t, "fd_filestat_set_times", fd, 0, 0,
			      FST_MTIM_NOW),
			 0);
	assert_int_equal(call(t, "fd_filestat_get", fd, AT_RET), 0);
	assert_int_equal(ret_u64(t, AT_RET + 48), 1767225600000000000);
	assert_int_equal(times_at(t, "w/f", 1, 1, FST_ATIM | FST_ATIM_NOW),
			 W_INVAL);
	assert_int_equal(times_at(t, "w/f", 1, 1, 16), W_INVAL);
	assert_int_equal(times_at(t, "w/none", 1, 1, FST_ATIM), W_NOENT);
	assert_int_equal(times_at(t, "none", 1, 1, FST_ATIM), W_ACCES);
	assert_false(t->w->report.used_clock);
	world_end(t);
	/* A real time of writing is a clock. */
	t->plan.clock = SOURCE_REAL;
	world_begin(t);
	must_open(t, "w/f", OFLAG_CREAT, WR);
	assert_int_equal(stat_at(t, "w/f", 0), 0);
	assert_true(ret_u64(t, AT_RET + 48) > 0);
	assert_true(t->w->report.used_clock);
	world_free(t);
}

/* Regression list 10 and case C111: none of these may break stat. */
static void old_and_far_times_of_the_host(void **state)
{
	static const struct {
		int64_t sec;
		uint64_t ns;
	} rows[] = {
		{-2177452800, 0}, /* 1901 */
		{-1, 0},
		{2145916800, 2145916800000000123}, /* 2038 */
		{9466848000, 9466848000000000123u}, /* 2269 */
	};
	struct world *t = world_new();

	(void)state;
	world_file(t, "f", "x");
	world_grant(t, GRANT_READ_FILE, "/f", "f");
	world_begin(t);
	for (size_t i = 0; i < 4; i++) {
		struct timespec ts[2] = {{rows[i].sec, 123},
					 {rows[i].sec, 123}};

		assert_int_equal(utimensat(t->dir_fd, "f", ts, 0), 0);
		assert_int_equal(stat_at(t, "f", 0), 0);
		assert_int_equal(ret_u64(t, AT_RET + 48), rows[i].ns);
	}
	world_free(t);
}

static void removed_directory_is_empty_for_ever(void **state)
{
	struct world *t = world_new();
	uint32_t fd, up;

	(void)state;
	world_grant(t, GRANT_WRITE_DIR, "/w", NULL);
	world_begin(t);
	assert_int_equal(path_call(t, "path_create_directory", "w/a"), 0);
	assert_int_equal(path_call(t, "path_create_directory", "w/a/b"), 0);
	fd = must_open(t, "w/a/b", OFLAG_DIRECTORY, RIGHTS_DIR);
	up = must_open(t, "w/a", OFLAG_DIRECTORY, RD);
	assert_int_equal(path_call(t, "path_remove_directory", "w/a/b"), 0);
	assert_int_equal(path_call(t, "path_remove_directory", "w/a"), 0);
	assert_int_equal(call(t, "fd_close", up), 0);
	/* Its parent's number may be another file's by now. */
	must_open(t, "w/new", OFLAG_CREAT, WR);
	assert_int_equal(open_at(t, fd, "x", OFLAG_CREAT, WR), W_NOENT);
	assert_int_equal(open_at(t, fd, "..", 0, RD), W_NOENT);
	assert_int_equal(open_at(t, fd, ".", 0, RD), W_NOENT);
	assert_int_equal(call(t, "fd_readdir", fd, AT_DATA, 99, 0, AT_RET),
			 W_NOENT);
	assert_int_equal(call(t, "fd_filestat_get", fd, AT_RET), 0);
	assert_int_equal(call(t, "fd_close", fd), 0);
	world_free(t);
}

static int no_open(void *data, uint32_t grant, const char *path, unsigned flags,
		   struct wasi_opened *ret)
{
	(void)data;
	(void)grant;
	(void)path;
	(void)flags;
	(void)ret;
	return ENOSPC;
}

static void core_cannot_make_a_stage(void **state)
{
	const struct wasi_written *all;
	struct world *t = world_new();

	(void)state;
	world_grant(t, GRANT_WRITE_DIR, "/w", NULL);
	t->host.open = no_open;
	world_begin(t);
	assert_int_equal(open_at(t, 3, "w/a", OFLAG_CREAT, WR), W_NOSPC);
	assert_int_equal(stat_at(t, "w/a", 0), W_NOENT);
	assert_int_equal(written(t, &all), 0);
	world_free(t);
}

static int bad_disk(void *data, uint32_t grant, const char *path,
		    unsigned flags, struct wasi_opened *ret)
{
	(void)data, (void)grant, (void)path, (void)flags, (void)ret;
	return EIO;
}

static int no_number(void *data, uint32_t grant, const char *path,
		     unsigned flags, struct wasi_opened *ret)
{
	(void)data, (void)grant, (void)path, (void)flags, (void)ret;
	return EMFILE;
}

static int no_place(void *data, uint32_t grant, const char *path,
		    unsigned flags, struct wasi_opened *ret)
{
	(void)data, (void)grant, (void)path, (void)flags, (void)ret;
	return EISDIR;
}

/* The host's trouble is told as itself, and is a loss; a name that cannot be
 * is the guest's matter. */
static void what_the_host_could_not_make_is_a_loss(void **state)
{
	static const struct {
		int (*open)(void *data, uint32_t grant, const char *path,
			    unsigned flags, struct wasi_opened *ret);
		uint32_t code;
		enum wasi_lack want;
	} rows[] = {{bad_disk, W_IO, WASI_LACKS_SPACE},
		    {no_number, W_MFILE, WASI_LACKS_SPACE},
		    {no_open, W_NOSPC, WASI_LACKS_SPACE},
		    {no_place, W_ISDIR, WASI_LACKS_NOTHING}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct world *t = world_new();

		world_grant(t, GRANT_WRITE_DIR, "/w", NULL);
		t->host.open = rows[i].open;
		world_begin(t);
		assert_int_equal(open_at(t, 3, "w/a", OFLAG_CREAT, WR),
				 rows[i].code);
		assert_int_equal(lacks(t), rows[i].want);
		world_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_file),
		cmocka_unit_test(untouched_file_is_not_written),
		cmocka_unit_test(read_and_replace),
		cmocka_unit_test(replace_in_a_read_directory),
		cmocka_unit_test(quota_of_a_file),
		cmocka_unit_test(what_was_refused_is_missing),
		cmocka_unit_test(what_lies_too_far_is_missing),
		cmocka_unit_test(no_room_is_no_loss),
		cmocka_unit_test(a_full_disk_is_a_loss),
		cmocka_unit_test(files_that_were_not_made),
		cmocka_unit_test(what_is_removed_lacks_nothing),
		cmocka_unit_test(append_goes_to_the_end),
		cmocka_unit_test(directory_takes_new_files),
		cmocka_unit_test(renames_stay_in_the_grant),
		cmocka_unit_test(quota_of_a_directory),
		cmocka_unit_test(old_files_need_a_read_grant),
		cmocka_unit_test(times_are_the_guests_own),
		cmocka_unit_test(old_and_far_times_of_the_host),
		cmocka_unit_test(removed_directory_is_empty_for_ever),
		cmocka_unit_test(core_cannot_make_a_stage),
		cmocka_unit_test(what_the_host_could_not_make_is_a_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
