/* clone_child, with clone3(2) and where a filter answers ENOSYS to it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include "base/clone.h"

#define CLEAR 0x100000000ULL /* CLONE_CLEAR_SIGHAND */
#define INTO 0x200000000ULL  /* CLONE_INTO_CGROUP */

static int forbid_clone3(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = {4, code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, 2, &p);
}

static void handle(int sig)
{
	(void)sig;
}

/* What the child found: its exit code. */
static int as_it_should_be(bool cleared)
{
	struct sigaction usr1, usr2;
	sigset_t mask;

	if (sigaction(SIGUSR1, NULL, &usr1) || sigaction(SIGUSR2, NULL, &usr2))
		return 20;
	if (usr2.sa_handler != SIG_IGN)
		return 21;
	if (usr1.sa_handler != (cleared ? SIG_DFL : handle))
		return 22;
	if (sigprocmask(SIG_SETMASK, NULL, &mask) ||
	    sigismember(&mask, SIGUSR1) || !sigismember(&mask, SIGALRM))
		return 23;
	return 42;
}

static int one(uint64_t flags, int exit_signal)
{
	int pidfd = -1;
	struct clone_args a = {.flags = flags | CLONE_PIDFD,
			       .pidfd = (uintptr_t)&pidfd,
			       .exit_signal = (unsigned)exit_signal};
	siginfo_t info;
	sigset_t mask;
	pid_t pid = clone_child(&a);

	if (!pid)
		_exit(as_it_should_be(flags & CLEAR));
	if (pid < 0)
		return 30;
	if (fcntl(pidfd, F_GETFD) != FD_CLOEXEC)
		return 31;
	if (sigprocmask(SIG_SETMASK, NULL, &mask) ||
	    sigismember(&mask, SIGUSR1) || !sigismember(&mask, SIGALRM))
		return 32;
	/* Without an exit signal it is nobody's but who asks with __WALL. */
	if (!exit_signal && (waitpid(-1, NULL, 0) != -1 || errno != ECHILD))
		return 33;
	if (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | __WALL))
		return 34;
	close(pidfd);
	return info.si_pid == pid ? info.si_status : 35;
}

static int both(void)
{
	struct clone_args into = {.flags = INTO, .cgroup = 0};
	struct sigaction h = {.sa_handler = handle};
	sigset_t mask;
	int rc;

	sigemptyset(&mask);
	sigaddset(&mask, SIGALRM);
	if (sigprocmask(SIG_SETMASK, &mask, NULL) ||
	    sigaction(SIGUSR1, &h, NULL) || signal(SIGUSR2, SIG_IGN) == SIG_ERR)
		return 1;
	rc = one(CLEAR, SIGCHLD);
	if (rc == 42)
		rc = one(0, SIGCHLD);
	if (rc == 42)
		rc = one(CLEAR, 0);
	if (rc == 42 && (clone_child(&into) != -1 || errno == 0))
		return 2;
	return rc;
}

static int apart(bool forbidden)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct clone_args into = {.flags = INTO, .cgroup = 0};
		int rc = forbidden && forbid_clone3() ? 3 : both();

		/* It is never done without. */
		if (rc == 42 && forbidden &&
		    (clone_child(&into) != -1 || errno != ENOSYS))
			rc = 4;
		_exit(rc);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void as_fork_does(void **state)
{
	(void)state;
	assert_int_equal(apart(false), 42);
}

static void without_clone3(void **state)
{
	(void)state;
	assert_int_equal(apart(true), 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_fork_does),
		cmocka_unit_test(without_clone3),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
