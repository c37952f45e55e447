#include "pool/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "pool/spawn.h"

#define WHERE "compiler"
/* It ends itself at COMPILE_SECONDS; this is for one that does not. */
#define GRACE_US ((uint64_t)2000000)
#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* Its own words are shown to people: one line, printable, ended. */
static void clean_text(char *s, size_t size)
{
	s[size - 1] = '\0';
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 127)
			*s = '?';
}

int compile_check(struct compile_report *r, struct redoma_error *err)
{
	if (r->abi != COMPILE_ABI)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "redoma-compile is of another build");
	if (!r->err.code)
		return 0;
	if (r->err.code > 0 || r->err.code < REDOMA_E_BUSY)
		r->err.code = REDOMA_E_WORKER;
	clean_text(r->err.where, sizeof(r->err.where));
	clean_text(r->err.text, sizeof(r->err.text));
	if (err)
		*err = r->err;
	return r->err.code;
}

/* One whole report, or why not. */
static int read_report(const struct compile_options *o, int fd,
		       struct compile_report *r, struct redoma_error *err)
{
	uint64_t end = clock_monotonic_us() +
		       (uint64_t)COMPILE_SECONDS * 1000000 + GRACE_US;
	size_t have = 0;

	while (have < sizeof(*r)) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		uint64_t now = clock_monotonic_us();
		ssize_t n;

		if (now >= end)
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "compiling the module takes more than "
				       "%d seconds; build it smaller, or split "
				       "its largest functions",
				       COMPILE_SECONDS);
		if (compile_cancelled(o))
			return err_set(err, REDOMA_E_BUSY, WHERE,
				       "cancelled while it compiled");
		if (poll(&p, 1, COMPILE_LOOK_MS) <= 0)
			continue;
		n = read(fd, (char *)r + have, sizeof(*r) - have);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return err_set(err, REDOMA_E_WORKER, WHERE,
				       "redoma-compile ended without a report");
		have += (size_t)n;
	}
	return compile_check(r, err);
}

/* The same, and whoever waits for us hears of it if it takes long. */
static int wait_report(const struct compile_options *o, int fd,
		       struct compile_report *r, struct redoma_error *err)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t end = clock_monotonic_us() + COMPILE_QUIET_MS * 1000;
	bool told;
	int rc;

	while (!compile_cancelled(o) && clock_monotonic_us() < end &&
	       poll(&p, 1, COMPILE_LOOK_MS) <= 0)
		;
	told = o->on_wait && !p.revents && !compile_cancelled(o);
	if (told)
		o->on_wait(o->on_wait_data, o->what);
	rc = read_report(o, fd, r, err);
	if (told)
		o->on_wait(o->on_wait_data, NULL);
	return rc;
}

/* From here on nobody can change it, whoever still holds it. */
static int seal(int fd, struct redoma_error *err)
{
	struct stat st;

	if (fcntl(fd, F_ADD_SEALS, SEALS) || fstat(fd, &st))
		return err_sys(err, WHERE, "seal the compiled module");
	if (st.st_size <= 0 || (uint64_t)st.st_size > COMPILE_ARTEFACT)
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "redoma-compile wrote a module of %lld bytes",
			       (long long)st.st_size);
	if (lseek(fd, 0, SEEK_SET))
		return err_sys(err, WHERE, "rewind the compiled module");
	return 0;
}

static int start(const struct compile_options *o, const int fds[3],
		 int *ret_pidfd, struct redoma_error *err)
{
	char walls[16];
	const char *const argv[] = {"redoma-compile", "--module",
				    profile_name(o->profile), walls,
				    NULL};
	struct spawn_request q = {
		.path = o->program, .argv = argv, .fds = fds, .n_fds = 3};

	snprintf(walls, sizeof(walls), "%u", (unsigned)o->may_lack);
	return spawn_process(&q, ret_pidfd, err);
}

int compile_module(const struct compile_options *o, int module_fd, int *ret_fd,
		   struct compile_report *ret_report, struct redoma_error *err)
{
	struct compile_report report = {0};
	CLEANUP_FD int out = -1;
	CLEANUP_FD int in = -1;
	CLEANUP_FD int artefact = fd_lift(memfd_create(
		"redoma-artefact", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	int pipe_fds[2], pidfd, rc;

	if (artefact < 0)
		return err_sys(err, WHERE, "make room for the compiled module");
	if (pipe2(pipe_fds, O_CLOEXEC))
		return err_sys(err, WHERE, "make a pipe");
	in = fd_lift(pipe_fds[0]);
	out = fd_lift(pipe_fds[1]);
	if (in < 0 || out < 0)
		return err_sys(err, WHERE, "make a pipe");
	rc = start(o, (const int[3]){module_fd, artefact, out}, &pidfd, err);
	if (rc)
		return rc;
	close(TAKE_FD(out));
	rc = wait_report(o, in, &report, err);
	spawn_end(pidfd, 0);
	if (rc != REDOMA_E_WORKER && ret_report)
		*ret_report = report;
	if (!rc)
		rc = seal(artefact, err);
	if (!rc)
		*ret_fd = TAKE_FD(artefact);
	return rc;
}
