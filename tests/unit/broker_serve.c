/* What a guest may ask: below a directory, by handle, within counts. */
#include "broker_fixture.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>

static void assert_fd_text(int fd, const char *text)
{
	char b[64] = {0};

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, b, sizeof b - 1, 0), strlen(text));
	assert_string_equal(b, text);
}

static void make_tree(struct place *p)
{
	char outside[128];

	snprintf(outside, sizeof outside, "%s/outside.txt", p->path);
	put_file(p->dir, "outside.txt", "SECRET");
	assert_int_equal(mkdirat(p->dir, "g", 0700), 0);
	assert_int_equal(mkdirat(p->dir, "g/sub", 0700), 0);
	put_file(p->dir, "g/a.txt", "inside");
	put_file(p->dir, "g/sub/b.txt", "deep");
	assert_int_equal(symlinkat("../a.txt", p->dir, "g/sub/up"), 0);
	assert_int_equal(symlinkat("sub", p->dir, "g/dirlink"), 0);
	assert_int_equal(symlinkat("../outside.txt", p->dir, "g/out"), 0);
	assert_int_equal(symlinkat("..", p->dir, "g/outdir"), 0);
	assert_int_equal(symlinkat(outside, p->dir, "g/abs"), 0);
	assert_int_equal(symlinkat(p->path, p->dir, "g/absdir"), 0);
	assert_int_equal(symlinkat("loop", p->dir, "g/loop"), 0);
	assert_int_equal(mkfifoat(p->dir, "g/fifo", 0600), 0);
}

static int open_error(struct place *p, const char *path, unsigned flags)
{
	CLEANUP_FD int fd = -1;
	struct answer a = ask_open(p, 0, path, flags, &fd);

	if (fd >= 0) {
		char b[64] = {0};

		assert_true(pread(fd, b, sizeof b - 1, 0) >= 0);
		assert_null(strstr(b, "SECRET"));
	}
	return a.error;
}

static void opens_below(void **state)
{
	struct place *p = *state;
	const char *good[] = {"a.txt", "./a.txt", "sub/../a.txt", "sub/up",
			      "dirlink/up", "dirlink/../a.txt"};
	size_t i;

	make_tree(p);
	grant(p, GRANT_READ_DIR, "g/", "/g");
	seal_ok(p);
	for (i = 0; i < sizeof good / sizeof *good; i++) {
		CLEANUP_FD int fd = -1;
		struct answer a = ask_open(p, 0, good[i], 0, &fd);

		assert_int_equal(a.error, 0);
		assert_int_equal(a.handle, 0);
		assert_int_equal(a.st.type, CALL_TYPE_REGULAR);
		assert_int_equal(a.st.size, 6);
		assert_fd_text(fd, "inside");
		assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	}
	assert_int_equal(seal_denials(p->sealed, &(const struct seal_denial *){
							 0}),
			 0);
}

static void refuses_what_leaves(void **state)
{
	static const char *const bad[] = {
		"../outside.txt", "sub/../../outside.txt", "./../g/a.txt",
		"/etc/passwd", "//etc/passwd", "/", "..", "out", "abs",
		"outdir/outside.txt", "absdir/outside.txt", "outdir", "outdir/",
		"outdir//", "outdir/.", "absdir/", "absdir///", "absdir/.",
		"out/", "sub/../out"};
	struct place *p = *state;
	const struct seal_denial *d;
	size_t i, n;

	make_tree(p);
	grant(p, GRANT_READ_DIR, "g/", "/g");
	seal_ok(p);
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct answer a = ask_path(p, CALL_STAT, 0, bad[i]);

		if (open_error(p, bad[i], 0) != EXDEV)
			fail_msg("open %s", bad[i]);
		if (a.error != EXDEV)
			fail_msg("stat %s: %d", bad[i], a.error);
		a = ask_path(p, CALL_LIST, 0, bad[i]);
		if (a.error != EXDEV && a.error != ENOTDIR)
			fail_msg("list %s: %d", bad[i], a.error);
	}
	n = seal_denials(p->sealed, &d);
	assert_int_equal(n, 3 * i);
	assert_string_equal(d[0].guest, "/g");
	assert_true(str_equal(d[0].path, STR("../outside.txt")));
	assert_int_equal(open_error(p, bad[0], 0), EXDEV);
	seal_denials(p->sealed, &d);
	assert_int_equal(d[0].count + d[1].count, 3);
}

static void errors_of_names(void **state)
{
	struct place *p = *state;
	char longest[CALL_PATH_MAX + 1];

	make_tree(p);
	grant(p, GRANT_READ_DIR, "g/", "/g");
	seal_ok(p);
	memset(longest, 'x', sizeof longest);
	longest[300] = '\0';
	assert_int_equal(open_error(p, longest, 0), ENAMETOOLONG);
	longest[300] = 'x';
	longest[CALL_PATH_MAX] = '\0';
	assert_int_equal(open_error(p, longest, 0), ENAMETOOLONG);
	assert_int_equal(open_error(p, "none", 0), ENOENT);
	assert_int_equal(open_error(p, "a.txt/x", 0), ENOTDIR);
	assert_int_equal(open_error(p, "a.txt/", 0), ENOTDIR);
	assert_int_equal(open_error(p, "loop", 0), ELOOP);
	assert_int_equal(open_error(p, "sub/up", CALL_NOFOLLOW), ELOOP);
	assert_int_equal(open_error(p, "a.txt", CALL_DIRECTORY), ENOTDIR);
	assert_int_equal(open_error(p, "\xff\xfe", 0), ENOENT);
	assert_int_equal(ask_path(p, CALL_OPEN, 1, "a").error, EBADF);
	assert_int_equal(ask_path(p, CALL_STAT, UINT32_MAX, "").error, EBADF);
	assert_int_equal(ask(p, (struct call){.op = CALL_CLOSE, .handle = 1},
			     NULL).error,
			 EBADF);
	assert_int_equal(ask_pread(p, 1, 10, 0).error, EBADF);
}

static void never_writes_to_read_grants(void **state)
{
	static const unsigned flags[] = {CALL_WRITE, CALL_CREATE,
					 CALL_TRUNCATE, CALL_EXCLUSIVE,
					 CALL_WRITE | CALL_CREATE};
	struct place *p = *state;
	const struct seal_denial *d;
	size_t i;

	make_tree(p);
	grant(p, GRANT_READ_DIR, "g/", "/g");
	grant(p, GRANT_READ_FILE, "g/a.txt", "/a")->opens = 9;
	seal_ok(p);
	for (i = 0; i < sizeof flags / sizeof *flags; i++) {
		assert_int_equal(open_error(p, "a.txt", flags[i]), EACCES);
		assert_int_equal(open_error(p, "new", flags[i]), EACCES);
		assert_int_equal(ask_open(p, 1, "", flags[i], NULL).error,
				 EACCES);
	}
	assert_true(seal_denials(p->sealed, &d) > 0);
	assert_true(d[0].write);
	assert_file(p->dir, "g/a.txt", "inside");
	assert_no_file(p->dir, "g/new");
}

/* Seen for what they are, never opened, and nothing waits. */
static void special_files(void **state)
{
	struct place *p = *state;
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	CLEANUP_FD int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	make_tree(p);
	snprintf(a.sun_path, sizeof a.sun_path, "%s/g/sock", p->path);
	assert_int_equal(bind(s, (void *)&a, sizeof a), 0);
	grant(p, GRANT_READ_DIR, "g/", "/g");
	grant(p, GRANT_READ_DIR, "/dev/", "/dev");
	seal_ok(p);
	assert_int_equal(open_error(p, "fifo", 0), EACCES);
	assert_int_equal(open_error(p, "sock", 0), EACCES);
	assert_int_equal(ask_path(p, CALL_STAT, 0, "fifo").st.type,
			 CALL_TYPE_UNKNOWN);
	assert_int_equal(ask_path(p, CALL_STAT, 0, "sock").st.type,
			 CALL_TYPE_STREAM);
	assert_int_equal(ask_open(p, 1, "zero", 0, NULL).error, EACCES);
	assert_int_equal(ask_path(p, CALL_STAT, 1, "zero").st.type,
			 CALL_TYPE_CHARACTER);
}

/* /proc below a granted directory is that of the core. */
static void proc_below(void **state)
{
	struct place *p = *state;
	char mem[40], vars[48];
	const struct seal_denial *d;

	snprintf(mem, sizeof mem, "proc/%d/mem", getpid());
	snprintf(vars, sizeof vars, "proc/%d/environ", getpid());
	grant(p, GRANT_READ_DIR, "/", "/h");
	seal_ok(p);
	assert_int_equal(open_error(p, "proc/self/environ", 0), EACCES);
	assert_int_equal(open_error(p, vars, 0), EACCES);
	assert_int_equal(open_error(p, mem, 0), EACCES);
	assert_int_equal(open_error(p, "proc/self/fd/0", 0), ELOOP);
	assert_int_equal(open_error(p, "proc/self/root/etc/passwd", 0), ELOOP);
	assert_int_equal(open_error(p, "etc/passwd", 0), 0);
	assert_int_equal(seal_denials(p->sealed, &d), 3);
}

static void stats_and_links(void **state)
{
	struct place *p = *state;
	struct answer a;
	struct call c = {.op = CALL_STAT, .path = STR("sub/up")};

	make_tree(p);
	grant(p, GRANT_READ_DIR, "g/", "/g");
	seal_ok(p);
	a = ask_path(p, CALL_STAT, 0, "");
	assert_int_equal(a.st.type, CALL_TYPE_DIRECTORY);
	a = ask(p, c, NULL);
	assert_int_equal(a.st.type, CALL_TYPE_REGULAR);
	c.flags = CALL_NOFOLLOW;
	a = ask(p, c, NULL);
	assert_int_equal(a.st.type, CALL_TYPE_LINK);
	a = ask_path(p, CALL_READLINK, 0, "sub/up");
	assert_int_equal(a.error, 0);
	assert_true(str_equal(a.data, STR("../a.txt")));
	/* The names of the host do not show. */
	assert_int_equal(ask_path(p, CALL_READLINK, 0, "abs").error, EXDEV);
	assert_int_equal(ask_path(p, CALL_READLINK, 0, "a.txt").error, EINVAL);
	assert_int_equal(ask_path(p, CALL_READLINK, 0, "none").error, ENOENT);
	a = ask_open(p, 0, "sub", CALL_DIRECTORY, NULL);
	assert_int_equal(a.error, 0);
	assert_false(a.has_fd);
	assert_int_equal(a.st.type, CALL_TYPE_DIRECTORY);
}

static void odd_times(void **state)
{
	static const int64_t years[] = {-2177452800, -3600, 2145916800,
					4294967296};
	struct place *p = *state;
	size_t i;

	make_tree(p);
	grant(p, GRANT_READ_DIR, "g/", "/g");
	seal_ok(p);
	for (i = 0; i < sizeof years / sizeof *years; i++) {
		struct timespec t[2] = {{years[i], 5}, {years[i], 5}};

		if (utimensat(p->dir, "g/a.txt", t, 0))
			continue;
		struct stat st;
		fstatat(p->dir, "g/a.txt", &st, 0);
		assert_int_equal(ask_path(p, CALL_STAT, 0, "a.txt").st.mtim_ns,
				 st.st_mtim.tv_sec * 1000000000 +
					 st.st_mtim.tv_nsec);
	}
}

/* Every entry once, in pieces, with entries going away meanwhile. */
static void lists(void **state)
{
	enum { FILES = 3000 };
	struct place *p = *state;
	unsigned char seen[FILES] = {0};
	uint64_t at = 0;
	char name[300];
	int i, pieces = 0, n = 0;

	assert_int_equal(mkdirat(p->dir, "g", 0700), 0);
	for (i = 0; i < FILES; i++) {
		snprintf(name, sizeof name, "g/%04d-some-longer-name", i);
		put_file(p->dir, name, "");
	}
	grant(p, GRANT_READ_DIR, "g/", "/g");
	seal_ok(p);
	do {
		struct answer a = ask(p,
				      (struct call){.op = CALL_LIST,
						    .offset = at},
				      NULL);
		const unsigned char *r = (const void *)a.data.p;
		size_t left = a.data.len;

		assert_int_equal(a.error, 0);
		while (left) {
			size_t len = r[9] | r[10] << 8;

			assert_true(left >= 11 + len);
			assert_int_equal(r[8], CALL_TYPE_REGULAR);
			assert_int_equal(len, 21);
			i = atoi((const char *)r + 11);
			assert_int_equal(seen[i]++, 0);
			r += 11 + len;
			left -= 11 + len;
			n++;
		}
		at = a.next;
		pieces++;
	} while (at);
	assert_int_equal(n, FILES);
	assert_true(pieces > 2);
	assert_int_equal(ask(p,
			     (struct call){.op = CALL_LIST,
					   .offset = UINT64_MAX},
			     NULL).error,
			 EINVAL);
}

static void counted_opens(void **state)
{
	struct place *p = *state;
	const struct seal_denial *d;
	struct answer a;

	make_tree(p);
	grant(p, GRANT_READ_FILE, "g/a.txt", "/a")->opens = 2;
	grant(p, GRANT_READ_DIR, "g/", "/g")->opens = 1;
	seal_ok(p);
	a = ask_open(p, 0, "", 0, NULL);
	assert_int_equal(a.error, 0);
	assert_int_equal(a.st.size, 6);
	assert_true(a.handle != 0);
	assert_true(str_equal(ask_pread(p, a.handle, 100, 2).data,
			      STR("side")));
	assert_int_equal(ask_open(p, 0, "x", 0, NULL).error, ENOTDIR);
	assert_int_equal(ask_open(p, 0, "", 0, NULL).error, 0);
	assert_int_equal(ask_open(p, 0, "", 0, NULL).error, EACCES);
	assert_int_equal(seal_denials(p->sealed, &d), 1);
	assert_string_equal(d->guest, "/a");
	assert_string_equal(d->op, "open");
	assert_int_equal(ask_open(p, 1, "none", 0, NULL).error, ENOENT);
	assert_int_equal(ask_open(p, 1, "a.txt", 0, NULL).error, 0);
	assert_int_equal(ask_open(p, 1, "sub/b.txt", 0, NULL).error, EACCES);
	assert_int_equal(ask_open(p, 1, "sub", 0, NULL).error, 0);
}

static void counted_bytes(void **state)
{
	struct place *p = *state;
	struct answer a;
	uint64_t one, two;

	make_tree(p);
	grant(p, GRANT_READ_FILE, "g/a.txt", "/a")->max_bytes = 8;
	grant(p, GRANT_READ_DIR, "g/", "/g")->max_bytes = 6;
	seal_ok(p);
	one = ask_open(p, 0, "", 0, NULL).handle;
	assert_int_equal(ask_pread(p, one, 6, 0).data.len, 6);
	assert_int_equal(ask_pread(p, one, 6, 0).data.len, 2);
	assert_int_equal(ask_pread(p, one, 6, 0).error, EDQUOT);
	/* The end of the file is not a refusal. */
	a = ask_pread(p, one, 6, 6);
	assert_int_equal(a.error, 0);
	assert_int_equal(a.data.len, 0);
	/* The files of a directory share one count. */
	a = ask_open(p, 1, "a.txt", 0, NULL);
	assert_false(a.has_fd);
	one = a.handle;
	two = ask_open(p, 1, "sub/b.txt", 0, NULL).handle;
	assert_true(str_equal(ask_pread(p, two, 100, 0).data, STR("deep")));
	assert_true(str_equal(ask_pread(p, one, 100, 0).data, STR("in")));
	assert_int_equal(ask_pread(p, two, 1, 0).error, EDQUOT);
	assert_int_equal(seal_denials(p->sealed, &(const struct seal_denial *){
							 0}),
			 2);
}

static void ranges_by_core(void **state)
{
	struct place *p = *state;
	struct grant *g;
	struct answer a;
	uint64_t h;

	make_tree(p);
	g = grant(p, GRANT_READ_FILE, "g/a.txt", "/a");
	g->first = 1;
	g->last = 3;
	g->max_bytes = 1000;
	seal_ok(p);
	a = ask_open(p, 0, "", 0, NULL);
	h = a.handle;
	assert_int_equal(a.st.size, 3);
	assert_true(str_equal(ask_pread(p, h, 100, 0).data, STR("nsi")));
	assert_true(str_equal(ask_pread(p, h, 1, 2).data, STR("i")));
	assert_int_equal(ask_pread(p, h, 100, 3).data.len, 0);
	assert_int_equal(ask_pread(p, h, 100, UINT64_MAX).data.len, 0);
	assert_int_equal(ask_pread(p, h, UINT32_MAX, UINT64_MAX - 2).error, 0);
}

/* Long ranges are cut by the core while it reads. */
static void long_range(void **state)
{
	struct place *p = *state;
	struct grant *g;
	struct answer a;
	uint64_t h;

	put_file(p->dir, "f", "abc");
	CLEANUP_FD int fd = openat(p->dir, "f", O_RDWR | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, 80 << 20), 0);
	assert_int_equal(pwrite(fd, "END!", 4, 70 << 20), 4);
	g = grant(p, GRANT_READ_FILE, "f", "/f");
	g->first = 1;
	g->last = (70 << 20) + 1;
	seal_ok(p);
	a = ask_open(p, 0, "", 0, NULL);
	h = a.handle;
	assert_int_equal(a.st.size, (70 << 20) + 1);
	assert_true(str_equal(ask_pread(p, h, 2, 0).data, STR("bc")));
	assert_true(str_equal(ask_pread(p, h, 100, (70 << 20) - 1).data,
			      STR("EN")));
	assert_int_equal(ask_pread(p, h, UINT32_MAX, 0).data.len,
			 CALL_DATA_MAX);
	/* Cut short meanwhile: fewer bytes, no error. */
	assert_int_equal(ftruncate(fd, 2), 0);
	assert_true(str_equal(ask_pread(p, h, 100, 0).data, STR("b")));
	assert_int_equal(ask_path(p, CALL_STAT, 0, "").st.size, 1);
}

static void handles_are_bounded(void **state)
{
	struct place *p = *state;
	uint64_t h[8], i;

	make_tree(p);
	grant(p, GRANT_READ_FILE, "g/a.txt", "/a")->max_bytes = 1000;
	seal_ok(p);
	for (i = 0; i < 8; i++)
		h[i] = ask_open(p, 0, "", 0, NULL).handle;
	assert_int_equal(ask_open(p, 0, "", 0, NULL).error, EMFILE);
	assert_int_equal(ask(p,
			     (struct call){.op = CALL_CLOSE, .handle = h[3]},
			     NULL).error,
			 0);
	assert_int_equal(ask_pread(p, h[3], 1, 0).error, EBADF);
	i = ask_open(p, 0, "", 0, NULL).handle;
	assert_true(i && i != h[3]);
	assert_int_equal(ask_pread(p, h[3], 1, 0).error, EBADF);
	assert_int_equal(ask_pread(p, i, 1, 0).error, 0);
}

static int make(struct place *p, const char *path, int *fd)
{
	return ask_open(p, 0, path, CALL_WRITE | CALL_CREATE, fd).error;
}

static void stages(void **state)
{
	struct place *p = *state;
	struct grant *g;
	struct answer a;
	struct stat st;
	CLEANUP_FD int fd = -1;
	int before;

	make_tree(p);
	g = grant(p, GRANT_WRITE_DIR, "g/", "/w");
	g->max_bytes = 100;
	g->max_files = 3;
	seal_ok(p);
	before = count_fds();
	a = ask_open(p, 0, "new", CALL_WRITE | CALL_CREATE, &fd);
	assert_int_equal(a.error, 0);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_nlink, 0);
	/* What was there before is not seen. */
	assert_int_equal(open_error(p, "a.txt", 0), ENOENT);
	assert_int_equal(open_error(p, "a.txt", CALL_WRITE), ENOENT);
	assert_int_equal(ask_path(p, CALL_STAT, 0, "a.txt").error, ENOENT);
	assert_int_equal(ask_path(p, CALL_STAT, 0, "").error, 0);
	assert_int_equal(ask_path(p, CALL_LIST, 0, "").data.len, 0);
	assert_int_equal(ask_path(p, CALL_LIST, 0, "sub").error, ENOENT);
	assert_int_equal(make(p, "", NULL), EINVAL);
	assert_int_equal(make(p, "../x", NULL), EINVAL);
	assert_int_equal(make(p, "/x", NULL), EINVAL);
	assert_int_equal(make(p, "a//b", NULL), EINVAL);
	assert_int_equal(make(p, "a/", NULL), EINVAL);
	assert_int_equal(make(p, "\xff", NULL), EILSEQ);
	assert_int_equal(make(p, "a\nb", NULL), EILSEQ);
	assert_int_equal(ask_pread(p, a.handle, 1, 0).error, EBADF);
	assert_int_equal(make(p, "two", NULL), 0);
	assert_int_equal(make(p, "three", NULL), 0);
	assert_int_equal(make(p, "four", NULL), EDQUOT);
	/* One dropped makes room for one. */
	assert_int_equal(ask(p,
			     (struct call){.op = CALL_CLOSE,
					   .handle = a.handle},
			     NULL).error,
			 0);
	assert_int_equal(make(p, "four", NULL), 0);
	assert_int_equal(make(p, "five", NULL), EDQUOT);
	seal_close(p->sealed);
	p->sealed = NULL;
	assert_true(count_fds() < before + 2);
	assert_no_file(p->dir, "g/new");
	assert_no_file(p->dir, "g/two");
}

static void stage_bytes_are_summed(void **state)
{
	struct place *p = *state;
	struct grant *g;
	int i, e = 0;

	assert_int_equal(mkdirat(p->dir, "g", 0700), 0);
	g = grant(p, GRANT_WRITE_DIR, "g/", "/w");
	g->max_bytes = 100;
	seal_ok(p);
	/* A worker that does not count by itself is stopped here. */
	for (i = 0; i < 64 && !e; i++) {
		CLEANUP_FD int fd = -1;

		e = make(p, "x", &fd);
		if (!e)
			assert_int_equal(write(fd, "0123456789", 10), 10);
	}
	assert_int_equal(e, EDQUOT);
	assert_true(i < 40);
}

static void malformed_calls(void **state)
{
	struct place *p = *state;
	struct call c = {.op = CALL_OPEN, .path = STR("a.txt")};
	CLEANUP(buf_done) struct buf b = {0};
	int fd = -2;
	size_t i;

	make_tree(p);
	grant(p, GRANT_READ_DIR, "g/", "/g");
	seal_ok(p);
	assert_int_equal(call_encode(&c, &b, NULL), 0);
	for (i = 0; i < b.len; i++)
		assert_int_equal(serve_call(p->sealed, b.data, i, &p->reply,
					    &fd, NULL),
				 REDOMA_E_INVALID);
	assert_int_equal(fd, -2);
}

struct race {
	char path[80];
	volatile int stop;
};

/* Two names change places for ever: g/d is a directory, then a link out. */
static void *swap(void *data)
{
	struct race *r = data;
	CLEANUP_FD int g = open(r->path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);

	while (!r->stop)
		if (renameat2(g, "d", g, "evil", RENAME_EXCHANGE))
			break;
	return NULL;
}

static void swapped_components(void **state)
{
	struct place *p = *state;
	struct race r = {.stop = 0};
	int i, inside = 0, outside = 0;
	pthread_t t;

	assert_int_equal(mkdirat(p->dir, "g", 0700), 0);
	assert_int_equal(mkdirat(p->dir, "g/d", 0700), 0);
	put_file(p->dir, "g/d/f", "inside");
	put_file(p->dir, "f", "SECRET");
	assert_int_equal(symlinkat("..", p->dir, "g/evil"), 0);
	snprintf(r.path, sizeof r.path, "%s/g", p->path);
	grant(p, GRANT_READ_DIR, "g/", "/g");
	seal_ok(p);
	assert_int_equal(pthread_create(&t, NULL, swap, &r), 0);
	for (i = 0; i < 10000; i++) {
		CLEANUP_FD int fd = -1;
		char b[8] = {0};
		struct answer a = ask_open(p, 0, "d/f", 0, &fd);

		if (a.error) {
			outside++;
			continue;
		}
		assert_int_equal(pread(fd, b, 7, 0), 6);
		assert_string_equal(b, "inside");
		inside++;
	}
	r.stop = 1;
	pthread_join(t, NULL);
	/* The race was run: both states were met. */
	assert_true(inside > 0 && outside > 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(opens_below),
		T(refuses_what_leaves),
		T(errors_of_names),
		T(never_writes_to_read_grants),
		T(special_files),
		T(proc_below),
		T(stats_and_links),
		T(odd_times),
		T(lists),
		T(counted_opens),
		T(counted_bytes),
		T(ranges_by_core),
		T(long_range),
		T(handles_are_bounded),
		T(stages),
		T(stage_bytes_are_summed),
		T(malformed_calls),
		T(swapped_components),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
