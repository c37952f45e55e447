/* The process that was started prepares the jail, makes a child in it and
 * waits; it never looks at the module.  The child locks itself, reads,
 * compiles, writes and reports.  If the child ends without a report, at its
 * deadline or by a signal, the parent says so in its place. */
#include "compiler/serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "engine/compile.h"
#include "jail/jail.h"
#include "wire/compile.h"

#define WHERE "compiler"
#define EXIT_REPORTED 0
#define EXIT_BROKEN 70 /* not even a report could be written */
/* Code, its tables and the allocator's own. */
#define BASE_MEMORY ((uint64_t)64 << 20)

_Static_assert(COMPILE_CONTROLS >= JAIL_CONTROLS, "room for all controls");
_Static_assert(COMPILE_MODULE == COMPILE_INPUT_MAX, "one limit, two floors");
_Static_assert(COMPILE_ARTEFACT == COMPILE_OUTPUT_MAX, "one limit, two floors");

static int send_report(struct compile_report *r,
		       const struct jail_report *jail,
		       const struct redoma_error *err)
{
	r->abi = COMPILE_ABI;
	r->err = *err;
	r->landlock_abi = jail->landlock_abi;
	memcpy(r->state, jail->state, sizeof(jail->state));
	return fd_write_all(COMPILE_REPORT, r, sizeof(*r)) ? EXIT_BROKEN
							   : EXIT_REPORTED;
}

/* Everything that a filter would not allow afterwards. */
static int lock(const struct jail *j, const struct serve_work *w,
		struct jail_report *report, struct redoma_error *err)
{
	struct rlimit cpu = {w->seconds, w->seconds};
	struct jail_options o = {
		.may_lack = w->may_lack,
		.filter = w->filter,
		.memory_bytes = w->memory_bytes + BASE_MEMORY,
		.file_bytes = w->file_bytes,
		.keep = w->keep,
		.n_keep = w->n_keep,
	};

	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		return err_sys(err, WHERE, "tie the compiler to its parent");
	if (setrlimit(RLIMIT_CPU, &cpu))
		return err_sys(err, WHERE, "limit the compiler's CPU time");
	return jail_lock(j, &o, report, err);
}

static int compile(const struct serve_work *w, struct compile_report *r,
		   struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf wasm = {0};
	CLEANUP(buf_done) struct buf artefact = {0};
	int rc;

	(void)r;
	rc = fd_read_all(COMPILE_IN, COMPILE_INPUT_MAX, "the module", &wasm,
			     err);

	if (!rc)
		rc = compile_module_bytes(w->profile, wasm.data, wasm.len,
					  &artefact, err);
	if (!rc && fd_write_all(COMPILE_OUT, artefact.data, artefact.len))
		rc = err_sys(err, WHERE, "write the compiled module");
	return rc;
}

static void child(const struct jail *j, const struct serve_work *w)
{
	struct compile_report r = {0};
	struct jail_report report = {0};
	struct redoma_error err = {0};

	if (!lock(j, w, &report, &err))
		(void)!w->work(w, &r, &err);
	_exit(send_report(&r, &report, &err));
}

/* Waits for the child, at most its seconds, and not when nobody waits for
 * the report any more; true: it was killed. */
static bool wait_child(int pidfd, const struct serve_work *w, siginfo_t *si,
		       struct rusage *used)
{
	struct pollfd p[2] = {{.fd = pidfd, .events = POLLIN},
			      {.fd = COMPILE_REPORT}};
	int n = poll(p, 2, (int)w->seconds * 1000);

	if (n <= 0 || p[1].revents)
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	while (syscall(SYS_waitid, P_PIDFD, pidfd, si, WEXITED, used) < 0 &&
	       errno == EINTR)
		;
	return n <= 0;
}

/* Why there is no report from the child. */
static void explain(const struct serve_work *w, const siginfo_t *si,
		    const struct rusage *used, bool late,
		    struct redoma_error *err)
{
	uint64_t peak = (uint64_t)used->ru_maxrss << 10;
	bool cpu = used->ru_utime.tv_sec + used->ru_stime.tv_sec >=
		   (time_t)w->seconds - 1;

	if (late || (si->si_code == CLD_KILLED && cpu))
		err_set(err, REDOMA_E_INVALID, WHERE,
			"%s takes more than %u seconds; %s", w->what,
			w->seconds, w->remedy);
	else if (si->si_code == CLD_KILLED && si->si_status == SIGSYS)
		err_set(err, REDOMA_E_WORKER, WHERE,
			"the compiler made a system call that its jail forbids "
			"and was killed");
	else if (si->si_code == CLD_KILLED && si->si_status == SIGKILL)
		err_set(err, REDOMA_E_WORKER, WHERE,
			"the compiler was killed from outside, by a person or "
			"for want of memory on this machine (peak %llu MiB); "
			"run again",
			(unsigned long long)peak >> 20);
	else
		err_set(err, REDOMA_E_INVALID, WHERE,
			"the compiler ran out of memory (%llu MiB) or stack on "
			"this module (%s %d, peak %llu MiB); %s",
			(unsigned long long)w->memory_bytes >> 20,
			si->si_code == CLD_EXITED ? "exit" : "signal",
			si->si_status, (unsigned long long)peak >> 20,
			w->remedy);
}

static int supervise(int pidfd, const struct serve_work *w,
		     const struct jail_report *report)
{
	struct compile_report r = {0};
	struct redoma_error err = {0};
	struct rusage used = {0};
	siginfo_t si = {0};
	bool late = wait_child(pidfd, w, &si, &used);

	if (!late && si.si_code == CLD_EXITED &&
	    si.si_status == EXIT_REPORTED)
		return EXIT_REPORTED;
	explain(w, &si, &used, late, &err);
	return send_report(&r, report, &err);
}

int serve_jailed(const struct serve_work *w)
{
	struct jail_options o = {.may_lack = w->may_lack};
	struct compile_report r = {0};
	struct jail_report report = {0};
	struct redoma_error err = {0};
	struct jail *j = NULL;
	int pidfd = -1;
	pid_t pid;

	if (jail_prepare(&o, &j, &report, &err))
		return send_report(&r, &report, &err);
	pid = jail_fork(j, &pidfd, &err);
	if (pid < 0) {
		err.code = (int32_t)pid;
		return send_report(&r, &report, &err);
	}
	if (pid == 0)
		child(j, w);
	return supervise(pidfd, w, &report);
}

int serve_failed(const struct redoma_error *err)
{
	struct compile_report r = {0};
	struct jail_report report = {0};

	return send_report(&r, &report, err);
}

int serve_module(enum profile profile, uint32_t may_lack)
{
	static const int keep[] = {COMPILE_IN, COMPILE_OUT, COMPILE_REPORT};
	const struct serve_work w = {
		.profile = profile,
		.may_lack = may_lack,
		.filter = JAIL_FILTER_COMPILER,
		.seconds = COMPILE_SECONDS,
		.memory_bytes = COMPILE_MEMORY,
		.file_bytes = COMPILE_ARTEFACT,
		.keep = keep,
		.n_keep = 3,
		.what = "compiling the module",
		.remedy = "build it smaller, or split its largest functions",
		.work = compile,
	};

	return serve_jailed(&w);
}
