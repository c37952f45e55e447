#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "intruder/scene.h"

#define WORD_BYTES 32
#define BIT_X32 0x40000000L

static int done(long rc)
{
	return rc < 0 ? errno : 0;
}

int make_ring(const struct scene *s)
{
	struct io_uring_params p = {0};

	(void)s;
	return done(syscall(SYS_io_uring_setup, 1, &p));
}

int new_user(const struct scene *s)
{
	(void)s;
	return done(unshare(CLONE_NEWUSER));
}

int new_clone3(const struct scene *s)
{
	struct clone_args a = {.flags = CLONE_NEWUSER | CLONE_NEWNS |
					CLONE_NEWPID | CLONE_NEWNET,
			       .exit_signal = SIGCHLD};
	long pid = syscall(SYS_clone3, &a, sizeof a);

	(void)s;
	if (pid < 0 && errno == ENOSYS)
		pid = syscall(SYS_clone, a.flags | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	return done(pid);
}

int join_namespace(const struct scene *s)
{
	int fd = (int)syscall(SYS_pidfd_open, s->target, 0);

	return fd < 0 ? errno : done(setns(fd, CLONE_NEWNET | CLONE_NEWNS));
}

int change_root(const struct scene *s)
{
	(void)s;
	return done(chroot("/tmp"));
}

int remount(const struct scene *s)
{
	(void)s;
	return done(mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL));
}

int mount_proc(const struct scene *s)
{
	long fd = syscall(SYS_fsopen, "proc", 0);

	(void)s;
	if (fd < 0 && !mount("proc", "/tmp", "proc", 0, NULL))
		return 0;
	return done(fd);
}

int trace(const struct scene *s)
{
	return done(ptrace(PTRACE_SEIZE, s->target, NULL, NULL));
}

int read_memory(const struct scene *s)
{
	char text[WORD_BYTES];
	struct iovec mine = {text, sizeof text};
	struct iovec its = {(void *)s->word, sizeof text};

	if (process_vm_readv(s->target, &mine, 1, &its, 1, 0) < 0)
		return errno;
	printf("read: %.*s\n", WORD_BYTES, text);
	return 0;
}

int write_memory(const struct scene *s)
{
	char text[] = "x";
	struct iovec mine = {text, 1}, its = {(void *)s->word, 1};

	return done(process_vm_writev(s->target, &mine, 1, &its, 1, 0));
}

int open_memory(const struct scene *s)
{
	char path[64];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/mem", s->target);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? scene_open_write("/proc/1/mem") : 0;
}

int steal_fd(const struct scene *s)
{
	int fd = (int)syscall(SYS_pidfd_open, s->target, 0);

	return fd < 0 ? errno : done(syscall(SYS_pidfd_getfd, fd, 3, 0));
}

int make_map(const struct scene *s)
{
	union bpf_attr a = {.map_type = BPF_MAP_TYPE_ARRAY,
			    .key_size = 4,
			    .value_size = 4,
			    .max_entries = 1};

	(void)s;
	return done(syscall(SYS_bpf, BPF_MAP_CREATE, &a, sizeof a));
}

int count_events(const struct scene *s)
{
	struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE,
				    .size = sizeof a,
				    .exclude_kernel = 1,
				    .exclude_hv = 1};

	(void)s;
	return done(syscall(SYS_perf_event_open, &a, 0, -1, -1, 0));
}

int catch_faults(const struct scene *s)
{
	(void)s;
	return done(syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY | O_CLOEXEC));
}

int add_key(const struct scene *s)
{
	(void)s;
	return done(syscall(SYS_add_key, "user", "redoma-mine", "x", 1, -2));
}

/* No bytes are no module: ENOEXEC would say that it was looked at. */
int load_module(const struct scene *s)
{
	long rc = syscall(SYS_init_module, "", 0, "");

	(void)s;
	return rc < 0 && errno == ENOEXEC ? 0 : done(rc);
}

/* To the name that it has: that is proof enough, and harms nobody. */
int rename_host(const struct scene *s)
{
	char name[65] = "";

	(void)s;
	if (gethostname(name, sizeof name - 1))
		return errno;
	return done(sethostname(name, strlen(name)));
}

int read_log(const struct scene *s)
{
	char text[256];

	(void)s;
	return done(syscall(SYS_syslog, 3, text, sizeof text));
}

int change_personality(const struct scene *s)
{
	(void)s;
	return done(personality(READ_IMPLIES_EXEC));
}

int become_root(const struct scene *s)
{
	(void)s;
	return done(syscall(SYS_setresuid, 0, 0, 0));
}

int take_caps(const struct scene *s)
{
	/* struct __user_cap_header_struct, version 3, and its data */
	uint32_t head[2] = {0x20080522, 0};
	uint32_t all[6] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u};

	(void)s;
	return done(syscall(SYS_capset, head, all));
}

static void no_entry(int sig)
{
	static const char words[] = "\nskip this kernel has no 32-bit entry\n";

	(void)sig;
	_exit(write(1, words, sizeof words - 1) < 0);
}

/* CVE-2026-31431 was also reached by socketcall(SYS_SOCKET). */
int enter_int80(const struct scene *s)
{
	static const uint32_t args[3] = {AF_UNIX, SOCK_STREAM, 0};
	uint32_t *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long rc = 102;

	(void)s;
	if (low == MAP_FAILED)
		return errno;
	memcpy(low, args, sizeof args);
	signal(SIGSEGV, no_entry);
	__asm__ volatile("int $0x80"
			 : "+a"(rc)
			 : "b"(1L), "c"(low)
			 : "memory", "r8", "r9", "r10", "r11");
	return rc < 0 ? (int)-rc : 0;
}

int enter_x32(const struct scene *s)
{
	(void)s;
	return done(syscall(BIT_X32 | SYS_socket, AF_UNIX, SOCK_STREAM, 0));
}
