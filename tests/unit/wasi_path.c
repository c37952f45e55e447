/* Names that try to lead elsewhere: regression list 1 and 4, cases C097, C101,
 * C103, C107. */
#include "wasi_world.h"

/* A world with /data/in (a file), /d (a directory with links), /w (write). */
static struct world *tricky(void)
{
	struct world *t = world_new();

	world_file(t, "canary", "must not be read");
	world_file(t, "in", "granted");
	world_grant(t, GRANT_READ_FILE, "/data/in", "in");
	world_grant(t, GRANT_READ_DIR, "/d", "d");
	world_grant(t, GRANT_WRITE_DIR, "/w", "w");
	mkdirat(t->dir_fd, "d/sub", 0700);
	world_file(t, "d/file", "inside");
	world_file(t, "d/sub/deep", "deep inside");
	assert_int_equal(symlinkat("../file", t->dir_fd, "d/sub/up"), 0);
	assert_int_equal(symlinkat("sub", t->dir_fd, "d/link"), 0);
	assert_int_equal(symlinkat("sub/", t->dir_fd, "d/slash"), 0);
	assert_int_equal(symlinkat("..", t->dir_fd, "d/out"), 0);
	assert_int_equal(symlinkat("../canary", t->dir_fd, "d/leak"), 0);
	assert_int_equal(symlinkat("/etc/passwd", t->dir_fd, "d/abs"), 0);
	assert_int_equal(symlinkat("/proc/self/fd", t->dir_fd, "d/proc"), 0);
	assert_int_equal(symlinkat("loop", t->dir_fd, "d/loop"), 0);
	assert_int_equal(symlinkat("gone", t->dir_fd, "d/dangling"), 0);
	world_begin(t);
	return t;
}

static void links_inside_work(void **state)
{
	static const struct {
		const char *name, *text;
	} rows[] = {
		{"d/sub/up", "inside"},
		{"d/link/deep", "deep inside"},
		{"d/link/up", "inside"},
		{"d/link/../file", "inside"},
		{"d/slash/deep", "deep inside"},
		{"d/sub/../file", "inside"},
		{"d/./sub/.././/file", "inside"},
		{"./d/../data/in", "granted"},
		{"d/sub/../../data/in", "granted"},
		{"data/../d/file", "inside"},
		{"../../data/in", "granted"},
		{"/data/in", "granted"},
		{"//data//in", "granted"},
		{"w/../data/in", "granted"},
	};
	struct world *t = tricky();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t fd = must_open(t, rows[i].name, 0, RD);

		assert_string_equal(read_text(t, fd, 99), rows[i].text);
		assert_int_equal(call(t, "fd_close", fd), 0);
	}
	assert_int_equal(t->w->report.n_denials, 0);
	assert_int_equal(stat_at(t, "d/link", LOOKUP_FOLLOW), 0);
	assert_int_equal(t->memory[AT_RET + 16], FILETYPE_DIRECTORY);
	assert_int_equal(stat_at(t, "d/link", 0), 0);
	assert_int_equal(t->memory[AT_RET + 16], FILETYPE_SYMLINK);
	assert_int_equal(stat_at(t, "d/link/", 0), 0);
	assert_int_equal(t->memory[AT_RET + 16], FILETYPE_DIRECTORY);
	world_free(t);
}

static void names_that_lead_out(void **state)
{
	static const struct {
		const char *name;
		uint32_t e;
	} rows[] = {
		{"../outside.txt", W_ACCES},
		{"a/../../outside.txt", W_ACCES},
		{"./../x", W_ACCES},
		{"//etc/passwd", W_ACCES},
		{"/etc/passwd", W_ACCES},
		{"/proc/self/environ", W_ACCES},
		{"data/../canary", W_ACCES},
		{"d/../canary", W_ACCES},
		{"d/../../canary", W_ACCES},
		{"d/sub/../../canary", W_ACCES},
		{"d/out", W_ACCES},
		{"d/out/", W_ACCES},
		{"d/out/canary", W_ACCES},
		{"d/out//canary", W_ACCES},
		{"d/out/.", W_ACCES},
		{"d/leak", W_ACCES},
		{"d/abs", W_ACCES},
		{"d/abs/", W_ACCES},
		{"d/proc", W_ACCES},
		{"d/proc/0", W_ACCES},
		{"d/link/../../canary", W_ACCES},
		{"d/loop", W_LOOP},
		{"d/loop/", W_LOOP},
		{"d/loop/x", W_LOOP},
		{"d/dangling", W_NOENT},
		{"d/nothing/../file", W_NOENT},
		{"d/file/../file", W_NOTDIR},
		{"d/file/", W_NOTDIR},
		{"d/file/.", W_NOTDIR},
		{"d/file/x", W_NOTDIR},
		{"w/nothing/../x", W_NOENT},
		{"w/x", W_NOENT},
		{"", W_NOENT},
		{"caf\xc3", W_ILSEQ},
		{"\xff", W_ILSEQ},
		{"d/\xed\xa0\x80", W_ILSEQ},
		{"\xc0\xae\xc0\xae/canary", W_ILSEQ},
	};
	struct world *t = tricky();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t open = open_at(t, 3, rows[i].name, 0, RD);
		uint32_t stat = stat_at(t, rows[i].name, LOOKUP_FOLLOW);

		if (open != rows[i].e || stat != rows[i].e)
			print_error("%s: open %u, stat %u\n", rows[i].name,
				    open, stat);
		assert_int_equal(open, rows[i].e);
		assert_int_equal(stat, rows[i].e);
		assert_int_not_equal(open_at(t, 3, rows[i].name,
					     OFLAG_DIRECTORY, RD),
				     0);
	}
	assert_true(was_denied(t, "open", "/d/leak"));
	assert_true(was_denied(t, "open", "/outside.txt"));
	/* A link is not followed if that is not asked for. */
	put_name(t, AT_PATH, "d/link");
	assert_int_equal(call(t, "path_open", 3, 0, AT_PATH, 6, 0, RD, 0, 0,
			      AT_RET),
			 W_LOOP);
	world_free(t);
}

static void long_names(void **state)
{
	struct world *t = tricky();
	char name[10001];

	(void)state;
	memset(name, 'x', sizeof(name));
	name[10000] = '\0';
	assert_int_equal(open_at(t, 3, name, 0, RD), W_NAMETOOLONG);
	name[4096] = '\0';
	assert_int_equal(open_at(t, 3, name, 0, RD), W_NAMETOOLONG);
	name[300] = '\0';
	assert_int_equal(open_at(t, 3, name, 0, RD), W_NAMETOOLONG);
	name[256] = '\0';
	assert_int_equal(open_at(t, 3, name, 0, RD), W_NAMETOOLONG);
	name[255] = '\0';
	assert_int_equal(open_at(t, 3, name, 0, RD), W_ACCES);
	/* 64 KiB */
	memset(t->memory + 0xffff, 'x', 65536);
	assert_int_equal(call(t, "path_filestat_get", 3, 0, 0xffff, 65536,
			      AT_RET),
			 W_NAMETOOLONG);
	/* Many components: each is looked at, none is too long. */
	for (size_t i = 0; i + 1 < 4094; i += 2)
		memcpy(name + i, "./", 2);
	strcpy(name + 4080, "data/in");
	assert_string_equal(read_text(t, must_open(t, name, 0, RD), 99),
			    "granted");
	for (size_t i = 0; i + 2 < 4094; i += 3)
		memcpy(name + i, "../", 3);
	strcpy(name + 4080, "x");
	assert_int_equal(open_at(t, 3, name, 0, RD), W_ACCES);
	/* A name below a directory that is open already. */
	memset(name, 'y', 200);
	for (size_t i = 200; i < 4095; i += 201) {
		name[i] = '/';
		memset(name + i + 1, 'y', 200);
	}
	name[4095] = '\0';
	assert_int_equal(open_at(t, must_open(t, "d/sub", 2, RD), name, 0, RD),
			 W_NAMETOOLONG);
	world_free(t);
}

static void names_with_nul(void **state)
{
	struct world *t = tricky();

	(void)state;
	memcpy(t->memory + AT_PATH, "data/in\0x", 9);
	for (uint32_t n = 8; n < 10; n++) {
		assert_int_equal(call(t, "path_open", 3, 0, AT_PATH, n, 0, RD,
				      0, 0, AT_RET),
				 W_INVAL);
		assert_int_equal(call(t, "path_unlink_file", 3, AT_PATH, n),
				 W_INVAL);
		assert_int_equal(call(t, "path_filestat_get", 3, 0, AT_PATH, n,
				      AT_RET),
				 W_INVAL);
	}
	world_free(t);
}

/* Regression list 1: slashes at the end in every call that takes a name. */
static void trailing_slashes(void **state)
{
	static const char *const ends[] = {"/", "//", "/.", "///", "/./"};
	struct world *t = tricky();
	char name[64];

	(void)state;
	assert_int_equal(path_call(t, "path_create_directory", "w/dir/"), 0);
	must_open(t, "w/f", OFLAG_CREAT, WR);
	for (size_t i = 0; i < 5; i++) {
		const char *e = ends[i];

		snprintf(name, sizeof(name), "w/f%s", e);
		assert_int_equal(open_at(t, 3, name, 0, RD), W_NOTDIR);
		assert_int_equal(stat_at(t, name, 0), W_NOTDIR);
		assert_int_equal(path_call(t, "path_unlink_file", name),
				 W_NOTDIR);
		assert_int_equal(path_call(t, "path_remove_directory", name),
				 W_NOTDIR);
		assert_int_equal(rename_to(t, name, "w/g"), W_NOTDIR);
		assert_int_equal(rename_to(t, "w/f", name), W_NOTDIR);
		assert_int_equal(symlink_to(t, "f", name), W_NOTDIR);
		snprintf(name, sizeof(name), "w/new%s", e);
		assert_int_not_equal(open_at(t, 3, name, OFLAG_CREAT, WR), 0);
		assert_int_not_equal(rename_to(t, "w/f", name), 0);
		assert_int_not_equal(symlink_to(t, "f", name), 0);
		assert_int_not_equal(symlink_to(t, name, "w/l"), 0);
		snprintf(name, sizeof(name), "w/dir%s", e);
		assert_int_equal(stat_at(t, name, 0), 0);
		assert_int_equal(path_call(t, "path_unlink_file", name),
				 W_ISDIR);
		snprintf(name, sizeof(name), "d/out%s", e);
		assert_int_equal(open_at(t, 3, name, 0, RD), W_ACCES);
		assert_int_equal(stat_at(t, name, 0), W_ACCES);
		assert_int_not_equal(path_call(t, "path_unlink_file", name), 0);
		assert_int_not_equal(rename_to(t, name, "w/g"), 0);
		put_name(t, AT_PATH, name);
		assert_int_not_equal(call(t, "path_readlink", 3, AT_PATH,
					  strlen(name), AT_DATA, 100, AT_RET),
				     0);
	}
	assert_int_equal(path_call(t, "path_remove_directory", "w/dir/."),
			 W_INVAL);
	assert_int_equal(path_call(t, "path_remove_directory", "w/dir/"), 0);
	assert_int_equal(stat_at(t, "w/dir", 0), W_NOENT);
	assert_int_equal(stat_at(t, "w/f", 0), 0);
	world_free(t);
}

static uint32_t readlink_at(struct world *t, const char *name, uint32_t room)
{
	uint32_t n = put_name(t, AT_PATH, name);

	return call(t, "path_readlink", 3, AT_PATH, n, AT_DATA, room, AT_RET);
}

static void links_are_read_and_never_made(void **state)
{
	static const char *const targets[] = {"/etc/passwd", "../canary", "f",
					      "d/", "/"};
	struct world *t = tricky();

	(void)state;
	assert_int_equal(readlink_at(t, "d/link", 100), 0);
	assert_int_equal(ret_u32(t), 3);
	assert_memory_equal(t->memory + AT_DATA, "sub", 3);
	memset(t->memory + AT_DATA, 0xa5, 8);
	assert_int_equal(readlink_at(t, "d/link", 2), 0);
	assert_int_equal(ret_u32(t), 2);
	assert_int_equal(t->memory[AT_DATA + 2], 0xa5);
	assert_int_equal(readlink_at(t, "d/link", 0), 0);
	assert_int_equal(readlink_at(t, "d/file", 9), W_INVAL);
	assert_int_equal(readlink_at(t, "data/in", 9), W_INVAL);
	assert_int_equal(readlink_at(t, "d/none", 9), W_NOENT);
	assert_int_equal(readlink_at(t, "w/none", 9), W_NOENT);
	assert_int_equal(readlink_at(t, "none", 9), W_ACCES);
	/* A huge buffer is fine if it is the guest's, and copied no further. */
	assert_int_equal(readlink_at(t, "d/link", WORLD_MEMORY - AT_DATA), 0);
	assert_int_equal(readlink_at(t, "d/link", UINT32_MAX), W_FAULT);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(symlink_to(t, targets[i], "w/l"),
				 W_NOTCAPABLE);
		assert_int_equal(symlink_to(t, targets[i], "d/l"),
				 W_NOTCAPABLE);
		assert_int_equal(stat_at(t, "w/l", 0), W_NOENT);
	}
	assert_true(was_denied(t, "symlink", "/w/l"));
	world_free(t);
}

/* A folder becomes a link while the run goes on: the core decides anew. */
static void directory_swapped_for_a_link(void **state)
{
	struct world *t = tricky();
	uint32_t fd = must_open(t, "d/sub", OFLAG_DIRECTORY, RD);

	(void)state;
	assert_int_equal(open_at(t, fd, "deep", 0, RD), 0);
	assert_int_equal(renameat(t->dir_fd, "d/sub", t->dir_fd, "d/old"), 0);
	assert_int_equal(symlinkat("..", t->dir_fd, "d/sub"), 0);
	assert_int_equal(open_at(t, fd, "canary", 0, RD), W_ACCES);
	assert_int_equal(open_at(t, fd, "deep", 0, RD), W_ACCES);
	assert_int_equal(open_at(t, fd, "../canary", 0, RD), W_ACCES);
	world_free(t);
}

static void special_files_are_refused(void **state)
{
	struct world *t = tricky();

	(void)state;
	assert_int_equal(mkfifoat(t->dir_fd, "d/fifo", 0600), 0);
	assert_int_equal(open_at(t, 3, "d/fifo", 0, RD), W_ACCES);
	assert_int_equal(stat_at(t, "d/fifo", 0), 0);
	assert_int_equal(t->memory[AT_RET + 16], FILETYPE_UNKNOWN);
	assert_int_equal(t->n_opened, t->n_closed);
	world_free(t);
}

static void names_look_alike_but_differ(void **state)
{
	struct world *t = tricky();

	(void)state;
	must_open(t, "w/caf\xc3\xa9", OFLAG_CREAT, WR);
	assert_int_equal(stat_at(t, "w/cafe\xcc\x81", 0), W_NOENT);
	assert_int_equal(stat_at(t, "w/CAF\xc3\x89", 0), W_NOENT);
	assert_int_equal(stat_at(t, "w/caf\xc3\xa9", 0), 0);
	world_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_inside_work),
		cmocka_unit_test(names_that_lead_out),
		cmocka_unit_test(long_names),
		cmocka_unit_test(names_with_nul),
		cmocka_unit_test(trailing_slashes),
		cmocka_unit_test(links_are_read_and_never_made),
		cmocka_unit_test(directory_swapped_for_a_link),
		cmocka_unit_test(special_files_are_refused),
		cmocka_unit_test(names_look_alike_but_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
