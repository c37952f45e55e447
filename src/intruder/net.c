#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_alg.h>
#include <mqueue.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "intruder/scene.h"

static int dial(int type, const void *at, socklen_t len)
{
	const struct sockaddr *a = at;
	int fd = socket(a->sa_family, type | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, a, len))
		return errno;
	return send(fd, "x", 1, MSG_NOSIGNAL) == 1 ? 0 : errno;
}

int dial_abstract(const struct scene *s)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	size_t len = strlen(s->abstract);

	if (len > sizeof at.sun_path - 1)
		return ENAMETOOLONG;
	memcpy(at.sun_path + 1, s->abstract, len);
	return dial(SOCK_STREAM, &at,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				len));
}

int dial_path(const struct scene *s)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX,
				 .sun_path = SHOWN "/socket"};

	(void)s;
	return dial(SOCK_STREAM, &at, sizeof at);
}

static int dial_port(int type, uint16_t port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons(port)};

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return dial(type, &at, sizeof at);
}

int dial_tcp(const struct scene *s)
{
	return dial_port(SOCK_STREAM, s->tcp);
}

int dial_udp(const struct scene *s)
{
	return dial_port(SOCK_DGRAM, s->udp);
}

static int open_family(int family, int type)
{
	return socket(family, type | SOCK_CLOEXEC, 0) < 0 ? errno : 0;
}

int open_netlink(const struct scene *s)
{
	(void)s;
	return open_family(AF_NETLINK, SOCK_RAW);
}

int open_packet(const struct scene *s)
{
	(void)s;
	return open_family(AF_PACKET, SOCK_RAW);
}

int open_alg(const struct scene *s)
{
	(void)s;
	return open_family(AF_ALG, SOCK_SEQPACKET);
}

int open_vsock(const struct scene *s)
{
	(void)s;
	return open_family(AF_VSOCK, SOCK_STREAM);
}

int find_shm(const struct scene *s)
{
	int id = shmget(s->key, 0, 0);
	const char *p;

	if (id < 0)
		return errno;
	p = shmat(id, NULL, SHM_RDONLY);
	if (p == (void *)-1)
		return errno;
	printf("read: %.32s\n", p);
	return 0;
}

int open_queue(const struct scene *s)
{
	mqd_t q = mq_open("/redoma-mine", O_CREAT | O_RDWR, 0600, NULL);

	(void)s;
	return q == (mqd_t)-1 ? errno : 0;
}
