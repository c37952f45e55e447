/* Prints the name of each thing outside that it got at, then "end".
 * reach NONCE-FILE TCP-PORT SOCKET-FILE ABSTRACT-NAME PID */
#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static void say(const char *name, int good)
{
	if (good)
		printf("%s\n", name);
}

static int can_read(const char *before, const char *path)
{
	char name[4096], byte;
	int fd;

	snprintf(name, sizeof name, "%s%s", before, path);
	fd = open(name, O_RDONLY);
	return fd >= 0 && read(fd, &byte, 1) == 1;
}

static int tcp(int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return fd >= 0 && !connect(fd, (void *)&to, sizeof to);
}

static int named(const char *name, int abstract)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t n = strlen(name);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	memcpy(to.sun_path + abstract, name, n);
	return fd >= 0 &&
	       !connect(fd, (void *)&to,
			offsetof(struct sockaddr_un, sun_path) + abstract + n);
}

static int enter(const char *pid)
{
	char name[64];
	int fd;

	snprintf(name, sizeof name, "/proc/%s/ns/net", pid);
	fd = open(name, O_RDONLY);
	if (fd >= 0 && !setns(fd, 0))
		return 1;
	fd = syscall(SYS_pidfd_open, atoi(pid), 0);
	return fd >= 0 && !setns(fd, CLONE_NEWNET);
}

static int own_mount(void)
{
	return !unshare(CLONE_NEWUSER | CLONE_NEWNS) &&
	       !mount("none", "/tmp", "tmpfs", 0, NULL);
}

int main(int argc, char **argv)
{
	char root[64];

	if (argc != 6)
		return 2;
	snprintf(root, sizeof root, "/proc/%s/root", argv[5]);
	say("read", can_read("", argv[1]) || can_read(root, argv[1]) ||
			    can_read("/proc/1/root", argv[1]));
	say("tcp", tcp(atoi(argv[2])));
	say("socket", named(argv[3], 0));
	say("abstract", named(argv[4], 1));
	say("setns", enter(argv[5]));
	say("mount", !mount("none", "/tmp", "tmpfs", 0, NULL));
	say("unshare", own_mount());
	say("kill", !kill(atoi(argv[5]), SIGTERM));
	printf("end\n");
	return 0;
}
