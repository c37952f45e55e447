/* What a run wrote becomes files, or stays where it was. */
#include "broker_fixture.h"

#include <dirent.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "broker/publish.h"

#define FILES 8

struct work {
	struct outcome_written w[FILES];
	size_t n;
	struct published_list list;
};

static void write_text(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/* The guest writes into the stage of a single file. */
static void wrote_single(struct place *p, struct work *k, uint32_t g,
			 const char *text)
{
	write_text(seal_plan(p->sealed)->grants[g].fd, text);
	k->w[k->n++] = (struct outcome_written){.grant = g};
}

/* The guest makes a file below a directory. */
static uint64_t wrote(struct place *p, struct work *k, uint32_t g,
		      const char *path, const char *text)
{
	CLEANUP_FD int fd = -1;
	struct answer a = ask_open(p, g, path, CALL_WRITE | CALL_CREATE, &fd);

	assert_int_equal(a.error, 0);
	write_text(fd, text);
	k->w[k->n++] = (struct outcome_written){
		.grant = g,
		.handle = a.handle,
		.path = {path, (uint32_t)strlen(path)}};
	return a.handle;
}

static int publish(struct place *p, struct work *k)
{
	published_done(&k->list);
	memset(&p->err, 0, sizeof p->err);
	return publish_all(p->sealed, k->w, k->n, &k->list, &p->err);
}

static void publish_ok(struct place *p, struct work *k)
{
	size_t i;

	if (publish(p, k))
		fail_msg("%s", p->err.text);
	assert_int_equal(k->list.n, k->n);
	for (i = 0; i < k->n; i++)
		if (!k->list.files[i].published)
			fail_msg("%s", k->list.files[i].why.text);
	published_done(&k->list);
}

/* The only file is tried and not published; the sentence has `part`. */
static void publish_refused(struct place *p, struct work *k, const char *part)
{
	assert_int_equal(publish(p, k), 0);
	assert_int_equal(k->list.n, 1);
	assert_false(k->list.files[0].published);
	if (!strstr(k->list.files[0].why.text, part))
		fail_msg("\"%s\" has no \"%s\"", k->list.files[0].why.text,
			 part);
	published_done(&k->list);
}

static void publish_rejected(struct place *p, struct work *k, const char *part)
{
	assert_true(publish(p, k) < 0);
	if (!strstr(p->err.text, part))
		fail_msg("\"%s\" has no \"%s\"", p->err.text, part);
	assert_int_equal(k->list.n, 0);
}

/* Nothing but what is named is left in a directory. */
static int count_entries(int dir, const char *name)
{
	CLEANUP_FREE struct dirent **list = NULL;
	int n = 0, i, all;
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d/%s", dir, name);
	all = scandir(path, &list, NULL, NULL);
	for (i = 0; i < all; i++) {
		n += list[i]->d_name[0] != '.' || strlen(list[i]->d_name) > 2;
		free(list[i]);
	}
	return n;
}

static struct grant *write_file(struct place *p, enum write_mode mode)
{
	struct grant *g = grant(p, GRANT_WRITE_FILE, "out.txt", "/out/o.txt");

	g->max_bytes = 1000;
	g->mode = mode;
	return g;
}

static struct grant *write_dir(struct place *p, enum write_mode mode)
{
	struct grant *g = grant(p, GRANT_WRITE_DIR, "d/", "/out");

	g->max_bytes = 1000;
	g->max_files = 20;
	g->mode = mode;
	assert_int_equal(mkdirat(p->dir, "d", 0700), 0);
	return g;
}

static void single_replace(void **state)
{
	struct place *p = *state;
	struct work k = {0};
	struct stat st;
	mode_t mask = umask(0077);

	write_file(p, WRITE_REPLACE);
	seal_ok(p);
	wrote_single(p, &k, 0, "one");
	assert_no_file(p->dir, "out.txt");
	assert_int_equal(publish(p, &k), 0);
	assert_true(k.list.files[0].published);
	assert_string_equal(k.list.files[0].path, "/out/o.txt");
	assert_int_equal(k.list.files[0].bytes, 3);
	assert_int_equal(k.list.files[0].sha256[0], 0x76);
	published_done(&k.list);
	assert_file(p->dir, "out.txt", "one");
	assert_int_equal(fstatat(p->dir, "out.txt", &st, 0), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(st.st_nlink, 1);
	/* Over an old one; an open reader keeps what it had. */
	CLEANUP_FD int old = openat(p->dir, "out.txt", O_RDONLY | O_CLOEXEC);
	k.n = 0;
	seal_ok(p);
	wrote_single(p, &k, 0, "two!");
	publish_ok(p, &k);
	assert_file(p->dir, "out.txt", "two!");
	char b[8] = {0};
	assert_int_equal(pread(old, b, 7, 0), 3);
	assert_string_equal(b, "one");
	assert_int_equal(count_entries(p->dir, "."), 1);
	umask(mask);
}

/* Publishes as `by` over a file of this mode; *st is the new one. */
static void over(struct place *p, mode_t mode, uid_t by, struct stat *st)
{
	struct work k = {0};

	assert_int_equal(fchmodat(p->dir, "out.txt", mode, 0), 0);
	assert_int_equal(seteuid(by), 0);
	assert_int_equal(prctl(PR_SET_DUMPABLE, 1), 0); /* for /proc/self */
	seal_ok(p);
	wrote_single(p, &k, 0, "new");
	publish_ok(p, &k);
	assert_int_equal(seteuid(getuid()), 0);
	assert_file(p->dir, "out.txt", "new");
	assert_int_equal(fstatat(p->dir, "out.txt", st, 0), 0);
}

/* What replaces a file has its mode, whatever the umask is. */
static void mode_is_kept(void **state)
{
	static const mode_t modes[][2] = {
		{0600, 0600},  {0640, 0640},  {0666, 0666}, {0755, 0755},
		{06755, 0755}, {01644, 0644}, {0400, 0400}};
	struct place *p = *state;
	struct stat st;
	mode_t mask = umask(0022);

	write_file(p, WRITE_REPLACE);
	put_file(p->dir, "out.txt", "old");
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		over(p, modes[i][0], geteuid(), &st);
		assert_int_equal(st.st_mode, S_IFREG | modes[i][1]);
	}
	umask(mask);
}

/* Root gives it to whom it was; who may not gives nobody else more. */
static void owner_is_kept(void **state)
{
	static const mode_t modes[][2] = {
		{0660, 0600}, {0664, 0644}, {0604, 0600}, {0077, 0000}};
	struct place *p = *state;
	struct stat st;

	if (geteuid()) {
		print_message("only root has files of others\n");
		skip();
	}
	write_file(p, WRITE_REPLACE);
	put_file(p->dir, "out.txt", "old");
	assert_int_equal(fchownat(p->dir, "out.txt", 65533, 65532, 0), 0);
	over(p, 0640, 0, &st);
	assert_int_equal(st.st_mode, S_IFREG | 0640);
	assert_int_equal(st.st_uid, 65533);
	assert_int_equal(st.st_gid, 65532);
	assert_int_equal(fchown(p->dir, 65534, 65534), 0);
	assert_int_equal(setegid(65534), 0);
	assert_int_equal(setgroups(0, NULL), 0);
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		assert_int_equal(fchownat(p->dir, "out.txt", 65533, 65532, 0),
				 0);
		over(p, modes[i][0], 65534, &st);
		assert_int_equal(st.st_mode, S_IFREG | modes[i][1]);
		assert_int_equal(st.st_uid, 65534);
		assert_int_equal(st.st_gid, 65534);
	}
	/* A member of its group keeps that, and what it might do. */
	assert_int_equal(setgroups(1, &(gid_t){65532}), 0);
	assert_int_equal(fchownat(p->dir, "out.txt", 65533, 65532, 0), 0);
	over(p, 0460, 65534, &st);
	assert_int_equal(st.st_mode, S_IFREG | 0440);
	assert_int_equal(st.st_gid, 65532);
	assert_int_equal(setegid(0), 0);
}

/* A worker that lives on cannot change what was published. */
static void stage_is_not_the_file(void **state)
{
	struct place *p = *state;
	struct work k = {0};
	int stage;

	write_file(p, WRITE_REPLACE);
	seal_ok(p);
	stage = dup(seal_plan(p->sealed)->grants[0].fd);
	wrote_single(p, &k, 0, "published");
	publish_ok(p, &k);
	assert_int_equal(pwrite(stage, "CHANGED", 7, 0), 7);
	assert_int_equal(ftruncate(stage, 1000), 0);
	assert_file(p->dir, "out.txt", "published");
	close(stage);
}

static void single_create(void **state)
{
	struct place *p = *state;
	struct work k = {0};

	write_file(p, WRITE_CREATE);
	seal_ok(p);
	wrote_single(p, &k, 0, "new");
	/* Somebody else was first. */
	put_file(p->dir, "out.txt", "theirs");
	publish_refused(p, &k, "exists already and was left as it was");
	assert_file(p->dir, "out.txt", "theirs");
	assert_int_equal(unlinkat(p->dir, "out.txt", 0), 0);
	publish_ok(p, &k);
	assert_file(p->dir, "out.txt", "new");
	assert_int_equal(count_entries(p->dir, "."), 1);
}

static void single_append(void **state)
{
	struct place *p = *state;
	struct work k = {0};
	struct stat st;
	mode_t mask = umask(0027);

	write_file(p, WRITE_APPEND);
	seal_ok(p);
	wrote_single(p, &k, 0, "one\n");
	publish_ok(p, &k);
	umask(mask);
	assert_int_equal(fstatat(p->dir, "out.txt", &st, 0), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0640);
	assert_int_equal(fchmodat(p->dir, "out.txt", 0600, 0), 0);
	k.n = 0;
	seal_ok(p);
	wrote_single(p, &k, 0, "two\n");
	publish_ok(p, &k);
	assert_file(p->dir, "out.txt", "one\ntwo\n");
	/* The mode of a file that was there is its owner's. */
	assert_int_equal(fstatat(p->dir, "out.txt", &st, 0), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	/* Held by another: said after a while, nothing appended. */
	CLEANUP_FD int other = openat(p->dir, "out.txt", O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(other, LOCK_EX), 0);
	publish_refused(p, &k, "holds its lock");
	assert_file(p->dir, "out.txt", "one\ntwo\n");
}

/* What stands at the place is never followed, emptied or removed. */
static void odd_targets(void **state)
{
	static const enum write_mode modes[] = {WRITE_REPLACE, WRITE_APPEND,
						WRITE_CREATE};
	struct place *p = *state;
	size_t i;

	write_file(p, WRITE_REPLACE);
	put_file(p->dir, "canary", "canary");
	for (i = 0; i < 3; i++) {
		struct work k = {0};

		p->grants[0].mode = modes[i];
		seal_ok(p);
		wrote_single(p, &k, 0, "bad");
		assert_int_equal(symlinkat("canary", p->dir, "out.txt"), 0);
		publish_refused(p, &k, "there is a symbolic link at its place");
		assert_int_equal(unlinkat(p->dir, "out.txt", 0), 0);
		assert_int_equal(mkfifoat(p->dir, "out.txt", 0600), 0);
		publish_refused(p, &k, "there is a FIFO at its place");
		assert_int_equal(unlinkat(p->dir, "out.txt", 0), 0);
		assert_int_equal(mkdirat(p->dir, "out.txt", 0600), 0);
		publish_refused(p, &k, "there is a directory at its place");
		assert_int_equal(unlinkat(p->dir, "out.txt", AT_REMOVEDIR), 0);
	}
	assert_file(p->dir, "canary", "canary");
}

static void directories(void **state)
{
	struct place *p = *state;
	struct work k = {0};
	struct stat st;
	mode_t mask = umask(0027);

	write_dir(p, WRITE_CREATE);
	seal_ok(p);
	wrote(p, &k, 0, "a.txt", "A");
	wrote(p, &k, 0, "x/y/b.txt", "B");
	wrote(p, &k, 0, "x/c.txt", "");
	publish_ok(p, &k);
	umask(mask);
	assert_file(p->dir, "d/a.txt", "A");
	assert_file(p->dir, "d/x/y/b.txt", "B");
	assert_file(p->dir, "d/x/c.txt", "");
	assert_int_equal(fstatat(p->dir, "d/x/y", &st, 0), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0750);
	assert_int_equal(fstatat(p->dir, "d/x/y/b.txt", &st, 0), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0640);
	assert_int_equal(count_entries(p->dir, "d"), 2);
	/* A second run finds the names taken, file by file. */
	k.n = 0;
	seal_ok(p);
	wrote(p, &k, 0, "a.txt", "A2");
	wrote(p, &k, 0, "new.txt", "N");
	assert_int_equal(publish(p, &k), 0);
	assert_false(k.list.files[0].published);
	assert_true(k.list.files[1].published);
	assert_string_equal(k.list.files[1].path, "/out/new.txt");
	published_done(&k.list);
	assert_file(p->dir, "d/a.txt", "A");
	/* With mode: replace it may. */
	p->grants[0].mode = WRITE_REPLACE;
	k.n = 0;
	seal_ok(p);
	wrote(p, &k, 0, "a.txt", "A3");
	publish_ok(p, &k);
	assert_file(p->dir, "d/a.txt", "A3");
}

/* Links that an earlier run or somebody else left are not gone through. */
static void links_in_the_way(void **state)
{
	struct place *p = *state;
	struct work k = {0};

	assert_int_equal(mkdirat(p->dir, "elsewhere", 0700), 0);
	write_dir(p, WRITE_REPLACE);
	assert_int_equal(symlinkat("../elsewhere", p->dir, "d/x"), 0);
	seal_ok(p);
	wrote(p, &k, 0, "x/a.txt", "bad");
	publish_refused(p, &k, "is a link or a file, not a directory");
	assert_int_equal(count_entries(p->dir, "elsewhere"), 0);
	k.n = 0;
	put_file(p->dir, "d/f", "file");
	wrote(p, &k, 0, "f/a.txt", "bad");
	publish_refused(p, &k, "is a link or a file, not a directory");
	assert_file(p->dir, "d/f", "file");
}

static void hostile_lists(void **state)
{
	static const char *const bad[] = {"", "/a", "../a", "a/../b", "a//b",
					  "a/", ".", "a/.", "\xff", "a\x1b[2J",
					  "a\nb"};
	struct place *p = *state;
	struct work k = {0};
	char deep[100], longest[300];
	uint64_t h;
	size_t i;

	write_dir(p, WRITE_CREATE);
	write_file(p, WRITE_CREATE);
	put_file(p->dir, "f", "f");
	grant(p, GRANT_READ_FILE, "f", "/f")->opens = 9;
	seal_ok(p);
	h = wrote(p, &k, 0, "a", "A");
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		k.w[0].path = (struct outcome_text){bad[i],
						    (uint32_t)strlen(bad[i])};
		publish_rejected(p, &k, "not a plain relative path");
	}
	for (i = 0; i < 66; i++)
		deep[i] = i % 2 ? '/' : 'a';
	k.w[0].path = (struct outcome_text){deep, 65};
	publish_rejected(p, &k, "not a plain relative path");
	memset(longest, 'a', sizeof longest);
	k.w[0].path = (struct outcome_text){longest, 256};
	publish_rejected(p, &k, "not a plain relative path");
	k.w[0].path = (struct outcome_text){"a\0b", 3};
	publish_rejected(p, &k, "not a plain relative path");
	k.w[0].path = (struct outcome_text){"a", 1};
	k.w[0].handle = h + 1;
	publish_rejected(p, &k, "not a file that this run made");
	k.w[0].handle = 0;
	publish_rejected(p, &k, "not a file that this run made");
	k.w[0].handle = ask_open(p, 2, "", 0, NULL).handle;
	assert_true(k.w[0].handle != 0);
	publish_rejected(p, &k, "not a file that this run made");
	k.w[0].handle = h;
	k.w[0].grant = 2;
	publish_rejected(p, &k, "not in a write grant");
	k.w[0].grant = 99;
	publish_rejected(p, &k, "not in a write grant");
	k.w[0].grant = 1;
	publish_rejected(p, &k, "a single file has no path");
	assert_int_equal(count_entries(p->dir, "d"), 0);
	assert_no_file(p->dir, "out.txt");
}

static void hostile_sets(void **state)
{
	struct place *p = *state;
	struct work k = {0};

	write_dir(p, WRITE_CREATE);
	write_file(p, WRITE_CREATE);
	seal_ok(p);
	wrote(p, &k, 0, "a", "A");
	k.w[1] = k.w[0];
	k.n = 2;
	publish_rejected(p, &k, "not a file that this run made");
	k.n = 0;
	wrote(p, &k, 0, "same", "1");
	wrote(p, &k, 0, "same", "2");
	publish_rejected(p, &k, "is there twice");
	k.n = 0;
	wrote(p, &k, 0, "b/c", "1");
	wrote(p, &k, 0, "b!", "2");
	wrote(p, &k, 0, "b", "3");
	publish_rejected(p, &k, "\"b\" is there twice, or has a file below");
	k.n = 0;
	wrote_single(p, &k, 1, "x");
	wrote_single(p, &k, 1, "y");
	publish_rejected(p, &k, "is there twice");
	assert_int_equal(count_entries(p->dir, "d"), 0);
	assert_no_file(p->dir, "out.txt");
}

/* A worker that does not count by itself. */
static void over_the_caps(void **state)
{
	struct place *p = *state;
	struct work k = {0};

	write_dir(p, WRITE_CREATE)->max_bytes = 10;
	write_file(p, WRITE_REPLACE)->max_bytes = 3;
	put_file(p->dir, "out.txt", "old");
	seal_ok(p);
	wrote(p, &k, 0, "a", "123456");
	wrote(p, &k, 0, "b", "12345");
	publish_rejected(p, &k, "more than max_bytes (10) was written");
	k.n = 0;
	wrote_single(p, &k, 1, "1234");
	publish_rejected(p, &k, "more than max_bytes (3) was written");
	assert_file(p->dir, "out.txt", "old");
	assert_int_equal(count_entries(p->dir, "d"), 0);
}

static void target_gone(void **state)
{
	struct place *p = *state;
	struct work k = {0};
	struct grant *g = write_dir(p, WRITE_CREATE);

	seal_ok(p);
	wrote(p, &k, 0, "a", "A");
	assert_int_equal(unlinkat(p->dir, "d", AT_REMOVEDIR), 0);
	publish_refused(p, &k, "its directory is gone");
	assert_int_equal(mkdirat(p->dir, "d", 0700), 0);
	g->kind = GRANT_WRITE_FILE;
	g->host = "d/f";
	for (g->mode = WRITE_REPLACE; g->mode <= WRITE_CREATE; g->mode++) {
		k.n = 0;
		seal_ok(p);
		wrote_single(p, &k, 0, "A");
		assert_int_equal(unlinkat(p->dir, "d", AT_REMOVEDIR), 0);
		publish_refused(p, &k, "its directory is gone");
		/* A new directory of that name is not the one granted. */
		assert_int_equal(mkdirat(p->dir, "d", 0700), 0);
		publish_refused(p, &k, "its directory is gone");
		assert_int_equal(count_entries(p->dir, "d"), 0);
	}
}

static void put_proc(const char *name, const char *text)
{
	CLEANUP_FD int fd = open(name, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || fd_write_all(fd, text, strlen(text)))
		skip();
}

/* A mount namespace of our own, as anybody; ends with the process. */
static void own_mounts(void)
{
	unsigned uid = geteuid(), gid = getegid();
	char map[40];

	if (!unshare(CLONE_NEWNS))
		return;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		skip();
	put_proc("/proc/self/setgroups", "deny");
	snprintf(map, sizeof map, "0 %u 1", uid);
	put_proc("/proc/self/uid_map", map);
	snprintf(map, sizeof map, "0 %u 1", gid);
	put_proc("/proc/self/gid_map", map);
}

/* A file system of 64 KiB, in a mount namespace of our own. */
static void disk_full(void **state)
{
	struct place *p = *state;
	struct work k = {0};
	char path[100];
	int i;

	own_mounts();
	write_dir(p, WRITE_REPLACE)->max_bytes = 1 << 20;
	snprintf(path, sizeof path, "%s/d", p->path);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", path, "tmpfs", 0, "size=64k"))
		skip();
	put_file(p->dir, "d/old", "old");
	for (i = 0; i < 2; i++) {
		char fill[40000];

		memset(fill, 'x', sizeof fill);
		k.n = 0;
		seal_ok(p);
		/* The stage fits, its copy does not. */
		CLEANUP_FD int fd = -1;
		struct answer a = ask_open(p, 0, "old",
					   CALL_WRITE | CALL_CREATE, &fd);
		assert_int_equal(write(fd, fill, sizeof fill), sizeof fill);
		k.w[k.n++] = (struct outcome_written){
			.handle = a.handle, .path = {"old", 3}};
		publish_refused(p, &k, "the disk is full");
		assert_file(p->dir, "d/old", "old");
		assert_int_equal(count_entries(p->dir, "d"), 1);
		p->grants[0].mode = WRITE_APPEND;
	}
	seal_close(p->sealed);
	p->sealed = NULL;
	assert_int_equal(umount2(path, MNT_DETACH), 0);
}

/* The host program's own limit ends the publishing, not the program. */
static void file_size_limit(void **state)
{
	struct place *p = *state;
	struct rlimit old, small = {10, RLIM_INFINITY};
	struct work k = {0};
	enum write_mode mode;

	write_file(p, WRITE_REPLACE);
	put_file(p->dir, "out.txt", "old");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_max = old.rlim_max;
	for (mode = WRITE_REPLACE; mode <= WRITE_APPEND; mode++) {
		p->grants[0].mode = mode;
		seal_ok(p);
		k.n = 0;
		wrote_single(p, &k, 0, "longer than ten bytes");
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
		publish_refused(p, &k, "RLIMIT_FSIZE");
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
		assert_file(p->dir, "out.txt", "old");
		assert_int_equal(count_entries(p->dir, "."), 1);
	}
}

/* A changed granted file voids the run: nothing is published. */
static void voided_run(void **state)
{
	struct place *p = *state;
	struct work k = {0};
	struct grant *g;
	CLEANUP_FREE char *zeros = calloc(1, 65 << 20);

	write_file(p, WRITE_REPLACE);
	put_file(p->dir, "big", "");
	CLEANUP_FD int fd = openat(p->dir, "big", O_WRONLY | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, 65 << 20), 0);
	g = grant(p, GRANT_READ_FILE, "big", "/big");
	g->has_sha256 = true;
	hash_sha256(zeros, 65 << 20, g->sha256);
	seal_ok(p);
	wrote_single(p, &k, 0, "x");
	assert_int_equal(pwrite(fd, "x", 1, 0), 1);
	publish_rejected(p, &k, "was changed during the run");
	assert_no_file(p->dir, "out.txt");
}

/* In a child: publishes its own letter; 0 published, 1 refused. */
static int publish_letter(struct place *p, char letter)
{
	struct work k = {0};
	char text[5000];
	int r;

	memset(text, letter, sizeof text);
	text[sizeof text - 1] = '\0';
	if (!p->sealed)
		seal_ok(p);
	wrote_single(p, &k, 0, text);
	r = publish(p, &k) || !k.list.files[0].published;
	published_done(&k.list);
	return r;
}

static int two_at_once(struct place *p)
{
	int i, status, published = 0;
	struct sealed *sealed[2];
	pid_t child[2];

	for (i = 0; i < 2; i++) {
		seal_ok(p);
		sealed[i] = TAKE_PTR(p->sealed);
	}
	for (i = 0; i < 2; i++) {
		child[i] = fork();
		assert_true(child[i] >= 0);
		p->sealed = sealed[i];
		if (!child[i])
			_exit(publish_letter(p, (char)('a' + i)));
	}
	for (i = 0; i < 2; i++) {
		assert_int_equal(waitpid(child[i], &status, 0), child[i]);
		assert_true(WIFEXITED(status));
		published += !WEXITSTATUS(status);
		seal_close(sealed[i]);
	}
	p->sealed = NULL;
	return published;
}

static void assert_one_letter(struct place *p, size_t len)
{
	CLEANUP_FREE char *text = get_file(p->dir, "out.txt");
	size_t i;

	assert_non_null(text);
	assert_int_equal(strlen(text), len);
	for (i = 1; i < 4999; i++)
		assert_int_equal(text[i], text[0]);
	for (; i < len; i++)
		assert_int_equal(text[i], text[0] ^ 'a' ^ 'b');
	assert_int_equal(count_entries(p->dir, "."), 1);
}

static void two_publish_the_same(void **state)
{
	struct place *p = *state;
	int i;

	write_file(p, WRITE_REPLACE)->max_bytes = 5000;
	for (i = 0; i < 200; i++) {
		assert_int_equal(two_at_once(p), 2);
		assert_one_letter(p, 4999);
	}
	p->grants[0].mode = WRITE_CREATE;
	for (i = 0; i < 200; i++) {
		assert_int_equal(unlinkat(p->dir, "out.txt", 0), 0);
		assert_int_equal(two_at_once(p), 1);
		assert_one_letter(p, 4999);
	}
	p->grants[0].mode = WRITE_APPEND;
	for (i = 0; i < 50; i++) {
		assert_int_equal(unlinkat(p->dir, "out.txt", 0), 0);
		assert_int_equal(two_at_once(p), 2);
		assert_one_letter(p, 2 * 4999);
	}
}

struct race {
	int dir;
	volatile int stop;
};

/* d/x is a directory, then a link to elsewhere, then a directory ... */
static void *swap(void *data)
{
	struct race *r = data;

	while (!r->stop)
		if (renameat2(r->dir, "d/x", r->dir, "d/evil",
			      RENAME_EXCHANGE))
			break;
	return NULL;
}

static void swapped_components(void **state)
{
	struct place *p = *state;
	struct race r = {.dir = p->dir};
	int i, in = 0, refused = 0;
	pthread_t t;

	write_dir(p, WRITE_REPLACE);
	assert_int_equal(mkdirat(p->dir, "elsewhere", 0700), 0);
	assert_int_equal(mkdirat(p->dir, "d/x", 0700), 0);
	assert_int_equal(symlinkat("../elsewhere", p->dir, "d/evil"), 0);
	assert_int_equal(pthread_create(&t, NULL, swap, &r), 0);
	for (i = 0; i < 2000; i++) {
		struct work k = {0};

		seal_ok(p);
		wrote(p, &k, 0, "x/f", "text");
		assert_int_equal(publish(p, &k), 0);
		in += k.list.files[0].published;
		refused += !k.list.files[0].published;
		published_done(&k.list);
	}
	r.stop = 1;
	pthread_join(t, NULL);
	assert_int_equal(count_entries(p->dir, "elsewhere"), 0);
	assert_true(in > 0 && refused > 0);
}

static void publish_for_ever(struct place *p)
{
	int i;

	for (i = 0;; i++) {
		p->sealed = NULL; /* the old one is left to the kernel */
		if (publish_letter(p, (char)('a' + i % 2)))
			_exit(1);
	}
}

/* Killed at any moment: the file is whole, an old one or a new one. */
static void killed(void **state)
{
	struct place *p = *state;
	int i, status, hidden = 0;

	write_file(p, WRITE_REPLACE)->max_bytes = 5000;
	for (i = 0; i < 200; i++) {
		CLEANUP_FREE char *text = NULL;
		pid_t child = fork();
		size_t n;

		if (!child)
			publish_for_ever(p);
		usleep(1000 + (unsigned)i * 7);
		assert_int_equal(kill(child, SIGKILL), 0);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		text = get_file(p->dir, "out.txt");
		if (!text)
			continue;
		assert_int_equal(strlen(text), 4999);
		for (n = 1; n < 4999; n++)
			assert_int_equal(text[n], text[0]);
	}
	assert_int_equal(faccessat(p->dir, "out.txt", R_OK, 0), 0);
	/* At most one hidden file for each kill, in practice few. */
	hidden = count_entries(p->dir, ".") - 1;
	assert_true(hidden >= 0 && hidden < 100);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(single_replace),
		T(mode_is_kept),
		T(owner_is_kept),
		T(stage_is_not_the_file),
		T(single_create),
		T(single_append),
		T(odd_targets),
		T(directories),
		T(links_in_the_way),
		T(hostile_lists),
		T(hostile_sets),
		T(over_the_caps),
		T(target_gone),
		T(file_size_limit),
		T(voided_run),
		T(two_publish_the_same),
		T(swapped_components),
		T(killed),
		T(disk_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
