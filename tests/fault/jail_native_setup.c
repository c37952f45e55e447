/* Every system call that makes a native jail fails once, with EPERM, ENOSYS and
 * ENOMEM, in the spawner, in init and in the payload: the payload must not run,
 * and the error must name the step.
 * test-seconds: 600 */
#include "fault_trace.h"
#include "jail/native_state.h"

#define MARK_SPAWNER (MARK + 1)
#define MARK_INIT (MARK + 2)
#define MARK_PAYLOAD (MARK + 3)

static _Noreturn void be_payload(struct native *n, int out, int gate)
{
	int keep[] = {0, 1, 2, out};
	struct native_payload p = {.keep = keep,
				   .n_keep = 4,
				   .file_bytes = 4096,
				   .max_fds = 64,
				   .cpu_s = 60};
	char text[256], byte;
	const char *what;

	if (read(gate, &byte, 1) != 1)
		_exit(97);
	getsid(MARK_PAYLOAD);
	what = native_payload(n, &p);
	if (!what)
		tell(3, 'P', "");
	snprintf(text, sizeof text, "%s: %s", what, strerrordesc_np(errno));
	/* Where the pipe is depends on how far it got. */
	if (fcntl(out, F_GETFD) >= 0)
		tell(out, 'E', text);
	tell(3, 'E', text);
}

static _Noreturn void be_init(struct native *n, int out, int mount_fd)
{
	int keep[] = {0, 1, 2, out, mount_fd}, gate[2], dir = -1;
	struct jail_report report;
	struct redoma_error err = {0};
	siginfo_t info;
	int rc;
	pid_t pid;

	getsid(MARK_INIT);
	rc = native_enter(n, keep, 5, &report, &err);
	if (!rc)
		rc = native_attach(n, mount_fd, "/tmp/in", true, &err);
	if (!rc)
		rc = native_scratch(n, "/out/r", false, 4096, 1, &dir, &err);
	if (!rc && report.state[JAIL_MOUNT] == JAIL_ENFORCED &&
	    report.sys[JAIL_MOUNT]) {
		getsid(MARK_END); /* no /proc, and it was told */
		snprintf(err.text, sizeof err.text, "mount /proc: %s",
			 strerrordesc_np(report.sys[JAIL_MOUNT]));
		rc = REDOMA_E_SYSTEM;
	}
	if (rc)
		tell(out, 'E', err.text);
	getsid(MARK_END);
	if (pipe2(gate, O_CLOEXEC))
		_exit(98);
	pid = fork();
	if (pid == 0)
		be_payload(n, out, gate[0]);
	getsid(MARK_INIT);
	rc = native_settle(n, &err);
	if (rc)
		tell(out, 'E', err.text);
	(void)!write(gate[1], "", 1);
	waitid(P_PID, (id_t)pid, &info, WEXITED);
	_exit(0);
}

static void be_spawner(int out)
{
	static const struct native_entry entries[] = {
		{NATIVE_DIR, true, "/usr", "/usr"},
		{NATIVE_LINK, false, "/lib64", "usr/lib64"},
		{NATIVE_TEXT, false, "/etc/passwd", "x:x:1000:1000::/:/\n"},
	};
	struct native_options o = {.may_lack = 1u << JAIL_CGROUP,
				   .entries = entries,
				   .n_entries = 3,
				   .tmp_bytes = 1 << 20,
				   .pids = 8};
	struct redoma_error err = {0};
	struct jail_report report;
	struct native *n = NULL;
	int pidfd = -1, granted = open("/usr", O_PATH | O_CLOEXEC), fd = -1;
	siginfo_t info;
	pid_t pid;

	for (int i = 0; i < 3; i++)
		if (fcntl(i, F_GETFD) < 0)
			(void)!open("/dev/null", O_RDWR);
	getsid(MARK_SPAWNER);
	if (native_prepare(&o, &n, &report, &err))
		tell(out, 'E', err.text);
	if (native_mount(n, granted, 5000, &fd, &err))
		tell(out, 'E', err.text);
	pid = native_fork(n, NULL, &pidfd, &err);
	if (pid < 0)
		tell(out, 'E', err.text);
	if (!pid)
		be_init(n, out, fd);
	getsid(MARK_END);
	waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED);
	native_free(n);
}

static bool is_harmless(const struct outcome *o, int sys)
{
	switch (o->nr) {
	case SYS_close:
	case SYS_getpid:
	case SYS_getuid:
	case SYS_geteuid:
	case SYS_getgid:
	case SYS_getegid:
	case SYS_umask:
	case SYS_brk: /* the allocator tries mmap next */
	case SYS_write: /* init's to the payload that it is settled */
		return true;
	case SYS_prctl: /* the name that ps shows */
		return o->arg == PR_SET_NAME;
	case SYS_statx: /* the C library's own answer tells no mount: refused */
	case SYS_clone3: /* clone takes its place */
	case SYS_keyctl: /* a kernel without keyrings */
		return sys == ENOSYS;
	default:
		return false;
	}
}

int main(void)
{
	static const char *const parts[] = {"spawner", "init", "payload"};
	static const struct subject s = {be_spawner, parts, 3, is_harmless};

	return trace_main(&s);
}
