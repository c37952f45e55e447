/* Host names become descriptors, or a sentence that says what to do. */
#include "broker_fixture.h"

#include <sys/socket.h>
#include <sys/un.h>
#include "base/hash.h"

static void empty_policy_holds_nothing(void **state)
{
	struct place *p = *state;
	int before = count_fds();

	p->policy.base_dir = "/nonexistent";
	seal_ok(p);
	assert_int_equal(count_fds(), before);
	assert_int_equal(seal_plan(p->sealed)->n_grants, 0);
	assert_int_equal(seal_plan(p->sealed)->limits.cpu_us, 1000000);
	p->policy.cpu_set = true;
	seal_ok(p);
	assert_int_equal(seal_plan(p->sealed)->limits.cpu_us, 7);
}

static void argv_and_env(void **state)
{
	struct place *p = *state;
	char *env[] = {"TZ=UTC", "A=", NULL};
	const char *const args[] = {"one", "two", NULL};
	const struct plan *plan;

	p->policy.env = env;
	seal_ok(p);
	assert_int_equal(seal_argv(p->sealed, "prog", args, &p->err), 0);
	plan = seal_plan(p->sealed);
	assert_string_equal(plan->env[1], "A=");
	assert_null(plan->env[2]);
	assert_string_equal(plan->argv[0], "prog");
	assert_string_equal(plan->argv[2], "two");
	assert_null(plan->argv[3]);
}

static void read_fd(int fd, const char *text)
{
	char b[64] = {0};

	assert_true(fd >= 3);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(pread(fd, b, sizeof b - 1, 0), strlen(text));
	assert_string_equal(b, text);
}

static void plain_file(void **state)
{
	struct place *p = *state;
	const struct plan_grant *g;

	put_file(p->dir, "a.csv", "first");
	grant(p, GRANT_READ_FILE, "a.csv", "/data/a.csv");
	seal_ok(p);
	g = &seal_plan(p->sealed)->grants[0];
	assert_string_equal(g->guest, "/data/a.csv");
	assert_false(g->via_core);
	assert_false(g->pinned);
	read_fd(g->fd, "first");
	/* Another file under the same name is not the one that was granted. */
	assert_int_equal(unlinkat(p->dir, "a.csv", 0), 0);
	put_file(p->dir, "a.csv", "second");
	read_fd(g->fd, "first");
	assert_true((fcntl(g->fd, F_GETFL) & O_ACCMODE) == O_RDONLY);
}

static void refused_kinds(void **state)
{
	struct place *p = *state;
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	CLEANUP_FD int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct grant *g = grant(p, GRANT_READ_FILE, "x", "/x");
	int before = count_fds();

	snprintf(a.sun_path, sizeof a.sun_path, "%s/sock", p->path);
	assert_int_equal(bind(s, (void *)&a, sizeof a), 0);
	assert_int_equal(mkfifoat(p->dir, "fifo", 0600), 0);
	assert_int_equal(mkdirat(p->dir, "d", 0700), 0);
	put_file(p->dir, "f", "");
	seal_fails(p, "no such file or directory");
	g->host = "fifo";
	seal_fails(p, "is a FIFO; only regular files can be granted");
	g->host = "sock";
	seal_fails(p, "is a socket");
	g->host = "/dev/null";
	seal_fails(p, "is a device");
	g->host = "d";
	seal_fails(p, "end its name with a slash");
	g->host = "f/x";
	seal_fails(p, "a part of the path is not a directory");
	g->host = "";
	seal_fails(p, "1 to 4095 bytes");
	g->line = 7;
	g->host = "none";
	seal_fails(p, "line 7: read \"none\"");
	g->kind = GRANT_READ_DIR;
	g->host = "f/";
	seal_fails(p, "leave out the slash");
	g->host = "none/";
	seal_fails(p, "no such file");
	g->host = "/proc/";
	seal_fails(p, "directories of /proc show this program itself");
	g->host = "none/";
	p->policy.base_dir = "/nonexistent";
	seal_fails(p, "where relative names start from");
	assert_int_equal(count_fds(), before);
}

static void links(void **state)
{
	struct place *p = *state;
	char path[128];
	struct grant *g = grant(p, GRANT_READ_FILE, "link", "/x");

	put_file(p->dir, "f", "f");
	assert_int_equal(mkdirat(p->dir, "real", 0700), 0);
	put_file(p->dir, "real/f", "deep");
	assert_int_equal(symlinkat("f", p->dir, "link"), 0);
	assert_int_equal(symlinkat("real", p->dir, "dir"), 0);
	assert_int_equal(symlinkat("loop", p->dir, "loop"), 0);
	seal_fails(p, "\"link\" is a symbolic link to \"f\"; name the real "
		      "path or write `follow: true`");
	g->host = "dir/f";
	seal_fails(p, "\"dir\" is a symbolic link to \"real\"");
	snprintf(path, sizeof path, "%s/dir/f", p->path);
	g->host = path;
	seal_fails(p, "/dir\" is a symbolic link to \"real\"");
	g->follow = true;
	seal_ok(p);
	read_fd(seal_plan(p->sealed)->grants[0].fd, "deep");
	g->host = "loop";
	seal_fails(p, "goes round in links");
	g->host = "/proc/self/fd/0";
	seal_fails(p, "magic link");
	g->kind = GRANT_READ_DIR;
	g->follow = false;
	g->host = "dir/";
	seal_fails(p, "\"dir\" is a symbolic link");
	/* The policy's own directory may lie behind a link. */
	snprintf(path, sizeof path, "%s/dir", p->path);
	p->policy.base_dir = path;
	g->kind = GRANT_READ_FILE;
	g->host = "f";
	seal_ok(p);
	read_fd(seal_plan(p->sealed)->grants[0].fd, "deep");
	/* ".." is the operator's to write. */
	g->host = "../real/f";
	seal_ok(p);
}

static void ranges(void **state)
{
	struct place *p = *state;
	const struct plan_grant *pg;
	struct grant *g = grant(p, GRANT_READ_FILE, "f", "/f");

	put_file(p->dir, "f", "0123456789");
	g->first = 2;
	g->last = 4;
	seal_ok(p);
	pg = &seal_plan(p->sealed)->grants[0];
	assert_false(pg->via_core);
	assert_int_equal(pg->first, 0);
	assert_true(pg->last == UINT64_MAX);
	/* Exactly those bytes, and no way to the others. */
	put_file(p->dir, "f", "ABCDEFGHIJ");
	read_fd(pg->fd, "234");
	assert_int_equal(pwrite(pg->fd, "x", 1, 0), -1);
	assert_int_equal(ftruncate(pg->fd, 0), -1);
	g->last = 100;
	seal_ok(p);
	read_fd(seal_plan(p->sealed)->grants[0].fd, "CDEFGHIJ");
	g->first = 50;
	seal_ok(p);
	read_fd(seal_plan(p->sealed)->grants[0].fd, "");
}

static void digests(void **state)
{
	struct place *p = *state;
	const struct plan_grant *pg;
	struct grant *g = grant(p, GRANT_READ_FILE, "f", "/f");

	put_file(p->dir, "f", "abc");
	g->has_sha256 = true;
	seal_fails(p, "sha256 is ba7816bf8f01cfea414140de5dae2223b00361a396177a"
		      "9cb410ff61f20015ad, the policy says 0000000000000000");
	hash_sha256("abc", 3, g->sha256);
	seal_ok(p);
	pg = &seal_plan(p->sealed)->grants[0];
	assert_true(pg->pinned);
	put_file(p->dir, "f", "xyz");
	read_fd(pg->fd, "abc");
	assert_int_equal(seal_verify(p->sealed, &p->err), 0);
	seal_fails(p, "the policy says");
	seal_fails(p, "write the new one");
	/* The digest is of the whole file, the range only what is shown. */
	put_file(p->dir, "f", "abc");
	g->first = g->last = 1;
	seal_ok(p);
	read_fd(seal_plan(p->sealed)->grants[0].fd, "b");
}

static void counted_files_stay_here(void **state)
{
	struct place *p = *state;
	const struct plan_grant *pg;

	put_file(p->dir, "f", "abc");
	grant(p, GRANT_READ_FILE, "f", "/f")->opens = 1;
	grant(p, GRANT_READ_FILE, "f", "/g")->max_bytes = 2;
	seal_ok(p);
	for (pg = seal_plan(p->sealed)->grants;
	     pg < seal_plan(p->sealed)->grants + 2; pg++) {
		assert_true(pg->via_core);
		assert_int_equal(pg->fd, -1);
	}
}

/* Over 64 MiB: not copied but watched. */
static void long_files(void **state)
{
	struct place *p = *state;
	struct grant *g = grant(p, GRANT_READ_FILE, "f", "/f");
	off_t size = (off_t)(65 << 20);
	CLEANUP_FREE char *zeros = calloc(1, 1 << 20);
	struct hash h;
	int i;

	put_file(p->dir, "f", "");
	CLEANUP_FD int fd = openat(p->dir, "f", O_WRONLY | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, size), 0);
	hash_init(&h);
	for (i = 0; i < 65; i++)
		hash_add(&h, zeros, 1 << 20);
	hash_end(&h, g->sha256);
	g->has_sha256 = true;
	seal_ok(p);
	assert_false(seal_plan(p->sealed)->grants[0].via_core);
	assert_true(seal_plan(p->sealed)->grants[0].pinned);
	assert_int_equal(seal_verify(p->sealed, &p->err), 0);
	assert_int_equal(pwrite(fd, "x", 1, 5), 1);
	assert_int_equal(seal_verify(p->sealed, &p->err), REDOMA_E_INVALID);
	assert_non_null(strstr(p->err.text, "changed during the run"));
	/* A long range is read through the core. */
	g->has_sha256 = false;
	g->first = 5;
	seal_ok(p);
	assert_true(seal_plan(p->sealed)->grants[0].via_core);
}

static void write_files(void **state)
{
	struct place *p = *state;
	struct grant *g = grant(p, GRANT_WRITE_FILE, "out", "/out");
	struct stat st;
	int fd;

	seal_fails(p, "needs max_bytes");
	g->max_bytes = 100;
	seal_ok(p);
	fd = seal_plan(p->sealed)->grants[0].fd;
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_nlink, 0);
	assert_int_equal(seal_file_bytes(p->sealed), 100);
	assert_no_file(p->dir, "out");
	g->host = "no/out";
	seal_fails(p, "its directory does not exist; make it first");
	put_file(p->dir, "there", "old");
	g->host = "there";
	g->mode = WRITE_CREATE;
	seal_fails(p, "exists already");
	g->mode = WRITE_REPLACE;
	seal_ok(p);
	assert_int_equal(symlinkat("there", p->dir, "link"), 0);
	assert_int_equal(mkdirat(p->dir, "d", 0700), 0);
	assert_int_equal(mkfifoat(p->dir, "fifo", 0600), 0);
	g->host = "link";
	seal_fails(p, "never written through");
	g->follow = true;
	seal_fails(p, "never written through");
	g->host = "d";
	seal_fails(p, "end its name with a slash");
	g->host = "fifo";
	seal_fails(p, "is a FIFO; only regular files can be written");
	g->host = "..";
	seal_fails(p, "does not end in the name of a file");
	assert_file(p->dir, "there", "old");
}

static void write_dirs(void **state)
{
	struct place *p = *state;
	struct grant *g = grant(p, GRANT_WRITE_DIR, "d/", "/out");

	g->max_bytes = 1000;
	seal_fails(p, "no such file");
	assert_int_equal(mkdirat(p->dir, "d", 0700), 0);
	seal_ok(p);
	assert_int_equal(seal_plan(p->sealed)->grants[0].max_files,
			 SEAL_FILES_MAX);
	g->max_files = SEAL_FILES_MAX + 1;
	seal_fails(p, "max_files is over 4096");
}

/* The second grant fails: what the first had is closed. */
static void all_or_nothing(void **state)
{
	struct place *p = *state;
	int before;

	put_file(p->dir, "f", "abc");
	grant(p, GRANT_READ_FILE, "f", "/f");
	grant(p, GRANT_WRITE_FILE, "out", "/out")->max_bytes = 10;
	grant(p, GRANT_READ_FILE, "missing", "/g");
	before = count_fds();
	seal_fails(p, "missing");
	assert_int_equal(count_fds(), before);
	assert_no_file(p->dir, "out");
}

static void permissions(void **state)
{
	struct place *p = *state;
	struct grant *g;

	if (!geteuid() && seteuid(65534))
		skip();
	/* As another user: nothing here may be written. */
	g = grant(p, GRANT_WRITE_FILE, "/etc/redoma-test", "/x");
	g->max_bytes = 1;
	seal_fails(p, "you may not write there");
	g->kind = GRANT_WRITE_DIR;
	g->host = "/etc/";
	seal_fails(p, "you may not write there");
	g->kind = GRANT_READ_FILE;
	g->host = "/etc/shadow";
	seal_fails(p, "you may not open it");
	if (!getuid())
		assert_int_equal(seteuid(0), 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(empty_policy_holds_nothing),
		T(argv_and_env),
		T(plain_file),
		T(refused_kinds),
		T(links),
		T(ranges),
		T(digests),
		T(counted_files_stay_here),
		T(long_files),
		T(write_files),
		T(write_dirs),
		T(all_or_nothing),
		T(permissions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
