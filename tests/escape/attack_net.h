/* attack_net.h - Sockets, the host's listeners, keys and System V objects. */
#ifndef ATTACK_NET_H
#define ATTACK_NET_H

#include "jail_ward.h"

#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"

#include <arpa/inet.h>
#include <linux/if_alg.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <stddef.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct {
	int abstract, path, tcp, udp; /* the host's listeners */
	struct sockaddr_un abstract_at, path_at;
	socklen_t abstract_len;
	struct sockaddr_in tcp_at, udp_at;
	int shm, sem, msg;
	key_t key;
	char queue[64];
} host;

static int dial(int family, int type, const void *at, socklen_t len)
{
	int fd = socket(family, type | SOCK_CLOEXEC, 0);
	int sys = fd < 0 ? errno : connect(fd, at, len) ? errno : 0;

	if (!sys && type == SOCK_DGRAM && send(fd, "canary", 6, 0) != 6)
		sys = errno;
	if (fd >= 0)
		close(fd);
	return sys;
}

static int dial_abstract(struct scene *s)
{
	(void)s;
	return dial(AF_UNIX, SOCK_STREAM, &host.abstract_at, host.abstract_len);
}

static int dial_path(struct scene *s)
{
	(void)s;
	return dial(AF_UNIX, SOCK_STREAM, &host.path_at, sizeof host.path_at);
}

static int dial_tcp(struct scene *s)
{
	(void)s;
	return dial(AF_INET, SOCK_STREAM, &host.tcp_at, sizeof host.tcp_at);
}

static int dial_udp(struct scene *s)
{
	(void)s;
	return dial(AF_INET, SOCK_DGRAM, &host.udp_at, sizeof host.udp_at);
}

static int open_family(struct scene *s, int family, int type)
{
	int fd = socket(family, type | SOCK_CLOEXEC, 0);

	if (fd < 0 && errno == EAFNOSUPPORT)
		s->why_not = "this kernel lacks that address family";
	return fd < 0 ? errno : 0;
}

static int open_alg(struct scene *s)
{
	return open_family(s, AF_ALG, SOCK_SEQPACKET);
}

static int open_vsock(struct scene *s)
{
	return open_family(s, AF_VSOCK, SOCK_STREAM);
}

static int open_netlink(struct scene *s)
{
	return open_family(s, AF_NETLINK, SOCK_RAW);
}

static int open_inet(struct scene *s)
{
	return open_family(s, AF_INET, SOCK_STREAM);
}

static int open_pair(struct scene *s)
{
	int both[2];

	(void)s;
	return socketpair(AF_UNIX, SOCK_STREAM, 0, both) ? errno : 0;
}

/* The same by the 32-bit entry: socketcall(SYS_SOCKET), as CVE-2026-31431
 * was also reached.  x86-64's own filter never sees that call's number. */
static int open_by_int80(struct scene *s)
{
	static uint32_t args[3] = {AF_UNIX, SOCK_STREAM, 0};
	uint32_t *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long rc = 102; /* socketcall of i386 */

	if (low == MAP_FAILED)
		return errno;
	memcpy(low, args, sizeof args);
	__asm__ volatile("int $0x80"
			 : "+a"(rc)
			 : "b"(1L), "c"(low)
			 : "memory", "r8", "r9", "r10", "r11");
	if (rc == -ENOSYS)
		s->why_not = "no 32-bit entry";
	return rc < 0 ? (int)-rc : 0;
}

static int open_by_x32(struct scene *s)
{
	long rc = syscall(0x40000000 | SYS_socket, AF_UNIX, SOCK_STREAM, 0);

	if (rc < 0 && errno == ENOSYS)
		s->why_not = "no x32 entry";
	return rc < 0 ? errno : 0;
}

static int find_key(struct scene *s)
{
	(void)s;
	return syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING,
		       "user", "redoma-canary", 0) < 0
		       ? errno
		       : 0;
}

static int add_key(struct scene *s)
{
	(void)s;
	return syscall(SYS_add_key, "user", "redoma-mine", "x", 1,
		       KEY_SPEC_PROCESS_KEYRING) < 0
		       ? errno
		       : 0;
}

static int find_shm(struct scene *s)
{
	(void)s;
	return shmget(host.key, 0, 0) < 0 ? errno : 0;
}

static int find_sem(struct scene *s)
{
	(void)s;
	return semget(host.key, 0, 0) < 0 ? errno : 0;
}

static int find_msg(struct scene *s)
{
	(void)s;
	return msgget(host.key, 0) < 0 ? errno : 0;
}

static int find_queue(struct scene *s)
{
	mqd_t q = mq_open(host.queue, O_RDONLY);

	(void)s;
	return q == (mqd_t)-1 ? errno : 0;
}

/* What two children of one zygote, who share its ipc namespace, could use to
 * talk to each other. */
static int make_shm(struct scene *s)
{
	int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);

	(void)s;
	if (id < 0)
		return errno;
	shmctl(id, IPC_RMID, NULL);
	return 0;
}

static int listen_unix(struct sockaddr_un *at, socklen_t len)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return bind(fd, (struct sockaddr *)at, len) || listen(fd, 64) ? -1 : fd;
}

static int listen_inet(int type, struct sockaddr_in *at)
{
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof *at;

	at->sin_family = AF_INET;
	at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)at, len) ||
	    getsockname(fd, (struct sockaddr *)at, &len))
		return -1;
	return type == SOCK_STREAM && listen(fd, 64) ? -1 : fd;
}

static int open_host(struct scene *s)
{
	memset(&host, 0, sizeof host);
	host.abstract_at.sun_family = host.path_at.sun_family = AF_UNIX;
	host.abstract_len = (socklen_t)offsetof(struct sockaddr_un, sun_path) +
			    (socklen_t)snprintf(host.abstract_at.sun_path + 1,
						64, "redoma-ward-%d",
						getpid()) + 1;
	if (snprintf(host.path_at.sun_path, sizeof host.path_at.sun_path,
		     "%s/s", s->dir) >= (int)sizeof host.path_at.sun_path)
		return -1;
	host.abstract = listen_unix(&host.abstract_at, host.abstract_len);
	host.path = listen_unix(&host.path_at, sizeof host.path_at);
	host.tcp = listen_inet(SOCK_STREAM, &host.tcp_at);
	host.udp = listen_inet(SOCK_DGRAM, &host.udp_at);
	snprintf(s->junk, sizeof s->junk, "%s", host.path_at.sun_path);
	return host.abstract < 0 || host.path < 0 || host.tcp < 0 ||
	       host.udp < 0;
}

static int open_objects(struct scene *s)
{
	mqd_t q;

	(void)s;
	host.key = (key_t)(0x52440000 | (getpid() & 0xffff));
	host.shm = shmget(host.key, 4096, IPC_CREAT | 0600);
	host.sem = semget(host.key, 1, IPC_CREAT | 0600);
	host.msg = msgget(host.key, IPC_CREAT | 0600);
	snprintf(host.queue, sizeof host.queue, "/redoma-ward-%d", getpid());
	q = mq_open(host.queue, O_CREAT | O_RDWR, 0600, NULL);
	if (host.shm < 0 || host.sem < 0 || host.msg < 0 || q == (mqd_t)-1)
		return -1;
	mq_close(q);
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0)
		return -1;
	return syscall(SYS_add_key, "user", "redoma-canary", "x", 1,
		       KEY_SPEC_SESSION_KEYRING) < 0;
}

static void drop_objects(void)
{
	shmctl(host.shm, IPC_RMID, NULL);
	semctl(host.sem, 0, IPC_RMID);
	msgctl(host.msg, IPC_RMID, NULL);
	mq_unlink(host.queue);
}

static int with_objects(struct scene *s)
{
	int bad = open_objects(s);

	atexit(drop_objects);
	return bad;
}

#endif
