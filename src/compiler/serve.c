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

static int send_report(const struct jail_report *jail,
		       const struct redoma_error *err)
{
	struct compile_report r = {.abi = COMPILE_ABI, .err = *err};

	r.landlock_abi = jail->landlock_abi;
	memcpy(r.state, jail->state, sizeof(jail->state));
	return fd_write_all(COMPILE_REPORT, &r, sizeof(r)) ? EXIT_BROKEN
							   : EXIT_REPORTED;
}

/* Everything that a filter would not allow afterwards. */
static int lock(const struct jail *j, uint32_t may_lack,
		struct jail_report *report, struct redoma_error *err)
{
	static const int keep[] = {COMPILE_IN, COMPILE_OUT, COMPILE_REPORT};
	struct rlimit cpu = {COMPILE_SECONDS, COMPILE_SECONDS};
	struct jail_options o = {
		.may_lack = may_lack,
		.filter = JAIL_FILTER_COMPILER,
		.memory_bytes = COMPILE_MEMORY + BASE_MEMORY,
		.file_bytes = COMPILE_ARTEFACT,
		.keep = keep,
		.n_keep = 3,
	};

	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		return err_sys(err, WHERE, "tie the compiler to its parent");
	if (setrlimit(RLIMIT_CPU, &cpu))
		return err_sys(err, WHERE, "limit the compiler's CPU time");
	return jail_lock(j, &o, report, err);
}

static int compile(enum profile profile, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf wasm = {0};
	CLEANUP(buf_done) struct buf artefact = {0};
	int rc = fd_read_all(COMPILE_IN, COMPILE_INPUT_MAX, "the module", &wasm,
			     err);

	if (!rc)
		rc = compile_module_bytes(profile, wasm.data, wasm.len,
					  &artefact, err);
	if (!rc && fd_write_all(COMPILE_OUT, artefact.data, artefact.len))
		rc = err_sys(err, WHERE, "write the compiled module");
	return rc;
}

static void child(const struct jail *j, enum profile profile,
		  uint32_t may_lack)
{
	struct jail_report report = {0};
	struct redoma_error err = {0};

	if (!lock(j, may_lack, &report, &err))
		(void)!compile(profile, &err);
	_exit(send_report(&report, &err));
}

/* Waits for the child, at most COMPILE_SECONDS, and not when nobody waits for
 * the report any more; true: it was killed. */
static bool wait_child(int pidfd, siginfo_t *si, struct rusage *used)
{
	struct pollfd p[2] = {{.fd = pidfd, .events = POLLIN},
			      {.fd = COMPILE_REPORT}};
	int n = poll(p, 2, COMPILE_SECONDS * 1000);

	if (n <= 0 || p[1].revents)
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	while (syscall(SYS_waitid, P_PIDFD, pidfd, si, WEXITED, used) < 0 &&
	       errno == EINTR)
		;
	return n <= 0;
}

/* Why there is no report from the child. */
static void explain(const siginfo_t *si, const struct rusage *used, bool late,
		    struct redoma_error *err)
{
	uint64_t peak = (uint64_t)used->ru_maxrss << 10;
	bool cpu = used->ru_utime.tv_sec + used->ru_stime.tv_sec >=
		   COMPILE_SECONDS - 1;

	if (late || (si->si_code == CLD_KILLED && cpu))
		err_set(err, REDOMA_E_INVALID, WHERE,
			"compiling the module takes more than %d seconds; "
			"build it smaller, or split its largest functions",
			COMPILE_SECONDS);
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
			"this module (%s %d, peak %llu MiB); build it smaller, "
			"or split its largest functions",
			(unsigned long long)COMPILE_MEMORY >> 20,
			si->si_code == CLD_EXITED ? "exit" : "signal",
			si->si_status, (unsigned long long)peak >> 20);
}

static int supervise(int pidfd, const struct jail_report *report)
{
	struct redoma_error err = {0};
	struct rusage used = {0};
	siginfo_t si = {0};
	bool late = wait_child(pidfd, &si, &used);

	if (!late && si.si_code == CLD_EXITED &&
	    si.si_status == EXIT_REPORTED)
		return EXIT_REPORTED;
	explain(&si, &used, late, &err);
	return send_report(report, &err);
}

int serve_module(enum profile profile, uint32_t may_lack)
{
	struct jail_options o = {.may_lack = may_lack};
	struct jail_report report = {0};
	struct redoma_error err = {0};
	struct jail *j = NULL;
	int pidfd = -1;
	pid_t pid;

	if (jail_prepare(&o, &j, &report, &err))
		return send_report(&report, &err);
	pid = jail_fork(j, &pidfd, &err);
	if (pid < 0) {
		err.code = (int32_t)pid;
		return send_report(&report, &err);
	}
	if (pid == 0)
		child(j, profile, may_lack);
	return supervise(pidfd, &report);
}
