/* Files, programs and descriptors of the host, seen from the jail. */
#include "attack_files.h"

#define WALLS(landlock)                                                      \
	ROWS({NONE, WORKED}, {MOUNT, ENOENT}, {LANDLOCK, landlock},          \
	     {SECCOMP, KILLED}, {NO_SECCOMP, ENOENT}, {ALL, KILLED})

static const struct attack plain[] = {
	{"read a file", read_secret, AS_BOTH, WALLS(EACCES)},
	{"read /proc/self/environ", read_environ, AS_BOTH, WALLS(EACCES)},
	{"open /etc", list_root, AS_BOTH, WALLS(EACCES)},
	{"change a file", change_secret, AS_BOTH, WALLS(EACCES)},
	{"open core_pattern for writing", write_core_pattern, AS_ROOT,
	 ROWS({NONE, WORKED}, {USER, EACCES}, {MOUNT, ENOENT},
	      {LANDLOCK, EACCES}, {SECCOMP, KILLED}, {ALL, KILLED})},
	{"read through another process's root", climb_from_target, AS_BOTH,
	 ROWS({NONE, WORKED}, {USER, EACCES}, {MOUNT, ENOENT},
	      {SECCOMP, KILLED}, {ALL, KILLED})},
	{"read ../../etc/passwd", climb_from_cwd, AS_BOTH, WALLS(EACCES)},
	{"make a file in /tmp", make_file, AS_BOTH, WALLS(EACCES)},
	{"run the dynamic loader", run_loader, AS_BOTH, WALLS(EACCES)},
	{"run a program from memory", run_memfd, AS_BOTH,
	 ROWS({NONE, WORKED}, {MOUNT, WORKED}, {SECCOMP, KILLED},
	      {NO_SECCOMP, WORKED}, {ALL, KILLED})},
	{"map executable memory", map_code, AS_BOTH,
	 ROWS({NONE, WORKED}, {NO_SECCOMP, WORKED}, {SECCOMP, KILLED},
	      {ALL, KILLED})},
	{"make memory executable", protect_code, AS_BOTH,
	 ROWS({NONE, WORKED}, {NO_SECCOMP, WORKED}, {SECCOMP, KILLED},
	      {ALL, KILLED})},
};

static const struct attack with_file[] = {
	{"use a leaked descriptor", use_leak, AS_BOTH,
	 ROWS({NONE, WORKED}, {FDS, EBADF}, {SECCOMP, WORKED},
	      {NO_SECCOMP, EBADF}, {ALL, EBADF})},
	{"search 4,096 descriptors", find_leaks, AS_BOTH,
	 ROWS({NONE, WORKED}, {FDS, EBADF}, {SECCOMP, WORKED}, {ALL, EBADF})},
	{"map a granted file", map_granted, AS_BOTH,
	 ROWS({NONE, WORKED}, {NO_SECCOMP, WORKED}, {SECCOMP, KILLED},
	      {ALL, KILLED}),
	 .keep = 1},
};

static const struct attack with_dir[] = {
	{"climb from a leaked directory by /proc", climb_from_leak, AS_BOTH,
	 ROWS({NONE, WORKED}, {MOUNT, ENOENT}, {FDS, ENOENT},
	      {SECCOMP, KILLED}, {ALL, KILLED})},
	{"climb from a granted directory", climb_from_granted_dir, AS_BOTH,
	 ROWS({NONE, WORKED}, {MOUNT, WORKED}, {LANDLOCK, EACCES},
	      {SECCOMP, KILLED}, {NO_SECCOMP, EACCES}, {ALL, KILLED}),
	 .keep = 1},
};

static const struct attack with_socket[] = {
	{"open below a directory that was sent", take_descriptor, AS_BOTH,
	 ROWS({NONE, WORKED}, {LANDLOCK, EACCES}, {SECCOMP, KILLED},
	      {ALL, KILLED}),
	 .keep = 1},
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

int main(void)
{
	int bad = ward_main(plain, COUNT(plain), with_target);

	bad |= ward_main(with_file, COUNT(with_file), leak_is_file);
	bad |= ward_main(with_dir, COUNT(with_dir), leak_is_dir);
	bad |= ward_main(with_socket, COUNT(with_socket), leak_is_socket);
	return bad != 0;
}
