/* Sockets, the host's listeners, keys and System V objects, for a native
 * program.
 * test-seconds: 300 */
#include "attack_net.h"
#include "native_ward.h"

/* Every family with every type. */
static int open_any(struct scene *s)
{
	int seen = 0;

	(void)s;
	for (int family = 0; family < 64; family++)
		for (int type = 1; type < 11; type++) {
			int fd = socket(family, type | SOCK_CLOEXEC, 0);

			seen |= fd >= 0 ? 1 : errno == ENOSYS ? 0 : 2;
			if (fd >= 0)
				close(fd);
		}
	return seen & 1 ? 0 : seen ? EIO : ENOSYS;
}

/* A pair that could be sent elsewhere: datagrams carry an address. */
static int open_datagrams(struct scene *s)
{
	int both[2];

	(void)s;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, both))
		return errno;
	return 0;
}

static int filter_socket(struct scene *s)
{
	struct {
		unsigned short len;
		const void *code;
	} prog = {1, &(uint64_t){0x6}};
	int both[2];

	(void)s;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both))
		return errno;
	return setsockopt(both[0], SOL_SOCKET, SO_ATTACH_FILTER, &prog,
			  sizeof prog)
		       ? errno
		       : 0;
}

#define FILTERED ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, WORKED})

static const struct attack sockets[] = {
	{"reach an abstract socket", dial_abstract, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, ECONNREFUSED},
	      {LESS(SECCOMP | BIT(JAIL_NET)), SINCE_ABI(6, EPERM)},
	      {LESS(SECCOMP | LANDLOCK | BIT(JAIL_NET)), WORKED})},
	{"reach a named socket", dial_path, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, ENOENT})},
	/* Neither a read-only mount nor Landlock stops this one. */
	{"reach a socket in a granted directory", dial_path, AS_USER, FILTERED,
	 .shown = 1},
	/* Root's jails are other users: the socket's mode counts. */
	{"reach a socket in a granted directory", dial_path, AS_ROOT,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, EACCES}),
	 .shown = 1},
	{"reach 127.0.0.1 by TCP", dial_tcp, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS},
	      {NO_FILTER, SINCE_ABI(4, EACCES)},
	      {NEITHER, ENETUNREACH},
	      {LESS(SECCOMP | LANDLOCK | BIT(JAIL_NET)), WORKED})},
	{"reach 127.0.0.1 by UDP", dial_udp, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, ENETUNREACH},
	      {LESS(SECCOMP | BIT(JAIL_NET)), WORKED})},
	{"open an AF_ALG socket", open_alg, AS_BOTH, FILTERED},
	{"open an AF_VSOCK socket", open_vsock, AS_BOTH, FILTERED},
	{"open an AF_NETLINK socket", open_netlink, AS_BOTH, FILTERED},
	{"open an AF_INET socket", open_inet, AS_BOTH, FILTERED},
	{"open any socket", open_any, AS_BOTH, FILTERED},
	{"make a pair of datagram sockets", open_datagrams, AS_BOTH, FILTERED},
	{"give a socket a filter", filter_socket, AS_BOTH, FILTERED},
	{"make a socket by int 0x80", open_by_int80, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, KILLED}, {NO_FILTER, WORKED})},
	{"make a socket by x32", open_by_x32, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, KILLED}, {NO_FILTER, WORKED})},
};

static const struct attack objects[] = {
	{"find a key of the host", find_key, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, ENOKEY})},
	{"add a key", add_key, AS_BOTH, FILTERED},
	{"find shared memory of the host", find_shm, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, ENOENT})},
	{"find a semaphore of the host", find_sem, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, ENOENT})},
	{"find a message queue of the host", find_msg, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, ENOENT})},
	{"find a POSIX queue of the host", find_queue, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, ENOENT})},
	{"make shared memory", make_shm, AS_BOTH, FILTERED},
};

int main(void)
{
	int bad = native_main(sockets, COUNT_OF(sockets), open_host);

	bad |= native_main(objects, COUNT_OF(objects), with_objects);
	return bad != 0;
}
