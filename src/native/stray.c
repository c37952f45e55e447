#include "native/stray.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of one that is born now: all others have less. */
static pid_t newest(void)
{
	pid_t got, pid = fork();

	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return -1;
	do
		got = waitpid(pid, NULL, 0);
	while (got < 0 && errno == EINTR);
	return pid;
}

/* Threads have pids too, but are none that a pidfd can be had of. */
static int is_process(pid_t pid)
{
	long fd = syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return 0;
	close((int)fd);
	return 1;
}

static int has_files(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *e = NULL;

	while (d && (e = readdir(d)) && (!strcmp(e->d_name, ".") ||
					 !strcmp(e->d_name, "..")))
		;
	if (d)
		closedir(d);
	return e != NULL;
}

/* Without /proc, which not every host allows. */
const char *stray_find(pid_t pid)
{
	pid_t end = newest();
	int threads = 0;

	/* Its pids began again: what is left could be anywhere. */
	if (end < pid)
		return "started more processes than can be looked at";
	for (pid_t p = 2; p < end; p++) {
		if (p != pid && is_process(p))
			return "left a process behind";
		threads += !syscall(SYS_tgkill, pid, p, 0);
	}
	if (threads > STRAY_THREADS_MAX)
		return "left too many threads behind";
	return has_files("/tmp") ? "left files in /tmp" : NULL;
}
