/* Every system call of jail_prepare, jail_fork and jail_lock fails once, with
 * EPERM, ENOSYS and ENOMEM: the payload must not run, and the error must name
 * the step.
 * test-seconds: 300 */
#include "fault_trace.h"

#define MARK_PREPARE (MARK + 1)
#define MARK_LOCK (MARK + 2)

static _Noreturn void be_child(struct jail *j, int out)
{
	struct jail_options o = {.keep = &out,
				 .n_keep = 1,
				 .memory_bytes = 1 << 30,
				 .stack_bytes = 8 << 20,
				 .file_bytes = 4096};
	struct jail_report report;
	struct redoma_error err = {0};
	int rc;

	getsid(MARK_LOCK);
	rc = jail_lock(j, &o, &report, &err);
	if (rc)
		tell(out, 'E', err.text);
	tell(out, 'P', "");
}

static void be_zygote(int out)
{
	struct jail_options o = {0};
	struct redoma_error err = {0};
	struct jail *j = NULL;
	siginfo_t info;
	int pidfd = -1;
	pid_t pid;

	getsid(MARK_PREPARE);
	if (jail_prepare(&o, &j, NULL, &err))
		tell(out, 'E', err.text);
	pid = jail_fork(j, &pidfd, &err);
	if (pid < 0)
		tell(out, 'E', err.text);
	if (!pid)
		be_child(j, out);
	getsid(MARK_END);
	waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED);
}

/* The payload then ran in a jail that was seen to be whole. */
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
		return true;
	case SYS_clone3: /* clone takes its place */
	case SYS_keyctl: /* a kernel without keyrings */
		return sys == ENOSYS;
	case SYS_unshare: /* all at once; then one by one, and all must work */
		return o->arg & CLONE_NEWNS && o->arg & CLONE_NEWNET;
	default:
		return false;
	}
}

int main(void)
{
	static const char *const parts[] = {"zygote", "child"};
	static const struct subject s = {be_zygote, parts, 2, is_harmless};

	return trace_main(&s);
}
