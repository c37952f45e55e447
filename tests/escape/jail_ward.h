/* jail_ward.h - runs attacks under chosen controls of the jail, alone and
 * together, as root and as an ordinary user, and compares the outcome.
 *
 * Every attack has a row without controls, in which it works: a test that
 * shows it failing elsewhere then shows the control, not a broken attack. */
#ifndef JAIL_WARD_H
#define JAIL_WARD_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/landlock.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "jail/steps.h"

#define USED __attribute__((unused))
#define WORKED 0
#define KILLED (-SIGSYS)
#define HUNG (-1000)
#define NOT_SET_UP (-1001)

#define BIT(c) (1u << (c))
#define USER BIT(JAIL_USER)
#define MOUNT (USER | BIT(JAIL_MOUNT))
#define PID (USER | BIT(JAIL_PID))
#define NET (USER | BIT(JAIL_NET))
#define IPC (USER | BIT(JAIL_IPC))
#define UTS (USER | BIT(JAIL_UTS))
#define CAPS (USER | BIT(JAIL_CAPS))
#define LANDLOCK BIT(JAIL_LANDLOCK)
#define RLIMITS BIT(JAIL_RLIMITS)
#define SECCOMP BIT(JAIL_SECCOMP)
#define SESSION BIT(16) /* setsid, not dumpable */
#define FDS BIT(17)
#define KEYRING BIT(18)
#define NONE 0u
#define ALL 0xffffffffu /* through jail_prepare and jail_lock */
#define NATIVE BIT(30) /* a native jail, without the controls beside it */
#define NAMESPACES                                                           \
	(MOUNT | PID | NET | IPC | UTS | BIT(JAIL_CGROUPNS))
#define NO_SECCOMP                                                           \
	(NAMESPACES | CAPS | LANDLOCK | RLIMITS | SESSION | FDS | KEYRING)

#define AS_ROOT 1u
#define AS_USER 2u
#define AS_BOTH 3u
#define ORDINARY_ID 65534

struct scene {
	char dir[PATH_MAX];    /* ours, writable */
	char secret[PATH_MAX]; /* a file in it */
	char junk[PATH_MAX];   /* a file to remove in the end, or "" */
	pid_t target;	       /* a process of the same user */
	int leak;	       /* a descriptor that survives FDS, or -1 */
	const char *why_not;   /* an attack says why it cannot be tried here */
};

struct row {
	uint32_t controls;
	int expect; /* WORKED, KILLED, or the errno that it fails with */
};
/* That errno, where Landlock's ABI is at least that; a skip elsewhere. */
#define SINCE_ABI(abi, errno_) ((abi) << 16 | (errno_))
#define ABI_OF(expect) ((expect) > 0 ? (expect) >> 16 : 0)
#define EXPECTED(expect) ((expect) > 0 ? (expect) & 0xffff : (expect))

struct attack {
	const char *name;
	int (*run)(struct scene *s); /* 0: worked; else errno */
	unsigned who;
	struct row rows[8]; /* the first one: NONE, and WORKED */
	size_t n;
	int keep; /* scene.leak is kept: 1 */
	int shown; /* native jails: the scene's directory is granted (1), or in
		      the root, at /scene (2) */
	uint64_t memory_bytes;
};

/* Machines that are emulated are slow. */
static USED int ward_ms(int ms)
{
	return getenv("REDOMA_SLOW") ? 6 * ms : ms;
}

struct outcome {
	bool said;
	int result;
	char words[160];
	siginfo_t info;
};

static const char *step_in_zygote(struct jail *j, uint32_t c)
{
	const char *what = NULL;
	uint32_t ns = c & NAMESPACES & ~(USER | BIT(JAIL_PID));

	if (c & USER)
		what = idmap_drop(false);
	if (!what && (c & USER))
		what = idmap_enter();
	if (!what && ns)
		what = ns_enter(ns);
	if (!what)
		j->proc_fd = open("/proc", O_PATH | O_CLOEXEC);
	if (!what)
		what = fds_inert(j->proc_fd, &j->inert_fd);
	if (!what && (c & BIT(JAIL_MOUNT)))
		what = mount_empty_root();
	if (!what && (c & KEYRING))
		what = session_keyring();
	if (!what && (c & LANDLOCK))
		what = landlock_make(&j->ruleset_fd, &j->landlock_abi);
	if (!what && (c & BIT(JAIL_CAPS)))
		what = caps_shrink();
	return what;
}

static const char *step_in_child(struct jail *j, uint32_t c,
				 const struct jail_options *o)
{
	const char *what = NULL;

	if (c & SESSION)
		what = session_leave();
	if (!what && (c & RLIMITS))
		what = rlimit_apply(o);
	if (!what && (c & BIT(JAIL_CAPS)))
		what = caps_drop();
	if (!what && (c & (LANDLOCK | SECCOMP)))
		what = caps_forbid_new();
	if (!what && (c & LANDLOCK))
		what = landlock_restrict(j->ruleset_fd);
	if (!what && (c & FDS))
		what = fds_close(o->keep, o->n_keep, j->inert_fd);
	if (!what && (c & SECCOMP))
		what = seccomp_install(o->filter);
	return what;
}

static _Noreturn void say(int out, int result, const char *words)
{
	struct outcome o = {.said = true, .result = result};

	snprintf(o.words, sizeof o.words, "%s", words ? words : "");
	if (write(out, &o, sizeof o) != (ssize_t)sizeof o)
		_exit(99);
	_exit(0);
}

static _Noreturn void be_child(struct jail *j, const struct attack *a,
			       uint32_t controls, struct scene *s, int out)
{
	int keep[2] = {out, s->leak};
	struct jail_options o = {.keep = keep, .n_keep = 1,
				 .file_bytes = 4096,
				 .memory_bytes = a->memory_bytes};
	struct redoma_error err = {0};
	struct jail_report report;
	const char *what;
	int rc;

	if (a->keep && s->leak >= 0) {
		o.n_keep = 2;
		keep[0] = out < s->leak ? out : s->leak;
		keep[1] = out < s->leak ? s->leak : out;
	}
	if (controls == ALL) {
		rc = jail_lock(j, &o, &report, &err);
		what = rc ? err.text : NULL;
	} else {
		what = step_in_child(j, controls, &o);
	}
	if (what)
		say(out, NOT_SET_UP, what);
	rc = a->run(s);
	say(out, rc, s->why_not);
}

/* In a process of its own: the zygote.  Tells how its child ended. */
static _Noreturn void be_zygote(const struct attack *a, uint32_t controls,
				struct scene *s, const int out[2])
{
	struct jail store = JAIL_CLOSED, *j = &store;
	struct jail_options o = {0};
	struct redoma_error err = {0};
	struct outcome end = {0};
	const char *what = NULL;
	int pidfd;
	pid_t pid;

	alarm((unsigned)ward_ms(20));
	if (controls == ALL)
		what = jail_prepare(&o, &j, NULL, &err) ? err.text : NULL;
	else
		what = step_in_zygote(j, controls);
	if (what)
		say(out[0], NOT_SET_UP, what);
	if (controls == ALL)
		pid = jail_fork(j, &pidfd, &err);
	else
		pid = fork_raw(controls & BIT(JAIL_PID) ? CLONE_NEWPID : 0,
			       SIGCHLD, &pidfd);
	if (pid < 0)
		say(out[0], NOT_SET_UP, "fork");
	if (!pid)
		be_child(j, a, controls, s, out[0]);
	if (poll(&(struct pollfd){pidfd, POLLIN, 0}, 1, ward_ms(5000)) == 0) {
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
		end.result = HUNG;
	}
	if (waitid(P_PIDFD, (id_t)pidfd, &end.info, WEXITED))
		end.result = NOT_SET_UP;
	if (write(out[1], &end, sizeof end) != (ssize_t)sizeof end)
		_exit(98);
	_exit(0);
}

/* One attack under some controls. */
static int ward_try(const struct attack *a, uint32_t controls, struct scene *s,
		    struct outcome *ret)
{
	int said[2], ended[2], out[2], status;
	struct outcome end = {.result = NOT_SET_UP};
	pid_t pid;

	memset(ret, 0, sizeof *ret);
	if (pipe2(said, O_CLOEXEC) || pipe2(ended, O_CLOEXEC))
		return NOT_SET_UP;
	out[0] = said[1];
	out[1] = ended[1];
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		be_zygote(a, controls, s, out);
	close(said[1]);
	close(ended[1]);
	if (read(said[0], ret, sizeof *ret) != (ssize_t)sizeof *ret)
		ret->said = false;
	if (read(ended[0], &end, sizeof end) == (ssize_t)sizeof end)
		ret->info = end.info;
	else if (!ret->said)
		end.result = NOT_SET_UP;
	close(said[0]);
	close(ended[0]);
	waitpid(pid, &status, 0);
	if (ret->said)
		return ret->result;
	if (end.result)
		return end.result;
	if (end.info.si_code == CLD_EXITED)
		return end.info.si_status ? ECHILD : WORKED; /* exec'd */
	return -end.info.si_status;
}

/* Who runs an attack; the tests of native jails have their own. */
static int (*ward_run)(const struct attack *a, uint32_t controls,
		       struct scene *s, struct outcome *ret) = ward_try;

static const char *show(int result, char text[64])
{
	if (result == WORKED)
		return "worked";
	if (result == HUNG)
		return "hung";
	if (result == NOT_SET_UP)
		return "not set up";
	if (result < 0)
		snprintf(text, 64, "SIG%s", sigabbrev_np(-result));
	else
		snprintf(text, 64, "%s", strerrorname_np(result));
	return text;
}

static const char *show_controls(uint32_t c, char text[256])
{
	size_t n = 0;

	if (c == NONE || c == ALL)
		return c ? "the whole jail" : "nothing";
	if (c == NO_SECCOMP)
		return "all but seccomp";
	text[0] = 0;
	if (c & NATIVE)
		n = (size_t)snprintf(text, 256, "a native jail%s",
				     c & ~NATIVE ? " without " : "");
	for (int i = 0; i < 30 && n < 200; i++) {
		const char *name = i < JAIL_CONTROLS
					   ? jail_control_name(
						     (enum jail_control)i)
				   : i == 16 ? "session"
				   : i == 17 ? "fds"
					     : "keyring";

		if (c & BIT(i))
			n += (size_t)snprintf(text + n, 256 - n, "%s%s",
					      n && text[n - 1] != ' ' ? "+" : "", name);
	}
	return text;
}

static int ward_abi(void)
{
	return (int)syscall(SYS_landlock_create_ruleset, NULL, 0,
			    LANDLOCK_CREATE_RULESET_VERSION);
}

struct score {
	int n, failed;
};

static void tap(struct score *sc, bool good, const char *name, const char *why)
{
	sc->n++;
	sc->failed += !good;
	printf("%sok %d - %s%s%s\n", good ? "" : "not ", sc->n, name,
	       good ? "" : ": ", good ? "" : why);
	fflush(stdout);
}

static void ward_attack(const struct attack *a, struct scene *s,
			struct score *sc, const char *as)
{
	char name[512], why[512], set[256], got_text[64], want_text[64];
	struct outcome out;

	for (size_t i = 0; i < a->n; i++) {
		const struct row *r = &a->rows[i];
		int got, expect = EXPECTED(r->expect);

		if (ward_abi() < ABI_OF(r->expect)) {
			printf("ok %d - as %s, %s # SKIP Landlock's ABI here "
			       "is less than %d\n",
			       ++sc->n, as, a->name, ABI_OF(r->expect));
			continue;
		}
		got = ward_run(a, r->controls, s, &out);
		snprintf(name, sizeof name, "as %s, %s under %s, %s", as, a->name,
			 show_controls(r->controls, set),
			 show(expect, want_text));
		if (i == 0 && out.words[0] && got != WORKED) {
			for (; i < a->n; i++)
				printf("ok %d - as %s, %s # SKIP %s\n", ++sc->n,
				       as, a->name, out.words);
			return;
		}
		snprintf(why, sizeof why, "it %s %s", show(got, got_text),
			 out.words);
		tap(sc, got == expect, name, why);
	}
}

static bool make_scene(struct scene *s)
{
	const char *tmp = getenv("TMPDIR");
	int fd;

	memset(s, 0, sizeof *s);
	s->leak = -1;
	snprintf(s->dir, sizeof s->dir, "%s/redoma-ward-XXXXXX",
		 tmp ? tmp : "/tmp");
	if (!mkdtemp(s->dir))
		return false;
	chmod(s->dir, 0755);
	if (snprintf(s->secret, sizeof s->secret, "%s/secret", s->dir) >=
	    (int)sizeof s->secret)
		return false;
	fd = open(s->secret, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, "canary", 6) != 6)
		return false;
	close(fd);
	return true;
}

/* A process to attack: same user, dumpable, does nothing. */
static USED pid_t start_target(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_DUMPABLE, 1);
		signal(SIGTERM, SIG_DFL);
		for (;;)
			pause();
	}
	return pid;
}

static int run_as(const char *as, unsigned who, const struct attack *a,
		  size_t n, int (*prepare)(struct scene *s))
{
	struct score sc = {0};
	struct scene s;
	size_t planned = 0;

	prctl(PR_SET_DUMPABLE, 1);
	for (size_t i = 0; i < n; i++)
		planned += a[i].who & who ? a[i].n : 0;
	if (planned)
		printf("1..%zu\n", planned);
	if (!make_scene(&s) || (prepare && prepare(&s))) {
		printf("Bail out! cannot set the scene: %s\n",
		       strerror(errno));
		return 1;
	}
	for (size_t i = 0; i < n; i++)
		if (a[i].who & who)
			ward_attack(&a[i], &s, &sc, as);
	if (s.target > 0) {
		kill(s.target, SIGKILL);
		waitpid(s.target, NULL, 0);
	}
	unlink(s.secret);
	unlink(s.junk);
	rmdir(s.dir);
	return sc.failed != 0;
}

static int run_apart(const char *as, unsigned who, const struct attack *a,
		     size_t n, int (*prepare)(struct scene *s))
{
	int status = 99;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		exit(run_as(as, who, a, n, prepare));
	waitpid(pid, &status, 0);
	return status;
}

/* Root runs everything twice: as itself, and as an ordinary user. */
static USED int ward_main(const struct attack *a, size_t n,
			  int (*prepare)(struct scene *s))
{
	int status = 0;
	char dir[PATH_MAX];
	const char *tmp = getenv("TMPDIR");
	pid_t pid;

	if (geteuid() != 0)
		return run_apart("user", AS_USER, a, n, prepare);
	snprintf(dir, sizeof dir, "%s/redoma-user-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir) || chown(dir, ORDINARY_ID, ORDINARY_ID))
		return 99;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (setgroups(0, NULL) ||
		    setresgid(ORDINARY_ID, ORDINARY_ID, ORDINARY_ID) ||
		    setresuid(ORDINARY_ID, ORDINARY_ID, ORDINARY_ID))
			_exit(99);
		setenv("TMPDIR", dir, 1);
		exit(run_as("user", AS_USER, a, n, prepare));
	}
	waitpid(pid, &status, 0);
	rmdir(dir);
	return run_apart("root", AS_ROOT, a, n, prepare) || status;
}

#define ROWS(...)                                                            \
	.rows = {__VA_ARGS__},                                               \
	.n = sizeof((struct row[]){__VA_ARGS__}) / sizeof(struct row)

#endif
