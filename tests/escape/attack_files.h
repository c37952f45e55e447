/* attack_files.h - Files, programs and descriptors of the host, seen from the jail. */
#ifndef ATTACK_FILES_H
#define ATTACK_FILES_H

#include "jail_ward.h"

#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"

#include <elf.h>
#include <sys/mman.h>
#include <sys/socket.h>

static int read_path(const char *path)
{
	char c;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int sys = fd < 0 ? errno : read(fd, &c, 1) == 1 ? 0 : EIO;

	if (fd >= 0)
		close(fd);
	return sys;
}

static int read_secret(struct scene *s)
{
	return read_path(s->secret);
}

static int read_environ(struct scene *s)
{
	(void)s;
	return read_path("/proc/self/environ");
}

static int list_root(struct scene *s)
{
	int fd = open("/etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)s;
	return fd < 0 ? errno : 0;
}

static int change_secret(struct scene *s)
{
	int fd = open(s->secret, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? errno : pwrite(fd, "c", 1, 0) == 1 ? 0 : errno;
}

static int write_core_pattern(struct scene *s)
{
	int fd = open("/proc/sys/kernel/core_pattern", O_WRONLY | O_CLOEXEC);

	(void)s;
	return fd < 0 ? errno : 0; /* opened is enough */
}

static int climb_from_target(struct scene *s)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/root/etc/passwd", s->target);
	return read_path(path);
}

static int with_target(struct scene *s)
{
	s->target = start_target();
	return s->target < 0;
}

static int climb_from_cwd(struct scene *s)
{
	(void)s;
	return read_path("../../../../../../../../etc/passwd");
}

static int make_file(struct scene *s)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	(void)s;
	return fd < 0 ? errno : 0;
}

/* The descriptor was open in the zygote; CLOEXEC means nothing without exec. */
static int use_leak(struct scene *s)
{
	char c;

	return pread(s->leak, &c, 1, 0) == 1 ? 0 : errno;
}

static int find_leaks(struct scene *s)
{
	struct stat st, mine;
	char c;

	(void)s;
	for (int fd = 0; fd < 4096; fd++)
		if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size == 6 &&
		    pread(fd, &c, 1, 0) == 1 && c == 'c')
			return 0;
	return fstat(0, &mine) ? errno : EBADF;
}

static int climb_from_leak(struct scene *s)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d/../secret", s->leak);
	return read_path(path);
}

static int leak_is_dir(struct scene *s)
{
	char path[PATH_MAX + 8];

	(void)snprintf(path, sizeof path, "%s/sub", s->dir);
	(void)mkdir(path, 0755);
	s->leak = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	rmdir(path);
	return s->leak < 0;
}

static int climb_from_granted_dir(struct scene *s)
{
	int fd = openat(s->leak, "../secret", O_RDONLY | O_CLOEXEC);
	char c;

	return fd < 0 ? errno : read(fd, &c, 1) == 1 ? 0 : EIO;
}

static int run_loader(struct scene *s)
{
	char *argv[] = {(char *)"ld", (char *)"/bin/true", NULL};

	(void)s;
	execve("/lib64/ld-linux-x86-64.so.2", argv, NULL);
	return errno;
}

/* The smallest program: exit(0). */
static int run_memfd(struct scene *s)
{
	struct {
		Elf64_Ehdr e;
		Elf64_Phdr p;
		unsigned char code[16];
	} elf = {
		.e = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
				  EV_CURRENT},
		      .e_type = ET_EXEC,
		      .e_machine = EM_X86_64,
		      .e_version = EV_CURRENT,
		      .e_entry = 0x400000 + sizeof(Elf64_Ehdr) +
				 sizeof(Elf64_Phdr),
		      .e_phoff = sizeof(Elf64_Ehdr),
		      .e_ehsize = sizeof(Elf64_Ehdr),
		      .e_phentsize = sizeof(Elf64_Phdr),
		      .e_phnum = 1},
		.p = {.p_type = PT_LOAD,
		      .p_flags = PF_R | PF_X,
		      .p_vaddr = 0x400000,
		      .p_filesz = sizeof elf,
		      .p_memsz = sizeof elf,
		      .p_align = 0x1000},
		.code = {0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05},
	};
	char *argv[] = {(char *)"x", NULL};
	int fd = memfd_create("x", MFD_CLOEXEC);

	(void)s;
	if (fd < 0 || write(fd, &elf, sizeof elf) != (ssize_t)sizeof elf)
		return errno;
	syscall(SYS_execveat, fd, "", argv, NULL, AT_EMPTY_PATH);
	return errno;
}

static int map_code(struct scene *s)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)s;
	return p == MAP_FAILED ? errno : 0;
}

static int protect_code(struct scene *s)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)s;
	return p == MAP_FAILED || mprotect(p, 4096, PROT_READ | PROT_EXEC)
		       ? errno
		       : 0;
}

/* Pages of a granted file in memory: another process may change them. */
static int map_granted(struct scene *s)
{
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, s->leak, 0);

	return p == MAP_FAILED ? errno : 0;
}

/* A descriptor that comes in by a message is of no more use than its mode. */
static int take_descriptor(struct scene *s)
{
	char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
	struct iovec v = {&byte, 1};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof control};
	int fd = -1;

	if (recvmsg(s->leak, &m, 0) != 1 || !CMSG_FIRSTHDR(&m))
		return errno ? errno : ENOMSG;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
	if (fd < 3)
		return EBADF; /* would be taken for standard output */
	return openat(fd, "secret", O_RDONLY | O_CLOEXEC) < 0 ? errno : 0;
}

static int leak_is_file(struct scene *s)
{
	s->leak = open(s->secret, O_RDONLY | O_CLOEXEC);
	return s->leak < 0;
}

static int leak_is_socket(struct scene *s)
{
	int both[2], dir = open(s->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 1;
	struct iovec v = {&byte, 1};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof control};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	if (dir < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
				  both))
		return -1;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof dir);
	memcpy(CMSG_DATA(c), &dir, sizeof dir);
	for (int i = 0; i < 8; i++) /* one for each row */
		if (sendmsg(both[0], &m, 0) != 1)
			return -1;
	s->leak = both[1];
	return 0;
}

#endif
