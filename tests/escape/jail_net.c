/* Sockets, the host's listeners, keys and System V objects. */
#include "attack_net.h"

#define SEEN_BY_SECCOMP_ONLY                                                 \
	ROWS({NONE, WORKED}, {SECCOMP, KILLED}, {NO_SECCOMP, WORKED},        \
	     {ALL, KILLED})

static const struct attack sockets[] = {
	{"reach an abstract socket", dial_abstract, AS_BOTH,
	 ROWS({NONE, WORKED}, {NET, ECONNREFUSED},
	      {LANDLOCK, SINCE_ABI(6, EPERM)}, {SECCOMP, KILLED},
	      {NO_SECCOMP, ECONNREFUSED}, {ALL, KILLED})},
	{"reach a named socket", dial_path, AS_BOTH,
	 ROWS({NONE, WORKED}, {MOUNT, ENOENT}, {SECCOMP, KILLED},
	      {NO_SECCOMP, ENOENT}, {ALL, KILLED})},
	{"reach 127.0.0.1 by TCP", dial_tcp, AS_BOTH,
	 ROWS({NONE, WORKED}, {NET, ENETUNREACH},
	      {LANDLOCK, SINCE_ABI(4, EACCES)}, {SECCOMP, KILLED},
	      {NO_SECCOMP, SINCE_ABI(4, EACCES)}, {ALL, KILLED})},
	{"reach 127.0.0.1 by UDP", dial_udp, AS_BOTH,
	 ROWS({NONE, WORKED}, {NET, ENETUNREACH}, {SECCOMP, KILLED},
	      {NO_SECCOMP, ENETUNREACH}, {ALL, KILLED})},
	{"open an AF_ALG socket", open_alg, AS_BOTH, SEEN_BY_SECCOMP_ONLY},
	{"open an AF_VSOCK socket", open_vsock, AS_BOTH, SEEN_BY_SECCOMP_ONLY},
	{"open an AF_NETLINK socket", open_netlink, AS_BOTH,
	 SEEN_BY_SECCOMP_ONLY},
	{"open an AF_INET socket", open_inet, AS_BOTH, SEEN_BY_SECCOMP_ONLY},
	{"make a socket pair", open_pair, AS_BOTH, SEEN_BY_SECCOMP_ONLY},
	{"make a socket by int 0x80", open_by_int80, AS_BOTH,
	 SEEN_BY_SECCOMP_ONLY},
	{"make a socket by x32", open_by_x32, AS_BOTH, SEEN_BY_SECCOMP_ONLY},
};

static const struct attack objects[] = {
	{"find a key of the host", find_key, AS_BOTH,
	 ROWS({NONE, WORKED}, {KEYRING, ENOKEY}, {SECCOMP, KILLED},
	      {NO_SECCOMP, ENOKEY}, {ALL, KILLED})},
	{"add a key", add_key, AS_BOTH, SEEN_BY_SECCOMP_ONLY},
	{"find shared memory of the host", find_shm, AS_BOTH,
	 ROWS({NONE, WORKED}, {IPC, ENOENT}, {SECCOMP, KILLED},
	      {NO_SECCOMP, ENOENT}, {ALL, KILLED})},
	{"find a semaphore of the host", find_sem, AS_BOTH,
	 ROWS({NONE, WORKED}, {IPC, ENOENT}, {SECCOMP, KILLED},
	      {ALL, KILLED})},
	{"find a message queue of the host", find_msg, AS_BOTH,
	 ROWS({NONE, WORKED}, {IPC, ENOENT}, {SECCOMP, KILLED},
	      {ALL, KILLED})},
	{"find a POSIX queue of the host", find_queue, AS_BOTH,
	 ROWS({NONE, WORKED}, {IPC, ENOENT}, {SECCOMP, KILLED},
	      {ALL, KILLED})},
	{"make shared memory", make_shm, AS_BOTH, SEEN_BY_SECCOMP_ONLY},
};

int main(void)
{
	int bad = ward_main(sockets, sizeof sockets / sizeof *sockets,
			    open_host);

	bad |= ward_main(objects, sizeof objects / sizeof *objects,
			 with_objects);
	return bad != 0;
}
