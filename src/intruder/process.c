#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "intruder/scene.h"

#define MANY 256
#define MIB ((size_t)1 << 20)
#define PIDS 32768
#define NAMES 20000

int signal_target(const struct scene *s)
{
	return kill(s->target, SIGUSR1) ? errno : 0;
}

int signal_pidfd(const struct scene *s)
{
	int fd = (int)syscall(SYS_pidfd_open, s->target, 0);

	if (fd < 0)
		return errno;
	return syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0) ? errno : 0;
}

/* SIGCONT harms nobody; the host knows who got it. */
int signal_all(const struct scene *s)
{
	(void)s;
	(void)kill(-1, SIGCONT);
	return TRIED;
}

int sweep_pids(const struct scene *s)
{
	(void)s;
	for (pid_t pid = 2; pid < PIDS; pid++)
		if (pid != getpid() && (!kill(pid, 0) || errno == EPERM))
			return 0;
	return ESRCH;
}

int limit_target(const struct scene *s)
{
	struct rlimit l = {8, 8};

	return prlimit(s->target, RLIMIT_NOFILE, &l, NULL) ? errno : 0;
}

int raise_limit(const struct scene *s)
{
	struct rlimit l;

	(void)s;
	if (getrlimit(RLIMIT_NOFILE, &l))
		return errno;
	l.rlim_cur = ++l.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &l) ? errno : 0;
}

/* CVE-2017-5226, CVE-2019-7303 */
int push_terminal(const struct scene *s)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
	int sys = errno;

	(void)s;
	for (int at = 0; at < 3; at++) {
		if (!ioctl(at, TIOCSTI, "x") ||
		    !syscall(SYS_ioctl, at, TIOCSTI | 1ul << 32, "x"))
			return 0;
		sys = errno;
	}
	if (fd >= 0 && !ioctl(fd, TIOCSTI, "x"))
		return 0;
	return sys;
}

int fork_bomb(const struct scene *s)
{
	(void)s;
	for (int n = 0; n < MANY; n++) {
		pid_t pid = fork();

		if (pid < 0)
			return errno;
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			setsid();
			pause();
			_exit(0);
		}
	}
	return 0;
}

/* The host looks for the token that all its processes carry. */
int stay_behind(const struct scene *s)
{
	pid_t pid = fork();

	(void)s;
	if (pid < 0)
		return errno;
	if (pid == 0) {
		setsid();
		for (int sig = 1; sig < NSIG; sig++)
			signal(sig, SIG_IGN);
		if (fork() > 0)
			_exit(0);
		for (int fd = 0; fd < 1024; fd++)
			close(fd);
		sleep(60);
		_exit(0);
	}
	(void)waitpid(pid, NULL, 0);
	return TRIED;
}

static int hold(int flags)
{
	for (size_t n = 0; n < MANY; n++) {
		char *p = mmap(NULL, MIB, PROT_READ | PROT_WRITE,
			       flags | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return errno;
		memset(p, 1, MIB);
	}
	return 0;
}

int hold_memory(const struct scene *s)
{
	(void)s;
	return hold(MAP_PRIVATE);
}

int hold_shared(const struct scene *s)
{
	(void)s;
	return hold(MAP_SHARED);
}

/* Small ones: there is a limit of the size of each, too. */
static int fill_file(int n)
{
	static const char page[65536];
	char name[32];
	int fd, sys = 0;

	snprintf(name, sizeof name, "/tmp/f%d", n);
	fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	for (size_t done = 0; done < MIB && !sys; done += sizeof page)
		if (write(fd, page, sizeof page) < 0)
			sys = errno;
	close(fd);
	return sys;
}

int fill_tmp(const struct scene *s)
{
	int sys = 0;

	(void)s;
	for (int i = 0; i < MANY && !sys; i++)
		sys = fill_file(i);
	return sys;
}

int fill_names(const struct scene *s)
{
	char name[32];

	(void)s;
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof name, "/tmp/d%d", i);
		if (mkdir(name, 0700))
			return errno;
	}
	return 0;
}

int spin(const struct scene *s)
{
	volatile unsigned long n = 0;

	(void)s;
	for (;;)
		n++;
}

int stop_itself(const struct scene *s)
{
	(void)s;
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_IGN);
	for (;;)
		raise(SIGSTOP);
}

int flood(const struct scene *s)
{
	char page[4096];

	(void)s;
	memset(page, 'x', sizeof page);
	for (size_t n = 0; n < 64 * MIB; n += sizeof page)
		if (write(1, page, sizeof page) < 0)
			return errno;
	return 0;
}

int forge(const struct scene *s)
{
	(void)s;
	printf("{\"id\":\"r_0\",\"status\":\"ok\",\"exit_code\":0}\n");
	fflush(stdout);
	_exit(1);
}
