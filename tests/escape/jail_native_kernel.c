/* Calls that change what a process is or sees, tried by a native program.
 * test-seconds: 300 */
#include "attack_kernel.h"
#include "native_ward.h"

#include <sys/file.h>
#include <sys/inotify.h>

/* Locks, leases and notices on a file that jails and the host share. */
static int lock_file(struct scene *s)
{
	int fd = open(s->secret, O_RDONLY | O_CLOEXEC);

	return fd < 0 || flock(fd, LOCK_EX | LOCK_NB) ? errno : 0;
}

static int lock_record(struct scene *s)
{
	struct flock l = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	int fd = open(s->secret, O_RDONLY | O_CLOEXEC);

	return fd < 0 || fcntl(fd, F_SETLK, &l) ? errno : 0;
}

static int see_lock(struct scene *s)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open(s->secret, O_RDONLY | O_CLOEXEC);

	return fd < 0 || fcntl(fd, F_OFD_GETLK, &l) ? errno : 0;
}

static int watch_file(struct scene *s)
{
	int fd = inotify_init1(IN_CLOEXEC);

	return fd < 0 || inotify_add_watch(fd, s->secret, IN_ACCESS) < 0 ? errno
									  : 0;
}

static int see_pages(struct scene *s)
{
	unsigned char in = 0;
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)s;
	return p == MAP_FAILED || mincore(p, 4096, &in) ? errno : 0;
}

#define FILTERED ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, WORKED})
#define FILTERED_THEN(sys)                                                   \
	ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, sys})

static const struct attack attacks[] = {
	/* No memory may be locked: newer kernels than 6.1 stop it by that too. */
	{"make an io_uring", make_ring, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS})},
	{"make a user namespace", nest_user, AS_BOTH, FILTERED},
	{"mount in a namespace of its own", nest_mount, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, EPERM},
	      {NO_RULES, ENOSYS}, {NEITHER, WORKED})},
	{"make namespaces by clone3", nest_clone3, AS_BOTH, FILTERED},
	{"make a net namespace", nest_net, AS_ROOT, FILTERED_THEN(EPERM)},
	{"join a namespace", join_namespace, AS_ROOT, FILTERED_THEN(EPERM)},
	{"change the root", change_root, AS_ROOT, FILTERED_THEN(EPERM)},
	{"change the root in a user namespace", change_root_nested, AS_BOTH,
	 FILTERED},
	{"mount proc", mount_proc, AS_ROOT, FILTERED_THEN(EPERM)},
	{"set the hostname", rename_host, AS_ROOT, FILTERED_THEN(EPERM)},
	{"attach to a process", attach, AS_BOTH, FILTERED_THEN(ESRCH)},
	{"seize a process", seize, AS_BOTH, FILTERED_THEN(ESRCH)},
	{"be traced", trace_me, AS_BOTH, FILTERED},
	{"read a process's memory", read_memory, AS_BOTH,
	 FILTERED_THEN(ESRCH)},
	{"write a process's memory", write_memory, AS_BOTH,
	 FILTERED_THEN(ESRCH)},
	{"open a process's memory", open_memory, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOENT}, {NEITHER, ENOENT})},
	{"take a process's descriptor", steal_fd, AS_BOTH,
	 FILTERED_THEN(ESRCH)},
	{"compare with a process", compare, AS_BOTH, FILTERED_THEN(ESRCH)},
	{"count events", count_events, AS_BOTH, FILTERED},
	{"make a BPF map", make_map, AS_ROOT, FILTERED_THEN(EPERM)},
	{"catch page faults", catch_faults, AS_BOTH, FILTERED},
	{"make a memfd", make_file_in_memory, AS_BOTH, FILTERED},
	{"merge pages", merge_pages, AS_BOTH, FILTERED},
	{"read the kernel's log size", read_log, AS_ROOT,
	 FILTERED_THEN(EPERM)},
	{"change the personality", change_personality, AS_BOTH, FILTERED},
	{"ask seccomp", filter_again, AS_BOTH, FILTERED},
	{"lock a file", lock_file, AS_BOTH, FILTERED, .shown = 2},
	{"lock a part of a file", lock_record, AS_BOTH, FILTERED, .shown = 2},
	{"see locks on a file", see_lock, AS_BOTH, FILTERED, .shown = 2},
	{"watch a file", watch_file, AS_BOTH, FILTERED, .shown = 2},
	{"see what is in memory", see_pages, AS_BOTH, FILTERED},
};

int main(void)
{
	return native_main(attacks, COUNT_OF(attacks), with_target);
}
