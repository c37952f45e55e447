/* Calls that change what a process is or sees: namespaces, mounts, other
 * processes' memory, io_uring and the like. */
#include "attack_kernel.h"

#define SEEN_BY_SECCOMP_ONLY                                                 \
	ROWS({NONE, WORKED}, {SECCOMP, KILLED}, {NO_SECCOMP, WORKED},        \
	     {ALL, KILLED})
/* Works as host root only: a user namespace ends it. */
#define ROOTS_ONLY(sys)                                                      \
	ROWS({NONE, WORKED}, {CAPS, sys}, {SECCOMP, KILLED},                 \
	     {NO_SECCOMP, sys}, {ALL, KILLED})
#define OF_ANOTHER(under_user, in_all)                                       \
	ROWS({NONE, WORKED}, {USER, under_user}, {PID, ESRCH},               \
	     {SECCOMP, KILLED}, {NO_SECCOMP, in_all}, {ALL, KILLED})

static const struct attack attacks[] = {
	/* RLIMIT_MEMLOCK ends it as well, but only on newer kernels than 6.1. */
	{"make an io_uring", make_ring, AS_BOTH,
	 ROWS({NONE, WORKED}, {NO_SECCOMP & ~RLIMITS, WORKED},
	      {SECCOMP, KILLED}, {ALL, KILLED})},
	{"make a user namespace", nest_user, AS_BOTH, SEEN_BY_SECCOMP_ONLY},
	{"mount in a namespace of its own", nest_mount, AS_BOTH,
	 ROWS({NONE, WORKED}, {LANDLOCK, EPERM}, {SECCOMP, KILLED},
	      {NO_SECCOMP, EPERM}, {ALL, KILLED})},
	{"make namespaces by clone3", nest_clone3, AS_BOTH,
	 ROWS({NONE, WORKED}, {RLIMITS | USER, EAGAIN}, {SECCOMP, KILLED},
	      {NO_SECCOMP, EAGAIN}, {ALL, KILLED})},
	{"make a net namespace", nest_net, AS_ROOT, ROOTS_ONLY(EPERM)},
	{"join a namespace", join_namespace, AS_ROOT, ROOTS_ONLY(EPERM)},
	{"change the root", change_root, AS_ROOT, ROOTS_ONLY(EPERM)},
	{"change the root in a user namespace", change_root_nested, AS_BOTH,
	 SEEN_BY_SECCOMP_ONLY},
	{"mount proc", mount_proc, AS_ROOT, ROOTS_ONLY(EPERM)},
	{"set the hostname", rename_host, AS_ROOT, ROOTS_ONLY(EPERM)},
	{"attach to a process", attach, AS_BOTH, OF_ANOTHER(EPERM, ESRCH)},
	{"seize a process", seize, AS_BOTH, OF_ANOTHER(EPERM, ESRCH)},
	{"be traced", trace_me, AS_BOTH,
	 ROWS({NONE, WORKED}, {SECCOMP, KILLED}, {ALL, KILLED})},
	{"read a process's memory", read_memory, AS_BOTH,
	 OF_ANOTHER(EPERM, ESRCH)},
	{"write a process's memory", write_memory, AS_BOTH,
	 OF_ANOTHER(EPERM, ESRCH)},
	{"open a process's memory", open_memory, AS_BOTH,
	 ROWS({NONE, WORKED}, {USER, EACCES}, {MOUNT, ENOENT},
	      {LANDLOCK, EACCES}, {SECCOMP, KILLED}, {ALL, KILLED})},
	{"take a process's descriptor", steal_fd, AS_BOTH,
	 OF_ANOTHER(EPERM, ESRCH)},
	{"compare with a process", compare, AS_BOTH, OF_ANOTHER(EPERM, ESRCH)},
	{"count events", count_events, AS_BOTH, SEEN_BY_SECCOMP_ONLY},
	{"make a BPF map", make_map, AS_ROOT, ROOTS_ONLY(EPERM)},
	{"catch page faults", catch_faults, AS_BOTH, SEEN_BY_SECCOMP_ONLY},
	{"make a memfd", make_file_in_memory, AS_BOTH, SEEN_BY_SECCOMP_ONLY},
	{"map shared memory", share_memory, AS_BOTH, SEEN_BY_SECCOMP_ONLY},
	{"map growing memory", map_growing, AS_BOTH, SEEN_BY_SECCOMP_ONLY},
	{"merge pages", merge_pages, AS_BOTH, SEEN_BY_SECCOMP_ONLY},
	{"read the kernel's log size", read_log, AS_ROOT, ROOTS_ONLY(EPERM)},
	{"change the personality", change_personality, AS_BOTH,
	 SEEN_BY_SECCOMP_ONLY},
	{"ask seccomp", filter_again, AS_BOTH, SEEN_BY_SECCOMP_ONLY},
	{"become dumpable", become_dumpable, AS_BOTH, SEEN_BY_SECCOMP_ONLY},
};

int main(void)
{
	return ward_main(attacks, sizeof attacks / sizeof *attacks,
			 with_target);
}
