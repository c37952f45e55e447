#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include "intruder/scene.h"

/* Each in turn; 0 if any worked, else the errno of the first. */
static int any(int (*one)(const char *path), const char *const *paths)
{
	int first = 0;

	for (; *paths; paths++) {
		int sys = one(*paths);

		if (!sys)
			return 0;
		first = first ? first : sys;
	}
	return first;
}

int read_secret(const struct scene *s)
{
	return scene_show_path(s->secret);
}

int write_secret(const struct scene *s)
{
	int fd = open(s->secret, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? errno : write(fd, "x", 1) == 1 ? 0 : errno;
}

int climb_proc_root(const struct scene *s)
{
	char self[PATH_MAX], one[PATH_MAX], other[PATH_MAX];
	const char *const paths[] = {self, one, other, NULL};

	snprintf(self, sizeof self, "/proc/self/root%s", s->secret);
	snprintf(one, sizeof one, "/proc/1/root%s", s->secret);
	snprintf(other, sizeof other, "/proc/%d/root%s", s->target, s->secret);
	return any(scene_show_path, paths);
}

int climb_dots(const struct scene *s)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "../../../../../../../../../..%s",
		 s->secret);
	return scene_show_path(path);
}

int climb_fd(const struct scene *s)
{
	int dir = open(SHOWN, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = dir < 0 ? -1 : openat(dir, "../secret", O_RDONLY | O_CLOEXEC);

	(void)s;
	return fd < 0 ? errno : scene_show(fd);
}

int follow_links(const struct scene *s)
{
	static const char *const paths[] = {
		SHOWN "/link-out", SHOWN "/link-abs", SHOWN "/link-up/secret",
		NULL};

	(void)s;
	return any(scene_show_path, paths);
}

int leaked_fds(const struct scene *s)
{
	struct stat st;
	char text[64];
	int found = EBADF;

	(void)s;
	for (int fd = 3; fd < 4096; fd++) {
		ssize_t n = fstat(fd, &st) ? -1 : pread(fd, text, 64, 0);

		if (n > 0) {
			printf("read: %.*s\n", (int)n, text);
			found = 0;
		}
	}
	return found;
}

static int create(const char *path)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	return fd < 0 ? errno : 0;
}

int write_root(const struct scene *s)
{
	static const char *const paths[] = {"/new", "/dev/new", NULL};

	(void)s;
	return any(create, paths);
}

int write_granted(const struct scene *s)
{
	int sys = scene_open_write(SHOWN "/in.txt");

	(void)s;
	if (sys && !unlink(SHOWN "/in.txt"))
		return 0;
	if (sys && !create(SHOWN "/new"))
		return 0;
	if (sys && !chmod(SHOWN "/in.txt", 0777))
		return 0;
	return sys;
}

/* CVE-2019-5736 */
int overwrite_self(const struct scene *s)
{
	const char *const paths[] = {s->self, "/proc/self/exe", "/proc/1/exe",
				     NULL};

	return any(scene_open_write, paths);
}

int make_device(const struct scene *s)
{
	(void)s;
	return mknod("/tmp/mem", S_IFCHR | 0600, makedev(1, 1)) ? errno : 0;
}

int open_devices(const struct scene *s)
{
	static const char *const paths[] = {
		"/dev/mem", "/dev/kmsg", "/dev/port", "/dev/kvm", "/dev/fuse",
		"/dev/sda", "/dev/vda", "/proc/kcore", "/proc/kallsyms", NULL};

	(void)s;
	return any(scene_show_path, paths);
}

int core_pattern(const struct scene *s)
{
	(void)s;
	return scene_open_write("/proc/sys/kernel/core_pattern");
}

int pull_sysrq(const struct scene *s)
{
	(void)s;
	return scene_open_write("/proc/sysrq-trigger");
}

int open_handle(const struct scene *s)
{
	struct {
		struct file_handle h;
		unsigned char bytes[128];
	} at = {.h.handle_bytes = 128};
	int mount, fd;

	(void)s;
	if (name_to_handle_at(AT_FDCWD, "/", &at.h, &mount, 0))
		return errno;
	fd = open_by_handle_at(AT_FDCWD, &at.h, O_RDONLY);
	return fd < 0 ? errno : 0;
}

/* Whose they are the host can tell. */
int read_environ(const struct scene *s)
{
	char other[64];
	const char *const paths[] = {"/proc/self/environ", "/proc/1/environ",
				     other, NULL};

	snprintf(other, sizeof other, "/proc/%d/environ", s->target);
	for (char **e = environ; *e; e++)
		printf("read: %s\n", *e);
	for (int i = 0; paths[i]; i++)
		(void)scene_show_path(paths[i]);
	return TRIED;
}

/* The smallest program: exit(0). */
struct tiny {
	Elf64_Ehdr e;
	Elf64_Phdr p;
	unsigned char code[16];
};

static const struct tiny tiny = {
	.e = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
			  EV_CURRENT},
	      .e_type = ET_EXEC,
	      .e_machine = EM_X86_64,
	      .e_version = EV_CURRENT,
	      .e_entry = 0x400000 + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
	      .e_phoff = sizeof(Elf64_Ehdr),
	      .e_ehsize = sizeof(Elf64_Ehdr),
	      .e_phentsize = sizeof(Elf64_Phdr),
	      .e_phnum = 1},
	.p = {.p_type = PT_LOAD,
	      .p_flags = PF_R | PF_X,
	      .p_vaddr = 0x400000,
	      .p_filesz = sizeof tiny,
	      .p_memsz = sizeof tiny,
	      .p_align = 0x1000},
	.code = {0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05},
};

/* In a child: an exec that works never comes back. */
static int run_fd(int fd, const char *path)
{
	char *argv[] = {(char *)"tiny", NULL};
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return errno;
	if (pid == 0) {
		if (path)
			execve(path, argv, NULL);
		else
			syscall(SYS_execveat, fd, "", argv, NULL,
				AT_EMPTY_PATH);
		_exit(errno);
	}
	if (waitpid(pid, &status, 0) != pid)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

int run_memory(const struct scene *s)
{
	int fd = memfd_create("tiny", MFD_CLOEXEC);

	(void)s;
	if (fd < 0 || write(fd, &tiny, sizeof tiny) != (ssize_t)sizeof tiny)
		return errno;
	return run_fd(fd, NULL);
}

int run_written(const struct scene *s)
{
	int fd = open("/tmp/tiny", O_CREAT | O_WRONLY | O_CLOEXEC, 0700);

	(void)s;
	if (fd < 0 || write(fd, &tiny, sizeof tiny) != (ssize_t)sizeof tiny)
		return errno;
	close(fd);
	return run_fd(-1, "/tmp/tiny");
}

/* In its own directory it may; what the host takes from there counts. */
int link_output(const struct scene *s)
{
	(void)!symlink(s->secret, OUTPUT "/link");
	(void)!symlink("../secret", OUTPUT "/up");
	(void)!symlink("..", OUTPUT "/dir");
	(void)!link(SHOWN "/in.txt", OUTPUT "/hard");
	(void)!mkfifo(OUTPUT "/fifo", 0600);
	return TRIED;
}

int join_group(const struct scene *s)
{
	static const char *const paths[] = {
		"/sys/fs/cgroup/cgroup.procs",
		"/sys/fs/cgroup/unified/cgroup.procs",
		"/sys/fs/cgroup/memory/cgroup.procs", NULL};

	(void)s;
	return any(scene_open_write, paths);
}
