#include "attack/canary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "attack/word.h"
#include "base/cleanup.h"

#define TEXT_ROOM 65536
#define TRIES 20 /* of 50 ms: a process may be ending */

static ssize_t read_file(const char *path, char *room, size_t size)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
					       O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, room, size - 1);

	room[n > 0 ? n : 0] = '\0';
	return n;
}

static void read_pattern(char room[256])
{
	if (read_file("/proc/sys/kernel/core_pattern", room, 256) < 0)
		room[0] = '\0';
}

void canary_remember(struct canary *c)
{
	(void)gethostname(c->host_name, sizeof c->host_name - 1);
	read_pattern(c->core_pattern);
}

static void dir_cleanup(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* True if the directory holds just these names; NULL-terminated. */
static bool holds(const struct canary *c, const char *sub,
		  const char *const *names)
{
	char path[CANARY_PATH + 8];
	CLEANUP(dir_cleanup) DIR *d = NULL;
	size_t expected = 0, seen = 0, known = 0;

	snprintf(path, sizeof path, "%s/%s", c->dir, sub);
	d = opendir(path);
	if (!d)
		return false;
	while (names[expected])
		expected++;
	for (struct dirent *e; (e = readdir(d));) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		seen++;
		for (size_t i = 0; i < expected; i++)
			known += !strcmp(e->d_name, names[i]);
	}
	return seen == expected && known == expected;
}

static const char *look_at_files(const struct canary *c)
{
	static const char *const top[] = {"secret", "shown", "out", "cache",
					  NULL};
	static const char *const shown[] = {"in.txt",	"fifo",	   "socket",
					    "link-out", "link-abs", "link-up",
					    NULL};
	char path[CANARY_PATH + 16], text[256];
	struct stat st;

	if (lstat(c->secret, &st) || st.st_ino != c->was.st_ino ||
	    st.st_mode != c->was.st_mode || st.st_nlink != 1 ||
	    st.st_mtim.tv_sec != c->was.st_mtim.tv_sec ||
	    st.st_mtim.tv_nsec != c->was.st_mtim.tv_nsec ||
	    read_file(c->secret, text, sizeof text) < 0 ||
	    strcmp(text, c->nonces[0].text))
		return "it has changed a file of the host";
	if (!holds(c, "", top))
		return "it has made or removed a file of the host";
	snprintf(path, sizeof path, "%s/shown/in.txt", c->dir);
	if (!holds(c, "shown", shown) ||
	    read_file(path, text, sizeof text) < 0 || strcmp(text, "inside\n"))
		return "it has changed what it may only read";
	return NULL;
}

/* What came out is removed, so that the next attack finds nothing. */
static const char *look_at_output(const struct canary *c)
{
	char path[CANARY_PATH + 300];
	CLEANUP_FREE char *text = malloc(TEXT_ROOM);
	CLEANUP(dir_cleanup) DIR *d = NULL;
	const char *found = NULL;
	struct stat st;

	snprintf(path, sizeof path, "%s/out", c->dir);
	d = opendir(path);
	if (!d || !text)
		return "its output cannot be looked at";
	for (struct dirent *e; (e = readdir(d));) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		snprintf(path, sizeof path, "%s/out/%s", c->dir, e->d_name);
		if (lstat(path, &st) || !S_ISREG(st.st_mode))
			found = "its output is no plain file";
		else if (read_file(path, text, TEXT_ROOM) > 0 &&
			 strstr(text, c->nonces[0].text))
			found = "its output holds a file of the host";
		(void)remove(path);
	}
	return found;
}

static bool was_called(int fd)
{
	int with = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

	if (with < 0)
		return false;
	close(with);
	return true;
}

static const char *look_at_sockets(const struct canary *c)
{
	char byte;

	if (was_called(c->listen_abstract))
		return "it has reached an abstract socket";
	if (was_called(c->listen_path))
		return "it has reached a named socket";
	if (was_called(c->listen_tcp))
		return "it has reached 127.0.0.1 by TCP";
	if (recv(c->udp, &byte, 1, MSG_DONTWAIT) >= 0)
		return "it has reached 127.0.0.1 by UDP";
	return NULL;
}

static bool is_traced(pid_t pid)
{
	char path[64], text[4096];
	const char *line;

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	if (read_file(path, text, sizeof text) < 0)
		return false;
	line = strstr(text, "\nTracerPid:\t");
	return line && strncmp(line, "\nTracerPid:\t0\n", 14);
}

static const char *look_at_target(const struct canary *c)
{
	siginfo_t info = {0};
	struct rlimit l;

	if (waitid(P_PID, (id_t)c->target, &info,
		   WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT) ||
	    info.si_pid)
		return "it has stopped or ended a process";
	if (c->word->signals)
		return "it has signalled a process";
	if (strcmp(c->word->text, c->nonces[3].text))
		return "it has changed the memory of a process";
	if (is_traced(c->target))
		return "it traces a process";
	if (prlimit(c->target, RLIMIT_NOFILE, NULL, &l) ||
	    l.rlim_cur != c->target_limit.rlim_cur ||
	    l.rlim_max != c->target_limit.rlim_max)
		return "it has changed the limits of a process";
	return NULL;
}

static const char *look_at_kernel(const struct canary *c)
{
	char name[65] = "", pattern[256];
	struct shmid_ds ds;

	if (shmctl(c->shm, IPC_STAT, &ds) || ds.shm_lpid != getpid() ||
	    ds.shm_nattch)
		return "it has reached shared memory of the host";
	(void)gethostname(name, sizeof name - 1);
	if (strcmp(name, c->host_name))
		return "it has renamed the host";
	read_pattern(pattern);
	if (strcmp(pattern, c->core_pattern))
		return "it has changed who gets core dumps";
	return NULL;
}

/* Whether a process lives that carries the token of this corpus. */
static bool lives(const struct canary *c)
{
	CLEANUP(dir_cleanup) DIR *d = opendir("/proc");
	char path[300], line[4096];
	size_t len = strlen(c->token);

	for (struct dirent *e; d && (e = readdir(d));) {
		ssize_t n;

		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		snprintf(path, sizeof path, "/proc/%s/cmdline", e->d_name);
		n = read_file(path, line, sizeof line);
		if (n > 0 && memmem(line, (size_t)n, c->token, len))
			return true;
	}
	return false;
}

static const char *look_for_survivors(const struct canary *c)
{
	for (int i = 0; i < TRIES; i++) {
		if (!lives(c))
			return NULL;
		(void)poll(NULL, 0, 50);
	}
	return "a process of it has stayed behind";
}

const char *canary_touched(struct canary *c)
{
	const char *what = look_at_files(c);

	if (!what)
		what = look_at_output(c);
	if (!what)
		what = look_at_sockets(c);
	if (!what)
		what = look_at_target(c);
	if (!what)
		what = look_at_kernel(c);
	return what ? what : look_for_survivors(c);
}
