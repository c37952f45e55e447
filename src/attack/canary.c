#include "attack/canary.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "attack/word.h"
#include "base/cleanup.h"

#define WHERE "attack"

static int fail(struct redoma_error *err, const char *what)
{
	return err_sys(err, WHERE, "set up the attacks' canaries: %s", what);
}

static int draw(char text[ATTACK_NONCE_ROOM])
{
	unsigned char bytes[(ATTACK_NONCE_ROOM - 1) / 2];

	if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
		return -1;
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int draw_all(struct canary *c)
{
	static const char *const what[ATTACK_NONCES] = {
		"a file of the host", "a variable of the host",
		"shared memory of the host", "the memory of a process",
		"a descriptor that leaked"};
	int r = draw(c->token);

	for (int i = 0; i < ATTACK_NONCES && !r; i++) {
		c->nonces[i].what = what[i];
		r = draw(c->nonces[i].text);
	}
	return r;
}

static int put_file(const char *path, const char *text, mode_t mode)
{
	CLEANUP_FD int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC,
				 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return -1;
	return fchmod(fd, mode);
}

/* "DIR/name" into room; -1: too long. */
static int put_path(const struct canary *c, const char *name,
		    char room[CANARY_PATH])
{
	int n = snprintf(room, CANARY_PATH, "%s/%s", c->dir, name);

	errno = ENAMETOOLONG;
	return n < 0 || n >= CANARY_PATH ? -1 : 0;
}

static int put_link(const struct canary *c, const char *to, const char *name)
{
	char path[CANARY_PATH];

	return put_path(c, name, path) || symlink(to, path) ? -1 : 0;
}

static int put_dir(const struct canary *c, const char *name)
{
	char path[CANARY_PATH];

	if (put_path(c, name, path) || mkdir(path, 0755))
		return -1;
	return chmod(path, 0755);
}

/* A file to read, and a way out of each kind. */
static int put_shown(const struct canary *c)
{
	char path[CANARY_PATH];

	if (put_path(c, "shown/in.txt", path) ||
	    put_file(path, "inside\n", 0666))
		return -1;
	if (put_path(c, "shown/fifo", path) || mkfifo(path, 0666) ||
	    put_link(c, "../secret", "shown/link-out") ||
	    put_link(c, c->secret, "shown/link-abs"))
		return -1;
	return put_link(c, "..", "shown/link-up");
}

/* Whoever may read the host's files may read and write this one: it is the
 * jail that is asked. */
static int make_files(struct canary *c)
{
	const char *tmp = secure_getenv("TMPDIR");
	int n = snprintf(c->dir, sizeof c->dir, "%s/redoma-doctor-XXXXXX",
			 tmp && tmp[0] == '/' ? tmp : "/tmp");

	if (n >= (int)sizeof c->dir || !mkdtemp(c->dir)) {
		c->dir[0] = '\0';
		return -1;
	}
	snprintf(c->secret, sizeof c->secret, "%s/secret", c->dir);
	if (chmod(c->dir, 0755) ||
	    put_file(c->secret, c->nonces[0].text, 0666) ||
	    stat(c->secret, &c->was) || put_dir(c, "shown") ||
	    put_dir(c, "out") || put_dir(c, "cache"))
		return -1;
	return put_shown(c);
}

static int listen_unix(const struct sockaddr_un *at, size_t len)
{
	CLEANUP_FD int fd = socket(AF_UNIX,
				   SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
				   0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)at, (socklen_t)len) ||
	    listen(fd, 16))
		return -1;
	return TAKE_FD(fd);
}

static int open_inet(int type, uint16_t *ret_port)
{
	CLEANUP_FD int fd = socket(AF_INET,
				   type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t len = sizeof at;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) ||
	    getsockname(fd, (struct sockaddr *)&at, &len) ||
	    (type == SOCK_STREAM && listen(fd, 16)))
		return -1;
	*ret_port = ntohs(at.sin_port);
	return TAKE_FD(fd);
}

static int make_sockets(struct canary *c)
{
	struct sockaddr_un named = {.sun_family = AF_UNIX};
	struct sockaddr_un abstract = {.sun_family = AF_UNIX};
	int n = snprintf(c->abstract, sizeof c->abstract, "redoma-%s",
			 c->token);
	char path[CANARY_PATH];

	errno = ENAMETOOLONG;
	if (put_path(c, "shown/socket", path) ||
	    strlen(path) >= sizeof named.sun_path)
		return -1;
	strcpy(named.sun_path, path);
	memcpy(abstract.sun_path + 1, c->abstract, (size_t)n);
	c->listen_path = listen_unix(&named, sizeof named);
	if (c->listen_path < 0 || chmod(path, 0666))
		return -1;
	c->listen_abstract = listen_unix(
		&abstract, offsetof(struct sockaddr_un, sun_path) + 1 +
				   (size_t)n);
	c->listen_tcp = open_inet(SOCK_STREAM, &c->tcp_port);
	c->udp = open_inet(SOCK_DGRAM, &c->udp_port);
	return c->listen_abstract < 0 || c->listen_tcp < 0 || c->udp < 0;
}

static int make_shm(struct canary *c)
{
	char *p;

	if (getrandom(&c->key, sizeof c->key, 0) != sizeof c->key)
		return -1;
	c->key |= 1; /* never IPC_PRIVATE */
	c->shm = shmget(c->key, 4096, IPC_CREAT | IPC_EXCL | 0666);
	if (c->shm < 0)
		return -1;
	p = shmat(c->shm, NULL, 0);
	if (p == (void *)-1)
		return -1;
	strcpy(p, c->nonces[2].text);
	return shmdt(p);
}

/* Same user, dumpable: as easy to get at as a process can be. */
static _Noreturn void be_target(struct canary_word *w, pid_t parent)
{
	sigset_t all;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1);
	sigfillset(&all);
	while (getppid() == parent)
		if (sigwaitinfo(&all, NULL) > 0)
			w->signals++;
	_exit(0);
}

static int make_target(struct canary *c)
{
	pid_t parent = getpid();
	sigset_t all, before;

	c->word = mmap(NULL, sizeof *c->word, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->word == MAP_FAILED) {
		c->word = NULL;
		return -1;
	}
	strcpy(c->word->text, c->nonces[3].text);
	/* No signal may find it before it counts them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	c->target = fork();
	if (c->target == 0)
		be_target(c->word, parent);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	/* What a terminal sends to our group is none of its business. */
	if (c->target < 0 || setpgid(c->target, c->target))
		return -1;
	c->target_pidfd = (int)syscall(SYS_pidfd_open, c->target, 0);
	return c->target_pidfd < 0 ||
	       prlimit(c->target, RLIMIT_NOFILE, NULL, &c->target_limit);
}

/* A program that forgot CLOEXEC: its children are to be none the wiser. */
static int make_leak(struct canary *c)
{
	c->leak = memfd_create("leak", MFD_CLOEXEC);
	if (c->leak < 0 ||
	    write(c->leak, c->nonces[4].text, ATTACK_NONCE_ROOM - 1) !=
		    ATTACK_NONCE_ROOM - 1)
		return -1;
	return fcntl(c->leak, F_SETFD, 0);
}

static int make_all(struct canary *c, struct redoma_error *err)
{
	if (draw_all(c))
		return fail(err, "random numbers");
	if (make_files(c))
		return fail(err, "files in a directory for temporary files");
	if (make_sockets(c))
		return fail(err, "sockets");
	if (make_shm(c))
		return fail(err, "shared memory");
	if (make_target(c))
		return fail(err, "a process");
	if (make_leak(c))
		return fail(err, "a descriptor");
	if (setenv("REDOMA_CANARY", c->nonces[1].text, 1))
		return fail(err, "a variable");
	canary_remember(c);
	return 0;
}

int canary_make(struct canary *ret, struct redoma_error *err)
{
	struct canary c = {.listen_abstract = -1,
			   .listen_path = -1,
			   .listen_tcp = -1,
			   .udp = -1,
			   .shm = -1,
			   .leak = -1,
			   .target = -1,
			   .target_pidfd = -1};
	int r = make_all(&c, err);

	if (r)
		canary_done(&c);
	else
		*ret = c;
	return r;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	(void)remove(path); /* what is left makes its directory stay */
	return 0;
}

void canary_done(struct canary *c)
{
	const int fds[] = {c->listen_abstract, c->listen_path, c->listen_tcp,
			   c->udp, c->leak, c->target_pidfd};

	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (c->target > 0) {
		kill(c->target, SIGKILL);
		waitpid(c->target, NULL, 0);
	}
	if (c->word)
		munmap(c->word, sizeof *c->word);
	if (c->shm >= 0)
		shmctl(c->shm, IPC_RMID, NULL);
	unsetenv("REDOMA_CANARY");
	if (c->dir[0])
		nftw(c->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
