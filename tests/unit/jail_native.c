/* native_prepare, native_mount, native_fork, native_enter, native_attach,
 * native_scratch, native_settle and native_payload as others use them, as root
 * and as an ordinary user.
 * test-seconds: 240 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <cmocka.h>
#include "jail/native_state.h"
#include "jail_apart.h"

#define TMP_BYTES (1u << 20)

static const struct native_entry plain[] = {
	{NATIVE_DIR, true, "/usr", "/usr"},
	{NATIVE_LINK, false, "/bin", "usr/bin"},
	{NATIVE_LINK, false, "/lib", "usr/lib"},
	{NATIVE_LINK, false, "/lib64", "usr/lib64"},
	{NATIVE_TEXT, false, "/etc/passwd", "u:x:1000:1000::/:/\n"},
	{NATIVE_FILE, false, "/etc/deep/er/hosts", "/etc/hosts"},
	{NATIVE_EMPTY, false, "/place", ""},
	{NATIVE_EMPTY, false, "/tmp", ""},
};

/* What runs in init, then in the payload: a step that failed is said in
 * s->err. */
typedef int part_fn(struct native *n, struct said *s);

static struct {
	part_fn *init, *payload; /* NULL: nothing */
	const struct native_entry *entries;
	size_t n_entries;
	uint32_t may_lack;
	void (*make)(void); /* a host that lacks something */
	bool early;
	char grant[PATH_MAX]; /* of the host, for native_mount */
	int mount_fd;
	int locked_fd; /* an early payload says here that it is locked */
	const char *const *program; /* to exec, instead of payload */
} now;

static void start(part_fn *init, part_fn *payload)
{
	memset(&now, 0, sizeof now);
	now.init = init;
	now.payload = payload;
	now.entries = plain;
	now.n_entries = sizeof plain / sizeof *plain;
	now.may_lack = BIT(JAIL_CGROUP);
	now.mount_fd = -1;
}

static _Noreturn void be_payload(struct native *n, struct said *s, int out,
				 int gate)
{
	int high = fcntl(gate, F_DUPFD_CLOEXEC, out + 1);
	int keep[] = {0, 1, 2, out, high,
		      fcntl(now.locked_fd, F_DUPFD_CLOEXEC, high + 1)};
	struct native_payload p = {.keep = keep,
				   .n_keep = now.early ? 6 : 5,
				   .file_bytes = 1 << 20,
				   .max_fds = 64,
				   .early = now.early};
	const char *what;
	char byte;

	if (!now.early && read(gate, &byte, 1) != 1)
		_exit(97);
	what = native_payload(n, &p);
	if (what) {
		s->lock = REDOMA_E_UNSUPPORTED;
		snprintf(s->err.text, sizeof s->err.text, "%s: %s", what,
			 strerrordesc_np(errno));
	}
	/* An early one waits where a bootstrap would. */
	if (!what && now.early &&
	    (write(5, "", 1) != 1 || read(4, &byte, 1) != 1))
		_exit(97);
	if (!what && now.program) {
		static char *env[] = {(char *)"PATH=/usr/bin", NULL};

		execve(now.program[0], (char **)now.program, env);
		_exit(127);
	}
	if (!what && now.payload)
		s->lock = now.payload(n, s);
	tell(what && fcntl(out, F_GETFD) >= 0 ? out : 3, s);
	_exit(0);
}

static _Noreturn void be_init(struct native *n, struct said *s, int out)
{
	int keep[] = {0, 1, 2, out, now.mount_fd}, gate[2], locked[2];
	siginfo_t info;
	pid_t pid = 0;
	char byte;

	s->lock = native_enter(n, keep, now.mount_fd > out ? 5 : 4, &s->report,
			       &s->err);
	if (!s->lock && (pipe2(gate, O_CLOEXEC) || pipe2(locked, O_CLOEXEC)))
		_exit(96);
	now.locked_fd = s->lock ? -1 : locked[1];
	if (!s->lock && now.early && (pid = fork()) == 0)
		be_payload(n, s, out, gate[0]);
	if (!s->lock && now.early &&
	    (close(locked[1]) || read(locked[0], &byte, 1) != 1))
		_exit(91);
	if (!s->lock && now.init)
		s->lock = now.init(n, s);
	if (!s->lock && !now.early && (pid = fork()) == 0)
		be_payload(n, s, out, gate[0]);
	if (!s->lock)
		s->lock = native_settle(n, &s->err);
	if (s->lock) {
		tell(out, s);
		_exit(0);
	}
	if (write(gate[1], "", 1) != 1)
		_exit(95);
	if (waitid(P_PID, (id_t)pid, &info, WEXITED))
		_exit(94);
	if (now.program) {
		s->lock = info.si_code == CLD_EXITED ? info.si_status
						     : -info.si_status;
		tell(out, s);
	}
	_exit(info.si_code == CLD_EXITED || now.program ? 0 : 93);
}

static void run(int out, struct said *s)
{
	struct native_options o = {.may_lack = now.may_lack,
				   .entries = now.entries,
				   .n_entries = now.n_entries,
				   .tmp_bytes = TMP_BYTES,
				   .memory_bytes = 1ull << 46, /* over a sanitizer's shadow */
				   .pids = 32};
	struct native *n = NULL;
	siginfo_t info;
	int pidfd = -1, granted = -1;
	pid_t pid;

	prctl(PR_SET_DUMPABLE, 1);
	if (now.grant[0])
		granted = open(now.grant, O_PATH | O_CLOEXEC);
	if (now.make)
		now.make();
	s->prepare = native_prepare(&o, &n, &s->report, &s->err);
	if (!s->prepare && now.grant[0])
		s->prepare = native_mount(n, granted, 5000, &now.mount_fd,
					  &s->err);
	if (!s->prepare) {
		pid = native_fork(n, NULL, &pidfd, &s->err);
		if (pid == 0)
			be_init(n, s, out);
		s->prepare = pid < 0 ? pid : 0;
	}
	if (s->prepare) {
		tell(out, s);
		return;
	}
	if (!wait_for(pidfd, &info) || info.si_code != CLD_EXITED ||
	    info.si_status)
		_exit(92);
	native_free(n);
}

static void check(void)
{
	struct said s;

	for (int ordinary = geteuid() != 0; ordinary < 2; ordinary++) {
		assert_true(apart(ordinary, run, &s));
		if (s.prepare || s.lock)
			fail_msg("%s: %s (%d)", ordinary ? "user" : "root",
				 s.err.text, s.lock);
	}
}

static void check_refused(const char *words)
{
	struct said s;

	for (int ordinary = geteuid() != 0; ordinary < 2; ordinary++) {
		assert_true(apart(ordinary, run, &s));
		if (!s.prepare && !s.lock)
			fail_msg("ran: wanted %s", words);
		if (!strstr(s.err.text, words))
			fail_msg("wanted %s, said %s", words, s.err.text);
	}
}

/* fail says where; the rest of the payload is not run. */
#define MUST(cond)                                                           \
	do {                                                                 \
		if (!(cond)) {                                               \
			snprintf(s->err.text, sizeof s->err.text,            \
				 "line %d: %s (%s)", __LINE__, #cond,        \
				 strerrordesc_np(errno));                    \
			return -1;                                           \
		}                                                            \
	} while (0)

static bool holds(const char *path, const char *text)
{
	char is[256] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, is, sizeof is - 1);

	close(fd);
	return n >= 0 && !strcmp(is, text);
}

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
	bool good = fd >= 0 &&
		    write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return good;
}

static int states(struct native *n, struct said *s)
{
	(void)n;
	for (int c = 0; c < JAIL_CONTROLS; c++) {
		s->extra[0] = c;
		MUST(s->report.state[c] == (c == JAIL_CGROUP
						    ? JAIL_UNAVAILABLE
						    : JAIL_ENFORCED));
	}
	MUST(s->report.landlock_abi >= 2);
	MUST(s->report.sys[JAIL_MOUNT] == 0); /* there is a /proc */
	return 0;
}

static bool has_line(const char *text, const char *line)
{
	return strstr(text, line);
}

static int itself(struct native *n, struct said *s)
{
	static char text[8192];
	static const char *const lines[] = {
		"\nNoNewPrivs:\t1\n", "\nSeccomp:\t2\n",
		"\nSeccomp_filters:\t1\n", "\nCapInh:\t0000000000000000\n",
		"\nCapPrm:\t0000000000000000\n",
		"\nCapEff:\t0000000000000000\n",
		"\nCapBnd:\t0000000000000000\n",
		"\nCapAmb:\t0000000000000000\n",
		"\nUid:\t1000\t1000\t1000\t1000\n",
		"\nGid:\t1000\t1000\t1000\t1000\n"};
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	(void)n;
	MUST(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (!has_line(text, lines[i])) {
			snprintf(s->err.text, sizeof s->err.text, "no %s",
				 lines[i]);
			return -1;
		}
	MUST(getpid() == 2 && getppid() == 1);
	MUST(access("/proc/1/status", F_OK) && errno == ENOENT);
	/* 0-2, the pipe, the one that an exec closes; the status file. */
	MUST(!fcntl(3, F_GETFD) && fcntl(4, F_GETFD) == FD_CLOEXEC);
	MUST(fd == 5 && fcntl(6, F_GETFD) < 0);
	return 0;
}

static void everything_is_enforced(void **state)
{
	(void)state;
	start(states, itself);
	check();
}

/* What root made is another user's in its jails. */
static bool is_closed(int sys)
{
	return sys == EROFS || sys == EACCES;
}

static int look_around(struct native *n, struct said *s)
{
	static const char *const names[] = {"bin", "dev", "etc",  "lib", "lib64",
					    "proc", "tmp", "usr", "place"};
	DIR *d = opendir("/");
	size_t seen = 0, others = 0;
	const struct dirent *e;
	char text[64] = "";
	struct stat st;

	(void)n;
	MUST(d);
	while ((e = readdir(d))) {
		bool known = e->d_name[0] == '.';

		for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
			seen += !strcmp(names[i], e->d_name);
			known |= !strcmp(names[i], e->d_name);
		}
		others += !known;
	}
	MUST(seen == sizeof names / sizeof *names && !others);
	MUST(readlink("/bin", text, sizeof text - 1) == 7);
	MUST(!strcmp(text, "usr/bin"));
	MUST(holds("/etc/passwd", "u:x:1000:1000::/:/\n"));
	MUST(!access("/etc/deep/er/hosts", R_OK));
	MUST(open("/etc/passwd", O_WRONLY) < 0 && is_closed(errno));
	MUST(open("/new", O_CREAT | O_WRONLY, 0600) < 0 && errno == EROFS);
	MUST(open("/place/new", O_CREAT | O_WRONLY, 0600) < 0 &&
	     is_closed(errno));
	MUST(!stat("/dev/null", &st) && S_ISCHR(st.st_mode));
	MUST(put("/dev/null", "x"));
	MUST(open("/dev/tty", O_RDWR) < 0 && errno == ENOENT);
	MUST(put("/tmp/x", "y") && holds("/tmp/x", "y"));
	MUST(!rename("/tmp/x", "/tmp/z") && !mkdir("/tmp/d", 0700));
	MUST(!rename("/tmp/z", "/tmp/d/z")); /* over directories */
	MUST(getcwd(text, sizeof text) && !strcmp(text, "/"));
	return 0;
}

/* Not even with the capability that init still has. */
static int unlock(struct native *n, struct said *s)
{
	static const char *const mounts[] = {"/usr", "/etc", "/dev/null"};
	struct mount_attr a = {.attr_clr = MOUNT_ATTR_RDONLY};

	(void)n;
	for (size_t i = 0; i < sizeof mounts / sizeof *mounts; i++)
		MUST(mount_setattr(AT_FDCWD, mounts[i], 0, &a, sizeof a) &&
		     errno == EPERM);
	a.attr_clr = MOUNT_ATTR_NOSUID;
	MUST(mount_setattr(AT_FDCWD, "/usr", 0, &a, sizeof a) &&
	     errno == EPERM);
	return 0;
}

static void the_root_is_what_was_asked_for(void **state)
{
	(void)state;
	start(unlock, look_around);
	check();
}

static void wrong_roots_are_refused(void **state)
{
	static const struct {
		struct native_entry e;
		const char *words;
	} rows[] = {
		{{NATIVE_TEXT, false, "etc/x", "x"}, "no path"},
		{{NATIVE_TEXT, false, "/", "x"}, "no path"},
		{{NATIVE_TEXT, false, "/a//b", "x"}, "no path"},
		{{NATIVE_TEXT, false, "/a/../b", "x"}, "no path"},
		{{NATIVE_TEXT, false, "/a/", "x"}, "no path"},
		{{NATIVE_TEXT, false, "/a/.", "x"}, "no path"},
		{{NATIVE_TEXT, false, "/dev/null", "x"}, "/dev, /proc"},
		{{NATIVE_DIR, false, "/dev", "/usr"}, "/dev, /proc"},
		{{NATIVE_LINK, false, "/proc", "usr"}, "/dev, /proc"},
		{{NATIVE_DIR, false, "/tmp/x", "/usr"}, "/dev, /proc"},
		{{NATIVE_FILE, false, "/x", "/etc"}, "not a regular file"},
		{{NATIVE_FILE, false, "/x", "/dev/null"}, "not a regular"},
		{{NATIVE_DIR, false, "/x", "/etc/hosts"}, "not a directory"},
		{{NATIVE_FILE, false, "/x", "/no/such/file"}, "/no/such/file"},
		{{99, false, "/x", "/etc/hosts"}, "/x"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		start(NULL, NULL);
		now.entries = &rows[i].e;
		now.n_entries = 1;
		check_refused(rows[i].words);
	}
}

/* Links in a root lead nowhere else: what is made through them is inside. */
static void links_stay_inside(void **state)
{
	static char host[PATH_MAX];
	const struct native_entry entries[] = {
		{NATIVE_DIR, true, "/usr", "/usr"},
		{NATIVE_LINK, false, "/out", host},
		{NATIVE_LINK, false, "/up", "../../../../.."},
		{NATIVE_TEXT, false, "/up/made", "x"},
		{NATIVE_TEXT, false, "/out/made", "x"},
	};
	struct said s;

	(void)state;
	strcpy(host, "/var/tmp");
	start(NULL, NULL);
	now.entries = entries;
	now.n_entries = 4;
	check(); /* /up is / of the root, and /made is in it */
	now.n_entries = 5;
	assert_true(apart(true, run, &s));
	assert_int_not_equal(s.prepare, 0); /* no /var/tmp inside */
	assert_true(access("/var/tmp/made", F_OK) != 0);
}

/* Grants. */
static char host_dir[PATH_MAX], host_file[PATH_MAX + 8];

static void make_host(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(host_dir, sizeof host_dir, "%s/redoma-native-XXXXXX",
		 tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(host_dir));
	assert_int_equal(chmod(host_dir, 0755), 0);
	snprintf(host_file, sizeof host_file, "%s/f", host_dir);
	assert_true(put(host_file, "granted"));
	assert_int_equal(chmod(host_file, 0666), 0);
}

static int grant_dir(struct native *n, struct said *s)
{
	static const char *const taken[] = {"/etc/passwd", "/usr", "/place",
					    "/tmp", "/proc", "/etc/deep",
					    "/usr/bin"};
	static const char *const wrong[] = {"/", "data", "/data/../x", "/a//b",
					    "/etc/passwd/x", "/dev/null/x"};
	struct redoma_error err;

	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		MUST(native_attach(n, now.mount_fd, taken[i], true, &err) ==
		     REDOMA_E_INVALID);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		MUST(native_attach(n, now.mount_fd, wrong[i], true, &err) ==
		     REDOMA_E_INVALID);
	MUST(native_attach(n, now.mount_fd, "/data", false, &err) ==
	     REDOMA_E_INVALID); /* is no file */
	return native_attach(n, now.mount_fd, "/etc/deep/data/in", true,
			     &s->err);
}

static int see_dir(struct native *n, struct said *s)
{
	(void)n;
	MUST(holds("/etc/deep/data/in/f", "granted"));
	MUST(open("/etc/deep/data/in/f", O_WRONLY) < 0 && errno == EROFS);
	/* What was there before is there still. */
	MUST(!access("/etc/deep/er/hosts", R_OK));
	MUST(holds("/etc/passwd", "u:x:1000:1000::/:/\n"));
	MUST(open("/etc/deep/new", O_CREAT | O_WRONLY, 0600) < 0 &&
	     errno == EROFS);
	return 0;
}

static void a_granted_directory_is_shown(void **state)
{
	(void)state;
	make_host();
	start(grant_dir, see_dir);
	strcpy(now.grant, host_dir);
	check();
	now.early = true; /* a payload that runs already sees it too */
	check();
}

static int grant_tmp(struct native *n, struct said *s)
{
	return native_attach(n, now.mount_fd, "/tmp/a/in", true, &s->err);
}

static int see_tmp(struct native *n, struct said *s)
{
	(void)n;
	MUST(holds("/tmp/a/in/f", "granted"));
	MUST(open("/tmp/a/in/f", O_WRONLY) < 0 && errno == EROFS);
	MUST(put("/tmp/a/beside", "x"));
	return 0;
}

static void a_directory_in_tmp_is_shown(void **state)
{
	(void)state;
	start(grant_tmp, see_tmp);
	strcpy(now.grant, host_dir);
	check();
}

static int grant_file(struct native *n, struct said *s)
{
	return native_attach(n, now.mount_fd, "/data/q.csv", false, &s->err);
}

static int see_file(struct native *n, struct said *s)
{
	(void)n;
	MUST(holds("/data/q.csv", "granted"));
	MUST(open("/data/q.csv", O_WRONLY) < 0 && errno == EROFS);
	MUST(unlink("/data/q.csv") && (errno == EBUSY || errno == EROFS));
	return 0;
}

static void a_granted_file_is_shown(void **state)
{
	(void)state;
	start(grant_file, see_file);
	strcpy(now.grant, host_file);
	check();
}

static int grant_inside(struct native *n, struct said *s)
{
	int dir = -1;
	int rc = native_scratch(n, "/out", true, 65536, 8, &dir, &s->err);

	return rc ? rc
		  : native_attach(n, now.mount_fd, "/out/q.csv", false,
				  &s->err);
}

/* Its mount point would be a file that the program wrote. */
static void a_grant_hides_no_scratch_place(void **state)
{
	(void)state;
	start(grant_inside, see_file);
	strcpy(now.grant, host_file);
	check_refused("granted for writing");
}

static void what_is_no_file_is_not_mounted(void **state)
{
	(void)state;
	start(grant_file, see_file);
	strcpy(now.grant, "/dev/null");
	check_refused("take a file or directory");
}

/* A mounter that is late: its answer is not taken for that of the next. */
static void ask_twice(int out, struct said *s)
{
	struct native_options o = {.may_lack = BIT(JAIL_CGROUP),
				   .entries = plain,
				   .n_entries = 1,
				   .tmp_bytes = TMP_BYTES};
	int dir = open(host_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int file = open(host_file, O_RDONLY | O_CLOEXEC);
	struct native *n = NULL;
	struct stat st, want;
	int fd = -1;

	prctl(PR_SET_DUMPABLE, 1);
	s->prepare = native_prepare(&o, &n, &s->report, &s->err);
	for (int i = 0; i < 20 && !s->prepare; i++) {
		s->extra[0] += native_mount(n, dir, 0, &fd, &s->err) ==
			       REDOMA_E_BUSY;
		s->prepare = native_mount(n, file, 5000, &fd, &s->err);
		if (!s->prepare && (fstat(file, &want) || fstat(fd, &st) ||
				    st.st_ino != want.st_ino ||
				    st.st_dev != want.st_dev))
			s->extra[1]++;
	}
	tell(out, s);
}

static void late_answers_are_dropped(void **state)
{
	struct said s;

	(void)state;
	for (int ordinary = geteuid() != 0; ordinary < 2; ordinary++) {
		assert_true(apart(ordinary, ask_twice, &s));
		if (s.prepare)
			fail_msg("%s", s.err.text);
		assert_true(s.extra[0] > 0); /* some were late */
		assert_int_equal(s.extra[1], 0);
	}
}

static int places[2];

static int grant_scratch(struct native *n, struct said *s)
{
	int rc = native_scratch(n, "/out/r.txt", false, 4096, 1, &places[0],
				&s->err);

	if (!rc)
		rc = native_scratch(n, "/usr/share/out", true, 65536, 8,
				    &places[1], &s->err);
	return rc;
}

static int use_scratch(struct native *n, struct said *s)
{
	char path[64];
	int made = 0, sys = 0;

	(void)n;
	MUST(put("/out/r.txt", "result"));
	MUST(open("/out/other", O_CREAT | O_WRONLY, 0600) < 0 &&
	     errno == EROFS);
	MUST(!mkdir("/usr/share/out/d", 0700));
	MUST(put("/usr/share/out/d/x", "deep"));
	MUST(!access("/usr/share/zoneinfo", F_OK) ||
	     !access("/usr/share/doc", F_OK));
	for (; made < 1000 && !sys; made++) {
		snprintf(path, sizeof path, "/usr/share/out/%d", made);
		sys = put(path, "x") ? 0 : errno;
	}
	MUST(sys == ENOSPC);
	return 0;
}

static void scratch_places_are_writable(void **state)
{
	(void)state;
	start(grant_scratch, use_scratch);
	check();
}

static int use_late(struct native *n, struct said *s)
{
	(void)n;
	MUST(put("/out/r.txt", "result"));
	MUST(!mkdir("/usr/share/out/d", 0700));
	MUST(put("/usr/share/out/d/x", "deep"));
	return 0;
}

static void an_early_payload_may_write_to_later_places(void **state)
{
	(void)state;
	start(grant_scratch, use_late);
	now.early = true;
	check();
}

static int use_up(struct native *n, struct said *s)
{
	char path[64];
	int rc = 0, i = 0, fd;

	for (; i <= NATIVE_LATE_PLACES && !rc; i++) {
		snprintf(path, sizeof path, "/out/%d", i);
		rc = native_scratch(n, path, false, 4096, 1, &fd, &s->err);
	}
	MUST(rc == REDOMA_E_BUSY && i == NATIVE_LATE_PLACES + 1);
	return native_scratch(n, "/dir", true, 4096, 1, &fd, &s->err);
}

static void late_places_are_counted(void **state)
{
	(void)state;
	start(use_up, NULL);
	now.early = true;
	check();
}

static int collect(struct native *n, struct said *s)
{
	struct redoma_error err;
	int in = -1, dir = -1, fd;

	MUST(!native_scratch(n, "/o/name", false, 4096, 1, &in, &err));
	MUST(!native_scratch(n, "/o/dir", true, 4096, 4, &dir, &err));
	MUST(put("/o/name", "one") && put("/o/dir/x", "two"));
	fd = openat(in, "name", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	MUST(fd >= 0 && lseek(fd, 0, SEEK_END) == 3);
	fd = openat(dir, "x", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	MUST(fd >= 0 && lseek(fd, 0, SEEK_END) == 3);
	MUST(native_attach(n, now.mount_fd, "/o/dir/in", true, &err) ==
	     REDOMA_E_INVALID); /* would be writable's */
	return native_attach(n, now.mount_fd, "/o/in", true, &s->err);
}

static void places_are_collected(void **state)
{
	(void)state;
	start(collect, NULL);
	strcpy(now.grant, host_dir);
	check();
}

/* Real programs, with what they need of the filter. */
static const char *const sh[] = {
	"/bin/sh", "-c",
	"set -e; cd /tmp; for i in 1 2 3; do echo $i; done | sort -r >x; "
	"test \"$(head -1 x)\" = 3; cp x y; mv y z; cmp x z; rm z; mkdir -p d/e; "
	"rmdir d/e; ln -s x l; test \"$(cat l | wc -l)\" -eq 3; chmod 600 x; "
	"touch x; ls -l / >/dev/null; sleep 0.01; date >/dev/null; "
	"find / -maxdepth 1 >/dev/null; sed -n 1p /etc/passwd | grep -q 1000; "
	"gzip <x | gzip -d | cmp - x; test \"$(id -u)\" = 1000",
	NULL};
static const char *const python[] = {
	"/usr/bin/python3", "-I", "-c",
	"import threading, subprocess, asyncio, tempfile, os, shutil, json\n"
	"t = threading.Thread(target=lambda: sum(range(1000)))\n"
	"t.start(); t.join()\n"
	"async def m(): await asyncio.sleep(0.01)\n"
	"asyncio.run(m())\n"
	"d = tempfile.mkdtemp()\n"
	"open(d + '/x', 'w').write('hi')\n"
	"shutil.copy(d + '/x', d + '/y')\n"
	"o = subprocess.run(['/bin/echo', 'x'], capture_output=True).stdout\n"
	"assert o == b'x\\n' and os.getuid() == 1000\n"
	"async def p():\n"
	"  q = await asyncio.create_subprocess_exec('/bin/true')\n"
	"  assert await q.wait() == 0\n"
	"asyncio.run(p())\n",
	NULL};
static const char *const node[] = {
	"/usr/bin/node", "-e",
	"const {Worker} = require('worker_threads');"
	"const fs = require('fs'), assert = require('assert');"
	"fs.writeFileSync('/tmp/x', 'y');"
	"fs.copyFileSync('/tmp/x', '/tmp/z');"
	"assert(fs.readFileSync('/tmp/z', 'utf8') == 'y');"
	"new Worker('let s = 0; for (let i = 0; i < 1e5; i++) s += i;"
	"require(\"worker_threads\").parentPort.postMessage(s)', {eval: true})"
	".on('message', m => require('child_process').exec('echo hi', (e, o) =>"
	" process.exit(!e && o == 'hi\\n' && m == 4999950000 ? 0 : 1)))",
	NULL};

static void programs_run(void **state)
{
	static const char *const *const all[] = {sh, python, node};
	struct said s;

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (access(all[i][0], X_OK))
			continue;
		start(NULL, NULL);
		now.program = all[i];
		for (int ordinary = geteuid() != 0; ordinary < 2; ordinary++) {
			assert_true(apart(ordinary, run, &s));
			if (s.prepare || s.lock)
				fail_msg("%s: %s (%d)", all[i][0], s.err.text,
					 s.lock);
		}
	}
}

/* Hosts and policies that lack something. */
static void without_group_is_refused(void **state)
{
	(void)state;
	start(NULL, NULL);
	now.may_lack = 0;
	check_refused("control group");
}

static const struct lacking {
	void (*make)(void);
	enum jail_control control;
	const char *step;
	bool may;
} lacking[] = {
	{no_user, JAIL_USER, "enter a user namespace", false},
	{no_net, JAIL_NET, "net namespace", true},
	{no_ipc, JAIL_IPC, "ipc namespace", true},
	{no_uts, JAIL_UTS, "uts namespace", true},
	{no_mnt, JAIL_MOUNT, "enter a mount namespace", false},
	{no_cgroup, JAIL_CGROUPNS, "enter a cgroup namespace", true},
	{no_pid, JAIL_PID, "pid namespace", false},
	{no_landlock, JAIL_LANDLOCK, "Landlock", true},
	{no_unshare, JAIL_USER, "enter a user namespace", false},
	{no_clone, JAIL_MOUNT, "clone3", false},
	{no_mount, JAIL_MOUNT, "make all mounts private", false},
	{no_pivot, JAIL_MOUNT, "pivot_root to the new root", false},
	{no_seccomp, JAIL_SECCOMP, "system call filters", true},
	{no_rlimits, JAIL_RLIMITS, "set the limit", false},
};

static void check_lacking(const struct lacking *l)
{
	struct said s;

	start(NULL, NULL);
	now.make = l->make;
	now.may_lack = ~BIT(l->control);
	assert_true(apart(true, run, &s));
	if (!s.prepare && !s.lock)
		fail_msg("%s: ran without", jail_control_name(l->control));
	if (!strstr(s.err.text, l->step))
		fail_msg("wanted %s, said %s", l->step, s.err.text);
	now.may_lack = BIT(l->control) | BIT(JAIL_CGROUP);
	assert_true(apart(true, run, &s));
	if (!l->may && !s.prepare && !s.lock)
		fail_msg("%s: ran without", jail_control_name(l->control));
	if (!l->may)
		return;
	if (s.prepare || s.lock)
		fail_msg("%s: %s", jail_control_name(l->control), s.err.text);
	for (int c = 0; c < JAIL_CGROUP; c++)
		assert_int_equal(s.report.state[c],
				 (unsigned)c == l->control ? JAIL_UNAVAILABLE
							   : JAIL_ENFORCED);
	assert_int_not_equal(s.report.sys[l->control], 0);
}

static void what_lacks_is_refused_or_reported(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++)
		check_lacking(&lacking[i]);
}

/* Two jails of one spawner, parked, seen from the outside. */
static void park_two(int out, struct said *s)
{
	struct native_options o = {.may_lack = BIT(JAIL_CGROUP),
				   .entries = plain,
				   .n_entries = 8,
				   .tmp_bytes = TMP_BYTES};
	struct native *n = NULL;
	int pidfd[2];
	pid_t pid;

	for (int i = 0; i < 50; i++)
		(void)open("/", O_RDONLY | O_DIRECTORY);
	if (native_prepare(&o, &n, &s->report, &s->err))
		return;
	for (int i = 0; i < 2; i++) {
		pid = native_fork(n, NULL, &pidfd[i], &s->err);
		if (pid == 0) {
			const int keep[] = {0, 1, 2, out};

			if (native_enter(n, keep, 4, &s->report, &s->err) ||
			    native_settle(n, &s->err))
				_exit(1);
			s->extra[2] = 1;
			tell(out, s);
			for (;;)
				poll(NULL, 0, 1000);
		}
		s->extra[i] = pid;
	}
	tell(out, s);
	for (;;)
		poll(NULL, 0, 1000);
}

static void link_of(pid_t pid, const char *name, char text[64])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, name);
	n = readlink(path, text, 63);
	assert_true(n > 0);
	text[n] = 0;
}

static void status_of(pid_t pid, char *text, size_t size)
{
	char path[64];
	int fd;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = read(fd, text, size - 1);
	assert_true(n > 0);
	text[n] = 0;
	close(fd);
}

static void check_pair(const int pids[2])
{
	static const char *const names[] = {"user", "mnt", "pid", "net",
					    "ipc",  "uts", "cgroup"};
	char mine[64], one[64], two[64], text[8192];
	unsigned long uid[2];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		link_of(getpid(), names[i], mine);
		link_of(pids[0], names[i], one);
		link_of(pids[1], names[i], two);
		assert_string_not_equal(mine, one);
		assert_string_not_equal(one, two);
	}
	for (int i = 0; i < 2; i++) {
		status_of(pids[i], text, sizeof text);
		assert_non_null(strstr(text, "Name:\tredoma-init\n"));
		assert_non_null(strstr(text, "\nSeccomp:\t2\n"));
		assert_non_null(strstr(text, "\nNoNewPrivs:\t1\n"));
		assert_non_null(strstr(text, "\nCapPrm:\t0000000000000000\n"));
		assert_non_null(strstr(text, "\nCapBnd:\t0000000000000000\n"));
		assert_non_null(strstr(text, "\nGroups:\t \n"));
		uid[i] = strtoul(strstr(text, "\nUid:\t") + 6, NULL, 10);
		assert_true(uid[i] >= JAIL_ID_BASE);
	}
	assert_true(uid[0] != uid[1]);
}

/* What an init left out, though it says that all is enforced. */
enum lie { HONEST, NO_CAPS, NO_PID, NO_NET, NO_MOUNT, NO_GROUP, NO_FILTER };

static enum lie lie_now;

static void send_fd(int to, int fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} c = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec part = {&(char){0}, 1};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		memcpy(CMSG_DATA(&c.header), &fd, sizeof fd);
		m.msg_control = &c;
		m.msg_controllen = sizeof c;
	}
	if (sendmsg(to, &m, 0) != 1)
		_exit(91);
}

static int receive_fd(int from)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} c;
	struct iovec part = {&(char){0}, 1};
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = &c,
			   .msg_controllen = sizeof c};
	int fd = -1;

	if (recvmsg(from, &m, 0) == 1 && m.msg_controllen)
		memcpy(&fd, CMSG_DATA(&c.header), sizeof fd);
	return fd;
}

static _Noreturn void be_liar(struct native *n, int sock)
{
	const int keep[] = {0, 1, 2, sock};
	struct redoma_error err;
	int space = -1;

	if (lie_now == NO_CAPS || lie_now == NO_PID) {
		if (idmap_become_inside() ||
		    (lie_now == NO_PID && caps_shrink()))
			_exit(90);
	} else if (native_enter(n, keep, 4, NULL, &err)) {
		_exit(89);
	} else if (lie_now != NO_MOUNT) {
		space = native_take_space(n);
	}
	if (lie_now == NO_FILTER && fork() == 0) {
		if (caps_drop())
			_exit(88);
		send_fd(sock, space);
		poll(NULL, 0, 10000);
		_exit(0);
	}
	if (lie_now != NO_FILTER)
		send_fd(sock, space);
	poll(NULL, 0, 10000);
	_exit(0);
}

static void look_at_one(int out, struct said *s)
{
	struct native_options o = {.may_lack = BIT(JAIL_CGROUP),
				   .entries = plain,
				   .n_entries = 8,
				   .tmp_bytes = TMP_BYTES};
	uint8_t all[JAIL_CONTROLS];
	struct native_look q = {.state = all, .runs = true};
	struct native *n = NULL;
	int sv[2], pidfd = -1;
	uint32_t uid = 0;

	prctl(PR_SET_DUMPABLE, 1);
	memset(all, JAIL_ENFORCED, sizeof all);
	all[JAIL_CGROUP] = lie_now == NO_GROUP ? JAIL_ENFORCED
					       : JAIL_UNAVAILABLE;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
		_exit(87);
	s->prepare = native_prepare(&o, &n, &s->report, &s->err);
	if (lie_now == NO_NET && !s->prepare)
		n->namespaces &= ~(uint64_t)CLONE_NEWNET;
	if (lie_now == NO_PID && !s->prepare)
		n->namespaces &= ~(uint64_t)CLONE_NEWPID;
	if (!s->prepare)
		q.pid = native_fork(n, NULL, &pidfd, &s->err);
	if (!s->prepare && q.pid == 0)
		be_liar(n, sv[1]);
	close(sv[1]);
	q.space_fd = receive_fd(sv[0]);
	if (!s->prepare)
		s->lock = native_look(n, &q, &uid, &s->err);
	s->extra[0] = !n || !n->maps || uid >= JAIL_ID_BASE;
	tell(out, s);
	kill(q.pid, SIGKILL);
	(void)waitpid(q.pid, NULL, 0);
	native_free(n);
}

static bool has_network(void)
{
	DIR *d = opendir("/sys/class/net");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n > 3;
}

static void what_is_left_out_is_seen_outside(void **state)
{
	static const int named[] = {
		[HONEST] = -1,		[NO_CAPS] = JAIL_CAPS,
		[NO_PID] = JAIL_PID,	[NO_NET] = JAIL_NET,
		[NO_MOUNT] = JAIL_MOUNT, [NO_GROUP] = JAIL_CGROUP,
		[NO_FILTER] = JAIL_SECCOMP};
	struct said s;
	char word[64];

	(void)state;
	for (int i = 0; i < 2 * (NO_FILTER + 1); i++) {
		lie_now = (enum lie)(i / 2);
		if (i % 2 && geteuid())
			continue;
		if (lie_now == NO_NET && !has_network())
			continue;
		assert_true(apart(!(i % 2), look_at_one, &s));
		if (s.prepare)
			fail_msg("%s", s.err.text);
		assert_true(s.extra[0] || s.lock);
		if (lie_now == HONEST && s.lock)
			fail_msg("an honest one: %s", s.err.text);
		if (lie_now == HONEST)
			continue;
		snprintf(word, sizeof word, "\"%s\"",
			 jail_control_name((enum jail_control)named[lie_now]));
		if (!s.lock || !strstr(s.err.text, word))
			fail_msg("wanted %s, said: %s", word,
				 s.lock ? s.err.text : "nothing");
	}
}

static void jails_are_apart(void **state)
{
	struct said s = {0}, t;
	int both[2], pids[2] = {0, 0}, ready = 0, status;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(pipe2(both, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		park_two(both[1], &s);
		_exit(1);
	}
	close(both[1]);
	while (ready < 2 || !pids[1]) {
		assert_int_equal(read(both[0], &t, sizeof t), sizeof t);
		if (t.extra[2])
			ready++;
		else
			memcpy(pids, t.extra, sizeof pids);
	}
	check_pair(pids);
	/* With the spawner, everything ends; the mounter too. */
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_int_equal(
		poll(&(struct pollfd){both[0], POLLIN, 0}, 1, 5000), 1);
	assert_int_equal(read(both[0], &t, 1), 0);
	close(both[0]);
}

static int count_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* What a spawner holds does not grow. */
static void many(int out, struct said *s)
{
	struct native_options o = {.may_lack = BIT(JAIL_CGROUP),
				   .entries = plain,
				   .n_entries = 8,
				   .tmp_bytes = TMP_BYTES};
	struct native *n = NULL;
	int pidfd = -1, before, after;
	siginfo_t info;
	pid_t pid;

	prctl(PR_SET_DUMPABLE, 1);
	s->prepare = native_prepare(&o, &n, &s->report, &s->err);
	before = count_fds();
	for (int i = 0; i < 60 && !s->prepare; i++) {
		pid = native_fork(n, NULL, &pidfd, &s->err);
		if (pid == 0)
			_exit(native_enter(n, NULL, 0, NULL, NULL));
		if (pid < 0 || !wait_for(pidfd, &info) || info.si_status)
			s->prepare = -1;
		close(pidfd);
	}
	after = count_fds();
	s->extra[0] = after - before;
	s->extra[1] = waitid(P_ALL, 0, &info, WEXITED | WNOHANG) < 0;
	tell(out, s);
}

static void many_leave_nothing(void **state)
{
	struct said s;

	(void)state;
	for (int ordinary = geteuid() != 0; ordinary < 2; ordinary++) {
		assert_true(apart(ordinary, many, &s));
		if (s.prepare)
			fail_msg("%s", s.err.text);
		assert_int_equal(s.extra[0], 0);
		assert_int_equal(s.extra[1], 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_enforced),
		cmocka_unit_test(the_root_is_what_was_asked_for),
		cmocka_unit_test(wrong_roots_are_refused),
		cmocka_unit_test(links_stay_inside),
		cmocka_unit_test(a_granted_directory_is_shown),
		cmocka_unit_test(a_directory_in_tmp_is_shown),
		cmocka_unit_test(a_granted_file_is_shown),
		cmocka_unit_test(a_grant_hides_no_scratch_place),
		cmocka_unit_test(what_is_no_file_is_not_mounted),
		cmocka_unit_test(late_answers_are_dropped),
		cmocka_unit_test(scratch_places_are_writable),
		cmocka_unit_test(an_early_payload_may_write_to_later_places),
		cmocka_unit_test(late_places_are_counted),
		cmocka_unit_test(places_are_collected),
		cmocka_unit_test(programs_run),
		cmocka_unit_test(without_group_is_refused),
		cmocka_unit_test(what_lacks_is_refused_or_reported),
		cmocka_unit_test(what_is_left_out_is_seen_outside),
		cmocka_unit_test(jails_are_apart),
		cmocka_unit_test(many_leave_nothing),
	};

	prctl(PR_SET_DUMPABLE, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
