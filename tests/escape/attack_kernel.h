/* attack_kernel.h - Calls that change what a process is or sees: namespaces, mounts, other
 * processes' memory, io_uring and the like. */
#ifndef ATTACK_KERNEL_H
#define ATTACK_KERNEL_H

#include "jail_ward.h"

#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"

#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>

static char word[8] = "canary"; /* at the same address in the target */

static int make_ring(struct scene *s)
{
	struct io_uring_params p = {0};
	long fd = syscall(SYS_io_uring_setup, 1, &p);

	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		s->why_not = "io_uring is off here";
	return fd < 0 ? errno : 0;
}

static int nest_user(struct scene *s)
{
	(void)s;
	return unshare(CLONE_NEWUSER) ? errno : 0;
}

static int nest_mount(struct scene *s)
{
	(void)s;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return errno;
	return mount("none", "/", "tmpfs", 0, NULL) ? errno : 0;
}

static int nest_clone3(struct scene *s)
{
	struct clone_args a = {.flags = CLONE_NEWUSER | CLONE_NEWPID |
					CLONE_NEWNET,
			       .exit_signal = SIGCHLD};
	long pid = syscall(SYS_clone3, &a, sizeof a);

	(void)s;
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	return pid < 0 ? errno : 0;
}

static int nest_net(struct scene *s)
{
	(void)s;
	return unshare(CLONE_NEWNET) ? errno : 0;
}

static int join_namespace(struct scene *s)
{
	int fd = (int)syscall(SYS_pidfd_open, getppid() ? getppid() : 1, 0);

	(void)s;
	return fd < 0 || setns(fd, CLONE_NEWUTS) ? errno : 0;
}

static int change_root(struct scene *s)
{
	(void)s;
	return chroot("/") ? errno : 0;
}

static int change_root_nested(struct scene *s)
{
	(void)s;
	return unshare(CLONE_NEWUSER) || chroot("/") ? errno : 0;
}

static int mount_proc(struct scene *s)
{
	int fd = fsopen("proc", FSOPEN_CLOEXEC);

	(void)s;
	if (fd < 0 || fsconfig(fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return errno;
	return fsmount(fd, FSMOUNT_CLOEXEC, 0) < 0 ? errno : 0;
}

static int rename_host(struct scene *s)
{
	char name[65];

	(void)s;
	if (gethostname(name, sizeof name))
		return errno;
	return sethostname(name, strlen(name)) ? errno : 0;
}

static int attach(struct scene *s)
{
	if (ptrace(PTRACE_ATTACH, s->target, NULL, NULL))
		return errno;
	waitpid(s->target, NULL, __WALL);
	ptrace(PTRACE_DETACH, s->target, NULL, NULL);
	return 0;
}

static int seize(struct scene *s)
{
	return ptrace(PTRACE_SEIZE, s->target, NULL, NULL) ? errno : 0;
}

static int trace_me(struct scene *s)
{
	(void)s;
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? errno : 0;
}

static int read_memory(struct scene *s)
{
	char text[8] = {0};
	struct iovec mine = {text, sizeof text}, its = {word, sizeof word};

	return process_vm_readv(s->target, &mine, 1, &its, 1, 0) ==
			       sizeof word
		       ? 0
		       : errno;
}

static int write_memory(struct scene *s)
{
	struct iovec mine = {word, sizeof word}, its = {word, sizeof word};

	return process_vm_writev(s->target, &mine, 1, &its, 1, 0) ==
			       sizeof word
		       ? 0
		       : errno;
}

static int open_memory(struct scene *s)
{
	char path[64];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/mem", s->target);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? errno : 0;
}

static int steal_fd(struct scene *s)
{
	int fd = (int)syscall(SYS_pidfd_open, s->target, 0);

	return fd < 0 || syscall(SYS_pidfd_getfd, fd, 0, 0) < 0 ? errno : 0;
}

static int compare(struct scene *s)
{
	return syscall(SYS_kcmp, getpid(), s->target, 0, 0, 0) < 0 ? errno : 0;
}

static int count_events(struct scene *s)
{
	struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE,
				    .size = sizeof a,
				    .exclude_kernel = 1,
				    .exclude_hv = 1};
	long fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);

	if (fd < 0)
		s->why_not = "perf events are off here";
	return fd < 0 ? errno : 0;
}

static int make_map(struct scene *s)
{
	union bpf_attr a = {.map_type = BPF_MAP_TYPE_ARRAY,
			    .key_size = 4,
			    .value_size = 4,
			    .max_entries = 1};
	long fd = syscall(SYS_bpf, BPF_MAP_CREATE, &a, sizeof a);

	if (fd < 0)
		s->why_not = "bpf is off here";
	return fd < 0 ? errno : 0;
}

static int catch_faults(struct scene *s)
{
	long fd = syscall(SYS_userfaultfd,
			  UFFD_USER_MODE_ONLY | O_CLOEXEC);

	if (fd < 0)
		s->why_not = "userfaultfd is off here";
	return fd < 0 ? errno : 0;
}

static int make_file_in_memory(struct scene *s)
{
	(void)s;
	return memfd_create("x", MFD_CLOEXEC) < 0 ? errno : 0;
}

static int share_memory(struct scene *s)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)s;
	return p == MAP_FAILED ? errno : 0;
}

static int map_growing(struct scene *s)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0);

	(void)s;
	return p == MAP_FAILED ? errno : 0;
}

static int merge_pages(struct scene *s)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return errno;
	if (!madvise(p, 4096, MADV_MERGEABLE))
		return 0;
	if (errno == EINVAL)
		s->why_not = "no page merging in this kernel";
	return errno;
}

static int read_log(struct scene *s)
{
	(void)s;
	return syscall(SYS_syslog, 10, NULL, 0) < 0 ? errno : 0;
}

static int change_personality(struct scene *s)
{
	(void)s;
	return syscall(SYS_personality, 0x0400000 /* READ_IMPLIES_EXEC */) < 0
		       ? errno
		       : 0;
}

static int filter_again(struct scene *s)
{
	long n = syscall(SYS_seccomp, 2 /* GET_ACTION_AVAIL */, 0,
			 &(uint32_t){0x7fff0000u});

	(void)s;
	return n ? errno : 0;
}

static int become_dumpable(struct scene *s)
{
	(void)s;
	return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) ? errno : 0;
}

static int with_target(struct scene *s)
{
	s->target = start_target();
	return s->target < 0;
}

#endif
