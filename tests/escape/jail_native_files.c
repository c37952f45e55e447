/* Files, programs and descriptors of the host, for a native program.
 * test-seconds: 300 */
#include "attack_files.h"
#include "native_ward.h"

#include <sys/xattr.h>

static int write_over(struct scene *s)
{
	int fd = open(s->secret, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? errno : 0; /* opened is enough */
}

static int make_beside(struct scene *s)
{
	char path[PATH_MAX + 8];
	int fd;

	(void)snprintf(path, sizeof path, "%s/new", s->dir);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	unlink(path);
	return 0;
}

static int change_mode(struct scene *s)
{
	return chmod(s->secret, 0666) ? errno : 0;
}

/* A read-only mount does not protect what is no file. */
static int write_fifo(struct scene *s)
{
	int fd = open(s->junk, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return errno;
	return write(fd, "x", 1) == 1 ? 0 : errno;
}

static int make_fifo(struct scene *s)
{
	char path[] = "/tmp/redoma-fifo-XXXXXX";
	int fd = mkstemp(path);

	(void)s;
	if (fd < 0)
		return errno;
	unlink(path);
	if (mkfifo(path, 0600))
		return errno;
	unlink(path);
	return 0;
}

static int climb_from_root(struct scene *s)
{
	char path[PATH_MAX + 64];

	(void)snprintf(path, sizeof path, "/proc/self/root/../../..%s",
		       s->secret);
	return read_path(path);
}

static int climb_from_init(struct scene *s)
{
	char path[PATH_MAX + 64];

	(void)snprintf(path, sizeof path, "/proc/1/root%s", s->secret);
	if (access("/proc/1/root/", F_OK))
		s->why_not = "init's root is closed here too";
	return read_path(path);
}

static int read_kcore(struct scene *s)
{
	if (access("/proc/kcore", F_OK))
		s->why_not = "no kcore here";
	return read_path("/proc/kcore");
}

static int pull_sysrq(struct scene *s)
{
	int fd = open("/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		s->why_not = "no sysrq-trigger here";
	return fd < 0 ? errno : 0; /* opened is enough */
}

static int join_group(struct scene *s)
{
	int fd = open("/sys/fs/cgroup/unified/cgroup.procs",
		      O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		fd = open("/sys/fs/cgroup/cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		s->why_not = "no cgroup file system";
	return fd < 0 ? errno : 0;
}

static int run(const char *path, const char *arg, const char *arg2)
{
	char *argv[] = {(char *)path, (char *)arg, (char *)arg2, NULL};

	execve(path, argv, NULL);
	return errno;
}

static int copy_to(const char *from, const char *to, mode_t mode)
{
	char room[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
	ssize_t n = -1;

	while (in >= 0 && out >= 0 && (n = read(in, room, sizeof room)) > 0)
		if (write(out, room, (size_t)n) != n)
			n = -1;
	close(in);
	close(out);
	return n || chmod(to, mode) ? errno : 0;
}

/* Where the tests may write: in the jail, /tmp. */
static void name_copy(char *path, size_t size)
{
	const char *tmp = getenv("TMPDIR");

	(void)snprintf(path, size, "%s/redoma-true-%d",
		       tmp && !access(tmp, W_OK) ? tmp : "/tmp", getpid());
}

static int run_written(struct scene *s)
{
	char path[PATH_MAX];
	int sys;

	(void)s;
	name_copy(path, sizeof path);
	sys = copy_to("/bin/true", path, 0700);
	return sys ? sys : run(path, NULL, NULL);
}

/* The same, past the right to start it: what the loader maps must not be
 * mapped either. */
static int load_written(struct scene *s)
{
	char path[PATH_MAX];
	int sys;

	(void)s;
	name_copy(path, sizeof path);
	sys = copy_to("/bin/true", path, 0700);
	return sys ? sys : run("/lib64/ld-linux-x86-64.so.2", path, NULL);
}

/* As somebody else, so that only the bit could help. */
static int run_setuid(struct scene *s)
{
	char path[PATH_MAX + 8], file[PATH_MAX + 8];

	if (setresuid(ORDINARY_ID, ORDINARY_ID, ORDINARY_ID) &&
	    getuid() == 0)
		return errno;
	(void)snprintf(path, sizeof path, "%s/test", s->dir);
	(void)snprintf(file, sizeof file, "%s/closed", s->dir);
	return run(path, "-r", file);
}

static int with_setuid(struct scene *s)
{
	char path[PATH_MAX + 8];

	(void)snprintf(path, sizeof path, "%s/closed", s->dir);
	if (copy_to("/etc/passwd", path, 0600))
		return -1;
	(void)snprintf(path, sizeof path, "%s/test", s->dir);
	return copy_to("/usr/bin/test", path, 04755);
}

static int fill(const char *dir, size_t most)
{
	static char block[65536];
	char path[PATH_MAX + 16];
	size_t n = 0;
	int fd, sys = 0;

	(void)snprintf(path, sizeof path, "%s/fill", dir);
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	unlink(path); /* room of a file without a name counts too */
	while (!sys && n < most) {
		ssize_t k = write(fd, block, sizeof block);

		sys = k < 0 ? errno : 0;
		n += k < 0 ? 0 : (size_t)k;
	}
	close(fd);
	return sys;
}

static int fill_tmp(struct scene *s)
{
	return fill(strcmp(s->dir, "/scene") ? s->dir : "/tmp", 8u << 20);
}

static int fill_names(struct scene *s)
{
	const char *dir = strcmp(s->dir, "/scene") ? s->dir : "/tmp";
	char path[PATH_MAX + 300], name[241];
	int sys = 0, n = 0;

	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = 0;
	for (; n < 400 && !sys; n++) {
		(void)snprintf(path, sizeof path, "%s/%s%d", dir, name, n);
		sys = mkdir(path, 0700) ? errno : 0;
	}
	while (n-- > 0) {
		(void)snprintf(path, sizeof path, "%s/%s%d", dir, name, n);
		rmdir(path);
	}
	return sys;
}

static int with_fifo(struct scene *s)
{
	mode_t mask = umask(0);
	int bad;

	(void)snprintf(s->junk, sizeof s->junk, "%.4000s/fifo", s->dir);
	bad = mkfifo(s->junk, 0666);
	umask(mask);
	bad |= chmod(s->secret, 0666);
	return bad;
}


/* Gone from the jail's view, whatever else is taken away. */
#define ABSENT(sys) ROWS({NONE, WORKED}, {JAILED, sys}, {NEITHER, sys})

static const struct attack plain[] = {
	{"read a file", read_secret, AS_BOTH, ABSENT(ENOENT)},
	{"change a file", change_secret, AS_BOTH, ABSENT(ENOENT)},
	{"open core_pattern for writing", write_core_pattern, AS_ROOT,
	 ABSENT(ENOENT)},
	{"open kcore", read_kcore, AS_ROOT, ABSENT(ENOENT)},
	{"open sysrq-trigger", pull_sysrq, AS_ROOT, ABSENT(ENOENT)},
	{"open a control group's list", join_group, AS_ROOT, ABSENT(ENOENT)},
	{"read through another process's root", climb_from_target, AS_BOTH,
	 ABSENT(ENOENT)},
	{"read through init's root", climb_from_init, AS_ROOT,
	 ABSENT(ENOENT)},
	{"read through its own root", climb_from_root, AS_BOTH,
	 ABSENT(ENOENT)},
	{"read ../../etc/passwd", climb_from_cwd, AS_BOTH, ABSENT(ENOENT)},
	{"run a program from memory", run_memfd, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, WORKED})},
	{"run a program that it wrote", run_written, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, EACCES}, {NEITHER, EACCES})},
	/* The loader's exit code says that it could not map it. */
	{"load a program that it wrote", load_written, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ECHILD}, {NEITHER, ECHILD})},
	{"make a fifo", make_fifo, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, EACCES},
	      {NEITHER, WORKED})},
	{"fill the file system", fill_tmp, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSPC}, {NEITHER, ENOSPC}),
	 .shown = 2},
	{"use up the names", fill_names, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSPC}, {NEITHER, ENOSPC}),
	 .shown = 2},
};

static const struct attack in_view[] = {
	{"write to a file of the root", write_over, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, EROFS}, {NEITHER, EROFS}), .shown = 2},
	{"make a file in the root", make_beside, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, EROFS}, {NEITHER, EROFS}), .shown = 2},
	{"change the mode of a file of the root", change_mode, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, EROFS}, {NEITHER, EROFS}), .shown = 2},
	{"write to a granted file", write_over, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, EROFS}, {NEITHER, EROFS}), .shown = 1},
	{"make a file in a granted directory", make_beside, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, EROFS}, {NEITHER, EROFS}), .shown = 1},
	{"write to a fifo in a granted directory", write_fifo, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, EACCES}, {NO_RULES, WORKED}),
	 .shown = 1},
};

static const struct attack with_bit[] = {
	{"run a setuid program", run_setuid, AS_ROOT,
	 ROWS({NONE, WORKED}, {JAILED, ECHILD}, {NEITHER, ECHILD}),
	 .shown = 2},
};

static const struct attack with_file[] = {
	/* Its number is now that of the pipe to the test. */
	{"use a leaked descriptor", use_leak, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ESPIPE}, {NEITHER, ESPIPE})},
	{"search 4,096 descriptors", find_leaks, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, EBADF}, {NEITHER, EBADF})},
};

static const struct attack with_dir[] = {
	{"climb from a leaked directory by /proc", climb_from_leak, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOTDIR}, {NEITHER, ENOTDIR})},
	{"climb from a granted directory", climb_from_granted_dir, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, EACCES}, {NO_RULES, WORKED}),
	 .keep = 1},
};

static const struct attack with_socket[] = {
	{"open below a directory that was sent", take_descriptor, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, EACCES}, {NO_RULES, WORKED}),
	 .keep = 1},
};

int main(void)
{
	int bad = native_main(plain, COUNT_OF(plain), with_target);

	bad |= native_main(in_view, COUNT_OF(in_view), with_fifo);
	bad |= native_main(with_bit, COUNT_OF(with_bit), with_setuid);
	bad |= native_main(with_file, COUNT_OF(with_file), leak_is_file);
	bad |= native_main(with_dir, COUNT_OF(with_dir), leak_is_dir);
	bad |= native_main(with_socket, COUNT_OF(with_socket), leak_is_socket);
	return bad != 0;
}
