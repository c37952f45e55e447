/* attack/native_rows.h - the attacks of native code, a line each: a function
 * of intruder/ and its name on the command line, the sentence for people, the
 * wall that answers when the system-call filter lets the call pass, a limit
 * that is set for it (or NULL), and the statuses that a wall may end it with
 * (bits of enum redoma_status; 0: it has to come back and say so). */
#ifndef ATTACK_NATIVE_ROWS_H
#define ATTACK_NATIVE_ROWS_H

#include <redoma.h>

#define ENDS(s) (1u << REDOMA_STATUS_##s)
#define TIME (ENDS(WALL_LIMIT) | ENDS(CPU_LIMIT))
#define SHORT "wall=500ms"

#define NATIVE_FILE_ROWS(X)                                                  \
	X(read_secret, "read a file of the host", "mount", NULL, 0)          \
	X(write_secret, "write to a file of the host", "mount", NULL, 0)     \
	X(climb_proc_root, "read the host through /proc/*/root", "mount",    \
	  NULL, 0)                                                           \
	X(climb_dots, "leave its directory by ..", "mount", NULL, 0)         \
	X(climb_fd, "leave a granted directory by ..", "mount", NULL, 0)     \
	X(follow_links, "follow links out of a granted directory", "mount",  \
	  NULL, 0)                                                           \
	X(leaked_fds, "use 4,096 descriptors it was not given", "core",      \
	  NULL, 0)                                                           \
	X(write_root, "make a file in its root", "mount", NULL, 0)           \
	X(write_granted, "change what it may only read", "mount", NULL, 0)   \
	X(overwrite_self, "overwrite its own program", "mount", NULL, 0)     \
	X(make_device, "make the device of the memory", "caps", NULL, 0)     \
	X(open_devices, "open devices and the kernel's memory", "mount",     \
	  NULL, 0)                                                           \
	X(core_pattern, "name the program that gets core dumps", "mount",    \
	  NULL, 0)                                                           \
	X(pull_sysrq, "open the trigger of system requests", "mount", NULL,  \
	  0)                                                                 \
	X(open_handle, "open a file by its handle", "caps", NULL, 0)         \
	X(read_environ, "read variables of the host", "core", NULL, 0)       \
	X(run_memory, "run a program from memory", "mount", NULL, 0)         \
	X(run_written, "run a program that it wrote", "mount", NULL, 0)      \
	X(link_output, "give back a link to a file of the host", "core",     \
	  NULL, 0)                                                           \
	X(join_group, "move itself to another control group", "mount", NULL, \
	  0)

#define NATIVE_KERNEL_ROWS(X)                                                \
	X(make_ring, "make an io_uring", "rlimits", NULL, 0)                 \
	X(new_user, "make a user namespace", "seccomp", NULL, 0)             \
	X(new_clone3, "make namespaces by clone3", "seccomp", NULL, 0)       \
	X(join_namespace, "join a namespace of another process", "pid",      \
	  NULL, 0)                                                           \
	X(change_root, "change its root", "caps", NULL, 0)                   \
	X(remount, "make its root writable", "caps", NULL, 0)                \
	X(mount_proc, "mount proc", "caps", NULL, 0)                         \
	X(trace, "trace a process of the host", "pid", NULL, 0)              \
	X(read_memory, "read the memory of a process", "pid", NULL, 0)       \
	X(write_memory, "write the memory of a process", "pid", NULL, 0)     \
	X(open_memory, "open the memory of processes", "mount", NULL, 0)     \
	X(steal_fd, "take a descriptor of a process", "pid", NULL, 0)        \
	X(make_map, "load a map for BPF", "caps", NULL, 0)                   \
	X(count_events, "count events of the processor", "seccomp", NULL, 0) \
	X(catch_faults, "catch page faults", "seccomp", NULL, 0)             \
	X(add_key, "keep a key in the kernel", "seccomp", NULL, 0)           \
	X(load_module, "load a module of the kernel", "caps", NULL, 0)       \
	X(rename_host, "rename the host", "caps", NULL, 0)                   \
	X(read_log, "read the log of the kernel", "caps", NULL, 0)           \
	X(change_personality, "make all memory executable", "seccomp", NULL, \
	  0)                                                                 \
	X(become_root, "become root", "user", NULL, 0)                       \
	X(take_caps, "take back capabilities", "caps", NULL, 0)              \
	X(enter_int80, "make a socket by the 32-bit entry", "seccomp", NULL, \
	  ENDS(BREACH))                                                      \
	X(enter_x32, "make a socket by the x32 entry", "seccomp", NULL,      \
	  ENDS(BREACH))

#define NATIVE_PROCESS_ROWS(X)                                               \
	X(signal_target, "signal a process of the host", "pid", NULL, 0)     \
	X(signal_pidfd, "signal it by a pidfd", "pid", NULL, 0)              \
	X(signal_all, "signal everything", "pid", NULL, 0)                   \
	X(sweep_pids, "find any process of the host", "pid", NULL, 0)        \
	X(limit_target, "lower the limits of a process", "pid", NULL, 0)     \
	X(raise_limit, "raise its own limits", "caps", NULL, 0)              \
	X(push_terminal, "type into the terminal", "mount", NULL, 0)         \
	X(fork_bomb, "start 256 processes", "cgroup", NULL, 0)               \
	X(stay_behind, "leave a process behind", "pid", NULL, 0)             \
	X(hold_memory, "hold 256 MiB where 64 are allowed", "cgroup", NULL,  \
	  ENDS(MEMORY_LIMIT))                                                \
	X(hold_shared, "hold them as shared memory", "cgroup", NULL,         \
	  ENDS(MEMORY_LIMIT))                                                \
	X(fill_tmp, "fill a file system", "mount", NULL, ENDS(MEMORY_LIMIT)) \
	X(fill_names, "use up the names of a file system", "mount", NULL,    \
	  ENDS(MEMORY_LIMIT))                                                \
	X(spin, "compute for ever", "core", SHORT, TIME)                     \
	X(stop_itself, "ignore signals, stop and wait", "core", SHORT, TIME) \
	X(flood, "print for ever", "core", NULL, ENDS(OUTPUT_LIMIT))         \
	X(forge, "print a result of its own and fail", "core", NULL,         \
	  ENDS(ERROR))

#define NATIVE_NET_ROWS(X)                                                   \
	X(dial_abstract, "reach an abstract socket", "landlock", NULL, 0)    \
	X(dial_path, "reach a socket in a granted directory", "seccomp",     \
	  NULL, 0)                                                           \
	X(dial_tcp, "reach 127.0.0.1 by TCP", "net", NULL, 0)                \
	X(dial_udp, "reach 127.0.0.1 by UDP", "net", NULL, 0)                \
	X(open_netlink, "talk to the kernel by netlink", "seccomp", NULL, 0) \
	X(open_packet, "read packets of the network", "caps", NULL, 0)       \
	X(open_alg, "use the kernel's ciphers", "seccomp", NULL, 0)          \
	X(open_vsock, "reach the machine's hypervisor", "seccomp", NULL, 0)  \
	X(find_shm, "read shared memory of the host", "seccomp", NULL, 0)    \
	X(open_queue, "make a queue of messages", "seccomp", NULL, 0)

#define NATIVE_ROWS(X)                                                       \
	NATIVE_FILE_ROWS(X)                                                  \
	NATIVE_KERNEL_ROWS(X)                                                \
	NATIVE_PROCESS_ROWS(X)                                               \
	NATIVE_NET_ROWS(X)

#endif
